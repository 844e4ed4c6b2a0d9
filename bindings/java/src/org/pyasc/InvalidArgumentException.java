package org.pyasc;

/** E5003: attributes, options and arguments that make no sense. */
public final class InvalidArgumentException extends PyascException {
  private static final long serialVersionUID = 1;

  InvalidArgumentException(String detail, String node, String hint) {
    super(5003, detail, node, hint);
  }
}
