package api_test

import (
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
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

// A second burst of requests reuses the connections of the first.
func TestConnectionsAreKept(t *testing.T) {
	const connections = 32
	var opened atomic.Int32
	var all sync.WaitGroup
	far := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		all.Done()
		all.Wait() // so that all run at once
	}))
	far.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			opened.Add(1)
		}
	}
	far.Start()
	defer far.Close()
	client := api.Client(api.Service{Origin: far.URL})
	for range 2 {
		var burst sync.WaitGroup
		all.Add(connections)
		for range connections {
			burst.Go(func() {
				res, err := client.Get(far.URL)
				if err != nil {
					t.Error(err)
					return
				}
				_, _ = io.Copy(io.Discard, res.Body)
				res.Body.Close()
			})
		}
		burst.Wait()
	}
	if n := opened.Load(); n != connections {
		t.Errorf("%d connections", n)
	}
}
