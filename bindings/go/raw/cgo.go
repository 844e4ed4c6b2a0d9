// Package raw is the layer that SWIG generates from the C ABI: use package pyasc instead.
package raw

// #cgo pkg-config: asc
import "C"
