// export PKG_CONFIG_PATH=$PWD/build/meson-uninstalled LD_LIBRARY_PATH=$PWD/build/capi
// go run -C build/bindings/go $PWD/samples/go/main.go $PWD/tests/data/linear.onnx
package main

import (
	"errors"
	"fmt"
	"log"
	"os"

	"pyasc"
)

func main() {
	model, err := pyasc.Load(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	defer model.Close()
	x, _ := pyasc.NewTensor([]float32{1, 2, 3, 4, 5, 6}, 2, 3)
	outputs, err := model.Run(map[string]*pyasc.Tensor{"x": x})
	if err != nil {
		log.Fatal(err)
	}
	y, _ := pyasc.Data[float32](outputs["y"])
	fmt.Println(model.Outputs()[0].Type, y)

	narrow, _ := pyasc.NewTensor([]float32{1, 2})
	_, err = model.Run(map[string]*pyasc.Tensor{"x": narrow})
	fmt.Println(err, errors.Is(err, pyasc.ErrShapeMismatch))
}
