package org.pyasc;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.FloatBuffer;
import java.util.Map;
import org.junit.jupiter.api.Test;

class TensorTest {
  private static ByteBuffer direct(int bytes) {
    return ByteBuffer.allocateDirect(bytes).order(ByteOrder.nativeOrder());
  }

  @Test
  void tensorIsTheBufferItself() {
    ByteBuffer data = direct(16);
    Tensor tensor = Tensor.of(DataType.FLOAT32, data.position(8), 2);
    data.putFloat(12, 7);
    assertEquals(7, tensor.floats().get(1));
    assertEquals(8, data.position());
  }

  @Test
  void typesOfElements() {
    assertEquals(2.5, Tensor.of(new double[] {1, 2.5}).doubles().get(1));
    assertEquals(-1, Tensor.of(new long[] {-1}).longs().get(0));
    assertEquals(3, Tensor.of(new int[] {1, 3}, 2, 1).ints().get(1));
    assertEquals(1, Tensor.of(new boolean[] {true}).bytes().get(0));
    assertArrayEquals(new String[] {"a"}, Tensor.of(new String[] {"a"}).strings());
    assertArrayEquals(new long[] {2}, Tensor.of(new byte[] {1, 2}).shape());
    Tensor floats = Tensor.of(new float[1]);
    assertThrows(TypeMismatchException.class, floats::longs);
    assertThrows(TypeMismatchException.class, floats::strings);
    assertThrows(TypeMismatchException.class, Tensor.of(new String[0])::bytes);
  }

  @Test
  void whatDoesNotFitIsRefused() {
    var refused = InvalidArgumentException.class;
    assertThrows(refused, () -> Tensor.of(new float[2], 3));
    assertThrows(refused, () -> Tensor.of(new float[2], -1));
    assertThrows(refused, () -> Tensor.of(new String[] {"a", "b"}, 3));
    assertThrows(refused, () -> Tensor.of(DataType.FLOAT32, ByteBuffer.allocate(4), 1));
    ByteBuffer foreign = ByteBuffer.allocateDirect(4);
    assertThrows(refused, () -> Tensor.of(DataType.FLOAT32, foreign.order(other()), 1));
    assertThrows(refused, () -> Tensor.of(DataType.FLOAT32, direct(8).position(1).limit(5), 1));
  }

  private static ByteOrder other() {
    return ByteOrder.nativeOrder() == ByteOrder.BIG_ENDIAN
        ? ByteOrder.LITTLE_ENDIAN
        : ByteOrder.BIG_ENDIAN;
  }

  @Test
  void dataTypesAreTheEngines() {
    assertEquals("float32", DataType.FLOAT32.toString());
    assertEquals("bfloat16", DataType.BFLOAT16.toString());
    for (DataType type : DataType.values()) {
      assertEquals(type, DataType.of(type.number));
      String name = type.toString().replace("_", "");
      assertTrue(name.startsWith(type.name().toLowerCase()), name);
    }
    assertEquals(4, DataType.INT4.bits());
  }

  @Test
  void aViewKeepsAResultAlive() throws InterruptedException {
    FloatBuffer view = result(8);
    for (int i = 0; i < 3; ++i) {
      System.gc();
      Thread.sleep(10);
    }
    assertTrue(Memory.held() >= 8 * 2 * Float.BYTES);
    assertEquals(0.25f, view.get(14));
    assertEquals(-8, view.get(15));
  }

  @Test
  void droppedResultsAreFreed() throws InterruptedException {
    for (int i = 0; i < 20; ++i) {
      result(1 << 16);
    }
    for (int i = 0; i < 100 && Memory.held() > 1 << 18; ++i) {
      System.gc();
      Thread.sleep(10);
    }
    assertTrue(Memory.held() <= 1 << 18, Memory.held() + " bytes held");
  }

  private static FloatBuffer result(int rows) {
    try (Model model = Model.load(CasesTest.DATA.resolve("linear.onnx"))) {
      Tensor x = Tensor.of(new float[rows * 3], rows, 3);
      return model.run(Map.of("x", x)).get("y").floats().slice();
    }
  }
}
