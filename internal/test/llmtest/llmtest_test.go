package llmtest_test

import (
	"bufio"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"familiar/internal/test/llmtest"
)

func ask(t *testing.T, srv *llmtest.Server, body string) (*http.Response, string) {
	t.Helper()
	resp, err := http.Post(srv.URL+"/chat/completions", "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, _ := io.ReadAll(resp.Body)
	return resp, string(text)
}

const question = `{"model":"m","stream":true,"stream_options":{"include_usage":true},"messages":[{"role":"user","content":"Is it raining?"}]}`

func TestStream(t *testing.T) {
	srv := llmtest.New(t)
	srv.Queue(llmtest.Reply{llmtest.Reasoning("hm"), llmtest.Say("Yes."), llmtest.Usage(4, 2, 1)})
	resp, got := ask(t, srv, question)
	want := `data: {"id":"c1","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"reasoning":"hm"},"finish_reason":null}]}

data: {"id":"c1","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"Yes."},"finish_reason":null}]}

data: {"id":"c1","object":"chat.completion.chunk","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}

data: {"id":"c1","object":"chat.completion.chunk","choices":[],"usage":{"prompt_tokens":4,"completion_tokens":2,"total_tokens":6,"completion_tokens_details":{"reasoning_tokens":1}}}

data: [DONE]

`
	if got != want || resp.Header.Get("Content-Type") != "text/event-stream" {
		t.Errorf("got %s", got)
	}
	if r := srv.Requests(); len(r) != 1 || r[0].Model != "m" || r[0].Last() != "Is it raining?" || !r[0].StreamOptions.IncludeUsage {
		t.Errorf("requests %+v", r)
	}
	_, got = ask(t, srv, strings.Replace(question, `"stream":true,`, "", 1))
	if !strings.Contains(got, `"content":"You said: Is it raining?"`) || !strings.Contains(got, `"object":"chat.completion"`) {
		t.Errorf("without a stream: %s", got)
	}
}

// With a gap, each word arrives on its own. A hold lasts until it is released.
func TestGapAndHold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := llmtest.InMemory(t)
		srv.Queue(llmtest.Reply{llmtest.Gap(time.Minute), llmtest.Say("one two"), llmtest.Hold(), llmtest.Say("three")})
		transport := &http.Transport{DialContext: srv.Dial}
		defer transport.CloseIdleConnections()
		start := time.Now()
		resp, err := (&http.Client{Transport: transport}).Post(srv.URL+"/chat/completions", "application/json", strings.NewReader(question))
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		lines := bufio.NewScanner(resp.Body)
		for _, want := range []struct {
			word  string
			after time.Duration
		}{{"one ", 0}, {"two", time.Minute}, {"three", time.Hour}} {
			if want.word == "three" {
				time.Sleep(time.Hour - time.Since(start))
				srv.Release()
			}
			for lines.Scan() && !strings.Contains(lines.Text(), `"content"`) {
			}
			if took := time.Since(start); took != want.after || !strings.Contains(lines.Text(), `"`+want.word+`"`) {
				t.Errorf("after %v: %q; want %q after %v", took, lines.Text(), want.word, want.after)
			}
		}
		io.Copy(io.Discard, resp.Body)
	})
}

func TestScript(t *testing.T) {
	s, err := llmtest.ParseScript([]byte(`
# The side model.
when model "side|small" prompt "Sources?:"
  json {"quotes":[]}

when "\bquote \"this\"$"
say a
say b
next
error 500

when "rain"
header X-Test: yes
say wet
`))
	if err != nil {
		t.Fatal(err)
	}
	srv := llmtest.New(t)
	srv.Play(s)
	body := func(model, text string) string {
		return strings.NewReplacer(`"m"`, `"`+model+`"`, "Is it raining?", text).Replace(question)
	}
	if _, got := ask(t, srv, body("side", "Source: x")); got != `{"quotes":[]}` {
		t.Errorf("side model: %s", got)
	}
	if _, got := ask(t, srv, body("m", `please quote \"this\"x`)); !strings.Contains(got, "You said") {
		t.Errorf("no rule: %s", got)
	}
	if _, got := ask(t, srv, body("m", `please quote \"this\"`)); !strings.Contains(got, `"\n"`) || !strings.Contains(got, `"b"`) {
		t.Errorf("second rule: %s", got)
	}
	if resp, got := ask(t, srv, body("m", "it rains")); !strings.Contains(got, `"wet"`) || resp.Header.Get("X-Test") != "yes" {
		t.Errorf("third rule: %s", got)
	}
}

func TestScriptNext(t *testing.T) {
	s, err := llmtest.ParseScript([]byte("say one\nnext\nerror 503 {\"error\":\"x\"}\nnext\nsay three"))
	if err != nil {
		t.Fatal(err)
	}
	srv := llmtest.New(t)
	srv.Play(s)
	for i, want := range []string{`"one"`, `{"error":"x"}`, `"three"`, `"three"`} {
		if _, got := ask(t, srv, question); !strings.Contains(got, want) {
			t.Errorf("request %d: %s, want %s", i+1, got, want)
		}
	}
}

func TestScriptErrors(t *testing.T) {
	tests := map[string]string{
		"":                      "says nothing",
		"say hi\nsya ho":        `line 2: unknown step "sya"`,
		"wait soon":             "line 1: time: invalid duration",
		"when":                  "without a condition",
		"when rain":             `unknown condition "rain"`,
		`when "(":`:             "missing closing",
		`when "a`:               "in quotes",
		"chunk hello":           "quoted Go string",
		"error oops":            "invalid syntax",
		"usage 1 2 3 4":         "up to three numbers",
		"header nothing":        "Name: value",
		"say fine\ncomment lot": "line 2",
	}
	for text, want := range tests {
		if _, err := llmtest.ParseScript([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q in it", text, err, want)
		}
	}
}

func TestRefusals(t *testing.T) {
	srv := llmtest.New(t)
	for _, body := range []string{`{"model":"m","messages":null}`, `{"model":`, `{"messages":"x"}`} {
		if resp, got := ask(t, srv, body); resp.StatusCode != 400 {
			t.Errorf("%s: %d %s", body, resp.StatusCode, got)
		}
	}
	srv.Key = "k"
	if resp, _ := ask(t, srv, question); resp.StatusCode != 401 {
		t.Errorf("without a key: %d", resp.StatusCode)
	}
}

// The hostile replies must really hold what a guard has to find.
func TestHostile(t *testing.T) {
	srv := llmtest.New(t)
	srv.Queue(llmtest.Hostile("S3CRET"), llmtest.HostileJSON("S3CRET"))
	_, got := ask(t, srv, question)
	for _, want := range []string{"@everyone", "https://evil.example/?leak=S3CRET", "![pixel]", "steam://", "discord.gg/", "[99]", "[1]: ", "\U000E0053"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in the hostile reply", want)
		}
	}
	if _, got = ask(t, srv, question); !strings.Contains(got, `\"quotes\":[`) {
		t.Errorf("side model: %s", got)
	}
}
