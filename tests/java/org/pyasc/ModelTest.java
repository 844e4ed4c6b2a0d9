package org.pyasc;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.FloatBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.pyasc.raw.Asc;

class ModelTest {
  private static final String LINEAR = CasesTest.DATA.resolve("linear.onnx").toString();

  private static float[] run(Model model, float... x) {
    FloatBuffer y = model.run(Map.of("x", Tensor.of(x, x.length / 3, 3))).get("y").floats();
    float[] copy = new float[y.remaining()];
    y.get(copy);
    return copy;
  }

  @Test
  void loadRunFailClose() {
    Model model = Model.load(LINEAR);
    assertArrayEquals(new float[] {5.25f, 4}, run(model, 1, 2, 3));
    Map<String, Tensor> wide = Map.of("x", Tensor.of(new float[4], 1, 4));
    var failure = assertThrows(ShapeMismatchException.class, () -> model.run(wide));
    assertEquals(5001, failure.code());
    assertTrue(failure.detail().contains("'x'"), failure.getMessage());
    assertTrue(failure.getMessage().startsWith("E5001"), failure.getMessage());
    assertArrayEquals(new float[] {0.25f, -8}, run(model, 0, 0, 0));
    model.close();
    model.close();
    assertThrows(DestroyedException.class, () -> run(model, 1, 2, 3));
  }

  @Test
  void export() throws IOException {
    Path folder = Files.createTempDirectory("pyasc");
    Path path = folder.resolve("again.onnx");
    try (Model model = Model.load(LINEAR)) {
      model.exportOnnx(path);
      try (Model again = Model.load(path)) {
        assertArrayEquals(new float[] {5.25f, 4}, run(again, 1, 2, 3));
      }
      model.exportOptimizedOnnx(path);
      try (Model again = Model.load(path)) {
        assertArrayEquals(new float[] {5.25f, 4}, run(again, 1, 2, 3));
      }
      Path nowhere = folder.resolve("nowhere/again.onnx");
      assertThrows(FileException.class, () -> model.exportOnnx(nowhere));
    } finally {
      Files.deleteIfExists(path);
      Files.deleteIfExists(folder);
    }
  }

  @Test
  void ports() {
    try (Model model = Model.load(LINEAR)) {
      Port x = model.inputs().get(0);
      assertEquals(1, model.inputs().size());
      assertEquals(
          new Port("x", "float32[N, 3]", Optional.of(DataType.FLOAT32), Optional.of(List.of("N", "3"))),
          x);
      assertArrayEquals(new long[] {-1, 3}, x.shape());
      assertEquals("y", model.outputs().get(0).name());
    }
  }

  @Test
  void bytesAreNeededNoLongerOnceLoaded() throws IOException {
    byte[] content = Files.readAllBytes(CasesTest.DATA.resolve("linear.onnx"));
    try (Model model = Model.load(content)) {
      Arrays.fill(content, (byte) 0);
      assertArrayEquals(new float[] {5.25f, 4}, run(model, 1, 2, 3));
    }
  }

  @Test
  void whatCannotBeLoaded() {
    assertThrows(InvalidModelException.class, () -> Model.load(new byte[0]));
    assertThrows(InvalidModelException.class, () -> Model.load("no model".getBytes()));
    assertThrows(FileException.class, () -> Model.load("nowhere.onnx"));
    assertThrows(NullPointerException.class, () -> Model.load((String) null));
  }

  @Test
  void options() {
    LoadOptions plain = new LoadOptions().device("cpu").threads(1).set("graph_opt_level", 0);
    try (Model model = Model.load(LINEAR, plain)) {
      assertArrayEquals(new float[] {5.25f, 4}, run(model, 1, 2, 3));
    }
    LoadOptions unknown = new LoadOptions().set("graph_opt_levle", 1);
    var failure = assertThrows(InvalidArgumentException.class, () -> Model.load(LINEAR, unknown));
    assertTrue(failure.getMessage().contains("graph_opt_level"), failure.getMessage());
    LoadOptions elsewhere = new LoadOptions().device("gpu");
    assertThrows(DeviceException.class, () -> Model.load(LINEAR, elsewhere));
  }

  @Test
  void resultsThatAreNoTensorsAreRefusedByName() {
    try (Model model = Model.load(CasesTest.DATA.resolve("sequence.onnx"))) {
      assertEquals(Optional.empty(), model.outputs().get(0).dataType());
      var inputs = Map.of("x", Tensor.of(new float[2]));
      var failure = assertThrows(UnavailableException.class, () -> model.run(inputs));
      assertTrue(failure.detail().startsWith("output 'pair' is a sequence("), failure.getMessage());
    }
  }

  @Test
  void failuresLeaveNothingBehind() throws InterruptedException {
    try (Model model = Model.load(LINEAR)) {
      var inputs = Map.of("x", Tensor.of(new double[3], 1, 3));
      long before = handlesWithoutResults();
      for (int i = 0; i < 100; ++i) {
        assertThrows(TypeMismatchException.class, () -> model.run(inputs));
        assertThrows(NotFoundException.class, () -> model.run(Map.of("z", inputs.get("x"))));
        assertThrows(InvalidModelException.class, () -> Model.load(new byte[1]));
        run(model, 1, 2, 3);
      }
      assertEquals(before, handlesWithoutResults());
    }
  }

  private static long handlesWithoutResults() throws InterruptedException {
    for (int i = 0; i < 500 && Memory.results() > 0; ++i) {
      System.gc();
      Thread.sleep(10);
    }
    assertEquals(0, Memory.results());
    return Asc.asc_handle_count();
  }

  @Test
  void closeDuringRuns() throws Exception {
    Model model = Model.load(LINEAR);
    Map<String, Tensor> inputs = Map.of("x", Tensor.of(new float[300], 100, 3));
    Callable<Integer> runUntilClosed =
        () -> {
          for (int runs = 0; ; ++runs) {
            try {
              assertEquals(1, model.run(inputs).size());
            } catch (DestroyedException closed) {
              return runs;
            }
          }
        };
    ExecutorService pool = Executors.newFixedThreadPool(8);
    try {
      List<Future<Integer>> all = new ArrayList<>();
      for (int i = 0; i < 8; ++i) {
        all.add(pool.submit(runUntilClosed));
      }
      run(model, 0, 0, 0);
      model.close();
      for (Future<Integer> one : all) {
        one.get();
      }
    } finally {
      pool.shutdown();
    }
  }
}
