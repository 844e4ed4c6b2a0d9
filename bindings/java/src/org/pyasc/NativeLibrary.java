package org.pyasc;

/** Loads the native part once; every class that calls it does so in a static initialiser. */
final class NativeLibrary {
  static {
    System.loadLibrary("asc_jni");
  }

  private NativeLibrary() {}

  /** Returns once the native library is there. Throws UnsatisfiedLinkError if it is not found. */
  static void load() {}
}
