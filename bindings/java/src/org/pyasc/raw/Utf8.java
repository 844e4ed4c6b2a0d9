package org.pyasc.raw;

import static java.nio.charset.StandardCharsets.UTF_8;

/** Texts as they cross the border. */
final class Utf8 {
  private Utf8() {}

  static byte[] encode(String text) {
    return text.getBytes(UTF_8);
  }

  static byte[][] encode(String[] texts) {
    byte[][] all = new byte[texts.length][];
    for (int i = 0; i < all.length; ++i) {
      all[i] = encode(texts[i]);
    }
    return all;
  }

  static String decode(byte[] bytes) {
    return new String(bytes, UTF_8);
  }

  /** Decodes what a call gave; nothing when it threw before. */
  static void decode(byte[][] bytes, String[] out) {
    if (bytes[0] != null) {
      out[0] = decode(bytes[0]);
    }
  }
}
