package terminal

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/reeflective/readline"
	"golang.org/x/term"
)

// Editor reads lines that a person edits at the process's own terminal, with the keys of readline: a history on disk that Ctrl-R searches, several
// lines by a paste or in $EDITOR (Ctrl-X Ctrl-E), completion by the Tab key. NewEditor makes one.
type Editor struct {
	shell *readline.Shell
	lines chan read
	state *term.State // of the terminal, before anything was changed
}

// below is how many lines of the window stay free below a prompt.
const below = 6

// NewEditor returns an editor that keeps its history in a file, which only its owner may read, and completes what complete returns for
// what stands left of the cursor: words, each with what it does.
func NewEditor(prompt, history string, complete func(line string) [][2]string) (*Editor, error) {
	state, err := term.GetState(int(os.Stdin.Fd()))
	if err != nil {
		return nil, fmt.Errorf("read the terminal's settings: %w", err)
	}
	f, err := os.OpenFile(history, os.O_CREATE|os.O_RDONLY, 0o600) // the library does not make it
	if err != nil {
		return nil, fmt.Errorf("open the history of lines: %w", err)
	}
	if err := f.Close(); err != nil {
		return nil, fmt.Errorf("open the history of lines: %w", err)
	}
	e := &Editor{shell: readline.NewShell(), lines: make(chan read, 1), state: state}
	e.shell.Prompt.Primary(func() string { return prompt })
	e.shell.Prompt.Secondary(func() string { return strings.Repeat(" ", max(0, len(prompt)-2)) + "… " })
	e.shell.History.Delete()
	e.shell.History.AddFromFile("chat", history)
	for name, value := range map[string]bool{
		"enable-bracketed-paste": true,
		"cursor-position-probe":  false, // what is typed while the terminal answers may be held until the next key
	} {
		if err := e.shell.Config.Set(name, value); err != nil {
			return nil, fmt.Errorf("set up the line editor: %w", err)
		}
	}
	// What is written in $EDITOR is looked at once more before it is sent.
	e.shell.Config.Bind("emacs", "\x18\x05", "edit-command-line", false)
	e.shell.AcceptMultiline = func(line []rune) bool { return !strings.HasSuffix(string(line), `\`) }
	e.shell.Completer = func(line []rune, cursor int) readline.Completions {
		var all []string
		for _, c := range complete(string(line[:cursor])) {
			all = append(all, c[0], c[1])
		}
		return readline.CompleteValuesDescribed(all...).Tag("commands")
	}
	return e, nil
}

// Line implements Input. When ctx is done before, the terminal is as it was found; nothing more can be read then.
func (e *Editor) Line(ctx context.Context) (string, error) {
	// Without that probe the library must not begin on the last lines of the window. What it shows below the line has room there, too.
	fmt.Print(strings.Repeat("\n", below) + fmt.Sprintf("\x1b[%dA", below))
	go func() {
		line, err := e.shell.Readline()
		switch {
		case errors.Is(err, readline.ErrInterrupt):
			err = ErrInterrupted
		case err != nil && !errors.Is(err, io.EOF):
			err = fmt.Errorf("read a line: %w", err)
		}
		e.lines <- read{strings.ReplaceAll(line, "\\\n", "\n"), err}
	}()
	select {
	case r := <-e.lines:
		return r.line, r.err
	case <-ctx.Done():
		return "", errors.Join(ctx.Err(), e.Close())
	}
}

// Close gives the terminal back its settings.
func (e *Editor) Close() error {
	if err := term.Restore(int(os.Stdin.Fd()), e.state); err != nil {
		return fmt.Errorf("give the terminal its settings back: %w", err)
	}
	return nil
}

// Columns returns the width of the window on a file, 0 where it has none.
func Columns(f *os.File) int {
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 0
	}
	return width
}
