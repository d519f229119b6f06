package mcp

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"regexp"
	"sync"
)

// idPattern finds the id of a request in the beginning of its message.
var idPattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`"id"\s*:\s*(\d{1,15}|"[\w-]{1,64}")`) })

// shortLines reads the client's messages, a line each. A line that is longer than the buffer is skipped and refused by an error of
// JSON-RPC, as the session would end otherwise.
type shortLines struct {
	in      *bufio.Reader
	close   func() error
	refused io.Writer

	rest []byte // of the line that is being handed over; in's buffer
}

func (s *shortLines) Read(p []byte) (int, error) {
	for len(s.rest) == 0 {
		line, err := s.in.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			if err = s.refuse(line); err == nil {
				continue
			}
			line = nil
		}
		if len(line) == 0 {
			return 0, err
		}
		s.rest = line // an error comes back with the next read
	}
	n := copy(p, s.rest)
	s.rest = s.rest[n:]
	return n, nil
}

// refuse answers the line that begins so, and skips it.
func (s *shortLines) refuse(beginning []byte) error {
	id := "null"
	if found := idPattern().FindSubmatch(beginning[:min(len(beginning), 4<<10)]); found != nil {
		id = string(found[1])
	}
	err := bufio.ErrBufferFull
	for errors.Is(err, bufio.ErrBufferFull) {
		_, err = s.in.ReadSlice('\n')
	}
	_, failed := fmt.Fprintf(s.refused, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32600,"message":"the message is longer than %d bytes"}}`+"\n", id, mostBytes)
	return cmp.Or(err, failed)
}

func (s *shortLines) Close() error { return s.close() }

// oneByOne writes what the session and shortLines say to an output that others may still write to: Close does nothing.
type oneByOne struct {
	mu  sync.Mutex // one message at a time
	out io.Writer
}

func (o *oneByOne) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.out.Write(p)
}

func (*oneByOne) Close() error { return nil }
