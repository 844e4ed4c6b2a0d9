package pyasc_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"pyasc"
)

// data is the folder that the tests of all hosts share.
func data(name string) string { return filepath.Join(os.Getenv("ASC_TEST_DATA"), name) }

type caseTensor struct {
	Dtype   string
	Shape   []int64
	Hex     string
	Strings []string
}

type testCase struct {
	Name    string
	Model   string
	Inputs  map[string]caseTensor
	Outputs map[string]caseTensor
	Error   pyasc.Code
}

func (c caseTensor) tensor(t *testing.T) *pyasc.Tensor {
	t.Helper()
	if c.Dtype == "string" {
		tensor, err := pyasc.NewTensor(c.Strings, c.Shape...)
		check(t, err)
		return tensor
	}
	dtype := pyasc.Float32
	for dtype.String() != c.Dtype {
		dtype = dtype%pyasc.Float6e3m2 + 1
	}
	content, err := hex.DecodeString(c.Hex)
	check(t, err)
	tensor, err := pyasc.NewTensorOf(dtype, content, c.Shape...)
	check(t, err)
	return tensor
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestTheSameGraphGivesTheSameBytesEverywhere(t *testing.T) {
	text, err := os.ReadFile(data("cases.json"))
	check(t, err)
	var cases []testCase
	check(t, json.Unmarshal(text, &cases))
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			model, err := pyasc.Load(data(c.Model))
			check(t, err)
			defer model.Close()
			inputs := map[string]*pyasc.Tensor{}
			for name, input := range c.Inputs {
				inputs[name] = input.tensor(t)
			}
			outputs, err := model.Run(inputs)
			if c.Error != 0 {
				if !errors.Is(err, c.Error) {
					t.Fatalf("expected %v, got %v", c.Error, err)
				}
				return
			}
			check(t, err)
			if len(outputs) != len(c.Outputs) {
				t.Fatalf("%d outputs", len(outputs))
			}
			for name, expected := range c.Outputs {
				compare(t, name, outputs[name], expected)
			}
		})
	}
}

func compare(t *testing.T, name string, got *pyasc.Tensor, expected caseTensor) {
	t.Helper()
	if got.DataType().String() != expected.Dtype || !slices.Equal(got.Shape(), expected.Shape) {
		t.Fatalf("%s is %v%v", name, got.DataType(), got.Shape())
	}
	if expected.Dtype == "string" {
		texts, err := pyasc.Data[string](got)
		check(t, err)
		if !slices.Equal(texts, expected.Strings) {
			t.Errorf("%s is %q", name, texts)
		}
		return
	}
	content, err := hex.DecodeString(expected.Hex)
	check(t, err)
	if !bytes.Equal(got.Bytes(), content) {
		t.Errorf("%s is %x, expected %s", name, got.Bytes(), expected.Hex)
	}
}
