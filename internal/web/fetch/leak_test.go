package fetch

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"

	"golang.org/x/net/http2"
	"pgregory.net/rapid"

	"familiar/internal/context/turn"
	"familiar/internal/web/clean"
)

// TestErrorFields checks that Error has only four flat values, and that unset ones are omitted.
func TestErrorFields(t *testing.T) {
	for i := range reflect.TypeFor[Error]().NumField() {
		if kind := reflect.TypeFor[Error]().Field(i).Type.Kind(); kind != reflect.String && kind != reflect.Int {
			t.Errorf("field %d is a %s", i, kind)
		}
	}
	for want, e := range map[string]*Error{
		`{"error":"timeout"}`: {Code: turn.CodeTimeout},
		`{"error":"http_error","reason":"http_4xx","message":"the site refused the request","status_code":404}`: failStatus(turn.CodeHTTP4xx, 404),
		`{"error":"blocked_url","reason":"robots","message":"the site asks programs not to read this page"}`:    fail(turn.CodeRobots),
	} {
		if got, err := json.Marshal(e); err != nil || string(got) != want {
			t.Errorf("got %s, %v, want %s", got, err, want)
		}
	}
}

// TestNothingLeaks wraps all secret names and numbers in every error that a transport returns.
func TestNothingLeaks(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		secret := rapid.SampledFrom([]string{"secret.example.org", "10.0.0.1:443", "[fd00::1]:80", "https://secret.example.org/a?b",
			"X-Secret: 1", "<p>secret", "302 -> https://secret.example.org/"}).Draw(rt, "secret")
		if rapid.Bool().Draw(rt, "any") {
			secret = "secret" + rapid.String().Draw(rt, "text")
		}
		err := rapid.SampledFrom([]error{
			errors.New(secret),
			&net.DNSError{Err: secret, Name: secret, Server: secret},
			&net.OpError{Op: "dial", Net: "tcp", Err: errors.New(secret)},
			&net.AddrError{Err: secret, Addr: secret},
			&url.Error{Op: "Get", URL: secret, Err: errors.New(secret)},
			&os.SyscallError{Syscall: secret, Err: errors.New(secret)},
			&tls.CertificateVerificationError{Err: x509.HostnameError{Certificate: &x509.Certificate{}, Host: secret}},
			tls.RecordHeaderError{Msg: secret},
			http2.StreamError{Cause: errors.New(secret)},
			&clean.Refusal{Code: turn.Code(secret), Reason: turn.Code(secret)},
			&clean.Refusal{Code: turn.CodeBlockedURL, Reason: turn.CodeDeniedAddress},
			errors.New("malformed HTTP response " + secret),
			errors.New("stream error: " + secret),
			errors.New("tls: " + secret),
		}).Draw(rt, "error")
		for range rapid.IntRange(0, 2).Draw(rt, "wraps") {
			err = fmt.Errorf("%s: %w", secret, err)
		}
		ctx, cancel := context.WithCancelCause(context.Background())
		defer cancel(nil)
		if rapid.Bool().Draw(rt, "ended") {
			cancel(errors.New(secret))
		}
		for _, e := range []*Error{classify(ctx, err), fromGuard(err), (&connections{ctx: ctx}).dialError(ctx, err)} {
			checkNoLeak(t, e)
			if strings.Contains(fmt.Sprintf("%+v %#v %v", e, e, errors.Unwrap(e)), "secret") {
				rt.Fatalf("%#v has the secret", e)
			}
			if t.Failed() {
				rt.FailNow()
			}
		}
	})
}

// TestHops follows redirects, retries and failures. Every request must be in the record and none in an error.
func TestHops(t *testing.T) {
	f, _ := open(t, archive(t), nil)
	for _, c := range []struct{ url, want string }{
		{"https://www.example.org/plain.html", "200 https://www.example.org/plain.html"},
		{"http://old.example.org/a", "301 http://old.example.org/a, 302 http://old.example.org/b, 200 https://www.example.org/page?id=7"},
		{"https://www.example.org/no-such-page", "404 http_4xx https://www.example.org/no-such-page"},
		{"https://127.0.0.1/", ""},
	} {
		for _, round := range []string{"first", "cached"} {
			var hops []Hop
			doc, err := f.Fetch(t.Context(), c.url, Options{Hops: &hops})
			var got []string
			for _, h := range hops {
				if got = append(got, strings.Join(strings.Fields(fmt.Sprint(h.Status, " ", h.Reason, " ", h.URL)), " ")); h.Took <= 0 {
					t.Errorf("%s has no duration", h.URL)
				}
			}
			if s := strings.Join(got, ", "); s != c.want {
				t.Errorf("%s, %s: %s, want %s", c.url, round, s, c.want)
			}
			if err == nil && !reflect.DeepEqual(doc.Hops, hops) {
				t.Errorf("%s: the document has %v", c.url, doc.Hops)
			}
			if err != nil {
				checkNoLeak(t, err.(*Error))
			}
		}
	}
}

// TestHopsOfLoop counts the requests of a redirect loop and of a retried page.
func TestHopsOfLoop(t *testing.T) {
	f, w := open(t, "-- example.org/loop.head --\n302\nLocation: /loop\n-- example.org/down.head --\n503\n", nil)
	// A fetch has only one retry, even if several hops need one.
	var asked atomic.Int64
	w.Handle("example.org/shaky", func(rw http.ResponseWriter, r *http.Request) {
		if asked.Add(1) == 1 {
			rw.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		http.Redirect(rw, r, "/down", http.StatusFound)
	})
	for page, want := range map[string]int{"loop": 5, "down": 2, "shaky": 3} {
		var hops []Hop
		if _, err := f.Fetch(t.Context(), "https://example.org/"+page, Options{Hops: &hops}); err == nil || len(hops) != want {
			t.Errorf("%s: %v, %v", page, hops, err)
		}
	}
}
