package pyasc_test

import (
	"errors"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pyasc"
	"pyasc/raw"
)

func load(t *testing.T, options ...pyasc.Option) *pyasc.Model {
	t.Helper()
	model, err := pyasc.Load(data("linear.onnx"), options...)
	check(t, err)
	t.Cleanup(func() { model.Close() })
	return model
}

func run(t *testing.T, model *pyasc.Model, x []float32, shape ...int64) []float32 {
	t.Helper()
	tensor, err := pyasc.NewTensor(x, shape...)
	check(t, err)
	outputs, err := model.Run(map[string]*pyasc.Tensor{"x": tensor})
	check(t, err)
	y, err := pyasc.Data[float32](outputs["y"])
	check(t, err)
	return y
}

func TestExport(t *testing.T) {
	model := load(t)
	for _, export := range []func(string) error{model.ExportONNX, model.ExportOptimizedONNX} {
		path := t.TempDir() + "/again.onnx"
		check(t, export(path))
		again, err := pyasc.Load(path)
		check(t, err)
		if y := run(t, again, []float32{1, 2, 3}, 1, 3); !slices.Equal(y, []float32{5.25, 4}) {
			t.Errorf("y is %v", y)
		}
		check(t, again.Close())
		if err := export("/no/such/folder/again.onnx"); !errors.Is(err, pyasc.ErrFile) {
			t.Errorf("error is %v", err)
		}
	}
}

func TestLoadRunFailClose(t *testing.T) {
	model := load(t)
	if y := run(t, model, []float32{1, 2, 3}, 1, 3); !slices.Equal(y, []float32{5.25, 4}) {
		t.Errorf("y is %v", y)
	}
	wide, err := pyasc.NewTensor(make([]float32, 4), 1, 4)
	check(t, err)
	_, err = model.Run(map[string]*pyasc.Tensor{"x": wide})
	var failure *pyasc.Error
	if !errors.Is(err, pyasc.ErrShapeMismatch) || !errors.As(err, &failure) {
		t.Fatalf("error is %v", err)
	}
	if failure.Code != 5001 || !strings.Contains(failure.Message, "'x'") {
		t.Errorf("error is %+v", failure)
	}
	if y := run(t, model, []float32{0, 0, 0}, 1, 3); !slices.Equal(y, []float32{0.25, -8}) {
		t.Errorf("after a failure y is %v", y)
	}
	check(t, model.Close())
	check(t, model.Close())
	if _, err = model.Run(nil); !errors.Is(err, pyasc.ErrDestroyed) {
		t.Errorf("after Close: %v", err)
	}
}

func TestPorts(t *testing.T) {
	model := load(t)
	x, y := model.Inputs(), model.Outputs()
	if len(x) != 1 || x[0].Name != "x" || x[0].DataType != pyasc.Float32 ||
		x[0].Type != "float32[N, 3]" || !slices.Equal(x[0].Dims, []string{"N", "3"}) {
		t.Errorf("inputs are %+v", x)
	}
	if len(y) != 1 || y[0].Name != "y" || !slices.Equal(y[0].Dims, []string{"N", "2"}) {
		t.Errorf("outputs are %+v", y)
	}
}

func TestLoadBytesNeedsThemNoLonger(t *testing.T) {
	content, err := os.ReadFile(data("linear.onnx"))
	check(t, err)
	model, err := pyasc.LoadBytes(content)
	check(t, err)
	defer model.Close()
	clear(content)
	if y := run(t, model, []float32{1, 2, 3}, 1, 3); !slices.Equal(y, []float32{5.25, 4}) {
		t.Errorf("y is %v", y)
	}
}

func TestWhatCannotBeLoaded(t *testing.T) {
	for _, content := range [][]byte{nil, []byte("no model")} {
		if _, err := pyasc.LoadBytes(content); !errors.Is(err, pyasc.ErrInvalidModel) {
			t.Errorf("%q: %v", content, err)
		}
	}
	if _, err := pyasc.Load("nowhere.onnx"); !errors.Is(err, pyasc.ErrFile) {
		t.Errorf("no file: %v", err)
	}
}

func TestOptions(t *testing.T) {
	model := load(t, pyasc.WithDevice("cpu"), pyasc.WithThreads(1), pyasc.WithInt("graph_opt_level", 0))
	if y := run(t, model, []float32{1, 2, 3}, 1, 3); !slices.Equal(y, []float32{5.25, 4}) {
		t.Errorf("y is %v", y)
	}
	for _, bad := range []struct {
		option pyasc.Option
		code   pyasc.Code
		says   string
	}{
		{pyasc.WithInt("graph_opt_levle", 1), pyasc.ErrInvalidArgument, "graph_opt_level"},
		{pyasc.WithDevice("gpu"), pyasc.ErrDevice, "cpu"},
	} {
		_, err := pyasc.Load(data("linear.onnx"), bad.option)
		if !errors.Is(err, bad.code) || !strings.Contains(err.Error(), bad.says) {
			t.Errorf("expected %v, got %v", bad.code, err)
		}
	}
}

func TestResultsThatAreNoTensorsAreRefusedByName(t *testing.T) {
	model, err := pyasc.Load(data("sequence.onnx"))
	check(t, err)
	defer model.Close()
	x, err := pyasc.NewTensor([]float32{1, 2})
	check(t, err)
	_, err = model.Run(map[string]*pyasc.Tensor{"x": x})
	if !errors.Is(err, pyasc.ErrUnavailable) || !strings.Contains(err.Error(), "output 'pair' is a sequence(") {
		t.Errorf("error is %v", err)
	}
}

func TestNothingIsLeftBehind(t *testing.T) {
	before := raw.Asc_handle_count()
	model := load(t)
	wrong, err := pyasc.NewTensor(make([]float64, 3), 1, 3)
	check(t, err)
	for i := 0; i < 100; i++ {
		run(t, model, []float32{1, 2, 3}, 1, 3)
		for _, name := range []string{"x", "z"} {
			if _, err := model.Run(map[string]*pyasc.Tensor{name: wrong}); err == nil {
				t.Error("float64 was taken")
			}
		}
		if _, err := pyasc.LoadBytes([]byte{0}); err == nil {
			t.Error("a zero was taken for a model")
		}
	}
	check(t, model.Close())
	if after := raw.Asc_handle_count(); after != before {
		t.Errorf("%d handles before, %d after", before, after)
	}
}

func TestFinaliserClosesAForgottenModel(t *testing.T) {
	before := raw.Asc_handle_count()
	func() {
		_, err := pyasc.Load(data("linear.onnx"))
		check(t, err)
	}()
	for i := 0; i < 100 && raw.Asc_handle_count() > before; i++ {
		runtime.GC()
		time.Sleep(10 * time.Millisecond)
	}
	if after := raw.Asc_handle_count(); after != before {
		t.Errorf("%d handles before, %d after", before, after)
	}
}

func TestCloseDuringRuns(t *testing.T) {
	model := load(t)
	x, err := pyasc.NewTensor(make([]float32, 3*100), 100, 3)
	check(t, err)
	var group sync.WaitGroup
	for i := 0; i < 8; i++ {
		group.Add(1)
		go func() {
			defer group.Done()
			for {
				outputs, err := model.Run(map[string]*pyasc.Tensor{"x": x})
				if errors.Is(err, pyasc.ErrDestroyed) {
					return
				}
				if err != nil || len(outputs) != 1 {
					t.Error(err)
					return
				}
			}
		}()
	}
	run(t, model, make([]float32, 3), 1, 3)
	check(t, model.Close())
	group.Wait()
}
