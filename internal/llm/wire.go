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
	// lastWords is how long a server may take, after the end of the answer, to say what it cost.
	lastWords = 2 * time.Second
	lastBytes = 50 * time.Millisecond // how long it may take, after the end of the stream, to end the response

	maxErrorBody = 64 << 10 // of an error's body, read
	maxLine      = 1 << 20  // of one event
	maxBody      = 32 << 20 // of one answer: 100,000 tokens in events of 300 bytes
)

var (
	errSilent    = errors.New("silent for too long")
	errTooMuch   = errors.New("the answer is longer than 32 MiB")
	errLongLine  = errors.New("a line is longer than 1 MiB")
	errNotStream = errors.New("not a stream of events")
)

// exchange is one request and its answer on the network. It is what go-openai gets for an HTTP client, because
// a response is whole here: once go-openai has made an error of it, its headers and half of its shapes are gone.
type exchange struct {
	http   *http.Client
	extra  map[string]any
	limit  string        // name that the length limit goes by
	idle   time.Duration // silence allowed; changed by the goroutine that reads the body
	giveUp context.CancelCauseFunc
	timer  *time.Timer // calls giveUp; set by Do
}

// Do sends a request. It returns a response only if that is an answer, as a stream of nothing but "data:" lines;
// everything else is an *Error.
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

// send returns a response whose status is one of success, with its body watched and buffered. The caller closes
// the body.
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

// speaks sets the silence allowed once the model has begun to speak.
func (x *exchange) speaks(idle time.Duration) {
	x.idle = idle
	x.timer.Reset(idle)
}

// finished shortens the wait: all that may still come is the usage.
func (x *exchange) finished() {
	x.idle = min(x.idle, lastWords)
	x.timer.Reset(x.idle)
}

// drain reads what follows the end of a stream, usually the few bytes that end the response: only then can the
// connection serve the next request.
func (x *exchange) drain(rest io.Reader) {
	x.idle = lastBytes
	x.timer.Reset(x.idle)
	_, _ = io.CopyN(io.Discard, rest, maxErrorBody)
}

// stop ends the watch over silence.
func (x *exchange) stop() {
	if x.timer != nil {
		x.timer.Stop()
	}
}

// rewrite adds to the body what go-openai cannot write. A name in quotes followed by a colon is a key: inside of
// a JSON string the quotes would be escaped.
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

// judge says whether a response is an answer, by its type and its first character. It closes the body of one
// that is not.
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

// failure is the error of a response whose status says that it is one.
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

// whole reads an answer that was not streamed and makes it a stream of one event, or finds an error with a status
// of success.
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

// readSome reads the beginning of a body, for an error: a body that breaks off or goes on forever is as good.
func readSome(r io.Reader) []byte {
	b, _ := io.ReadAll(io.LimitReader(r, maxErrorBody))
	return b
}

// firstByte looks at the first character that is not white space: keep-alives of servers that do not stream are
// blank lines.
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

// longestRetry bounds what is believed of a Retry-After.
const longestRetry = 24 * time.Hour

// retryAfter reads how long to wait: milliseconds, seconds, a date (RFC 9110, 10.2.3), or Groq's "2m59.5s".
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

// seconds is a wait between nothing and longestRetry, for any number.
func seconds(s float64) time.Duration {
	if !(s > 0) {
		return 0
	}
	return time.Duration(min(s, longestRetry.Seconds()) * float64(time.Second))
}

// watched is a body that is given up after a silence, and that ends.
type watched struct {
	body io.ReadCloser
	x    *exchange
	left int // bytes
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

// frames passes on the "data:" lines of a stream, each ended by a newline, and turns "error:" lines into such.
// go-openai would take the rest for parts of an error, stop at 300 keep-alives, and lose a last line that has
// no newline.
type frames struct {
	x    *exchange
	body io.Closer
	r    *bufio.Reader
	line []byte // not yet passed on
	any  bool   // a data line was passed on
	done bool   // the last one was "[DONE]"
	end  error  // what ended the stream
}

// Close ends the response, in good order if the stream has ended.
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

// frame is what is passed on of a line: nothing of comments and of fields other than data.
//
// A line that begins with {"error": gets a space before the quotes, as go-openai would otherwise make an error of
// it in its own way.
func (f *frames) frame(line []byte) []byte {
	data, ok := bytes.CutPrefix(line, []byte("data:"))
	switch {
	case ok:
	case line[0] == '{': // an error that somebody wrote into the stream as it is
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
