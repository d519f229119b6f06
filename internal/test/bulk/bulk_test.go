package bulk

import (
	"strings"
	"testing"
)

// complaints is a test that may fail.
type complaints struct {
	testing.TB
	n int
}

func (c *complaints) Helper()               {}
func (c *complaints) Errorf(string, ...any) { c.n++ }

// TestLinear measures a search that is linear and one that is quadratic.
func TestLinear(t *testing.T) {
	for name, want := range map[string]int{"linear": 0, "quadratic": 1} {
		c := &complaints{TB: t}
		Linear(c, name, 40_000, func(size int) func() {
			text := strings.Repeat("a", size)
			return func() {
				strings.Count(text, "ab")
				for i := 0; name == "quadratic" && i < len(text); i++ {
					strings.IndexByte(text[i:], 'b')
				}
			}
		})
		if c.n != want {
			t.Errorf("%s work gives %d complaints, want %d", name, c.n, want)
		}
	}
}

func TestOf(t *testing.T) {
	t.Setenv("FAMILIAR_TEST_FULL", "")
	if n := Of(1, 2); n != 1 {
		t.Errorf("a push does %d", n)
	}
	t.Setenv("FAMILIAR_TEST_FULL", "1")
	if n := Of(1, 2); n != 2 {
		t.Errorf("the night does %d", n)
	}
}
