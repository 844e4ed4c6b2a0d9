package org.pyasc;

/** E5008: a layout that cannot be met. */
public final class LayoutException extends PyascException {
  private static final long serialVersionUID = 1;

  LayoutException(String detail, String node, String hint) {
    super(5008, detail, node, hint);
  }
}
