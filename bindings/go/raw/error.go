package raw

import (
	"fmt"
	"runtime"
	"strings"
	"unsafe"
)

// Code is the number of an error, see docs/errors.md. It is an error itself, for errors.Is.
type Code int32

func (c Code) Error() string { return fmt.Sprintf("E%d", int32(c)) }

// Error says why a call failed.
type Error struct {
	Code    Code
	Message string // what was given, and what was expected
	Node    string // the node of the user's graph; empty where there is none
	Hint    string // what would help; empty where nothing is known
}

// Error gives all of it in one line.
func (e *Error) Error() string {
	var text strings.Builder
	text.WriteString(e.Code.Error())
	if e.Node != "" {
		fmt.Fprintf(&text, " at node '%s'", e.Node)
	}
	text.WriteString(": " + e.Message)
	if e.Hint != "" {
		fmt.Fprintf(&text, " (hint: %s)", e.Hint)
	}
	return text.String()
}

// Is makes errors.Is(err, code) true for errors of that code.
func (e *Error) Is(target error) bool {
	code, ok := target.(Code)
	return ok && code == e.Code
}

// failure takes over a status.
func failure(status uintptr) error {
	if status == 0 {
		return nil
	}
	defer Asc_status_release(status)
	return &Error{
		Code:    Code(Asc_status_code(status)),
		Message: Asc_status_get_message(status),
		Node:    Asc_status_get_node(status),
		Hint:    Asc_status_get_hint(status),
	}
}

// lentText has the layout of asc_string; its text is not Go's memory. A call that fails leaves its
// size at -1.
type lentText struct {
	data *byte
	size int
}

func (t *lentText) copyTo(target *string) {
	if t.size < 0 {
		return
	}
	*target = strings.Clone(unsafe.String(t.data, t.size))
}

// moveTo takes over a text that C allocated.
func (t *lentText) moveTo(target *string) {
	t.copyTo(target)
	Swig_free(uintptr(unsafe.Pointer(t.data)))
}

func pinTexts(pinner *runtime.Pinner, texts []string) {
	for _, text := range texts {
		if text != "" {
			pinner.Pin(unsafe.StringData(text))
		}
	}
}
