// Package pyasc is a graph engine for neural networks: it builds, imports, optimises, compiles and
// runs graphs.
package pyasc

import "pyasc/raw"

// Version is the engine's semantic version, "major.minor.patch".
func Version() string {
	return raw.Asc_version()
}
