package org.pyasc;

/** E5013: a run that was cancelled. */
public final class CancelledException extends PyascException {
  private static final long serialVersionUID = 1;

  CancelledException(String detail, String node, String hint) {
    super(5013, detail, node, hint);
  }
}
