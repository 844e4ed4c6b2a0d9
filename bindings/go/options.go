package pyasc

import "pyasc/raw"

// Option steers how a model is compiled.
type Option func(*loading) error

type loading struct {
	device  string
	options uintptr
}

// WithDevice names the device that runs the model; the host, "cpu", without it.
func WithDevice(name string) Option {
	return func(l *loading) error {
		l.device = name
		return nil
	}
}

// WithThreads sets how many cores are used at most; 0, the default, is all.
func WithThreads(count int) Option { return WithInt("threads", int64(count)) }

// WithInt sets a number or flag of the compiler, such as "graph_opt_level" (0 to 3).
func WithInt(key string, value int64) Option {
	return func(l *loading) error { return raw.Asc_compile_options_set_int(l.options, key, value) }
}

// WithText sets a text of the compiler, such as "dump_path".
func WithText(key, value string) Option {
	return func(l *loading) error { return raw.Asc_compile_options_set_text(l.options, key, value) }
}
