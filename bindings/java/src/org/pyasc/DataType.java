package org.pyasc;

import org.pyasc.raw.Asc;
import org.pyasc.raw.AscConstants;

/** The type of a tensor's elements. */
public enum DataType {
  FLOAT32(AscConstants.ASC_FLOAT32),
  UINT8(AscConstants.ASC_UINT8),
  INT8(AscConstants.ASC_INT8),
  UINT16(AscConstants.ASC_UINT16),
  INT16(AscConstants.ASC_INT16),
  INT32(AscConstants.ASC_INT32),
  INT64(AscConstants.ASC_INT64),
  STRING(AscConstants.ASC_STRING),
  BOOL(AscConstants.ASC_BOOL),
  FLOAT16(AscConstants.ASC_FLOAT16),
  FLOAT64(AscConstants.ASC_FLOAT64),
  UINT32(AscConstants.ASC_UINT32),
  UINT64(AscConstants.ASC_UINT64),
  COMPLEX64(AscConstants.ASC_COMPLEX64),
  COMPLEX128(AscConstants.ASC_COMPLEX128),
  BFLOAT16(AscConstants.ASC_BFLOAT16),
  FLOAT8E4M3FN(AscConstants.ASC_FLOAT8E4M3FN),
  FLOAT8E4M3FNUZ(AscConstants.ASC_FLOAT8E4M3FNUZ),
  FLOAT8E5M2(AscConstants.ASC_FLOAT8E5M2),
  FLOAT8E5M2FNUZ(AscConstants.ASC_FLOAT8E5M2FNUZ),
  UINT4(AscConstants.ASC_UINT4),
  INT4(AscConstants.ASC_INT4),
  FLOAT4E2M1(AscConstants.ASC_FLOAT4E2M1),
  FLOAT8E8M0(AscConstants.ASC_FLOAT8E8M0),
  UINT2(AscConstants.ASC_UINT2),
  INT2(AscConstants.ASC_INT2),
  FLOAT6E2M3(AscConstants.ASC_FLOAT6E2M3),
  FLOAT6E3M2(AscConstants.ASC_FLOAT6E3M2);

  private static final DataType[] ALL = values();

  final int number;

  DataType(int number) {
    this.number = number;
  }

  static DataType of(int number) {
    return ALL[number - 1]; // the numbers are 1, 2, 3, ...
  }

  /** Bits that one element takes in a dense tensor; 0 for strings. */
  public int bits() {
    return Asc.asc_data_type_bits(number);
  }

  /** NumPy's or ml_dtypes' name: "float32", "bfloat16", "int4". */
  @Override
  public String toString() {
    return Asc.asc_data_type_name(number);
  }

  static {
    NativeLibrary.load();
  }
}
