package org.pyasc;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Loads the native part once; every class that calls it does so in a static initialiser. */
final class NativeLibrary {
  static {
    try {
      System.loadLibrary("asc_jni"); // from java.library.path
    } catch (UnsatisfiedLinkError notThere) {
      loadFromJar(notThere);
    }
  }

  private NativeLibrary() {}

  /** Returns once the native library is there. Throws UnsatisfiedLinkError if it is not found. */
  static void load() {}

  /** The folder of this machine's libraries in the jar: "native/linux-x86_64/". */
  private static String folder() {
    String system = System.getProperty("os.name").toLowerCase(Locale.ROOT).split(" ")[0];
    String machine = System.getProperty("os.arch");
    return "native/" + system + "-" + (machine.equals("amd64") ? "x86_64" : machine) + "/";
  }

  /**
   * Unpacks the libraries and loads them in the order of the list beside them, each after those that
   * it needs: the loader then finds those by name, wherever they lie. The files are not needed once
   * they are mapped.
   */
  private static void loadFromJar(UnsatisfiedLinkError notThere) {
    String folder = folder();
    try (InputStream list = NativeLibrary.class.getResourceAsStream(folder + "libraries.txt")) {
      if (list == null) {
        throw notThere;
      }
      String names = new String(list.readAllBytes(), StandardCharsets.UTF_8);
      Path target = Files.createTempDirectory("pyasc");
      List<Path> unpacked = new ArrayList<>();
      try {
        for (String name : names.split("\n")) {
          Path file = target.resolve(name);
          unpacked.add(file);
          try (InputStream library = NativeLibrary.class.getResourceAsStream(folder + name)) {
            Files.copy(library, file);
          }
          System.load(file.toString());
        }
      } finally {
        for (Path file : unpacked) {
          Files.deleteIfExists(file);
        }
        Files.delete(target);
      }
    } catch (IOException failure) {
      throw new UncheckedIOException("cannot unpack the native library", failure);
    }
  }
}
