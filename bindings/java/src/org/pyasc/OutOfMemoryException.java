package org.pyasc;

/** E5012: memory that the limit or the system refuses. */
public final class OutOfMemoryException extends PyascException {
  private static final long serialVersionUID = 1;

  OutOfMemoryException(String detail, String node, String hint) {
    super(5012, detail, node, hint);
  }
}
