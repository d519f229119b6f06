package webtest

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"maps"
	"net/http"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/txtar"
)

// page is one file of the archive and its head.
type page struct {
	status int
	header http.Header
	body   []byte

	delay         time.Duration
	drip          int
	pause         time.Duration
	size, breakAt int64 // -1: not set
	flood         int
	length        string
	endless       bool
	gzip          bool
	reset, hang   bool
}

func readPages(ar *txtar.Archive) (map[string]*page, error) {
	pages := make(map[string]*page)
	at := func(name string) *page {
		p, ok := pages[name]
		if !ok {
			p = &page{status: http.StatusOK, header: http.Header{"Content-Type": {typeOf(name)}}, size: -1, breakAt: -1}
			pages[name] = p
		}
		return p
	}
	for _, f := range ar.Files {
		name, isHead := strings.CutSuffix(f.Name, ".head")
		switch {
		case f.Name == "dns":
		case isHead:
			if err := at(name).readHead(f.Data); err != nil {
				return nil, fmt.Errorf("%s: %w", f.Name, err)
			}
		default:
			at(name).body = f.Data
		}
	}
	return pages, nil
}

func typeOf(name string) string {
	name, _, _ = strings.Cut(name, "?")
	switch path.Ext(name) {
	case ".txt":
		return "text/plain; charset=utf-8"
	case ".md":
		return "text/markdown; charset=utf-8"
	case ".json":
		return "application/json"
	case ".xml":
		return "application/xml"
	}
	return "text/html; charset=utf-8"
}

func (p *page) readHead(data []byte) error {
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSpace(line)
		name, value, isHeader := strings.Cut(line, ":")
		switch n, err := strconv.Atoi(line); {
		case line == "":
		case err == nil:
			p.status = n
		case line[0] == '!':
			if err := p.behave(strings.Fields(line[1:])); err != nil {
				return fmt.Errorf("%q: %w", line, err)
			}
		case isHeader && value == "":
			p.header.Del(name)
		case isHeader && http.CanonicalHeaderKey(name) == "Content-Type":
			p.header.Set(name, strings.TrimSpace(value))
		case isHeader:
			p.header.Add(name, strings.TrimSpace(value))
		default:
			return fmt.Errorf("%q is neither a status, a header nor a behaviour", line)
		}
	}
	return nil
}

func (p *page) behave(words []string) (err error) {
	words = append(words, "", "", "")
	number := func(s string) int64 {
		n, e := strconv.ParseInt(s, 10, 64)
		if e != nil {
			err = e
		}
		return n
	}
	span := func(s string) time.Duration {
		d, e := time.ParseDuration(s)
		if e != nil {
			err = e
		}
		return d
	}
	switch words[0] {
	case "delay":
		p.delay = span(words[1])
	case "drip":
		p.drip, p.pause = int(number(words[1])), span(words[2])
	case "size":
		p.size = number(words[1])
	case "break":
		p.breakAt = number(words[1])
	case "flood":
		p.flood = int(number(words[1]))
	case "length":
		p.length = words[1]
	case "endless":
		p.endless = true
	case "gzip":
		p.gzip = true
	case "reset":
		p.reset = true
	case "hang":
		p.hang = true
	default:
		err = fmt.Errorf("no such behaviour")
	}
	return err
}

// handler answers with the page. Waiting ends with closed or with the request.
func (p *page) handler(closed <-chan struct{}) http.Handler {
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		wait := func(d time.Duration) {
			t := time.NewTimer(d)
			defer t.Stop()
			select {
			case <-t.C:
			case <-closed:
				panic(http.ErrAbortHandler)
			case <-r.Context().Done():
				panic(http.ErrAbortHandler)
			}
		}
		if p.hang {
			wait(time.Hour)
		}
		wait(p.delay)
		if p.reset {
			panic(http.ErrAbortHandler)
		}
		p.writeHead(rw.Header())
		rw.WriteHeader(p.status)
		p.writeBody(rw, wait)
	})
}

func (p *page) writeHead(h http.Header) {
	maps.Copy(h, p.header)
	if _, ok := p.header["Content-Type"]; !ok {
		h["Content-Type"] = nil // or the server guesses one
	}
	if p.gzip {
		h.Set("Content-Encoding", "gzip")
	}
	if p.length != "" {
		h.Set("Content-Length", p.length)
	}
	const piece = 1000
	for n := 0; n < p.flood; n += piece {
		h.Add(fmt.Sprintf("X-Flood-%d", n), strings.Repeat("x", piece))
	}
}

func (p *page) writeBody(rw http.ResponseWriter, wait func(time.Duration)) {
	var w io.Writer = &stream{rw: rw, p: p, wait: wait}
	if p.gzip {
		z := gzip.NewWriter(w)
		defer z.Close()
		w = z
	}
	if !p.endless && p.size < 0 {
		w.Write(p.body)
		return
	}
	text := p.body
	if len(text) == 0 {
		text = []byte("All work and no play makes a dull page. ")
	}
	block := bytes.Repeat(text, max(1, (32<<10)/len(text)))
	for left := p.size; p.endless || left > 0; {
		n := int64(len(block))
		if !p.endless {
			n = min(n, left)
		}
		if _, err := w.Write(block[:n]); err != nil {
			return
		}
		left -= n
	}
}

// stream sends a body with the page's delays and breaks.
type stream struct {
	rw   http.ResponseWriter
	p    *page
	wait func(time.Duration)
	sent int64
}

func (s *stream) Write(b []byte) (int, error) {
	for done := 0; done < len(b); {
		n := len(b) - done
		if s.p.drip > 0 {
			n = min(n, s.p.drip)
		}
		if s.p.breakAt >= 0 {
			n = min(n, int(s.p.breakAt-s.sent))
		}
		m, err := s.rw.Write(b[done : done+n])
		done, s.sent = done+m, s.sent+int64(m)
		if err != nil {
			return done, err
		}
		if s.sent == s.p.breakAt {
			http.NewResponseController(s.rw).Flush()
			panic(http.ErrAbortHandler)
		}
		if s.p.drip > 0 {
			http.NewResponseController(s.rw).Flush()
			s.wait(s.p.pause)
		}
	}
	return len(b), nil
}
