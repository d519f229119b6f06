package terminal

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"

	"golang.org/x/term"
)

// Input is a source of lines: a [Pipe] or an [Editor].
type Input interface {
	// Line returns the next line without its end. Pasted or edited text may have several lines. The error is io.EOF at
	// the end of the input.
	Line(ctx context.Context) (string, error)
}

// ErrLineTooLong is an error of Line.
var ErrLineTooLong = errors.New("a line is longer than 1 MiB")

// maxLine is the longest line that a pipe may have, in bytes.
const maxLine = 1 << 20

// Pipe reads lines without editing them. Make it with NewPipe.
type Pipe struct {
	scanner *bufio.Scanner
	asked   chan struct{}
	lines   chan read
}

type read struct {
	line   string
	unseen string // what an Editor has yet to show of it
	err    error
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

// Columns returns the width of the window that a file belongs to, or 0 if it has none.
func Columns(f *os.File) int {
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 0
	}
	return width
}
