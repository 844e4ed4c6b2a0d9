package org.pyasc;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/** The same graph gives the same bytes in every host. */
class CasesTest {
  static final Path DATA = Path.of(System.getenv("ASC_TEST_DATA"));

  @TestFactory
  @SuppressWarnings("unchecked")
  Stream<DynamicTest> cases() throws IOException {
    return ((List<Map<String, Object>>) Json.parse(Files.readString(DATA.resolve("cases.json"))))
        .stream().map(c -> DynamicTest.dynamicTest((String) c.get("name"), () -> check(c)));
  }

  @SuppressWarnings("unchecked")
  private static void check(Map<String, Object> c) {
    try (Model model = Model.load(DATA.resolve((String) c.get("model")))) {
      Map<String, Tensor> inputs = new HashMap<>();
      ((Map<String, Map<String, Object>>) c.get("inputs"))
          .forEach((name, tensor) -> inputs.put(name, tensor(tensor)));
      if (c.containsKey("error")) {
        PyascException failure = assertThrows(PyascException.class, () -> model.run(inputs));
        assertEquals(c.get("error"), (long) failure.code(), failure.getMessage());
        return;
      }
      Map<String, Tensor> outputs = model.run(inputs);
      var expected = (Map<String, Map<String, Object>>) c.get("outputs");
      assertEquals(expected.keySet(), outputs.keySet());
      expected.forEach((name, tensor) -> compare(name, tensor(tensor), outputs.get(name)));
    }
  }

  @SuppressWarnings("unchecked")
  private static Tensor tensor(Map<String, Object> tensor) {
    long[] shape = ((List<Long>) tensor.get("shape")).stream().mapToLong(Long::longValue).toArray();
    if (tensor.get("dtype").equals("string")) {
      return Tensor.of(((List<String>) tensor.get("strings")).toArray(String[]::new), shape);
    }
    DataType type =
        Arrays.stream(DataType.values())
            .filter(t -> t.toString().equals(tensor.get("dtype")))
            .findFirst()
            .orElseThrow();
    byte[] bytes = HexFormat.of().parseHex((String) tensor.get("hex"));
    ByteBuffer data = ByteBuffer.allocateDirect(bytes.length).order(ByteOrder.nativeOrder());
    return Tensor.of(type, data.put(bytes).rewind(), shape);
  }

  private static void compare(String name, Tensor expected, Tensor got) {
    assertEquals(expected.dataType(), got.dataType(), name);
    assertArrayEquals(expected.shape(), got.shape(), name);
    if (expected.dataType() == DataType.STRING) {
      assertArrayEquals(expected.strings(), got.strings(), name);
    } else {
      assertEquals(expected.bytes(), got.bytes(), name);
    }
  }
}
