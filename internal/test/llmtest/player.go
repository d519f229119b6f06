package llmtest

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// player plays one reply.
type player struct {
	w        http.ResponseWriter
	done     <-chan struct{} // the client is gone or the server stops
	released <-chan struct{} // ends a hold
	req      Request

	out    *bufio.Writer // the stream; nil until its first line
	gap    time.Duration
	text   strings.Builder // the words so far
	usage  *[3]int
	finish string
}

// play performs the steps. A step that ends the reply early makes it return false.
func (p *player) play(reply Reply) {
	p.finish = "stop"
	for i, s := range reply {
		if i > 0 && s.do == doSay && reply[i-1].do == doSay && !p.words("\n") {
			return
		}
		if !p.step(s) {
			return
		}
	}
	p.close()
}

func (p *player) step(s Step) bool {
	switch s.do {
	case doWait:
		return p.sleep(s.wait)
	case doHold:
		return p.hold()
	case doGap:
		p.gap = s.wait
	case doSay:
		return p.words(s.text)
	case doChunk:
		p.delta("content", s.text)
	case doReasoningContent:
		p.delta("reasoning_content", s.text)
	case doReasoning:
		p.delta("reasoning", s.text)
	case doRaw:
		p.line(s.text)
	case doComments:
		for range s.status {
			p.line(": PROCESSING\n")
		}
	case doUsage:
		p.usage = &s.usage
	case doFinish:
		p.finish = s.text
	case doHeader:
		key, value, _ := strings.Cut(s.text, ":")
		p.w.Header().Set(strings.TrimSpace(key), strings.TrimSpace(value))
	default:
		p.breakOff(s)
		return false
	}
	return true
}

// breakOff performs the steps after which nothing follows.
func (p *player) breakOff(s Step) {
	switch s.do {
	case doError:
		body := s.text
		if body == "" {
			body = OpenAIError("The server had an error", "server_error", "")
		}
		if p.out == nil {
			writeJSON(p.w, s.status, body)
			return
		}
		p.line("data: " + body + "\n")
		p.out.Flush()
	case doCut:
		p.flush()
		panic(http.ErrAbortHandler)
	case doEnd:
		p.start()
		p.out.Flush()
	case doHTML:
		p.w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = io.WriteString(p.w, "<!doctype html><html><head><title>Sign in</title></head><body>Please sign in.</body></html>")
	case doJSON:
		writeJSON(p.w, http.StatusOK, s.text)
	}
}

// sleep sends the words so far and waits.
func (p *player) sleep(d time.Duration) bool {
	p.flush()
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-p.done:
		return false
	}
}

// hold sends the words so far and waits for the test.
func (p *player) hold() bool {
	p.flush()
	select {
	case <-p.released:
		return true
	case <-p.done:
		return false
	}
}

func (p *player) words(text string) bool {
	if p.gap == 0 {
		p.delta("content", text)
		return true
	}
	for _, word := range strings.SplitAfter(text, " ") {
		p.delta("content", word)
		if !p.sleep(p.gap) {
			return false
		}
	}
	return true
}

func (p *player) delta(field, text string) {
	if field == "content" {
		p.text.WriteString(text)
	}
	quoted, _ := json.Marshal(text)
	p.line(fmt.Sprintf(`data: {"id":"c1","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"%s":%s},"finish_reason":null}]}`+"\n", field, quoted))
}

// start begins the response: a stream, or silence until the end if the client does not want one.
func (p *player) start() {
	if p.out != nil {
		return
	}
	if !p.req.Stream {
		p.out = bufio.NewWriter(io.Discard)
		return
	}
	p.w.Header().Set("Content-Type", "text/event-stream")
	p.w.WriteHeader(http.StatusOK)
	p.out = bufio.NewWriterSize(p.w, 2048)
}

func (p *player) line(s string) {
	p.start()
	_, _ = p.out.WriteString(s + "\n")
}

// flush sends the words so far.
func (p *player) flush() {
	if p.out == nil || !p.req.Stream {
		return
	}
	p.out.Flush()
	_ = http.NewResponseController(p.w).Flush()
}

// close ends a reply in the regular way.
func (p *player) close() {
	p.start()
	if p.usage == nil {
		p.usage = &[3]int{len(strings.Fields(p.req.Prompt())), len(strings.Fields(p.text.String())), 0}
	}
	u := fmt.Sprintf(`{"prompt_tokens":%d,"completion_tokens":%d,"total_tokens":%d,"completion_tokens_details":{"reasoning_tokens":%d}}`,
		p.usage[0], p.usage[1], p.usage[0]+p.usage[1], p.usage[2])
	if !p.req.Stream {
		said, _ := json.Marshal(p.text.String())
		writeJSON(p.w, http.StatusOK, fmt.Sprintf(
			`{"id":"c1","object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":%s},"finish_reason":%q}],"usage":%s}`, said, p.finish, u))
		return
	}
	p.line(fmt.Sprintf(`data: {"id":"c1","object":"chat.completion.chunk","choices":[{"index":0,"delta":{},"finish_reason":%q}]}`+"\n", p.finish))
	if p.req.StreamOptions.IncludeUsage {
		p.line(`data: {"id":"c1","object":"chat.completion.chunk","choices":[],"usage":` + u + "}\n")
	}
	p.line("data: [DONE]\n")
	p.out.Flush()
}
