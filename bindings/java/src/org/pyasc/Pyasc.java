package org.pyasc;

import org.pyasc.raw.Asc;

/** A graph engine for neural networks: entry points that belong to no object. */
public final class Pyasc {
  static {
    NativeLibrary.load();
  }

  private Pyasc() {}

  /** The engine's semantic version, {@code major.minor.patch}. */
  public static String version() {
    return Asc.asc_version();
  }
}
