package terminal

import (
	"bufio"
	"context"
	"errors"
	"io"
)

// Input is where lines come from: a [Pipe], or an [Editor].
type Input interface {
	// Line returns the next line without its end; what was pasted or edited may be several. The error is io.EOF at the end of the input,
	// and [ErrInterrupted] for Ctrl-C, after which the next line can be read.
	Line(ctx context.Context) (string, error)
}

// Why there is no line.
var (
	ErrInterrupted = errors.New("interrupted")
	ErrLineTooLong = errors.New("a line is longer than 1 MiB")
)

// maxLine is the longest line that is read from a pipe, in bytes.
const maxLine = 1 << 20

// Pipe reads lines that nobody edits. NewPipe makes one.
type Pipe struct {
	scanner *bufio.Scanner
	asked   chan struct{}
	lines   chan read
}

type read struct {
	line string
	err  error
}

// NewPipe returns the lines of a reader. It reads in a goroutine, because a read cannot be interrupted, which ends with the input.
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
	default: // the last line that was asked for has not come
	}
	select {
	case r := <-p.lines:
		if r.err != nil {
			p.lines <- r // the end stays the end
		}
		return r.line, r.err
	case <-ctx.Done():
		return "", ctx.Err()
	}
}
