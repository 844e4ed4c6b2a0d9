package org.pyasc;

/** E5011: use of an object after it was closed. */
public final class DestroyedException extends PyascException {
  private static final long serialVersionUID = 1;

  DestroyedException(String detail, String node, String hint) {
    super(5011, detail, node, hint);
  }
}
