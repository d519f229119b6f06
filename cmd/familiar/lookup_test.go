package main

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

// TestLookupExplain runs the commands in testdata/lookup, one archive a command: its arguments, the far ends, then what
// the program prints.
func TestLookupExplain(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/lookup/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no commands: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			t.Parallel()
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			c := newConversation(t, withoutGolden(archive))
			code, out, complaint := c.command(nil, strings.Fields(string(archive.Comment))...)
			if code != exitOK || complaint != "" {
				t.Errorf("exit code %d: %s", code, complaint)
			}
			out = varying.ReplaceAllString(out, "…")
			out = sealed.ReplaceAllString(out, " ")
			golden(t, file, archive, "stdout", out)
		})
	}
}

// Times, dates of today, the nonce, and the character that the block has for spaces differ from run to run.
var (
	varying = regexp.MustCompile(`<1 ms|\d+ ms|\d+\.\d s|– |\d{4}-\d\d-\d\dT\d\d:\d\dZ|fetched \d\d:\d\dZ|Today is \d{4}-\d\d-\d\d|web-search-results-[0-9a-z]+| \(need .*\)|[+-]\d+\.\d\b|: 0\.\d\d`)
	sealed  = regexp.MustCompile(`[\x{e000}-\x{f8ff}]|in them the character . stands`)
)
