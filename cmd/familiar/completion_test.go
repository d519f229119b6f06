package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"familiar/internal/app"
)

// printed is what a command prints that needs nothing of the world.
func printed(t *testing.T, args ...string) string {
	t.Helper()
	var out, complaint bytes.Buffer
	code := run(program{args: args, dir: t.TempDir(), env: func(string) (string, bool) { return "", false }, out: &out, err: &complaint})
	if code != exitOK || complaint.Len() > 0 {
		t.Fatalf("%v: exit code %d, errors %q", args, code, &complaint)
	}
	return out.String()
}

// shell runs a script in a shell, with the completion for it in $1. Without the shell the test is skipped.
func shell(t *testing.T, name, script string, args ...string) []string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Skip(name + " is not installed")
	}
	completion := filepath.Join(t.TempDir(), "familiar")
	if err := os.WriteFile(completion, []byte(printed(t, "completion", name)), 0o600); err != nil {
		t.Fatal(err)
	}
	all := []string{"-c", script, completion}
	if name != "fish" { // whose $argv begins with the first argument
		all = []string{"-c", script, name, completion}
	}
	out, err := exec.Command(path, append(all, args...)...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", name, err, out)
	}
	return strings.Fields(string(out))
}

// completions are the beginnings of command lines, and what completes them.
var completions = []struct {
	line string
	want []string
}{
	{"familiar mem", []string{"memory"}},
	{"familiar memory s", []string{"show", "search"}},
	{"familiar search --int", []string{"--intent"}},
	{"familiar search --intent w", []string{"weather"}},
	{"familiar lookup --explain how --js", []string{"--json"}},
	{"familiar completion z", []string{"zsh"}},
	{"familiar memory show --hist", []string{"--history"}},
	{"familiar trace memory --hist", nil},
}

func TestCompletionInBash(t *testing.T) {
	t.Parallel()
	for _, c := range completions {
		words := strings.Split(c.line, " ")
		got := shell(t, "bash", `. "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _familiar; printf '%s\n' "${COMPREPLY[@]}"`, words...)
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.line, got, c.want)
		}
	}
	if got := shell(t, "bash", `. "$1"; COMP_WORDS=(familiar search --intent =); COMP_CWORD=3; _familiar; echo ${#COMPREPLY[@]}`); !slices.Equal(got, []string{"10"}) {
		t.Errorf("--intent=: %q", got)
	}
}

func TestCompletionInFish(t *testing.T) {
	t.Parallel()
	for _, c := range completions {
		var got []string
		for _, word := range shell(t, "fish", `source $argv[1]; complete -C $argv[2] | string split -f 1 \t; true`, c.line) {
			if !strings.Contains(word, ".") { // a file of this directory
				got = append(got, word)
			}
		}
		slices.Sort(got)
		if want := slices.Sorted(slices.Values(c.want)); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", c.line, got, want)
		}
	}
}

// TestCompletionInZsh has zsh pick the words, without a terminal. The functions that show them print their arguments.
func TestCompletionInZsh(t *testing.T) {
	t.Parallel()
	const script = `compdef() { :; }
compadd() { shift; for word in "$@"; do [[ $word == ${words[CURRENT]}* ]] && print -r -- $word; done }
_files() { :; }
_describe() { for word in "${(@P)argv[-1]}"; do word=${word%%:*}; [[ $word == ${words[CURRENT]}* ]] && print -r -- $word; done }
. "$1"; shift; words=("$@"); CURRENT=$#; _familiar; true`
	for _, c := range completions {
		if got := shell(t, "zsh", script, strings.Split(c.line, " ")...); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.line, got, c.want)
		}
	}
}

// TestMan holds the manual page against the tables that it is made of, and against those who read it.
func TestMan(t *testing.T) {
	t.Parallel()
	page := printed(t, "man")
	for _, s := range app.Settings() {
		if !strings.Contains(page, "\n.B "+roff(s.Name)+"\n") {
			t.Errorf("it does not tell of %s", s.Name)
		}
	}
	for _, want := range []string{".SS familiar memory show", ".SS familiar run", `.B \-\-intent`, ".SH EXIT STATUS"} {
		if !strings.Contains(page, want) {
			t.Errorf("%q is missing", want)
		}
	}
	file := filepath.Join(t.TempDir(), "familiar.1")
	if err := os.WriteFile(file, []byte(page), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := exec.LookPath("mandoc"); err == nil {
		out, _ := exec.Command("mandoc", "-T", "lint", "-W", "warning", file).CombinedOutput() // its status is that of the worst warning
		for line := range strings.Lines(string(out)) {
			if !strings.Contains(line, "missing date") { // a test knows of no commit
				t.Error(line)
			}
		}
	}
	if _, err := exec.LookPath("man"); err == nil {
		cmd := exec.Command("man", "--warnings=all", "-E", "UTF-8", "-l", file)
		var complaint strings.Builder
		cmd.Stderr = &complaint
		if _, err := cmd.Output(); err != nil || complaint.Len() > 0 {
			t.Errorf("man: %v\n%s", err, complaint.String())
		}
	}
}

func TestVersion(t *testing.T) {
	t.Parallel()
	if out := printed(t, "--version"); !strings.HasPrefix(out, version()+" (") || !strings.Contains(out, "go1.") {
		t.Errorf("%q", out)
	}
}
