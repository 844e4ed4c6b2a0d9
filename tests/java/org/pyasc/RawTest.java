package org.pyasc;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.pyasc.raw.Asc;
import org.pyasc.raw.AscConstants;

/** Each kind of argument crosses the border. */
class RawTest implements AscConstants {
  private final List<Runnable> releases = new ArrayList<>();
  private final long[] out = new long[1];
  private final String[] text = new String[1];

  @BeforeAll
  static void load() {
    NativeLibrary.load();
  }

  @AfterEach
  void release() {
    releases.forEach(Runnable::run);
  }

  private long value() {
    long value = out[0];
    releases.add(() -> Asc.asc_value_release(value));
    return value;
  }

  private long tensor(float... elements) {
    ByteBuffer data = ByteBuffer.allocateDirect(elements.length * 4).order(ByteOrder.nativeOrder());
    data.asFloatBuffer().put(elements);
    Asc.asc_value_create_tensor_copy(ASC_FLOAT32, new long[] {elements.length}, data, out);
    return value();
  }

  @Test
  void graphs() {
    Asc.asc_graph_create("graph", out);
    long graph = out[0];
    releases.add(() -> Asc.asc_graph_release(graph));
    Asc.asc_type_create_tensor(ASC_FLOAT32, new String[] {"N", "3"}, out);
    long type = out[0];
    releases.add(() -> Asc.asc_type_release(type));
    Asc.asc_graph_add_input(graph, "x", type, out);
    long x = out[0];
    Asc.asc_attributes_create(out);
    long attributes = out[0];
    releases.add(() -> Asc.asc_attributes_release(attributes));
    Asc.asc_attributes_set_ints(attributes, "perm", new long[] {1, 0});
    long[] outputs = new long[1];
    Asc.asc_graph_add_operator(graph, "Transpose", new long[] {x}, attributes, 0, "é", outputs);
    Asc.asc_graph_add_leaf_outputs(graph);
    Asc.asc_graph_get_output(graph, 0, text, out);
    assertEquals("é", text[0]);
    assertEquals(outputs[0], out[0]);
    Asc.asc_graph_create_text(graph, text);
    assertTrue(text[0].contains("Transpose"), text[0]);
    Asc.asc_graph_get_node_count(graph, out);
    assertEquals(1, out[0]);
  }

  @Test
  void attributes() {
    Asc.asc_attributes_create(out);
    long attributes = out[0];
    releases.add(() -> Asc.asc_attributes_release(attributes));
    Asc.asc_attributes_set_floats(attributes, "floats", new double[] {1, 2.5});
    Asc.asc_attributes_set_strings(attributes, "strings", new String[] {"a", ""});
    Asc.asc_attributes_set_string(attributes, "string", "");
    assertThrows(
        NullPointerException.class, () -> Asc.asc_attributes_set_ints(attributes, "ints", null));
    assertThrows(
        InvalidArgumentException.class, () -> Asc.asc_attributes_set_int(0, "no attributes", 1));
  }

  @Test
  void values() {
    long one = tensor(1);
    long two = tensor(2, 3);
    Asc.asc_value_create_sequence(new long[] {one, two}, ASC_UNDEFINED, out);
    long sequence = value();
    Asc.asc_value_get_count(sequence, out);
    assertEquals(2, out[0]);
    Asc.asc_value_create_item(sequence, 1, out);
    long item = value();
    long[][] dims = new long[1][];
    Asc.asc_value_get_dims(item, dims);
    assertArrayEquals(new long[] {2}, dims[0]);
    ByteBuffer[] data = new ByteBuffer[1];
    Asc.asc_value_get_data(item, data);
    assertEquals(3, data[0].order(ByteOrder.nativeOrder()).getFloat(4));
    Asc.asc_value_create_string_map(new String[] {"b", "a"}, new long[] {one, two}, out);
    Asc.asc_value_get_string_key(value(), 0, text);
    assertEquals("a", text[0]);
    Asc.asc_value_create_int_map(new long[] {7}, new long[] {one}, out);
    Asc.asc_value_get_int_key(value(), 0, out);
    assertEquals(7, out[0]);
  }

  @Test
  void lentAndOwnedTexts() {
    Asc.asc_device_create_list(text);
    assertTrue(text[0].startsWith("[{") && text[0].contains("cpu"), text[0]);
    Asc.asc_registry_get_method("Conv", text);
    assertEquals("conv2d", text[0]);
    text[0] = null;
    assertThrows(
        UnsupportedOperatorException.class, () -> Asc.asc_registry_get_method("Convv", text));
    assertNull(text[0]);
    int[] type = new int[1];
    Asc.asc_data_type_parse("bfloat16", type);
    assertEquals(ASC_BFLOAT16, type[0]);
  }
}
