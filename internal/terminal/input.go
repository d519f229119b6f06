package terminal

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/reeflective/readline"
	"golang.org/x/term"
)

// Input is a source of lines: a [Pipe] or an [Editor].
type Input interface {
	// Line returns the next line without its end. Pasted or edited text may have several lines. The error is io.EOF at
	// the end of the input. It is [ErrInterrupted] for Ctrl-C, after which the next line can be read.
	Line(ctx context.Context) (string, error)
}

// Errors of Line.
var (
	ErrInterrupted = errors.New("interrupted")
	ErrLineTooLong = errors.New("a line is longer than 1 MiB")
)

// maxLine is the longest line that a pipe may have, in bytes.
const maxLine = 1 << 20

// Pipe reads lines without editing them. Make it with NewPipe.
type Pipe struct {
	scanner *bufio.Scanner
	asked   chan struct{}
	lines   chan read
}

type read struct {
	line string
	err  error
}

// NewPipe returns the lines of a reader. A goroutine reads them, because a read cannot be interrupted. It ends with the
// input.
func NewPipe(in io.Reader) *Pipe {
	p := &Pipe{scanner: bufio.NewScanner(in), asked: make(chan struct{}, 1), lines: make(chan read, 1)}
	p.scanner.Buffer(make([]byte, 0, 4096), maxLine)
	go p.read()
	return p
}

func (p *Pipe) read() {
	for range p.asked {
		if p.scanner.Scan() {
			p.lines <- read{line: p.scanner.Text()}
			continue
		}
		err := p.scanner.Err()
		switch {
		case errors.Is(err, bufio.ErrTooLong):
			err = ErrLineTooLong
		case err == nil:
			err = io.EOF
		}
		p.lines <- read{err: err}
		return
	}
}

// Line implements Input.
func (p *Pipe) Line(ctx context.Context) (string, error) {
	select {
	case p.asked <- struct{}{}:
	default: // the line asked for before has not come
	}
	select {
	case r := <-p.lines:
		if r.err != nil {
			p.lines <- r // later calls return the same error
		}
		return r.line, r.err
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// Editor reads lines that a person edits at the process's own terminal, with the keys of readline. It keeps a history on
// disk, which Ctrl-R searches. Text of several lines can be pasted or written in $EDITOR (Ctrl-X Ctrl-E). The Tab key
// completes. Make it with NewEditor.
type Editor struct {
	shell *readline.Shell
	lines chan read
	state *term.State // of the terminal before any change
}

// below is how many lines of the window stay free below a prompt.
const below = 6

// NewEditor returns an editor. It keeps its history in a file that only its owner may read. complete returns completions
// for the text left of the cursor, each with a description.
func NewEditor(prompt, history string, complete func(line string) [][2]string) (*Editor, error) {
	state, err := term.GetState(int(os.Stdin.Fd()))
	if err != nil {
		return nil, fmt.Errorf("read the terminal's settings: %w", err)
	}
	f, err := os.OpenFile(history, os.O_CREATE|os.O_RDONLY, 0o600) // the library does not create it
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
		"cursor-position-probe":  false, // the probe may hold back what is typed until the next key
	} {
		if err := e.shell.Config.Set(name, value); err != nil {
			return nil, fmt.Errorf("set up the line editor: %w", err)
		}
	}
	// Text from $EDITOR is shown again before it is sent.
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

// Line implements Input. If ctx ends first, Line restores the terminal, and nothing more can be read.
func (e *Editor) Line(ctx context.Context) (string, error) {
	// Without the probe, the library must not begin on the last lines of the window. They are also the room for what it
	// shows below the line.
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

// Close restores the terminal's settings.
func (e *Editor) Close() error {
	if err := term.Restore(int(os.Stdin.Fd()), e.state); err != nil {
		return fmt.Errorf("give the terminal its settings back: %w", err)
	}
	return nil
}

// Columns returns the width of the window that a file belongs to, or 0 if it has none.
func Columns(f *os.File) int {
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 0
	}
	return width
}
