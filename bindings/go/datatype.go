package pyasc

import "pyasc/raw"

// DataType is the type of a tensor's elements. The numbers are ONNX's.
type DataType int32

const (
	Float32       DataType = 1
	Uint8         DataType = 2
	Int8          DataType = 3
	Uint16        DataType = 4
	Int16         DataType = 5
	Int32         DataType = 6
	Int64         DataType = 7
	String        DataType = 8
	Bool          DataType = 9
	Float16       DataType = 10
	Float64       DataType = 11
	Uint32        DataType = 12
	Uint64        DataType = 13
	Complex64     DataType = 14
	Complex128    DataType = 15
	Bfloat16      DataType = 16
	Float8e4m3fn  DataType = 17
	Float8e4m3fnz DataType = 18
	Float8e5m2    DataType = 19
	Float8e5m2fnz DataType = 20
	Uint4         DataType = 21
	Int4          DataType = 22
	Float4e2m1    DataType = 23
	Float8e8m0    DataType = 24
	Uint2         DataType = 25
	Int2          DataType = 26
	Float6e2m3    DataType = 27
	Float6e3m2    DataType = 28
)

// String gives NumPy's or ml_dtypes' name: "float32", "bfloat16", "int4".
func (d DataType) String() string { return raw.Asc_data_type_name(int(d)) }

// Element is a Go type that tensors are made of. Others, such as bfloat16, go as bytes: see
// NewTensorOf.
type Element interface {
	bool | int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64 |
		float32 | float64 | complex64 | complex128 | string
}

func dataTypeOf[T Element]() DataType {
	switch any(*new(T)).(type) {
	case bool:
		return Bool
	case int8:
		return Int8
	case int16:
		return Int16
	case int32:
		return Int32
	case int64:
		return Int64
	case uint8:
		return Uint8
	case uint16:
		return Uint16
	case uint32:
		return Uint32
	case uint64:
		return Uint64
	case float32:
		return Float32
	case float64:
		return Float64
	case complex64:
		return Complex64
	case complex128:
		return Complex128
	default:
		return String
	}
}
