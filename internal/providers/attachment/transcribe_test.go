package attachment

import (
	"errors"
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
