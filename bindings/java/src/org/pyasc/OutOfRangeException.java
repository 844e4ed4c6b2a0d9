package org.pyasc;

/** E5007: an index that is out of range while running. */
public final class OutOfRangeException extends PyascException {
  private static final long serialVersionUID = 1;

  OutOfRangeException(String detail, String node, String hint) {
    super(5007, detail, node, hint);
  }
}
