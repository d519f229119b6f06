package doctor

import (
	"context"
	"errors"
	"io"
	"os"
	"strings"

	"golang.org/x/term"
)

// keyboard reads answers, one line each. It never reads past the line: another reader may follow.
type keyboard struct {
	in  io.Reader
	tty *os.File // nil: the input is no terminal
}

func newKeyboard(in io.Reader) *keyboard {
	k := &keyboard{in: in}
	if f, ok := in.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		k.tty = f
	}
	return k
}

// line returns the next line, or the cause of ctx's end. hidden does not show it while it is typed. A read cannot be interrupted: its goroutine
// ends with the input. The terminal's state is restored.
func (k *keyboard) line(ctx context.Context, hidden bool) (string, error) {
	hidden = hidden && k.tty != nil
	var before *term.State
	if hidden {
		before, _ = term.GetState(int(k.tty.Fd()))
	}
	type typed struct {
		text string
		err  error
	}
	got := make(chan typed, 1)
	go func() {
		text, err := k.read(hidden)
		got <- typed{text, err}
	}()
	select {
	case t := <-got:
		return strings.TrimSpace(t.text), t.err
	case <-ctx.Done():
		if before != nil {
			_ = term.Restore(int(k.tty.Fd()), before)
		}
		return "", context.Cause(ctx)
	}
}

func (k *keyboard) read(hidden bool) (string, error) {
	if hidden {
		b, err := term.ReadPassword(int(k.tty.Fd()))
		return string(b), err
	}
	var line []byte
	for one := make([]byte, 1); ; {
		n, err := k.in.Read(one)
		switch {
		case n == 1 && one[0] == '\n':
			return string(line), nil
		case n == 1:
			line = append(line, one[0])
		case errors.Is(err, io.EOF) && len(line) > 0:
			return string(line), nil
		case err != nil:
			return "", err
		}
	}
}
