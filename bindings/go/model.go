package pyasc

import (
	"runtime"
	"slices"
	"strings"
	"sync"

	"pyasc/raw"
)

// Model is a compiled model. Many goroutines may use one.
type Model struct {
	mutex           sync.Mutex
	session         uintptr // 0 once closed
	inputs, outputs []Port
	overridable     []Port
}

// Port describes an input or output of a model.
type Port struct {
	Name     string
	Type     string   // all of it as text: "float32[N, 3]", "sequence(float32[*])"
	DataType DataType // of a tensor's elements; 0 for what is no tensor
	// Dims has the extents of a tensor as text: "3", or a name for what each run decides; nil where
	// not even their number is known.
	Dims []string
}

// Load reads and compiles a model file. Close it when it is no longer needed.
func Load(path string, options ...Option) (*Model, error) {
	return load(options, func(l *loading, session *uintptr) error {
		return raw.Asc_session_load_file(path, l.device, l.options, session)
	})
}

// LoadBytes reads and compiles a model in memory, which it copies.
func LoadBytes(model []byte, options ...Option) (*Model, error) {
	var pinner runtime.Pinner
	defer pinner.Unpin()
	bytes := wrap(Uint8, model, []int64{int64(len(model))})
	if len(model) > 0 {
		pinner.Pin(bytes.start)
	}
	var value uintptr
	err := raw.Asc_value_create_tensor_copy(int(Uint8), bytes.shape, uintptr(bytes.start), bytes.bytes,
		&value)
	if err != nil {
		return nil, err
	}
	defer raw.Asc_value_release(value)
	return load(options, func(l *loading, session *uintptr) error {
		return raw.Asc_session_load_bytes(value, l.device, l.options, session)
	})
}

func load(options []Option, compile func(*loading, *uintptr) error) (*Model, error) {
	var l loading
	if err := raw.Asc_compile_options_create(&l.options); err != nil {
		return nil, err
	}
	defer raw.Asc_compile_options_release(l.options)
	for _, option := range options {
		if err := option(&l); err != nil {
			return nil, err
		}
	}
	var session uintptr
	if err := compile(&l, &session); err != nil {
		return nil, err
	}
	model := &Model{session: session}
	runtime.SetFinalizer(model, (*Model).Close)
	var err error
	if model.inputs, err = ports(session, raw.Asc_session_get_input_count, raw.Asc_session_get_input); err == nil {
		model.outputs, err = ports(session, raw.Asc_session_get_output_count, raw.Asc_session_get_output)
	}
	if err == nil {
		model.overridable, err = ports(session, raw.Asc_session_get_overridable_count,
			raw.Asc_session_get_overridable)
	}
	if err != nil {
		model.Close()
		return nil, err
	}
	return model, nil
}

func ports(session uintptr, count func(uintptr, *int) error,
	get func(uintptr, int, *string, *uintptr) error) ([]Port, error) {
	var number int
	if err := count(session, &number); err != nil {
		return nil, err
	}
	all := make([]Port, number)
	for i := range all {
		var kind uintptr
		if err := get(session, i, &all[i].Name, &kind); err != nil {
			return nil, err
		}
		if err := all[i].describe(kind); err != nil {
			return nil, err
		}
	}
	return all, nil
}

func (p *Port) describe(of uintptr) error {
	var kind, dtype int32
	var rank int64
	if err := raw.Asc_type_get_text(of, &p.Type); err != nil {
		return err
	}
	if err := raw.Asc_type_get_kind(of, &kind); err != nil || int(kind) != raw.ASC_TENSOR {
		return err
	}
	if err := raw.Asc_type_get_dtype(of, &dtype); err != nil {
		return err
	}
	p.DataType = DataType(dtype)
	if err := raw.Asc_type_get_rank(of, &rank); err != nil || rank < 0 {
		return err
	}
	p.Dims = make([]string, rank)
	for axis := range p.Dims {
		if err := raw.Asc_type_get_extent_text(of, axis, &p.Dims[axis]); err != nil {
			return err
		}
	}
	return nil
}

// Inputs describes what Run takes.
func (m *Model) Inputs() []Port { return slices.Clone(m.inputs) }

// Outputs describes what Run gives.
func (m *Model) Outputs() []Port { return slices.Clone(m.outputs) }

// Overridable describes inputs with a default, which Run takes too: initializers that an ONNX model of
// IR version 4 or later lists as inputs. The first run that is given any compiles the model for it.
func (m *Model) Overridable() []Port { return slices.Clone(m.overridable) }

// Run computes the outputs. The elements of the inputs are read where they are; the outputs are new
// tensors. ErrShapeMismatch and ErrTypeMismatch name the input that does not fit.
func (m *Model) Run(inputs map[string]*Tensor) (map[string]*Tensor, error) {
	session, err := m.borrow()
	if err != nil {
		return nil, err
	}
	defer raw.Asc_session_release(session)
	ports := m.inputs
	for name := range inputs {
		if indexOf(m.overridable, name) >= 0 {
			ports = append(slices.Clone(m.inputs), m.overridable...)
		} else if indexOf(m.inputs, name) < 0 {
			return nil, errorf(ErrNotFound, "", "the model has no input '%s'; it has %s", name,
				names(m.inputs))
		}
	}
	var pinner runtime.Pinner
	defer pinner.Unpin()
	given := make([]uintptr, len(ports))
	defer release(given)
	for i, port := range ports {
		if tensor := inputs[port.Name]; tensor != nil {
			if given[i], err = tensor.lend(&pinner); err != nil {
				return nil, err
			}
		}
	}
	results := make([]uintptr, len(m.outputs))
	defer release(results)
	if err := raw.Asc_session_run(session, given, 0, results); err != nil {
		return nil, err
	}
	outputs := make(map[string]*Tensor, len(results))
	for i, port := range m.outputs {
		if port.DataType == 0 {
			return nil, errorf(ErrUnavailable, "", "output '%s' is a %s: only tensors can be given to Go",
				port.Name, port.Type)
		}
		if outputs[port.Name], err = takeTensor(results[i]); err != nil {
			return nil, err
		}
	}
	return outputs, nil
}

// ExportONNX writes the graph that was loaded, before any optimisation, as an ONNX model. A failure
// leaves what was at path.
func (m *Model) ExportONNX(path string) error {
	return m.export(path, raw.Asc_session_create_source_graph)
}

// ExportOptimizedONNX writes the graph that the compiler made, its own operators as ONNX's. Inputs with
// a default are fixed in it.
func (m *Model) ExportOptimizedONNX(path string) error {
	return m.export(path, raw.Asc_session_create_graph)
}

func (m *Model) export(path string, create func(uintptr, *uintptr) error) error {
	session, err := m.borrow()
	if err != nil {
		return err
	}
	defer raw.Asc_session_release(session)
	var graph uintptr
	if err := create(session, &graph); err != nil {
		return err
	}
	defer raw.Asc_graph_release(graph)
	return raw.Asc_graph_export_file(graph, path, 0)
}

// Close frees the model; runs that are going on end as if nothing had happened. It may be called
// again; everything else then fails with ErrDestroyed.
func (m *Model) Close() error {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	raw.Asc_session_release(m.session)
	m.session = 0
	runtime.SetFinalizer(m, nil)
	return nil
}

// borrow adds a reference, so that Close cannot take the session away from a run.
func (m *Model) borrow() (uintptr, error) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	if m.session == 0 {
		return 0, errorf(ErrDestroyed, "", "the model is closed")
	}
	raw.Asc_session_retain(m.session)
	return m.session, nil
}

func release(values []uintptr) {
	for _, value := range values {
		raw.Asc_value_release(value)
	}
}

func indexOf(ports []Port, name string) int {
	for i := range ports {
		if ports[i].Name == name {
			return i
		}
	}
	return -1
}

func names(ports []Port) string {
	quoted := make([]string, len(ports))
	for i, port := range ports {
		quoted[i] = "'" + port.Name + "'"
	}
	return strings.Join(quoted, ", ")
}
