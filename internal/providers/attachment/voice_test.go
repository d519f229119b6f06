package attachment

import (
	"bytes"
	"errors"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"familiar/internal/context/turn"
	"familiar/internal/test/llmtest"
)

func TestText(t *testing.T) {
	server := llmtest.New(t)
	server.Key = "sk-0123456789abcdef"
	s := &Transcriber{HTTP: http.DefaultClient, BaseURL: server.URL + "/", Key: server.Key, Model: "whisper-1"}
	text, err := s.Text(t.Context(), llmtest.Speech("  what's the weather\nin Oslo?"))
	if err != nil || text != "what's the weather in Oslo?" {
		t.Fatalf("%q, %v", text, err)
	}
	sent := server.Recordings()[0]
	if sent.Model != "whisper-1" || sent.Name != "voice-message.ogg" || sent.Type != "audio/ogg" {
		t.Errorf("%+v", sent)
	}
	if s.Host() != strings.TrimSuffix(strings.TrimPrefix(server.URL, "http://"), "/v1") {
		t.Errorf("host %s", s.Host())
	}
	s.Key = "sk-another"
	if _, err := s.Text(t.Context(), llmtest.Speech("x")); err.(*TranscribeError).Code != turn.CodeUnauthorized || strings.Contains(err.Error(), "sk-") {
		t.Error(err)
	}
}

func TestWhatServicesAnswer(t *testing.T) {
	for _, tt := range []struct {
		name, body string
		status     int
		want       turn.Code
	}{
		{"no words", `{"text":" \n"}`, 200, turn.CodeEmpty},
		{"another kind of JSON", `{"result":"hello"}`, 200, turn.CodeMalformed},
		{"a page", `<html>Sign in</html>`, 200, turn.CodeMalformed},
		{"a redirect, which is not followed", ``, 302, turn.CodeRejected},
		{"too large", `{}`, 413, turn.CodeTooLarge},
		{"too many", `{}`, 429, turn.CodeRateLimited},
		{"down", `{}`, 500, turn.CodeUpstream},
	} {
		t.Run(tt.name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(tt.status)
				_, _ = w.Write([]byte(tt.body))
			}))
			defer server.Close()
			_, err := (&Transcriber{HTTP: server.Client(), BaseURL: server.URL, Model: "m"}).Text(t.Context(), []byte("x"))
			failed, ok := errors.AsType[*TranscribeError](err)
			if !ok || failed.Code != tt.want {
				t.Errorf("%v", err)
			}
		})
	}
}

func TestReadOpus(t *testing.T) {
	t.Parallel()
	spoken := llmtest.Opus("so extraordinarily so")
	for name, tt := range map[string]struct {
		data    []byte
		seconds float64 // 0: it is refused
		n       int
	}{
		"silence":            {silence, 0.9935, 9},
		"three words":        {spoken, 1.2, 12},
		"cut":                {spoken[:len(spoken)-5], 0, 0},
		"no audio":           {spoken[:200], 0, 0},
		"another file":       {[]byte("ID3\x04 and more"), 0, 0},
		"nothing":            {nil, 0, 0},
		"another stream":     {bytes.Replace(spoken, []byte("OpusHead"), []byte("OpusHeaD"), 1), 0, 0},
		"a cut page":         {[]byte("OggS\x00"), 0, 0},
		"a page without end": {append([]byte("OggS"), bytes.Repeat([]byte{255}, 40)...), 0, 0},
	} {
		r, ok := readOpus(tt.data)
		if ok != (tt.seconds > 0) || ok && (math.Abs(r.Seconds-tt.seconds) > .001 || len(r.Waveform) != tt.n) {
			t.Errorf("%s: %+v, %v", name, r, ok)
		}
	}
	r, _ := readOpus(spoken)
	if w := r.Waveform; w[1] != 0 || w[6] != 255 || w[10] != 0 {
		t.Errorf("the long word is not the loudest: %v", w)
	}
	if r, _ := readOpus(llmtest.Opus(string(bytes.Repeat([]byte("so "), 200)))); len(r.Waveform) != mostAmplitude {
		t.Errorf("%d amplitudes", len(r.Waveform))
	}
}

func FuzzReadOpus(f *testing.F) {
	f.Add(silence)
	f.Add(llmtest.Opus("so"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if r, ok := readOpus(data); ok && (r.Seconds <= 0 || len(r.Waveform) == 0 || len(r.Waveform) > mostAmplitude) {
			t.Errorf("%v, %d", r.Seconds, len(r.Waveform))
		}
	})
}
