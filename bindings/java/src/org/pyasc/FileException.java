package org.pyasc;

/** E5010: a file that cannot be opened, read or written. */
public final class FileException extends PyascException {
  private static final long serialVersionUID = 1;

  FileException(String detail, String node, String hint) {
    super(5010, detail, node, hint);
  }
}
