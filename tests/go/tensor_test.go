package pyasc_test

import (
	"errors"
	"slices"
	"testing"

	"pyasc"
)

func TestTensorIsTheSliceItself(t *testing.T) {
	data := []int32{1, 2, 3, 4}
	tensor, err := pyasc.NewTensor(data, 2, 2)
	check(t, err)
	data[3] = 5
	got, err := pyasc.Data[int32](tensor)
	check(t, err)
	if !slices.Equal(got, []int32{1, 2, 3, 5}) || tensor.DataType() != pyasc.Int32 {
		t.Errorf("tensor is %v %v", tensor.DataType(), got)
	}
	if _, err = pyasc.Data[float32](tensor); !errors.Is(err, pyasc.ErrTypeMismatch) {
		t.Errorf("as float32: %v", err)
	}
}

func TestShapes(t *testing.T) {
	vector, err := pyasc.NewTensor([]bool{true, false})
	check(t, err)
	if !slices.Equal(vector.Shape(), []int64{2}) {
		t.Errorf("shape is %v", vector.Shape())
	}
	if scalar := pyasc.Scalar("text"); len(scalar.Shape()) != 0 || scalar.DataType() != pyasc.String {
		t.Errorf("scalar is %v%v", scalar.DataType(), scalar.Shape())
	}
	for _, shape := range [][]int64{{3}, {-1}, {1 << 62, 1 << 62}} {
		if _, err := pyasc.NewTensor([]float32{1, 2}, shape...); !errors.Is(err, pyasc.ErrInvalidArgument) {
			t.Errorf("%v: %v", shape, err)
		}
		if _, err := pyasc.NewTensor([]string{"1", "2"}, shape...); !errors.Is(err, pyasc.ErrInvalidArgument) {
			t.Errorf("%v of texts: %v", shape, err)
		}
	}
}

// Two 4-bit elements take a byte.
func TestTypesThatGoLacks(t *testing.T) {
	packed, err := pyasc.NewTensorOf(pyasc.Int4, []byte{0x21, 0x03}, 3)
	check(t, err)
	if len(packed.Bytes()) != 2 || packed.DataType().String() != "int4" {
		t.Errorf("%v of %d bytes", packed.DataType(), len(packed.Bytes()))
	}
	if _, err := pyasc.NewTensorOf(pyasc.Bfloat16, make([]byte, 3), 1); !errors.Is(err, pyasc.ErrInvalidArgument) {
		t.Errorf("three bytes: %v", err)
	}
}

func TestDataTypesAreTheEngines(t *testing.T) {
	for dtype, name := range map[pyasc.DataType]string{
		pyasc.Float32: "float32", pyasc.Uint8: "uint8", pyasc.Int64: "int64", pyasc.Bool: "bool",
		pyasc.Complex128: "complex128", pyasc.Bfloat16: "bfloat16", pyasc.Float8e4m3fnz: "float8_e4m3fnuz",
		pyasc.Float8e5m2fnz: "float8_e5m2fnuz", pyasc.Int2: "int2", pyasc.Float6e3m2: "float6_e3m2fn",
	} {
		if dtype.String() != name {
			t.Errorf("%d is %q, expected %q", int32(dtype), dtype, name)
		}
	}
}
