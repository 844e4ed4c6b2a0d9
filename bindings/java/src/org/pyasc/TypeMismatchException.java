package org.pyasc;

/** E5002: element types or kinds of value that do not fit. */
public final class TypeMismatchException extends PyascException {
  private static final long serialVersionUID = 1;

  TypeMismatchException(String detail, String node, String hint) {
    super(5002, detail, node, hint);
  }
}
