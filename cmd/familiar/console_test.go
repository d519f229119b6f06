package main

import (
	"bytes"
	"errors"
	"io"
	"mime/multipart"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"familiar/internal/test/wait"
)

// browse reads a page of the console of a program that runs.
func (c *conversation) browse(method, address string, form url.Values) (int, string) {
	c.Helper()
	return c.fetch(method, address, "application/x-www-form-urlencoded", strings.NewReader(form.Encode()))
}

func (c *conversation) fetch(method, address, kind string, form io.Reader) (int, string) {
	c.Helper()
	r, err := http.NewRequestWithContext(c.Context(), method, address, form)
	c.must(err)
	r.Header.Set("Content-Type", kind)
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
	at := c.consoleAt()
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
	for _, replace := range []string{"", "on"} {
		if code, body := c.sendCard(at, "fox.json", `{"name": "Fox", "description": "A fox."}`, replace); code != 200 || !strings.Contains(body, "Imported") {
			t.Errorf("%d %s", code, body)
		}
	}
	for card, why := range map[string]string{`{"name": "Fox", "description": "A fox."}`: "it is there already", `{}`: "neither a character card nor a lorebook"} {
		if code, body := c.sendCard(at, "fox.json", card, ""); code != 422 || !strings.Contains(body, why) {
			t.Errorf("%d %s", code, body)
		}
	}
	c.stop()
}

// sendCard sends a file by the form of the page with the characters.
func (c *conversation) sendCard(at, name, card, replace string) (int, string) {
	c.Helper()
	var form bytes.Buffer
	w := multipart.NewWriter(&form)
	part, err := w.CreateFormFile("card", name)
	c.must(err)
	_, err = part.Write([]byte(card))
	c.must(errors.Join(err, w.WriteField("replace", replace), w.Close()))
	return c.fetch("POST", at+"/characters", w.FormDataContentType(), &form)
}

// consoleAt returns where the program serves its pages.
func (c *conversation) consoleAt() string {
	c.Helper()
	found := regexp.MustCompile(`console +(http://127\.0\.0\.1:\d+)`).FindStringSubmatch(c.program.out.String())
	if found == nil {
		c.Fatalf("it does not say where the console is:\n%s", c.program.out)
	}
	return found[1]
}

// TestConsoleOperates operates the real bot from its pages. A turn is stopped, its reply deleted, another turn taken again. Then the bot is
// paused, and its quotas are changed.
func TestConsoleOperates(t *testing.T) {
	t.Parallel()
	c := newConversation(t, txtar.Parse([]byte(`
-- env --
FAMILIAR_CONSOLE=127.0.0.1:0
-- model --
when "story"
say Once upon a time in a valley that nobody had a name for, 
hold
say too late
when model "small"
say A heron says hello.
when "hello"
say Hello from the model.
`)))
	c.do("operate", "start")
	at := c.consoleAt()
	page := func(method, path string, form url.Values, words ...string) string {
		t.Helper()
		code, body := c.browse(method, at+path, form)
		for _, word := range words {
			if code != http.StatusOK || !strings.Contains(body, word) {
				t.Fatalf("%s %s: %d, and no %q in %s", method, path, code, word, body)
			}
		}
		return body
	}
	for _, line := range []string{"say general ana @familiar tell me a story", "busy general", "shows general Once upon a time"} {
		c.do("operate", line)
	}
	now := page("GET", "/", nil, "tell me a story")
	stop := regexp.MustCompile(`action="(/turn/\w+)/stop"`).FindStringSubmatch(now)
	if stop == nil {
		t.Fatal(now)
	}
	page("POST", stop[1]+"/stop", url.Values{}, "Stopped. What is posted stays.")
	c.do("operate", "heard general")
	c.do("operate", "has -# stopped")
	c.do("operate", "release")
	page("GET", stop[1]+"/delete", nil, "Once upon a time")
	page("POST", stop[1]+"/delete", url.Values{}, "The reply is deleted.")
	c.do("operate", "bare general")
	if again := page("GET", stop[1], nil, "It is not there any more"); strings.Contains(again, "Delete the reply") {
		t.Error("a deleted reply can be deleted")
	}
	page("POST", stop[1]+"/delete", url.Values{}, "The reply is not there any more")
	page("POST", stop[1]+"/stop", url.Values{}, "The answer was over already.")

	for _, line := range []string{"fault POST channels/*/messages 429 1", "say general ana @familiar hello", "heard general", "has Hello from the model"} {
		c.do("operate", line)
	}
	if !wait.Until(func() bool {
		_, body := c.browse("GET", at+"/health", nil)
		return strings.Contains(body, "Rate limits of Discord, at most 1")
	}) {
		t.Error("no rate limit:", page("GET", "/health", nil))
	}
	link := regexp.MustCompile(`href="(/channel/\d+)"`).FindStringSubmatch(page("GET", "/channels", nil, "#general"))[1]
	talk := page("GET", link, nil, "hello", "Hello from the model.", "https://discord.com/channels/", "/person/")
	turns := regexp.MustCompile(`href="(/turn/\w+)"`).FindAllStringSubmatch(talk, -1)
	last := turns[len(turns)-1][1]
	page("POST", last+"/replay", url.Values{"character": {"sage"}, "model": {"small"}, "ask": {"model"}})
	if !wait.Until(func() bool {
		_, body := c.browse("GET", at+last+"/replay", nil)
		return strings.Contains(body, "A heron says hello.") && strings.Contains(body, "Hello from the model.")
	}) {
		t.Error(page("GET", last+"/replay", nil))
	}
	person := regexp.MustCompile(`href="(/person/\d+)"`).FindStringSubmatch(talk)[1]
	page("GET", person, nil, "ana", "Count everything")
	page("POST", person+"/count", url.Values{}, "messages")

	everywhere := func(state string) url.Values {
		return url.Values{"kind": {"answers"}, "place": {"everywhere"}, "state": {state}, "back": {"/operate"}}
	}
	page("POST", "/operate/switch", everywhere("off"), "End the pause everywhere")
	c.do("operate", "say general ana @familiar hello again")
	c.do("operate", "silent general")
	page("POST", "/operate/switch", everywhere("on"), "Pause everywhere")
	page("POST", "/operate/quotas", url.Values{"quotas": {"all 1 turns"}}, `value="all 1 turns"`, "quotas", "the operator")
	if env := string(must(os.ReadFile(filepath.Join(c.dir, ".env")))); !strings.Contains(env, "FAMILIAR_QUOTAS=") {
		t.Errorf(".env: %s", env)
	}
	c.do("operate", "say general ana @familiar hello once more")
	c.do("operate", "notice general")
	page("POST", "/operate/check", url.Values{}, "in order", "console")
	c.stop()
}

// TestAlerts: the operator's channel is told once when turns fail, also over a restart. It is told once when they do not any more.
func TestAlerts(t *testing.T) {
	t.Parallel()
	c := newConversation(t, txtar.Parse([]byte(`
-- env --
FAMILIAR_CONSOLE=127.0.0.1:0
FAMILIAR_ALERTS=errors 90%
-- model --
when "bad"
error 401 {"error":{"message":"Incorrect API key provided","code":"invalid_api_key"}}
when "good"
say Good.
`)))
	c.alerts = 20 * time.Millisecond
	c.do("alerts", "operator office")
	c.do("alerts", "start")
	told := func(word string, n int) {
		t.Helper()
		said := func() (found int) {
			for _, m := range c.discord.Messages("office") {
				found += strings.Count(m.Text, word)
			}
			return found
		}
		if !wait.Until(func() bool { return said() >= n }) || said() != n {
			t.Fatalf("%q is said %d times, want %d: %v\n%s", word, said(), n, c.discord.Messages("office"), c.program.out)
		}
	}
	for range 5 {
		c.do("alerts", "say general ana @familiar bad")
		c.do("alerts", "heard general")
	}
	told("100 % failed, and the limit is 90 %", 1)
	body := ""
	if !wait.Until(func() bool { // it is kept once it was told
		_, body = c.browse("GET", c.consoleAt()+"/health", nil)
		return strings.Contains(body, "100 % failed")
	}) {
		t.Error(body)
	}
	c.do("alerts", "restart")
	for range 2 {
		c.do("alerts", "say general ana @familiar good")
		c.do("alerts", "heard general")
	}
	told("Over: Of the turns", 1)
	told("100 % failed, and the limit is 90 %", 2) // the second time as what is over
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
