package pyasc

import (
	"runtime"
	"slices"
	"unsafe"

	"pyasc/raw"
)

// Tensor is a dense, row-major array of elements. Its elements are Go memory: the slice that it was
// made of, or one that a run made. A tensor may be read by many goroutines.
type Tensor struct {
	dtype DataType
	shape []int64
	data  any            // the []T
	start unsafe.Pointer // of the elements, unless they are strings; nil where there are none
	bytes int
}

// NewTensor makes a tensor of a slice, which is not copied: runs read it where it is, and it must
// not be written while one does. Without extents the tensor has one axis.
func NewTensor[T Element](data []T, shape ...int64) (*Tensor, error) {
	if len(shape) == 0 {
		shape = []int64{int64(len(data))}
	}
	tensor := wrap(dataTypeOf[T](), data, shape)
	if tensor.dtype == String {
		tensor.start, tensor.bytes = nil, 0
	}
	return tensor, tensor.check()
}

// Scalar makes a tensor without axes.
func Scalar[T Element](value T) *Tensor {
	tensor := wrap(dataTypeOf[T](), []T{value}, []int64{})
	if tensor.dtype == String {
		tensor.start, tensor.bytes = nil, 0
	}
	return tensor
}

// NewTensorOf makes a tensor of elements that Go has no type for ("bfloat16", "int4"): their bytes
// in the machine's order, not copied; 4- and 2-bit elements are packed, low bits first.
func NewTensorOf(dtype DataType, data []byte, shape ...int64) (*Tensor, error) {
	tensor := wrap(dtype, data, shape)
	return tensor, tensor.check()
}

func wrap[T any](dtype DataType, data []T, shape []int64) *Tensor {
	return &Tensor{
		dtype: dtype,
		shape: slices.Clone(shape),
		data:  data,
		start: unsafe.Pointer(unsafe.SliceData(data)),
		bytes: len(data) * int(unsafe.Sizeof(*new(T))),
	}
}

// check lets the engine judge whether elements and shape fit.
func (t *Tensor) check() error {
	var pinner runtime.Pinner
	defer pinner.Unpin()
	value, err := t.lend(&pinner)
	raw.Asc_value_release(value)
	return err
}

// lend makes a value that is valid while the elements are pinned.
func (t *Tensor) lend(pinner *runtime.Pinner) (value uintptr, err error) {
	if texts, ok := t.data.([]string); ok {
		err = raw.Asc_value_create_strings(t.shape, texts, &value)
		return value, err
	}
	if t.bytes > 0 {
		pinner.Pin(t.start)
	}
	const readOnly = 1
	err = raw.Asc_value_create_tensor_borrowed(int(t.dtype), t.shape, uintptr(t.start), t.bytes,
		readOnly, &value)
	return value, err
}

// DataType is the type of the elements.
func (t *Tensor) DataType() DataType { return t.dtype }

// Shape gives the extents, outermost first; none for a scalar.
func (t *Tensor) Shape() []int64 { return slices.Clone(t.shape) }

// Data gives the elements, not copied. ErrTypeMismatch when they are not of type T.
func Data[T Element](t *Tensor) ([]T, error) {
	data, ok := t.data.([]T)
	if !ok || t.dtype != dataTypeOf[T]() {
		return nil, errorf(ErrTypeMismatch, "use Data of that type, or Bytes",
			"the elements are %s, asked for as %s", t.dtype, dataTypeOf[T]())
	}
	return data, nil
}

// Bytes gives the elements as they are in memory, not copied; nil for strings.
func (t *Tensor) Bytes() []byte { return unsafe.Slice((*byte)(t.start), t.bytes) }

// takeTensor copies what a run gave into Go's memory.
func takeTensor(value uintptr) (*Tensor, error) {
	var dtype int32
	var dims, data uintptr
	var rank, count, size int
	if err := raw.Asc_value_get_dtype(value, &dtype); err != nil {
		return nil, err
	}
	if err := raw.Asc_value_get_dims(value, &dims, &rank); err != nil {
		return nil, err
	}
	shape := slices.Clone(memory[int64](dims, rank))
	if DataType(dtype) == String {
		if err := raw.Asc_value_get_count(value, &count); err != nil {
			return nil, err
		}
		texts := make([]string, count)
		for i := range texts {
			if err := raw.Asc_value_get_string(value, i, &texts[i]); err != nil {
				return nil, err
			}
		}
		return &Tensor{dtype: String, shape: shape, data: texts}, nil
	}
	if err := raw.Asc_value_get_data(value, &data, &size); err != nil {
		return nil, err
	}
	return copyElements(DataType(dtype), memory[byte](data, size), shape), nil
}

// memory looks at what C lends.
func memory[T any](address uintptr, count int) []T {
	// Through a pointer to the address: it is none of Go's, which the compiler cannot know.
	return unsafe.Slice(*(**T)(unsafe.Pointer(&address)), count)
}

func copyElements(dtype DataType, from []byte, shape []int64) *Tensor {
	switch dtype {
	case Bool:
		return copyAs[bool](dtype, from, shape)
	case Int8:
		return copyAs[int8](dtype, from, shape)
	case Int16:
		return copyAs[int16](dtype, from, shape)
	case Int32:
		return copyAs[int32](dtype, from, shape)
	case Int64:
		return copyAs[int64](dtype, from, shape)
	case Uint16:
		return copyAs[uint16](dtype, from, shape)
	case Uint32:
		return copyAs[uint32](dtype, from, shape)
	case Uint64:
		return copyAs[uint64](dtype, from, shape)
	case Float32:
		return copyAs[float32](dtype, from, shape)
	case Float64:
		return copyAs[float64](dtype, from, shape)
	case Complex64:
		return copyAs[complex64](dtype, from, shape)
	case Complex128:
		return copyAs[complex128](dtype, from, shape)
	default:
		return copyAs[byte](dtype, from, shape)
	}
}

func copyAs[T any](dtype DataType, from []byte, shape []int64) *Tensor {
	data := make([]T, len(from)/int(unsafe.Sizeof(*new(T))))
	tensor := wrap(dtype, data, shape)
	copy(tensor.Bytes(), from)
	return tensor
}
