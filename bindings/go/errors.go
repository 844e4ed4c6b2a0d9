package pyasc

import (
	"fmt"

	"pyasc/raw"
)

// Error says why a call failed: a code, what was given and expected, the node of the user's graph,
// and a hint. Every error of this package is one; get at it with errors.As.
type Error = raw.Error

// Code is the number of an error. The codes below are for errors.Is(err, pyasc.ErrShapeMismatch).
type Code = raw.Code

// The codes of docs/errors.md, which are never renumbered.
const (
	ErrShapeMismatch       Code = 5001
	ErrTypeMismatch        Code = 5002
	ErrInvalidArgument     Code = 5003
	ErrNotFound            Code = 5004
	ErrInvalidGraph        Code = 5005
	ErrInvalidModel        Code = 5006
	ErrOutOfRange          Code = 5007
	ErrLayout              Code = 5008
	ErrUnavailable         Code = 5009
	ErrFile                Code = 5010
	ErrDestroyed           Code = 5011
	ErrOutOfMemory         Code = 5012
	ErrCancelled           Code = 5013
	ErrArithmetic          Code = 5014
	ErrDevice              Code = 5020
	ErrUnsupportedOperator Code = 5033
	ErrInternal            Code = 5099
)

func errorf(code Code, hint, format string, arguments ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, arguments...), Hint: hint}
}
