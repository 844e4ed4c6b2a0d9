package org.pyasc;

/** E5001: shapes that do not fit: operands, inputs, weights, declared outputs. */
public final class ShapeMismatchException extends PyascException {
  private static final long serialVersionUID = 1;

  ShapeMismatchException(String detail, String node, String hint) {
    super(5001, detail, node, hint);
  }
}
