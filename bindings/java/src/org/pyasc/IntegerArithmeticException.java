package org.pyasc;

/** E5014: integer division by zero. */
public final class IntegerArithmeticException extends PyascException {
  private static final long serialVersionUID = 1;

  IntegerArithmeticException(String detail, String node, String hint) {
    super(5014, detail, node, hint);
  }
}
