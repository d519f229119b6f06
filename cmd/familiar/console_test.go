package main

import (
	"io"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

// browse reads a page of the console of a program that runs.
func (c *conversation) browse(method, address string, form url.Values) (int, string) {
	c.Helper()
	r, err := http.NewRequestWithContext(c.Context(), method, address, strings.NewReader(form.Encode()))
	c.must(err)
	if form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	resp, err := http.DefaultClient.Do(r)
	c.must(err)
	defer resp.Body.Close()
	defer http.DefaultClient.CloseIdleConnections()
	body, err := io.ReadAll(resp.Body)
	c.must(err)
	return resp.StatusCode, string(body)
}

// TestConsole opens the pages of the real program. A turn is on them, and what is changed there is in force on the next.
func TestConsole(t *testing.T) {
	t.Parallel()
	c := newConversation(t, txtar.Parse([]byte(`
-- env --
FAMILIAR_CONSOLE=127.0.0.1:0
-- model --
when "."
say Hello from the model.
`)))
	c.do("console", "start")
	found := regexp.MustCompile(`console +(http://127\.0\.0\.1:\d+)`).FindStringSubmatch(c.program.out.String())
	if found == nil {
		t.Fatalf("it does not say where the console is:\n%s", c.program.out)
	}
	at := found[1]
	for _, line := range []string{"say general ana @familiar how are you?", "heard general", "has Hello from the model"} {
		c.do("console", line)
	}
	if code, body := c.browse("GET", at+"/", nil); code != 200 || !strings.Contains(body, "how are you?") || !strings.Contains(body, "#general") || !strings.Contains(body, "connected") {
		t.Errorf("%d %s", code, body)
	}
	if code, body := c.browse("GET", at+"/backends", nil); code != 200 || !strings.Contains(body, "searxng") {
		t.Errorf("%d %s", code, body)
	}
	_, editor := c.browse("GET", at+"/characters/sage?file=persona.md", nil)
	sum := regexp.MustCompile(`name="sum" value="(\w+)"`).FindStringSubmatch(editor)
	if sum == nil {
		t.Fatal(editor)
	}
	if code, body := c.browse("POST", at+"/characters/sage", url.Values{"file": {"persona.md"}, "sum": sum[1:], "text": {"Sage is a heron of some renown."}}); code != 200 || !strings.Contains(body, "in force from the next turn on") {
		t.Errorf("%d %s", code, body)
	}
	for _, line := range []string{"say general ana @familiar and now?", "heard general"} {
		c.do("console", line)
	}
	if p := c.prompt(); !strings.Contains(p, "a heron of some renown") {
		t.Errorf("the next turn has another character: %s", p)
	}
	c.stop()
}

// TestConsoleTellsHealth checks that the console's address also has what programs ask for. The command asks there, with the token if there
// is one.
func TestConsoleTellsHealth(t *testing.T) {
	t.Parallel()
	c := newConversation(t, &txtar.Archive{})
	c.env["FAMILIAR_CONSOLE"], c.env["FAMILIAR_CONSOLE_TOKEN"] = "127.0.0.1:0", "correct-horse-battery"
	c.do("console", "start")
	at := regexp.MustCompile(`console +http://(127\.0\.0\.1:\d+)`).FindStringSubmatch(c.program.out.String())[1]
	bearer := func(r *http.Request) { r.Header.Set("Authorization", "Bearer correct-horse-battery") }
	for path, want := range map[string]string{"/healthz": "ok", "/readyz": `"ready":true`, "/metrics": "familiar_gateway_connected 1", "/debug/pprof/goroutine?debug=1": "goroutine profile"} {
		if code, body := c.request("http://"+at+path, bearer); code != http.StatusOK || !strings.Contains(body, want) {
			t.Errorf("%s: %d %s", path, code, body)
		}
	}
	if code, _ := c.request("http://"+at+"/readyz", nil); code != http.StatusUnauthorized {
		t.Errorf("without the token: %d", code)
	}
	c.env["FAMILIAR_CONSOLE"] = at
	if code, out, complaint := c.command(nil, "health"); code != exitOK || !strings.Contains(out, "gateway  ok\n") {
		t.Errorf("exit code %d: %s%s", code, out, complaint)
	}
	c.env["FAMILIAR_CONSOLE_TOKEN"] = "another-horse-battery"
	if code, _, complaint := c.command(nil, "health"); code != exitFailed || !strings.Contains(complaint, "FAMILIAR_CONSOLE_TOKEN") {
		t.Errorf("with another token: exit code %d: %s", code, complaint)
	}
	c.stop()
}

// TestConsoleAddress checks that the console refuses addresses of other machines without a token. Where the port is in use, the program
// goes on without the pages.
func TestConsoleAddress(t *testing.T) {
	t.Parallel()
	for at, token := range map[string]string{"0.0.0.0:8807": "", ":8807": "short", "192.168.1.4:8807": "", "console.example:8807": "", "8807": "", "127.0.0.1:http80": ""} {
		c := newConversation(t, &txtar.Archive{})
		c.env["FAMILIAR_CONSOLE"], c.env["FAMILIAR_CONSOLE_TOKEN"] = at, token
		code, _, complaint := c.command(strings.NewReader(""), "run")
		if code != exitUsage || !strings.Contains(complaint, "FAMILIAR_CONSOLE: ") {
			t.Errorf("%s: exit code %d: %s", at, code, complaint)
		}
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c := newConversation(t, &txtar.Archive{})
	c.env["FAMILIAR_CONSOLE"] = l.Addr().String()
	c.do("console", "start")
	if out := c.program.out.String(); !strings.Contains(out, "the console is not served; set FAMILIAR_CONSOLE to another address") {
		t.Error(out)
	}
	c.stop()
}
