package raw_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"pyasc/raw"
)

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func tensor(t *testing.T, elements ...float32) uintptr {
	t.Helper()
	var value uintptr
	check(t, raw.Asc_value_create_tensor(raw.ASC_FLOAT32, []int64{int64(len(elements))}, &value))
	t.Cleanup(func() { raw.Asc_value_release(value) })
	copy(floats(t, value), elements)
	return value
}

func floats(t *testing.T, value uintptr) []float32 {
	t.Helper()
	var data uintptr
	var bytes int
	check(t, raw.Asc_value_get_mutable_data(value, &data, &bytes))
	return unsafe.Slice(*(**float32)(unsafe.Pointer(&data)), bytes/4)
}

func TestGraphs(t *testing.T) {
	var graph, kind, attributes uintptr
	check(t, raw.Asc_graph_create("graph", &graph))
	defer raw.Asc_graph_release(graph)
	check(t, raw.Asc_type_create_tensor(raw.ASC_FLOAT32, []string{"N", "3"}, &kind))
	defer raw.Asc_type_release(kind)
	var x, y int64
	check(t, raw.Asc_graph_add_input(graph, "x", kind, &x))
	check(t, raw.Asc_attributes_create(&attributes))
	defer raw.Asc_attributes_release(attributes)
	check(t, raw.Asc_attributes_set_ints(attributes, "perm", []int64{1, 0}))
	outputs := make([]int64, 1)
	check(t, raw.Asc_graph_add_operator(graph, "Transpose", []int64{x}, attributes, 0, "é", outputs))
	check(t, raw.Asc_graph_add_leaf_outputs(graph))
	var name, text string
	check(t, raw.Asc_graph_get_output(graph, 0, &name, &y))
	if name != "é" || y != outputs[0] {
		t.Errorf("output is %q, %d", name, y)
	}
	check(t, raw.Asc_graph_create_text(graph, &text))
	if !strings.Contains(text, "Transpose") {
		t.Error(text)
	}
}

func TestAttributes(t *testing.T) {
	var attributes uintptr
	check(t, raw.Asc_attributes_create(&attributes))
	defer raw.Asc_attributes_release(attributes)
	check(t, raw.Asc_attributes_set_floats(attributes, "floats", []float64{1, 2.5}))
	check(t, raw.Asc_attributes_set_strings(attributes, "strings", []string{"a", "", strings.Repeat("b", 99)}))
	check(t, raw.Asc_attributes_set_string(attributes, "string", ""))
	if err := raw.Asc_attributes_set_int(0, "no attributes", 1); !errors.Is(err, raw.Code(5003)) {
		t.Errorf("NULL: %v", err)
	}
}

func TestValues(t *testing.T) {
	one, two := tensor(t, 1), tensor(t, 2, 3)
	var sequence, item, entries uintptr
	check(t, raw.Asc_value_create_sequence([]uintptr{one, two}, raw.ASC_UNDEFINED, &sequence))
	defer raw.Asc_value_release(sequence)
	var count int
	check(t, raw.Asc_value_get_count(sequence, &count))
	if count != 2 {
		t.Errorf("%d items", count)
	}
	check(t, raw.Asc_value_create_item(sequence, 1, &item))
	defer raw.Asc_value_release(item)
	if got := floats(t, item); !slices.Equal(got, []float32{2, 3}) {
		t.Errorf("item is %v", got)
	}
	check(t, raw.Asc_value_create_string_map([]string{"b", "a"}, []uintptr{one, two}, &entries))
	defer raw.Asc_value_release(entries)
	var key string
	check(t, raw.Asc_value_get_string_key(entries, 0, &key))
	if key != "a" {
		t.Errorf("first key is %q", key)
	}
}

func TestLentAndOwnedTexts(t *testing.T) {
	var devices, method string
	check(t, raw.Asc_device_create_list(&devices))
	if !strings.HasPrefix(devices, "[{") || !strings.Contains(devices, "cpu") {
		t.Error(devices)
	}
	check(t, raw.Asc_registry_get_method("Conv", &method))
	if method != "conv2d" {
		t.Errorf("method is %q", method)
	}
	err := raw.Asc_registry_get_method("Convv", &method)
	if !errors.Is(err, raw.Code(5033)) || method != "conv2d" {
		t.Errorf("no such operator: %v, %q", err, method)
	}
	var dtype int32
	check(t, raw.Asc_data_type_parse("bfloat16", &dtype))
	if int(dtype) != raw.ASC_BFLOAT16 {
		t.Errorf("number %d", dtype)
	}
}
