package main

import (
	"fmt"
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestMain makes this test binary answer to the name familiar, so that scripts and tests can start the whole program
// as a process of its own.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"familiar": main})
}

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
			return nil
		},
	})
}
