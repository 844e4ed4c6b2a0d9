package org.pyasc;

/** E5099: a fault of the engine itself: please report it. */
public final class InternalException extends PyascException {
  private static final long serialVersionUID = 1;

  InternalException(String detail, String node, String hint) {
    super(5099, detail, node, hint);
  }
}
