package org.pyasc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The jar that carries the native libraries, in a process that knows of no others. */
class JarTest {
  /** Runs a program of one source file, or a class of the jar; options of the VM come first. */
  static String run(Path temporary, String... arguments) throws Exception {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin/java").toString());
    command.add("-Djava.io.tmpdir=" + temporary);
    command.add("-cp");
    command.add(nativeJar().toString());
    command.addAll(Arrays.asList(arguments));
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    String output = new String(process.getInputStream().readAllBytes());
    assertEquals(0, process.waitFor(), output);
    return output;
  }

  private static Path nativeJar() throws Exception {
    Path classes = Path.of(Model.class.getProtectionDomain().getCodeSource().getLocation().toURI());
    try (DirectoryStream<Path> jars = Files.newDirectoryStream(classes.getParent(), "pyasc-*.jar")) {
      return jars.iterator().next();
    }
  }

  @Test
  void everyLibraryComesFromTheJar(@TempDir Path temporary) throws Exception {
    Path program = temporary.resolve("Maps.java");
    Files.writeString(
        program,
        """
        class Maps {
          public static void main(String[] arguments) throws java.io.IOException {
            System.out.println(org.pyasc.Pyasc.version());
            java.nio.file.Files.lines(java.nio.file.Path.of("/proc/self/maps"))
                .forEach(System.out::println);
          }
        }
        """);
    String output = run(temporary, program.toString());
    List<String> ours =
        output.lines().filter(line -> line.matches(".*/lib(asc|dnnl|hwy|gomp|xxhash)[^/]*")).toList();
    assertTrue(ours.stream().anyMatch(line -> line.contains("libasc_jni.so")), output);
    for (String line : ours) {
      assertTrue(line.contains(temporary.toString()), line);
    }
    try (DirectoryStream<Path> left = Files.newDirectoryStream(temporary, "pyasc*")) {
      assertTrue(!left.iterator().hasNext(), "unpacked files are left");
    }
  }

  /**
   * 150 results of 2 MB under a limit of 160, where nothing but their number makes the garbage
   * collector run: were they not freed, a run would fail with E5012.
   */
  @Test
  void resultsDoNotPileUp(@TempDir Path temporary) throws Exception {
    Path program = temporary.resolve("Runs.java");
    Files.writeString(
        program,
        """
        import java.util.Map;
        import org.pyasc.*;
        class Runs {
          public static void main(String[] arguments) {
            Model model = Model.load(arguments[0]);
            org.pyasc.raw.Asc.asc_device_set_memory_limit("cpu", 160 << 20);
            Map<String, Tensor> x = Map.of("x", Tensor.of(new float[3 << 18], 1 << 18, 3));
            for (int i = 0; i < 150; ++i) model.run(x).get("y").floats().get(0);
          }
        }
        """);
    String model = CasesTest.DATA.resolve("linear.onnx").toString();
    run(temporary, "-Xmx64m", "-XX:+UseSerialGC", program.toString(), model);
  }

  @Test
  void sample(@TempDir Path temporary) throws Exception {
    Path sample = CasesTest.DATA.resolve("../../samples/java/RunModel.java");
    String output =
        run(temporary, sample.toString(), CasesTest.DATA.resolve("linear.onnx").toString());
    assertTrue(output.startsWith("float32[N, 2]: 5.25\nE5001"), output);
  }
}
