package pyasc_test

import (
	"regexp"
	"testing"

	"pyasc"
)

func TestVersionHasThreeNumbers(t *testing.T) {
	if version := pyasc.Version(); !regexp.MustCompile(`^\d+\.\d+\.\d+$`).MatchString(version) {
		t.Errorf("version is %q", version)
	}
}
