package org.pyasc;

/** E5033: an operator that the engine or the device lacks. */
public final class UnsupportedOperatorException extends PyascException {
  private static final long serialVersionUID = 1;

  UnsupportedOperatorException(String detail, String node, String hint) {
    super(5033, detail, node, hint);
  }
}
