package main

import (
	"context"
	"errors"
	"io"
	"os"
	"strings"

	"golang.org/x/term"
)

// keyboard reads answers, a line each. It reads no further than the line, so that one who reads after it misses nothing.
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

// line returns the next line, hidden while it is typed where that is wished, or the cause for which ctx ended. The goroutine that reads ends with
// the input alone, since a read cannot be interrupted; what it sets of the terminal is put back.
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
