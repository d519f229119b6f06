package api_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"familiar/internal/api"
	"familiar/internal/context/turn"
)

func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	for value, want := range map[string]time.Duration{
		"": 0, "120": 2 * time.Minute, " 5 ": 5 * time.Second, "-1": 0, "soon": 0, "99999999999999999999": 0, "1.5": 0,
		"Fri, 20 Nov 2026 12:01:00 GMT": time.Minute, "Fri, 20 Nov 2026 11:00:00 GMT": 0,
	} {
		if got := api.RetryAfter(http.Header{"Retry-After": {value}}, now); got != want {
			t.Errorf("%q: %s, want %s", value, got, want)
		}
	}
}

// JSON and Text read the same replies.
func TestEndpoint(t *testing.T) {
	for _, test := range []struct {
		name, kind string
		status     int
		body       string
		json, text turn.Code // "" is success
	}{
		{"an answer", "application/json", 200, `{"word":"lamp"}`, "", ""},
		{"a list", "application/json", 200, `[1]`, turn.CodeMalformed, ""},
		{"half of one", "application/json", 200, `{"word":`, turn.CodeMalformed, ""},
		{"an odd field", "application/json", 200, `{"word":7}`, turn.CodeMalformed, ""},
		{"a page", "text/html", 200, `<p>captcha is a word</p>`, turn.CodeBlocked, ""},
		{"a portal", "text/html", 200, `<p>sign in</p>`, turn.CodeMalformed, ""},
		{"a page for robots", "text/html", 403, `<p>Are you a robot?</p>`, turn.CodeBlocked, turn.CodeBlocked},
		{"a redirect", "text/html", 302, ``, turn.CodeRejected, turn.CodeRejected},
		{"a wrong key", "application/json", 401, `{}`, turn.CodeUnauthorized, turn.CodeUnauthorized},
		{"the far end's failure", "text/plain", 502, `no`, turn.CodeUpstream, turn.CodeUpstream},
		{"as large as may be", "application/json", 200, `{"word":"lamp"}` + strings.Repeat(" ", 49), "", ""},
		{"too large", "application/json", 200, `{"word":"lamp"}` + strings.Repeat(" ", 50), turn.CodeTooLarge, turn.CodeTooLarge},
		{"a word of its own", "application/json", 418, `{}`, "teapot", "teapot"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var asked string
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				user, password, _ := r.BasicAuth()
				asked = fmt.Sprint(r.URL, " ", r.UserAgent(), " ", user, ":", password)
				w.Header().Set("Content-Type", test.kind)
				w.Header().Set("Location", "https://example.org/")
				w.WriteHeader(test.status)
				fmt.Fprint(w, test.body)
			}))
			defer server.Close()
			base := strings.Replace(server.URL, "://", "://ana:oil@", 1) + "/v1/?key=x"
			e, err := api.NewEndpoint(base, func(origin string) *http.Client { return api.Client(api.Service{Origin: origin}) })
			if err != nil {
				t.Fatal(err)
			}
			e.UserAgent, e.MaxBody = "familiar/test", 64
			e.Explain = func(r api.Reply) api.Failure {
				if r.Status == 418 {
					return api.Failure{Code: "teapot"}
				}
				return api.Failure{}
			}
			r := api.Request{Path: "/a b?/c", Params: url.Values{"q": {"x&y"}}}
			var got struct{ Word string }
			if _, err := e.JSON(t.Context(), r, &got); codeOf(err) != test.json || err == nil && got.Word != "lamp" {
				t.Errorf("JSON: %v, %+v", err, got)
			}
			if want := "/v1/a%20b%3F/c?q=x%26y familiar/test ana:oil"; asked != want {
				t.Errorf("asked for %s, want %s", asked, want)
			}
			if text, err := e.Text(t.Context(), r); codeOf(err) != test.text || err == nil && string(text) != test.body {
				t.Errorf("Text: %v, %q", err, text)
			}
		})
	}
}

func codeOf(err error) turn.Code {
	if f, ok := errors.AsType[*api.Failure](err); ok {
		return f.Code
	}
	if err != nil {
		return turn.Code(err.Error())
	}
	return ""
}
