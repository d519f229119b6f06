package main

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

// TestStates shows the five states of a lookup to people: in the reply, and on the lookup's page of /context.
func TestStates(t *testing.T) {
	t.Parallel()
	const file = "testdata/states/states.txtar"
	archive, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	c := newConversation(t, withoutGolden(archive))
	var seen strings.Builder
	for n, line := range strings.Split(strings.TrimSpace(string(archive.Comment)), "\n") {
		if strings.HasPrefix(line, "#") {
			continue
		}
		c.do(fmt.Sprintf("%s:%d", file, n+1), line)
		switch verb, _, _ := strings.Cut(line, " "); verb {
		case "say":
			seen.WriteString("\n" + line + "\n")
		case "command":
			seen.WriteString(lookupRow.FindString(c.output))
		case "heard", "press":
			seen.WriteString(line + "\n" + c.output + "\n")
		}
	}
	c.stop()
	golden(t, file, archive, "stdout", clock.ReplaceAllString(tookRoughly.ReplaceAllString(seen.String(), "… ms"), "looked up …"))
}

var (
	lookupRow   = regexp.MustCompile(`(?m)^lookup .*\n`) // of the overview
	tookRoughly = regexp.MustCompile(`<?\d+ ms`)
	clock       = regexp.MustCompile(`looked up \d\d:\d\d UTC`)
)
