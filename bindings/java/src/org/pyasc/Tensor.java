package org.pyasc;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.DoubleBuffer;
import java.nio.FloatBuffer;
import java.nio.IntBuffer;
import java.nio.LongBuffer;
import java.nio.ShortBuffer;
import java.util.Arrays;
import org.pyasc.raw.Asc;
import org.pyasc.raw.AscConstants;

/**
 * A dense, row-major array of elements in a direct buffer, which runs read without copying. Needs no
 * closing: the memory is freed when neither the tensor nor a buffer of it is reachable. It may be
 * read by many threads.
 */
public final class Tensor {
  static {
    NativeLibrary.load();
  }

  private final DataType dataType;
  private final long[] shape;
  private final ByteBuffer bytes; // null for strings
  private final String[] strings; // null for all others

  private Tensor(DataType dataType, long[] shape, ByteBuffer bytes, String[] strings) {
    this.dataType = dataType;
    this.shape = shape;
    this.bytes = bytes;
    this.strings = strings;
  }

  /** Lets the engine judge whether elements and shape fit. */
  private Tensor checked() {
    Asc.asc_value_release(lend());
    return this;
  }

  /**
   * A tensor over the bytes from the buffer's position to its limit, which are not copied.
   *
   * @param data direct, in the machine's byte order, and aligned to its elements; 4- and 2-bit
   *     elements are packed, low bits first
   * @throws InvalidArgumentException when the shape takes another number of bytes, or the buffer is
   *     none of those
   */
  public static Tensor of(DataType type, ByteBuffer data, long... shape) {
    if (!data.isDirect() || data.order() != ByteOrder.nativeOrder()) {
      throw PyascException.of(
          AscConstants.ASC_INVALID_ARGUMENT,
          "a tensor needs a direct buffer in the machine's byte order",
          "",
          "ByteBuffer.allocateDirect(bytes).order(ByteOrder.nativeOrder())");
    }
    return new Tensor(type, shape.clone(), inMachineOrder(data.slice()), null).checked();
  }

  /** A copy of the elements; without extents it has one axis. */
  public static Tensor of(float[] data, long... shape) {
    ByteBuffer bytes = allocate(data.length, Float.BYTES);
    bytes.asFloatBuffer().put(data);
    return of(DataType.FLOAT32, bytes, data.length, shape);
  }

  /** A copy of the elements; without extents it has one axis. */
  public static Tensor of(double[] data, long... shape) {
    ByteBuffer bytes = allocate(data.length, Double.BYTES);
    bytes.asDoubleBuffer().put(data);
    return of(DataType.FLOAT64, bytes, data.length, shape);
  }

  /** A copy of the elements; without extents it has one axis. */
  public static Tensor of(long[] data, long... shape) {
    ByteBuffer bytes = allocate(data.length, Long.BYTES);
    bytes.asLongBuffer().put(data);
    return of(DataType.INT64, bytes, data.length, shape);
  }

  /** A copy of the elements; without extents it has one axis. */
  public static Tensor of(int[] data, long... shape) {
    ByteBuffer bytes = allocate(data.length, Integer.BYTES);
    bytes.asIntBuffer().put(data);
    return of(DataType.INT32, bytes, data.length, shape);
  }

  /** A copy of the elements; without extents it has one axis. */
  public static Tensor of(byte[] data, long... shape) {
    return of(DataType.INT8, allocate(data.length, 1).put(data).rewind(), data.length, shape);
  }

  /** A copy of the elements; without extents it has one axis. */
  public static Tensor of(boolean[] data, long... shape) {
    ByteBuffer bytes = allocate(data.length, 1);
    for (int i = 0; i < data.length; ++i) {
      bytes.put(i, (byte) (data[i] ? 1 : 0));
    }
    return of(DataType.BOOL, bytes, data.length, shape);
  }

  /** A copy of the elements; without extents it has one axis. */
  public static Tensor of(String[] data, long... shape) {
    long[] extents = shape.length == 0 ? new long[] {data.length} : shape.clone();
    return new Tensor(DataType.STRING, extents, null, data.clone()).checked();
  }

  private static Tensor of(DataType type, ByteBuffer data, int count, long[] shape) {
    return of(type, data, shape.length == 0 ? new long[] {count} : shape);
  }

  private static ByteBuffer allocate(int count, int size) {
    return inMachineOrder(ByteBuffer.allocateDirect(Math.multiplyExact(count, size)));
  }

  private static ByteBuffer inMachineOrder(ByteBuffer buffer) {
    return buffer.order(ByteOrder.nativeOrder());
  }

  /** Takes over a result, which becomes 0. */
  static Tensor take(long[] results, int index) {
    long value = results[index];
    int[] type = new int[1];
    long[][] dims = new long[1][];
    Asc.asc_value_get_dtype(value, type);
    Asc.asc_value_get_dims(value, dims);
    DataType dataType = DataType.of(type[0]);
    if (dataType != DataType.STRING) {
      ByteBuffer bytes = Memory.adopt(value);
      results[index] = 0;
      return new Tensor(dataType, dims[0], bytes, null);
    }
    long[] count = new long[1];
    String[] text = new String[1];
    Asc.asc_value_get_count(value, count);
    String[] strings = new String[Math.toIntExact(count[0])];
    for (int i = 0; i < strings.length; ++i) {
      Asc.asc_value_get_string(value, i, text);
      strings[i] = text[0];
    }
    return new Tensor(dataType, dims[0], null, strings);
  }

  /** A value that the caller releases before this tensor becomes unreachable. */
  long lend() {
    long[] value = new long[1];
    if (strings != null) {
      Asc.asc_value_create_strings(shape, strings, value);
    } else {
      int readOnly = 1;
      Asc.asc_value_create_tensor_borrowed(dataType.number, shape, bytes, readOnly, value);
    }
    return value[0];
  }

  /** The type of the elements. */
  public DataType dataType() {
    return dataType;
  }

  /** The extents, outermost first; none for a scalar. */
  public long[] shape() {
    return shape.clone();
  }

  /**
   * The elements as they are in memory, not copied.
   *
   * @throws TypeMismatchException for strings
   */
  public ByteBuffer bytes() {
    if (bytes == null) {
      throw mismatch("bytes");
    }
    return inMachineOrder(bytes.duplicate());
  }

  /** The elements, not copied. */
  public FloatBuffer floats() {
    return as(DataType.FLOAT32).asFloatBuffer();
  }

  /** The elements, not copied. */
  public DoubleBuffer doubles() {
    return as(DataType.FLOAT64).asDoubleBuffer();
  }

  /** The elements of an int64 or uint64 tensor, not copied. */
  public LongBuffer longs() {
    return as(DataType.INT64, DataType.UINT64).asLongBuffer();
  }

  /** The elements of an int32 or uint32 tensor, not copied. */
  public IntBuffer ints() {
    return as(DataType.INT32, DataType.UINT32).asIntBuffer();
  }

  /** The elements of an int16 or uint16 tensor, or the bits of 16-bit floats, not copied. */
  public ShortBuffer shorts() {
    return as(DataType.INT16, DataType.UINT16, DataType.FLOAT16, DataType.BFLOAT16).asShortBuffer();
  }

  /** The elements of a string tensor. */
  public String[] strings() {
    if (strings == null) {
      throw mismatch("strings");
    }
    return strings.clone();
  }

  private ByteBuffer as(DataType... types) {
    if (!Arrays.asList(types).contains(dataType)) {
      throw mismatch(types[0].toString());
    }
    return bytes();
  }

  private PyascException mismatch(String wanted) {
    return PyascException.of(
        AscConstants.ASC_TYPE_MISMATCH,
        "the elements are %s, asked for as %s".formatted(dataType, wanted),
        "",
        "");
  }
}
