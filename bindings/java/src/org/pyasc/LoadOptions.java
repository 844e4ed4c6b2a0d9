package org.pyasc;

import java.util.LinkedHashMap;
import java.util.Map;
import org.pyasc.raw.Asc;

/** How a model is compiled. What is not set has its default; values are checked when loading. */
public final class LoadOptions {
  private final Map<String, Long> numbers = new LinkedHashMap<>();
  private final Map<String, String> texts = new LinkedHashMap<>();
  private String device = "";

  /** The device that runs the model; the host, "cpu", by default. */
  public LoadOptions device(String name) {
    device = name;
    return this;
  }

  /** How many cores are used at most; 0, the default, is all. */
  public LoadOptions threads(int count) {
    return set("threads", count);
  }

  /** A number or flag of the compiler, such as "graph_opt_level" (0 to 3). */
  public LoadOptions set(String key, long value) {
    numbers.put(key, value);
    return this;
  }

  /** A text of the compiler, such as "dump_path". */
  public LoadOptions set(String key, String value) {
    texts.put(key, value);
    return this;
  }

  String device() {
    return device;
  }

  /** A handle that the caller releases. */
  long create() {
    long[] out = new long[1];
    Asc.asc_compile_options_create(out);
    try {
      numbers.forEach((key, value) -> Asc.asc_compile_options_set_int(out[0], key, value));
      texts.forEach((key, value) -> Asc.asc_compile_options_set_text(out[0], key, value));
    } catch (RuntimeException failure) {
      Asc.asc_compile_options_release(out[0]);
      throw failure;
    }
    return out[0];
  }
}
