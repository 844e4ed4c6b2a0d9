package org.pyasc;

/** E5004: a name that nothing has. */
public final class NotFoundException extends PyascException {
  private static final long serialVersionUID = 1;

  NotFoundException(String detail, String node, String hint) {
    super(5004, detail, node, hint);
  }
}
