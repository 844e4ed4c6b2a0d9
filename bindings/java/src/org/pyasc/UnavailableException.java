package org.pyasc;

/** E5009: a documented option that this version or build does not have. */
public final class UnavailableException extends PyascException {
  private static final long serialVersionUID = 1;

  UnavailableException(String detail, String node, String hint) {
    super(5009, detail, node, hint);
  }
}
