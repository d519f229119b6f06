package api_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"familiar/internal/api"
)

func TestClientKeepsToItsOrigin(t *testing.T) {
	var elsewhere int
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { elsewhere++ }))
	defer other.Close()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, other.URL, http.StatusFound)
	}))
	defer server.Close()
	c := api.Client(api.Service{Origin: server.URL + "/ignored/path"})

	response, err := c.Get(server.URL + "/search?q=x")
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	if response.StatusCode != http.StatusFound {
		t.Errorf("status %d, want the redirect itself", response.StatusCode)
	}
	if _, err := c.Get(other.URL); !errors.Is(err, api.ErrOrigin) {
		t.Errorf("another origin: %v, want ErrOrigin", err)
	}
	if elsewhere != 0 {
		t.Errorf("%d requests left the origin", elsewhere)
	}
}

func TestClientCapsBodies(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, strings.Repeat("x", 100))
	}))
	defer server.Close()
	for limit, fits := range map[int64]bool{99: false, 100: true, 101: true} {
		response, err := api.Client(api.Service{Origin: server.URL, MaxBody: limit}).Get(server.URL)
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(response.Body)
		response.Body.Close()
		if _, larger := errors.AsType[*http.MaxBytesError](err); larger == fits || fits && err != nil || int64(len(b)) != min(limit, 100) {
			t.Errorf("limit %d: %d bytes, %v", limit, len(b), err)
		}
	}
}

func TestClientSaysWhoItIs(t *testing.T) {
	var agents []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		agents = append(agents, r.UserAgent())
	}))
	defer server.Close()
	c := api.Client(api.Service{Origin: server.URL, UserAgent: "familiar/1"})
	r, _ := http.NewRequest("GET", server.URL, nil)
	for _, agent := range []string{"", "other/2"} {
		if agent != "" {
			r.Header.Set("User-Agent", agent)
		}
		response, err := c.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
	}
	if len(agents) != 2 || agents[0] != "familiar/1" || agents[1] != "other/2" {
		t.Errorf("agents %q", agents)
	}
}

func TestErrorsHoldNoSecret(t *testing.T) {
	c := api.Client(api.Service{Origin: "http://127.0.0.1:1", Redact: func(s string) string {
		return strings.ReplaceAll(s, "127.0.0.1:1", "***")
	}})
	_, err := c.Get("http://127.0.0.1:1/?key=hunter22")
	if err = api.Cause(err); err == nil || strings.Contains(err.Error(), "hunter22") {
		t.Errorf("cause %v", err)
	}
	if strings.Contains(err.Error(), "127.0.0.1:1") {
		t.Errorf("%v is not redacted", err)
	}
}
