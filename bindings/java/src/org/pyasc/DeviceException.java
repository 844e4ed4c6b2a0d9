package org.pyasc;

/** E5020: a device that does not exist or that failed. */
public final class DeviceException extends PyascException {
  private static final long serialVersionUID = 1;

  DeviceException(String detail, String node, String hint) {
    super(5020, detail, node, hint);
  }
}
