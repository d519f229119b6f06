package llm

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"
)

const (
	// lastWords is how long a server may take after the answer to report the usage.
	lastWords = 2 * time.Second
	lastBytes = 50 * time.Millisecond // how long it may take to end the response after the stream

	maxErrorBody = 64 << 10 // bytes read of an error's body
	maxLine      = 1 << 20  // of one event
	maxBody      = 32 << 20 // of one answer: 100,000 tokens in events of 300 bytes
)

var (
	errSilent    = errors.New("silent for too long")
	errTooMuch   = errors.New("the answer is longer than 32 MiB")
	errLongLine  = errors.New("a line is longer than 1 MiB")
	errNotStream = errors.New("not a stream of events")
)

// exchange is one request and its response. It is go-openai's HTTP client and sees the whole response. go-openai's
// errors lack the headers and many shapes of bodies.
type exchange struct {
	http   *http.Client
	extra  map[string]any
	limit  string        // name of the field for the length limit
	idle   time.Duration // longest silence; changed by the goroutine that reads the body
	giveUp context.CancelCauseFunc
	timer  *time.Timer // calls giveUp; set by Do
}

// Do sends a request. It returns a response only if that is an answer, in the form of a stream of "data:" lines.
// Everything else is an *Error.
func (x *exchange) Do(req *http.Request) (*http.Response, error) {
	resp, r, err := x.send(req)
	if err != nil {
		return nil, err
	}
	if resp.Body, err = x.judge(resp, r); err != nil {
		return nil, err
	}
	return resp, nil
}

// send returns a response with a status of success. Its body is watched and buffered. The caller closes it.
func (x *exchange) send(req *http.Request) (*http.Response, *bufio.Reader, error) {
	if err := x.rewrite(req); err != nil {
		return nil, nil, err
	}
	x.timer = time.AfterFunc(x.idle, func() { x.giveUp(errSilent) })
	resp, err := x.http.Do(req)
	if err != nil {
		return nil, nil, err
	}
	resp.Body = &watched{body: resp.Body, x: x, left: maxBody}
	r := bufio.NewReader(resp.Body)
	if resp.StatusCode < 200 || resp.StatusCode >= 300 {
		defer resp.Body.Close()
		return nil, nil, failure(resp, r)
	}
	return resp, r, nil
}

// speaks sets the longest silence after the model's first word.
func (x *exchange) speaks(idle time.Duration) {
	x.idle = idle
	x.timer.Reset(idle)
}

// finished shortens the wait, because only the usage may follow.
func (x *exchange) finished() {
	x.idle = min(x.idle, lastWords)
	x.timer.Reset(x.idle)
}

// drain reads the rest of a stream, usually the few bytes that end the response. Only then can the connection be
// reused.
func (x *exchange) drain(rest io.Reader) {
	x.idle = lastBytes
	x.timer.Reset(x.idle)
	_, _ = io.CopyN(io.Discard, rest, maxErrorBody)
}

// stop stops the timer for silences.
func (x *exchange) stop() {
	if x.timer != nil {
		x.timer.Stop()
	}
}

// rewrite makes the changes to the body that go-openai does not support. A quoted name followed by a colon is a key,
// because quotes inside a JSON string are escaped.
func (x *exchange) rewrite(req *http.Request) error {
	if req.Body == nil || x.limit != maxTokens && len(x.extra) == 0 {
		return nil
	}
	var whole bytes.Buffer
	whole.Grow(int(req.ContentLength) + bytes.MinRead)
	if _, err := whole.ReadFrom(req.Body); err != nil {
		return fmt.Errorf("write request: %w", err)
	}
	body := whole.Bytes()
	if x.limit == maxTokens {
		body = bytes.Replace(body, []byte(`"`+maxCompletionTokens+`":`), []byte(`"`+maxTokens+`":`), 1)
	}
	if len(x.extra) > 0 {
		more, err := json.Marshal(x.extra)
		if err != nil {
			return fmt.Errorf("write extra parameters: %w", err)
		}
		body = append(append(bytes.TrimSuffix(body, []byte("}")), ','), more[1:]...)
	}
	req.Body, req.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
	return nil
}

// judge decides by type and first character whether a response is an answer. If not, it closes the body.
func (x *exchange) judge(resp *http.Response, r *bufio.Reader) (_ io.ReadCloser, err error) {
	body := resp.Body
	defer func() {
		if err != nil {
			body.Close()
		}
	}()
	stream := &frames{x: x, body: body, r: r}
	if kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type")); kind == "text/event-stream" {
		return stream, nil
	}
	first, err := firstByte(r)
	switch {
	case err == io.EOF:
		return nil, &Error{Kind: Truncated, Status: resp.StatusCode, Cause: "empty body"}
	case err != nil:
		return nil, err
	case first == '{' || first == '[':
		stream.r, err = whole(resp, r)
		return stream, err
	case first == '<':
		return nil, &Error{Kind: NotOpenAI, Status: resp.StatusCode, Cause: page(readSome(r))}
	}
	return stream, nil
}

// failure returns the error of a response with a status of failure.
func failure(resp *http.Response, r *bufio.Reader) *Error {
	body := bytes.TrimSpace(readSome(r))
	e := &Error{Status: resp.StatusCode, RetryAfter: retryAfter(resp.Header, time.Now())}
	switch {
	case resp.StatusCode < 400:
		e.Kind, e.Cause = NotOpenAI, "redirect: the base URL is not the one to use"
	case bytes.HasPrefix(body, []byte("<")):
		e.Kind, e.Cause = kindOf(resp.StatusCode, problem{Message: "not found"}), page(body)
		if e.Kind == Rejected || resp.StatusCode == http.StatusForbidden {
			e.Kind = NotOpenAI // a firewall or another kind of server
		}
	default:
		e.problem = problemIn(body)
		e.Kind, e.Cause = kindOf(resp.StatusCode, e.problem), e.problem.Message
		if e.Cause == "" {
			e.Cause = string(body)
		}
	}
	return e
}

// whole reads an answer that was not streamed and converts it to a stream of one event. It returns an error if the body
// holds one despite the status.
func whole(resp *http.Response, r *bufio.Reader) (*bufio.Reader, error) {
	body, err := io.ReadAll(io.LimitReader(r, maxLine+1))
	if err != nil {
		return nil, err
	}
	if len(body) > maxLine {
		return nil, errLongLine
	}
	var line bytes.Buffer
	line.WriteString("data: ")
	if err := json.Compact(&line, body); err != nil {
		return nil, &Error{Kind: NotOpenAI, Status: resp.StatusCode, Cause: "broken JSON: " + string(body)}
	}
	var c chunk
	if json.Unmarshal(body, &c) != nil || len(c.Choices) == 0 || given(c.Error) {
		e := &Error{Kind: NotOpenAI, Status: resp.StatusCode, problem: problemIn(body), RetryAfter: retryAfter(resp.Header, time.Now())}
		if e.Cause = e.problem.Message; e.Cause == "" {
			e.Cause = "JSON of another kind: " + string(body)
		} else {
			e.Status = e.problem.status()
			e.Kind = kindOf(e.Status, e.problem)
		}
		return nil, e
	}
	line.WriteString("\n")
	return bufio.NewReader(&line), nil
}

// readSome reads the beginning of an error's body. It ignores read errors.
func readSome(r io.Reader) []byte {
	b, _ := io.ReadAll(io.LimitReader(r, maxErrorBody))
	return b
}

// firstByte returns the first character that is not white space. Servers that do not stream send blank lines as
// keep-alives.
func firstByte(r *bufio.Reader) (byte, error) {
	for {
		b, err := r.ReadByte()
		if err != nil {
			return 0, err
		}
		if b > ' ' {
			return b, r.UnreadByte()
		}
	}
}

var title = regexp.MustCompile(`(?is)<title[^>]*>(.*?)</title>`)

func page(body []byte) string {
	if m := title.FindSubmatch(body); m != nil {
		return "an HTML page: " + strings.TrimSpace(string(m[1]))
	}
	return "an HTML page"
}

// longestRetry limits a Retry-After.
const longestRetry = 24 * time.Hour

// retryAfter reads a waiting time: milliseconds, seconds, a date (RFC 9110, 10.2.3), or Groq's "2m59.5s".
func retryAfter(h http.Header, now time.Time) time.Duration {
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil {
		return seconds(ms / 1000)
	}
	v := h.Get("Retry-After")
	if s, err := strconv.ParseFloat(v, 64); err == nil {
		return seconds(s)
	}
	if d, err := time.ParseDuration(v); err == nil {
		return seconds(d.Seconds())
	}
	if at, err := http.ParseTime(v); err == nil {
		return seconds(at.Sub(now).Seconds())
	}
	return 0
}

// seconds converts any number of seconds to a duration from 0 to longestRetry.
func seconds(s float64) time.Duration {
	if !(s > 0) {
		return 0
	}
	return time.Duration(min(s, longestRetry.Seconds()) * float64(time.Second))
}

// watched is a body with limits on silence and size.
type watched struct {
	body io.ReadCloser
	x    *exchange
	left int // bytes allowed
}

func (w *watched) Read(p []byte) (int, error) {
	n, err := w.body.Read(p)
	if n > 0 {
		w.x.timer.Reset(w.x.idle)
	}
	if w.left -= n; w.left < 0 {
		return 0, errTooMuch
	}
	return n, err
}

func (w *watched) Close() error { return w.body.Close() }

// frames passes on the "data:" lines of a stream, each with a newline at its end. It converts "error:" lines to "data:" lines. go-openai
// would treat other lines as parts of an error and stop at 300 keep-alives. It would lose a last line without a newline.
type frames struct {
	x    *exchange
	body io.Closer
	r    *bufio.Reader
	line []byte // not passed on yet
	any  bool   // a data line was passed on
	done bool   // the last line was "[DONE]"
	end  error  // what ended the stream
}

// Close closes the response. After a complete stream it drains the connection first.
func (f *frames) Close() error {
	if f.done {
		f.x.drain(f.r)
	}
	return f.body.Close()
}

func (f *frames) Read(p []byte) (int, error) {
	for len(f.line) == 0 {
		if f.end != nil {
			return 0, f.end
		}
		var line []byte
		if line, f.end = f.next(); len(line) > 0 {
			f.line = f.frame(line)
		}
	}
	n := copy(p, f.line)
	f.line = f.line[n:]
	return n, nil
}

// next reads one line, without its end.
func (f *frames) next() ([]byte, error) {
	var long []byte
	for {
		part, err := f.r.ReadSlice('\n')
		if err == bufio.ErrBufferFull {
			if long = append(long, part...); len(long) > maxLine {
				return nil, errLongLine
			}
			continue
		}
		if long != nil {
			part = append(long, part...)
		}
		return bytes.TrimSpace(part), err
	}
}

// frame converts one line. It drops comments and fields other than data.
//
// A line that begins with {"error": gets a space before the quotes. Otherwise go-openai would turn it into its own kind of error.
func (f *frames) frame(line []byte) []byte {
	data, ok := bytes.CutPrefix(line, []byte("data:"))
	switch {
	case ok:
	case line[0] == '{': // an error written into the stream without a field name
		data = line
	case bytes.HasPrefix(line, []byte("error:")):
		data = bytes.TrimSpace(line[len("error:"):])
		if !bytes.Contains(data, []byte(`"error"`)) {
			data = append(append([]byte(`{"error":`), data...), '}')
		}
	case line[0] == '<' && !f.any:
		f.end = errNotStream
		return nil
	default:
		return nil
	}
	data = bytes.TrimSpace(data)
	f.any, f.done = true, string(data) == "[DONE]"
	out := append(make([]byte, 0, len(data)+8), "data: "...)
	if bytes.HasPrefix(data, []byte(`{"error"`)) {
		out = append(out, "{ "...)
		data = data[1:]
	}
	return append(append(out, data...), '\n')
}
