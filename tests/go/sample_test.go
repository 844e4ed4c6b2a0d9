package pyasc_test

import (
	"os/exec"
	"strings"
	"testing"
)

func TestSample(t *testing.T) {
	output, err := exec.Command("go", "run", data("../../samples/go/main.go"), data("linear.onnx")).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	if text := string(output); !strings.Contains(text, "float32[N, 2] [5.25 4 ") ||
		!strings.Contains(text, "\nE5001: ") || !strings.HasSuffix(text, " true\n") {
		t.Errorf("it says\n%s", text)
	}
}
