package main

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestMain makes this test binary answer to the name familiar. So scripts and tests can start the whole program as a process of its own.
func TestMain(m *testing.M) {
	testscript.Main(wide{m}, map[string]func(){"familiar": main, "familiar-at-home": atHome, "relay": relay})
}

// wide runs more tests at a time than there are processors, unless -parallel says how many. Most of a conversation is waiting for its far
// ends.
type wide struct{ *testing.M }

func (w wide) Run() int {
	flag.Parse()
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "test.parallel" })
	if !given {
		flag.Set("test.parallel", "6")
	}
	return w.M.Run()
}

// withoutSleep keeps a process that was built with the race detector from sleeping for a second at its end.
const withoutSleep = "GORACE=atexit_sleep_ms=0"

// TestScripts runs the program as an operator does, careless ones included. The scripts ask no model and no web.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Condition: func(cond string) (bool, error) {
			if cond == "root" {
				return os.Getuid() == 0, nil
			}
			return false, fmt.Errorf("unknown condition %q", cond)
		},
		Setup: func(e *testscript.Env) error {
			// A server that is down, so that no Ollama of this machine answers in a script.
			e.Setenv("OPENAI_BASE_URL", "http://127.0.0.1:1/v1")
			e.Setenv("OPENAI_MODEL", "none")
			e.Setenv("FAMILIAR_WEB", "off")
			e.Setenv("HOME", "") // whose things are not touched
			name, value, _ := strings.Cut(withoutSleep, "=")
			e.Setenv(name, value)
			return nil
		},
	})
}
