package org.pyasc;

/** E5006: a model that is damaged, truncated or hostile. */
public final class InvalidModelException extends PyascException {
  private static final long serialVersionUID = 1;

  InvalidModelException(String detail, String node, String hint) {
    super(5006, detail, node, hint);
  }
}
