package org.pyasc;

/** E5005: a graph that is not legal. */
public final class InvalidGraphException extends PyascException {
  private static final long serialVersionUID = 1;

  InvalidGraphException(String detail, String node, String hint) {
    super(5005, detail, node, hint);
  }
}
