package console

import (
	"compress/gzip"
	"context"
	"fmt"
	"html"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"familiar/internal/context/turn"
	"familiar/internal/doctor"
	"familiar/internal/memory"
	"familiar/internal/store"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// ask sends a request like a browser on this machine and returns the response.
func (w *world) ask(method, target string, form url.Values, change ...func(*http.Request)) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, "http://localhost:8807"+target, strings.NewReader(form.Encode()))
	if form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	r.Header.Set("Accept", "text/html,*/*;q=0.8") // as browsers do
	for _, c := range change {
		c(r)
	}
	rec := httptest.NewRecorder()
	w.Handler().ServeHTTP(rec, r)
	return rec
}

// do sends a form. It waits for the job that the form may start, however long that takes on a busy machine.
func (w *world) do(path string, form url.Values, change ...func(*http.Request)) *httptest.ResponseRecorder {
	rec := w.ask("POST", path, form, change...)
	finish(&w.checks)
	finish(&w.replays)
	finish(&w.inspections)
	finish(&w.counts)
	return rec
}

func finish[T any](j *job[T]) {
	j.mu.Lock()
	over := j.over
	j.mu.Unlock()
	if over != nil {
		<-over
	}
}

// pagesOf returns the paths of all pages.
func pagesOf() []string {
	const id = "/turn/01KB0000000000000000001000"
	return []string{
		"/", "/turns", "/turns?q=moons", "/turns?who=nobody", "/turns?q=sort:cost", id, id + "?tab=prompt", id + "?tab=calls", id + "?tab=calls&n=1", id + "?tab=sources", id + "?tab=cut", id + "?tab=record", "/turn/01KB0000000000000000000993",
		"/lookups", "/lookups?lookup=failed", "/sources", "/sources/forget?character=sage&domain=content-farm.example", "/sources/sage", "/backends",
		"/memory", "/memory?in=channel:905", "/memory/1", "/memory/1/delete", "/characters", "/characters/sage", "/characters/sage?file=persona.md", "/usage", "/usage?days=7", "/health", "/doctor",
		"/channels", "/channel/902", "/channel/902?at=" + flake("5", "01KB0000000000000000001000"), "/person/7Ada", "/operate", id + "/replay", id + "/delete",
	}
}

func TestPages(t *testing.T) {
	w := newWorld(t, nil).fill(t)
	empty := newWorld(t, nil)
	for _, path := range pagesOf() {
		rec := w.ask("GET", path, nil)
		body := rec.Body.String()
		if rec.Code != 200 || !strings.HasSuffix(strings.TrimSpace(body), "</html>") {
			t.Errorf("%s: %d %s", path, rec.Code, body)
		}
		if bad := regexp.MustCompile(`(?i) on[a-z]+="|<style|<script>| style="|javascript:|ZgotmplZ|no value|%!`).FindString(body); bad != "" {
			t.Errorf("%s holds %q", path, bad)
		}
		if mark := regexp.MustCompile(`\p{Co}`).FindString(body); mark != "" {
			t.Errorf("%s shows the mark %q as a box", path, mark)
		}
		for _, src := range regexp.MustCompile(`(?:src|href|action)="(https?:)?//[^"]*"`).FindAllString(body, -1) {
			if !strings.HasPrefix(src, "href=") { // a link loads nothing by itself
				t.Errorf("%s loads %s", path, src)
			}
		}
		if rec := empty.ask("GET", path, nil); rec.Code != 200 && rec.Code != 404 {
			t.Errorf("%s of an empty store: %d", path, rec.Code)
		}
	}
}

// TestWords checks that pages contain what the operator looks for.
func TestWords(t *testing.T) {
	w := newWorld(t, nil).fill(t)
	w.feed.Publish(w.begin(t, "01RUN1", "Hugo", "901", "what is the tallest tree?", 3*time.Second))
	const id = "/turn/01KB0000000000000000001000"
	w.do("/doctor", url.Values{})
	for path, words := range map[string][]string{
		"/":                          {"what is the tallest tree?", "#general", "collecting context", "connected", "2 waiting", "of 5"},
		"/turns?who=dmi":             {"SQLITE_BUSY"},
		"/turns?state=failed":        {"haiku"},
		"/turns?q=zebra":             {"No turn on record is like that"},
		id:                           {"274 confirmed moons", "Where the time went", "<svg", "verifies citations", "2,219 tokens, $0.0021, 3 calls", "Saturn number of confirmed moons", "274 moons"},
		id + "?tab=calls":            {"rewords the question", "model: answer"},
		id + "?tab=calls&n=0":        {"{&#34;question&#34;", "¦How many moons"},
		"/turns?q=took>7s+by:sage":   {"SQLITE_BUSY", "Great Wall"},
		"/health":                    {" UTC: ", "First words, p50 and p95", "at most", "Failed lookups", "2 waiting"},
		"/turns?q=rated:bad":         {"No turn on record is like that"},
		"/turns?q=moon":              {"How many moons", "seen from the Moon", "2 turns."},
		"/turns?q=sort:tokens":       {"10 turns. Count and sort by <a href=\"/turns?q=sort%3Atime\">time</a>", "$0.0021"},
		"/turns?q=moon+sort:size":    {"sort:size: it is one of time, took, tokens, cost.", "2 turns."},
		"/turns?q=tokens>many":       {"tokens&gt;many: it is written as in 5000."},
		"/turns?q=took>5":            {"took&gt;5: it is written as in 20s."},
		"/turns?q=status:failed":     {"status:failed: there is no such field."},
		"/turns?q=https://a.example": {"No turn on record is like that"},
		"/turns?q=state:lost":        {"state:lost: it is one of answered"},
		"/turns?q=in:%23the-tavern":  {"tavern&#39;s door"},
		"/turns?q=confirmed":         {"<mark>confirmed</mark>"},
		id + "?tab=prompt":           {"You are Sage", "from the web", "recent history"},
		id + "?tab=sources":          {"science.nasa.gov", "In March 2025", "http error", "Refused by the checks"},
		id + "?tab=cut":              {"truncated", "O6", "when the rings were formed"},
		id + "?tab=record":           {"&#34;backend&#34;: &#34;searxng&#34;"},
		"/usage?days=7":              {"Lookups", "that asked a service"},
		"/lookups":                   {"also one that used an earlier one again", "sources disagree", "contradicts 93 %", "no search service answered"},
		"/sources":                   {"old-astronomy.example", "dwd.de", "and no others"},
		"/backends":                  {"resting", "412 of 2,000", "TAVILY_API_KEY is not set"},
		"/memory":                    {"hazelnuts", "about Ada", "#cooking"},
		"/memory?kind=topic":         {"Tuesday mornings"},
		"/characters":                {"Sage", "in force", "built in", "persona.md"},
		"/characters/sage":           {"In order", "The prompt it makes", "Ada: Hello"},
		"/doctor":                    {"3 ok, 3 warnings, 1 failure", "give its role what is missing", "#help-desk", `<span class="hidden">missing</span>`},
		"/usage":                     {"Tokens by day", "#science", "Dmitri"},
		"/turn/01KB0000000000000009": {"There is no record"},
		"/channels":                  {"#science", "its turns", "server 900"},
		"/channel/902":               {"How many moons", "Saturn has 274 confirmed moons", `href="/person/7Ada"`, "https://discord.com/channels/900/902/5010000000000000000001000", "↪ Ada", `liked by <span class="num">1</span>`, "interrupted"},
		"/channel/904":               {"It is paused here", "End the pause of this channel"},
		"/person/7Ada":               {"she/her", "hazelnuts", "Count everything", "not agreed"},
		"/operate":                   {"times in UTC", "Pause everywhere", "all 5 dollars", "#the-tavern", "none yet", "How many moons"},
		id + "/replay":               {"the configured one", "from the record"},
		id + "/delete":               {"Delete this reply from the channel?", "274 confirmed moons"},
	} {
		body := strings.Join(strings.Fields(w.ask("GET", path, nil).Body.String()), " ")
		for _, word := range words {
			if !strings.Contains(body, word) {
				t.Errorf("%s does not say %q", path, word)
			}
		}
	}
	if body := w.ask("GET", "/memory?kind=topic", nil).Body.String(); strings.Contains(body, "hazelnuts") {
		t.Error("a topic is a person")
	}
}

func TestAccess(t *testing.T) {
	w := newWorld(t, nil).fill(t)
	host := func(name string) func(*http.Request) { return func(r *http.Request) { r.Host = name } }
	header := func(name, value string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set(name, value) }
	}
	for _, c := range []struct {
		what         string
		method, path string
		change       []func(*http.Request)
		want         int
	}{
		{"localhost", "GET", "/", []func(*http.Request){host("localhost:8807")}, 200},
		{"an address of loopback", "GET", "/", []func(*http.Request){host("127.0.0.1:8807")}, 200},
		{"the same of IPv6", "GET", "/", []func(*http.Request){host("[::1]:8807")}, 200},
		{"a name that was rebound", "GET", "/", []func(*http.Request){host("evil.example:8807")}, 421},
		{"a name that begins like one of ours", "GET", "/", []func(*http.Request){host("localhost.evil.example")}, 421},
		{"an address of the network", "GET", "/", []func(*http.Request){host("192.168.1.4:8807")}, 421},
		{"a form of another site", "POST", "/memory/1/delete", []func(*http.Request){header("Sec-Fetch-Site", "cross-site")}, 403},
		{"a form of an old browser on another site", "POST", "/memory/1/delete", []func(*http.Request){header("Sec-Fetch-Site", ""), header("Origin", "https://evil.example")}, 403},
		{"deletion by a link", "GET", "/memory/1/delete", nil, 200},
		{"a picture that is a search", "GET", "/turns?q=moons", []func(*http.Request){header("Sec-Fetch-Site", "cross-site"), header("Sec-Fetch-Mode", "no-cors")}, 403},
		{"a window that is a search", "GET", "/turns?q=moons", []func(*http.Request){header("Sec-Fetch-Site", "cross-site"), header("Sec-Fetch-Mode", "navigate"), header("Sec-Fetch-Dest", "document")}, 403},
		{"a window that is a profile", "GET", "/debug/pprof/profile", []func(*http.Request){header("Sec-Fetch-Site", "same-site"), header("Sec-Fetch-Mode", "navigate"), header("Sec-Fetch-Dest", "document")}, 403},
		{"a link to a turn", "GET", "/turn/01KB0000000000000000001000", []func(*http.Request){header("Sec-Fetch-Site", "cross-site"), header("Sec-Fetch-Mode", "navigate"), header("Sec-Fetch-Dest", "document")}, 200},
		{"another method", "DELETE", "/memory/1", nil, 404},
		{"a file that is none", "GET", "/static/..%2fconsole.go", nil, 404},
	} {
		if got := w.ask(c.method, c.path, url.Values{}, c.change...); got.Code != c.want {
			t.Errorf("%s: %d, want %d", c.what, got.Code, c.want)
		}
	}
	if all, err := w.memories.Browse(t.Context(), memory.Browse{ID: 1, Limit: 1}); len(all) != 1 || err != nil {
		t.Error("a statement is gone", err)
	}
	h := w.ask("GET", "/", nil).Header()
	for name, want := range map[string]string{"Content-Security-Policy": "default-src 'none'", "X-Frame-Options": "DENY", "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"} {
		if !strings.Contains(h.Get(name), want) {
			t.Errorf("%s: %q", name, h.Get(name))
		}
	}
}

func TestToken(t *testing.T) {
	w := newWorld(t, func(c *Config) {
		c.Token, c.Hosts, c.Proxies = "correct-horse-battery", []string{"familiar.example"}, []netip.Prefix{netip.MustParsePrefix("10.9.0.0/16")}
	}).fill(t)
	with := func(value string) func(*http.Request) {
		return func(r *http.Request) { r.AddCookie(&http.Cookie{Name: sessionCookie, Value: value}) }
	}
	bearer := func(token string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+token) }
	}
	if rec := w.ask("GET", "/", nil); rec.Code != 303 || rec.Header().Get("Location") != "/login" {
		t.Error("without a token:", rec.Code)
	}
	for _, path := range []string{"/turns", "/live", "/memory/1", "/characters/sage"} {
		if body := w.ask("GET", path, nil).Body.String(); strings.Contains(body, "hazelnuts") || strings.Contains(body, "Saturn") {
			t.Error(path, "shows something")
		}
	}
	for path, want := range map[string]int{"/healthz": 200, "/readyz": 401, "/metrics": 401, "/debug/pprof/heap": 401, "/turns": 401} {
		if rec := w.ask("GET", path, nil, func(r *http.Request) { r.Header.Set("Accept", "*/*") }); rec.Code != want {
			t.Errorf("a program without a token at %s: %d", path, rec.Code)
		}
	}
	if rec := w.ask("GET", "/metrics", nil, bearer("correct-horse-battery")); rec.Code != 200 {
		t.Error("a program with the token:", rec.Code)
	}
	if rec := w.ask("GET", "/static/style.css", nil); rec.Code != 200 {
		t.Error("the form has no style:", rec.Code)
	}
	if rec := w.ask("GET", "/", nil, bearer("correct-horse-battery"), func(r *http.Request) { r.Host = "familiar.example" }); rec.Code != 200 {
		t.Error("with the token:", rec.Code)
	}
	rec := w.ask("POST", "/login", url.Values{"token": {"correct-horse-battery"}})
	cookies := rec.Result().Cookies()
	if rec.Code != 303 || len(cookies) != 1 || !cookies[0].HttpOnly || cookies[0].SameSite != http.SameSiteStrictMode {
		t.Fatal(rec.Code, cookies)
	}
	if rec := w.ask("GET", "/", nil, with(cookies[0].Value)); rec.Code != 200 {
		t.Error("with a session:", rec.Code)
	}
	key := w.sessionKey(cookies[0].Value) // is on the page
	for _, forged := range []string{"", key, "x", cookies[0].Value + "x"} {
		if rec := w.ask("GET", "/", nil, with(forged)); rec.Code == 200 {
			t.Errorf("the session %q is taken", forged)
		}
	}
	for range maxAttempts {
		if rec := w.ask("POST", "/login", url.Values{"token": {"guess"}}); rec.Code != 401 {
			t.Fatal(rec.Code)
		}
	}
	if rec := w.ask("POST", "/login", url.Values{"token": {"correct-horse-battery"}}); rec.Code != 429 {
		t.Error("after many wrong tokens:", rec.Code)
	}
	from := func(peer, forwarded string) func(*http.Request) {
		return func(r *http.Request) {
			r.RemoteAddr = peer
			r.Header.Set("X-Forwarded-For", forwarded)
		}
	}
	for _, c := range []struct {
		what, peer, forwarded string
		want                  int
	}{
		{"another machine", "192.0.2.77:80", "", 303},
		{"the same machine, which makes an address up", "192.0.2.1:99", "198.51.100.7", 429},
		{"another machine behind a proxy", "10.9.0.1:99", "192.0.2.1, 198.51.100.7", 303},
		{"the same machine behind a proxy", "10.9.0.1:99", "198.51.100.7, 192.0.2.1", 429},
		{"the same machine behind two proxies", "10.9.0.1:99", "198.51.100.7, 192.0.2.1, 10.9.7.7", 429},
		{"a program of this machine that is no proxy", "127.0.0.1:99", "192.0.2.1", 303},
	} {
		if rec := w.ask("POST", "/login", url.Values{"token": {"correct-horse-battery"}}, from(c.peer, c.forwarded)); rec.Code != c.want {
			t.Errorf("%s: %d, want %d", c.what, rec.Code, c.want)
		}
	}
}

// TestSessions signs in twice, sees both sessions, and ends them: one by its button, one by signing out. A copy of its cookie opens nothing.
func TestSessions(t *testing.T) {
	w := newWorld(t, func(c *Config) { c.Token = "correct-horse-battery" })
	login := func(agent string) func(*http.Request) {
		rec := w.ask("POST", "/login", url.Values{"token": {"correct-horse-battery"}}, func(r *http.Request) { r.Header.Set("User-Agent", agent) })
		c := rec.Result().Cookies()[0]
		return func(r *http.Request) { r.AddCookie(c) }
	}
	mine, lost := login("Firefox <mine>"), login("Chrome, lost")
	body := w.ask("GET", "/sessions", nil, mine).Body.String()
	keys := regexp.MustCompile(`name="key" value="(\w{32})"`).FindAllStringSubmatch(body, -1)
	if len(keys) != 2 || !strings.Contains(body, "Firefox &lt;mine&gt;") || !strings.Contains(body, "Chrome, lost") || strings.Count(body, "this one") != 1 {
		t.Fatal(keys, body)
	}
	if rec := w.ask("POST", "/sessions", url.Values{"key": {"others"}}, mine); rec.Code != 303 {
		t.Error(rec.Code)
	}
	if rec := w.ask("GET", "/", nil, lost); rec.Code != 303 {
		t.Error("the lost browser is still in:", rec.Code)
	}
	if rec := w.ask("GET", "/", nil, mine); rec.Code != 200 {
		t.Error("its own:", rec.Code)
	}
	if body := w.ask("GET", "/sessions", nil, mine).Body.String(); strings.Contains(body, "Sign out all others") {
		t.Error("others can be signed out where there are none")
	}
	if rec := w.ask("POST", "/sessions", url.Values{"key": {"others"}}, mine); rec.Header().Get("Location") != "/sessions?done=unchanged" {
		t.Error("an old tab:", rec.Header())
	}
	w.ask("POST", "/logout", url.Values{}, mine)
	if rec := w.ask("GET", "/", nil, mine); rec.Code != 303 {
		t.Error("a copy of the cookie after signing out:", rec.Code)
	}
	again := login("x")
	w.Token = "another-horse-battery"
	if rec := w.ask("GET", "/", nil, again); rec.Code != 303 {
		t.Error("with another token:", rec.Code)
	}
}

// TestOperate does everything that the operator can do. Each act reaches the bot or the store, and is on record with its session.
func TestOperate(t *testing.T) {
	const id = "01KB0000000000000000001000"
	w := newWorld(t, func(c *Config) { c.Token = "correct-horse-battery" }).fill(t)
	cookie := w.ask("POST", "/login", url.Values{"token": {"correct-horse-battery"}}).Result().Cookies()[0]
	mine := func(r *http.Request) { r.AddCookie(cookie) }
	w.begin(t, "01RUN1", "Hugo", "901", "what is the tallest tree?", time.Second)
	persona, err := w.Shelf.read("sage", "persona.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		path string
		form url.Values
		want string // what the bot was told
		says string // on the next page
	}{
		{"/turn/01RUN1/stop", url.Values{}, "stop 901 01RUN1", "Stopped. What is posted stays."},
		{"/turn/" + id + "/stop", url.Values{}, "", "The answer was over already."},
		{"/turn/" + id + "/delete", url.Values{}, "delete " + id + " by console:" + w.sessionKey(cookie.Value)[:8], "The reply is deleted."},
		{"/turn/" + id + "/delete", url.Values{}, "", "The reply is not there any more"},
		{"/operate/switch", url.Values{"kind": {"answers"}, "place": {"everywhere"}, "state": {"off"}, "back": {"/operate"}}, "pause everywhere false", "End the pause everywhere"},
		{"/operate/switch", url.Values{"kind": {"answers"}, "place": {"everywhere"}, "state": {"on"}, "back": {"/operate"}}, "pause everywhere true", "Pause everywhere"},
		{"/operate/switch", url.Values{"kind": {"answers"}, "place": {"everywhere"}, "state": {"on"}, "back": {"/operate"}}, "", "Nothing was changed."},
		{"/operate/switch", url.Values{"kind": {"lookups"}, "place": {""}, "guild": {"900"}, "state": {"off"}, "back": {"/operate"}}, "", "lookups"},
		{"/operate/quotas", url.Values{"quotas": {"person 50 turns"}}, "", "person 50 turns"},
		{"/operate/check", url.Values{}, "", "in order"},
		{"/characters/sage", url.Values{"file": {"persona.md"}, "sum": {sumOf(persona)}, "text": {"A heron."}}, "", "in force from the next turn on"},
		{"/sources/forget", url.Values{"character": {"sage"}, "domain": {"old-astronomy.example"}}, "", "is forgotten"},
		{"/channel/902", url.Values{"mode": {"full_rp"}, "web": {"on"}, "threads": {"on"}, "pictures": {"on"}}, "", "Saved, and in force"},
		{"/person/7Ada/count", url.Values{}, "", "<td class=\"num\">41</td>"},
		{"/turn/" + id + "/replay", url.Values{"character": {"sage"}, "model": {"small-7b"}, "ask": {"model"}}, "replay " + id + " sage small-7b model", "Saturn has a few moons"},
	} {
		w.bot.done = nil
		rec := w.do(c.path, c.form, mine)
		if got := strings.Join(w.bot.done, ", "); rec.Code != 303 || got != c.want {
			t.Errorf("%s: %d, the bot was told %q, want %q", c.path, rec.Code, got, c.want)
			continue
		}
		if body := w.ask("GET", rec.Header().Get("Location"), nil, mine).Body.String(); !strings.Contains(body, c.says) {
			t.Errorf("%s: the page does not say %q: %s", c.path, c.says, body)
		}
	}
	if c, err := w.store.Settings.Channel(t.Context(), "902"); c.Mode != "full_rp" || c.WebOff || !c.Bare || err != nil {
		t.Error(c, err)
	}
	all, err := w.store.Changes.All(t.Context(), 50)
	var kinds []string
	for _, c := range all {
		if c.By.ID == "console:"+w.sessionKey(cookie.Value)[:8] {
			kinds = append(kinds, string(c.Kind)+" "+c.To)
		}
	}
	for _, want := range []string{"write sage/persona.md", "forget sage old-astronomy.example", "stop 01RUN1", "delete " + id, "quotas person 50 turns", "check the database", "mode full_rp", "threads on", "pictures on", "lookups off", "replay " + id + ", sage, small-7b, model"} {
		if !slices.Contains(kinds, want) {
			t.Errorf("%q is not on record: %q (%v)", want, kinds, err)
		}
	}
	if in, err := w.store.Changes.InGuild(t.Context(), "900", 50); err != nil || slices.ContainsFunc(in, func(c store.Change) bool { return c.Kind == store.ActStop || c.Kind == store.ActReplay }) {
		t.Error("people of the server see the operator's acts:", in, err)
	}
	if body := w.ask("GET", "/operate", nil, mine).Body.String(); !strings.Contains(body, "console:"+w.sessionKey(cookie.Value)[:8]) || !strings.Contains(body, "person 50 turns") {
		t.Error("the page does not show who did what")
	}
	for _, c := range []struct {
		path string
		form url.Values
	}{{"/operate/quotas", url.Values{"quotas": {"all"}}}, {"/operate/switch", url.Values{"kind": {"answers"}}}, {"/channel/902", url.Values{"mode": {"shout"}}}, {"/channel/902", url.Values{"mode": {""}, "pictures": {"always"}}}, {"/channel/902", url.Values{"web": {"on"}}}, {"/operate/quotas", url.Values{"quota": {"all 1 turns"}}}} {
		if rec := w.ask("POST", c.path, c.form, mine); rec.Code != 422 {
			t.Errorf("%s %v: %d", c.path, c.form, rec.Code)
		}
	}
}

// TestGone: what can do nothing any more is not offered, and an old tab is told so.
func TestGone(t *testing.T) {
	const id = "/turn/01KB0000000000000000001000"
	w := newWorld(t, nil).fill(t)
	page := func(path string) string { return w.ask("GET", path, nil).Body.String() }
	offers := func(what ...string) {
		t.Helper()
		body := page(id)
		for _, act := range []string{"/replay", "/delete"} {
			if offered := strings.Contains(body, `href="`+id+act+`"`); offered != slices.Contains(what, act) {
				t.Errorf("%s offered: %v", act, offered)
			}
		}
	}
	offers("/replay", "/delete")
	tr, err := w.traces.Get(t.Context(), path.Base(id))
	if err != nil {
		t.Fatal(err)
	}
	m, err := w.store.Messages.Get(t.Context(), tr.ReplyIDs[0])
	if err != nil {
		t.Fatal(err)
	}
	if m.TurnID = "01KB0000000000000000009999"; w.store.Messages.Save(t.Context(), m) != nil {
		t.Fatal("the message is not saved")
	}
	offers("/replay") // another answer is in its place
	if err := w.store.Messages.Delete(t.Context(), m.ID); err != nil {
		t.Fatal(err)
	}
	offers("/replay", "/delete") // nothing is known of the post
	if err := w.traces.RedactMessages(t.Context(), []store.Message{{ID: tr.Request.Message.ID, ChannelID: tr.Request.ChannelID}}); err != nil {
		t.Fatal(err)
	}
	offers()
	for act, says := range map[string]string{"/replay": "there is nothing to take again", "/delete": "The reply is not there any more"} {
		for _, method := range []string{"GET", "POST"} {
			rec := w.ask(method, id+act, url.Values{})
			if next := rec.Header().Get("Location"); rec.Code != 303 || !strings.Contains(page(next), says) {
				t.Errorf("%s %s: %d, %s", method, act, rec.Code, next)
			}
		}
	}
	if len(w.bot.done) > 0 {
		t.Error(w.bot.done)
	}
	pause := store.Switch{Kind: store.Answers, Place: store.Everywhere, At: w.now}
	if err := w.store.Settings.SwitchOff(t.Context(), pause); err != nil {
		t.Fatal(err)
	}
	if body := page("/channel/902"); !strings.Contains(body, "It is paused here") || strings.Contains(body, "End the pause") {
		t.Error("a pause that is not the channel's can be ended there")
	}
}

// TestHealth: the page shows what looks at the bot found, since when, and what the days cost.
func TestHealth(t *testing.T) {
	w := newWorld(t, nil).fill(t)
	health := func() string { return strings.Join(strings.Fields(w.ask("GET", "/health", nil).Body.String()), " ") }
	if body := health(); strings.Contains(body, "Rate limits") {
		t.Error("rate limits are shown before anybody counts them")
	}
	for _, limited := range []int64{0, 3, 3, 7} {
		w.limited.Store(limited)
		w.look()
	}
	body := health()
	for _, want := range []string{`aria-label="Rate limits of Discord, at most 7"`, `at most 7, since <time`, `aria-label="Waiting at once, at most 2"`, `aria-label="Money a day, the last 24, at most $`, "<title>" + w.now.Format("2 Jan") + ": $"} {
		if !strings.Contains(body, want) {
			t.Errorf("the page does not say %q: %s", want, body)
		}
	}
	w.seen.began, w.seen.hours = w.now.AddDate(0, 0, -2), [24]sighting{}
	*w.seen.at(w.now.Add(-2 * time.Hour)) = sighting{hour: w.now.Add(-2*time.Hour).Unix() / 3600, limited: 4}
	w.seen.at(w.now.Add(-30 * time.Hour)).limited = 9
	if body := health(); !strings.Contains(body, `at most 4</p>`) {
		t.Error("of two days: ", body)
	}
}

// TestOnlyByPost: neither a link nor a form of another site does anything to the bot.
func TestOnlyByPost(t *testing.T) {
	w := newWorld(t, nil).fill(t)
	const id = "/turn/01KB0000000000000000001000"
	for _, path := range []string{id + "/stop", id + "/delete", id + "/replay", "/operate/switch", "/operate/quotas", "/operate/check", "/channel/902", "/person/7Ada/count"} {
		query := "?kind=answers&place=everywhere&state=off&quotas=all+1+turns&mode=full_rp&ask=all"
		w.ask("GET", path+query, nil)
		rec := w.ask("POST", path+query, url.Values{}, func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") })
		if rec.Code != 403 {
			t.Errorf("%s: %d", path, rec.Code)
		}
	}
	if all, err := w.store.Changes.All(t.Context(), 9); len(w.bot.done) > 0 || len(all) != 1 || err != nil { // that of fill
		t.Error(w.bot.done, all, err)
	}
}

// TestReplayGoesOn: a replay that takes long goes on after its request. It shows nothing once the record has changed, or somebody was forgotten.
func TestReplayGoesOn(t *testing.T) {
	const path = "/turn/01KB0000000000000000001000"
	w := newWorld(t, nil).fill(t)
	goOn := make(chan struct{})
	took := w.bot.replay
	w.bot.replay = func(ctx context.Context, a Again) (Replayed, error) {
		select {
		case <-goOn:
		case <-ctx.Done():
			return Replayed{}, ctx.Err()
		}
		w.bot.replay = took
		return w.Controls.Replay(ctx, a)
	}
	w.ask("POST", path+"/replay", url.Values{"ask": {"model"}})
	rec := w.ask("GET", path+"/replay", nil)
	if rec.Header().Get("Refresh") == "" || !strings.Contains(rec.Body.String(), "It is being taken again") {
		t.Error(rec.Header(), rec.Body)
	}
	close(goOn)
	<-w.replays.over
	if body := w.ask("GET", path+"/replay", nil).Body.String(); !strings.Contains(body, "a few moons") || !strings.Contains(body, "-Saturn has 274") {
		t.Error(body)
	}
	if err := w.traces.Press(t.Context(), strings.TrimPrefix(path, "/turn/"), turn.Press{Kind: "delete", ByID: "7Ada", At: w.now}); err != nil {
		t.Fatal(err)
	}
	if body := w.ask("GET", path+"/replay", nil).Body.String(); strings.Contains(body, "a few moons") || !strings.Contains(body, "The record has changed") {
		t.Error(body)
	}
	w.ask("POST", path+"/replay", url.Values{})
	w.Forget()
	if body := w.ask("GET", path+"/replay", nil).Body.String(); strings.Contains(body, "a few moons") {
		t.Error("it is still shown")
	}
}

// TestConversation walks through a channel, and finds each message once.
func TestConversation(t *testing.T) {
	w := newWorld(t, nil)
	for i := range 100 {
		m := store.Message{ID: fmt.Sprint(7000 + i), ChannelID: "901", GuildID: "900", AuthorID: "7Ada", AuthorName: "Ada", Text: fmt.Sprintf("word%d <b>", i), At: w.now.Add(time.Duration(i-100) * time.Minute)}
		if i == 50 {
			m.Text = strings.Repeat("long ", 700)
		}
		if err := w.store.Messages.Save(t.Context(), m); err != nil {
			t.Fatal(err)
		}
	}
	walk := func(path, rel string) (all []string) {
		for path != "" {
			body := html.UnescapeString(w.ask("GET", path, nil).Body.String())
			all = append(all, regexp.MustCompile(`id="m-\d+"`).FindAllString(body, -1)...)
			path = ""
			if next := regexp.MustCompile(`href="([^"]+)" rel="` + rel + `"`).FindStringSubmatch(body); next != nil {
				path = next[1]
			}
		}
		slices.Sort(all)
		return slices.Compact(all)
	}
	if all := walk("/channel/901", "prev"); len(all) != 100 {
		t.Errorf("back: %d messages", len(all))
	}
	if all := walk("/channel/901?at=7000", "next"); len(all) != 100 {
		t.Errorf("on: %d messages", len(all))
	}
	if body := w.ask("GET", "/channel/901", nil).Body.String(); !strings.Contains(body, "word99 &lt;b&gt;") {
		t.Error(body)
	}
	if rec := w.ask("GET", "/channel/902?at=7000", nil); rec.Code != 404 {
		t.Error("a message of another channel:", rec.Code)
	}
}

// TestOptedOut: of somebody who opted out a page shows only that.
func TestOptedOut(t *testing.T) {
	w := newWorld(t, nil).fill(t)
	if err := w.store.Privacy.OptOut(t.Context(), "7Ada", true, w.now); err != nil {
		t.Fatal(err)
	}
	body := w.ask("GET", "/person/7Ada", nil).Body.String()
	if !strings.Contains(body, "They opted out") {
		t.Error(body)
	}
	for _, word := range []string{"hazelnuts", "she/her", "<h1>Ada", "Count everything"} {
		if strings.Contains(body, word) {
			t.Errorf("it says %q", word)
		}
	}
	if rec := w.ask("GET", "/person/7Nobody", nil); rec.Code != 404 {
		t.Error("nobody:", rec.Code)
	}
}

// TestPrefix serves the pages under a path of a proxy, which passes it on or not.
func TestPrefix(t *testing.T) {
	w := newWorld(t, func(c *Config) { c.Prefix = "/familiar" }).fill(t)
	for _, path := range []string{"/familiar/turns?q=moons", "/turns?q=moons"} {
		body := w.ask("GET", path, nil).Body.String()
		if bad := regexp.MustCompile(`(href|src|action|data-\w+)="/(?:[^f]|f[^a])[^"]*"`).FindString(body); bad != "" || !strings.Contains(body, `href="/familiar/turn/`) {
			t.Errorf("%s: %q", path, bad)
		}
	}
	rec := w.ask("POST", "/familiar/theme", url.Values{"theme": {"dark"}, "back": {"/usage"}})
	if to, c := rec.Header().Get("Location"), rec.Result().Cookies()[0]; to != "/familiar/usage" || c.Path != "/familiar/" {
		t.Error(to, c)
	}
}

// TestTransfer: pages are compressed, and files are not sent twice.
func TestTransfer(t *testing.T) {
	w := newWorld(t, nil).fill(t)
	gzipped := func(r *http.Request) { r.Header.Set("Accept-Encoding", "gzip, br") }
	for _, path := range []string{"/turns", "/static/style.css"} {
		plain, rec := w.ask("GET", path, nil).Body.Len(), w.ask("GET", path, nil, gzipped)
		if rec.Header().Get("Content-Encoding") != "gzip" || rec.Body.Len() > plain/2 {
			t.Errorf("%s: %d of %d bytes, %v", path, rec.Body.Len(), plain, rec.Header())
		}
		if all, err := gzip.NewReader(rec.Body); err != nil {
			t.Error(err)
		} else if body, err := io.ReadAll(all); err != nil || len(body) != plain {
			t.Errorf("%s: %d bytes, want %d (%v)", path, len(body), plain, err)
		}
	}
	tag := w.ask("GET", "/static/style.css", nil).Header().Get("ETag")
	if rec := w.ask("GET", "/static/style.css", nil, func(r *http.Request) { r.Header.Set("If-None-Match", tag) }); tag == "" || rec.Code != 304 || rec.Body.Len() != 0 {
		t.Errorf("%q: %d", tag, rec.Code)
	}
}

// TestTemplates checks that no line of a template is longer than a screen is wide. No page may be larger than a slow line can bear.
func TestTemplates(t *testing.T) {
	names, _ := filepath.Glob("templates/*.html")
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for i, line := range strings.Split(string(text), "\n") {
			if len(line) > 200 {
				t.Errorf("%s:%d has %d bytes", name, i+1, len(line))
			}
		}
	}
	w := newWorld(t, nil).fill(t)
	w.grow(t, 300)
	for _, path := range pagesOf() {
		if rec := w.ask("GET", path, nil); rec.Body.Len() > 60<<10 && !strings.Contains(path, "record") {
			t.Errorf("%s has %d bytes", path, rec.Body.Len())
		}
	}
}

// TestSearches keeps a search, exports what it finds, and forgets it.
func TestSearches(t *testing.T) {
	w := newWorld(t, nil).fill(t)
	form := url.Values{"name": {"the moon"}, "q": {"moon state:answered"}}
	rec := w.ask("POST", "/views", form)
	if rec.Code != 303 || rec.Header().Get("Location") != "/turns?q=moon+state%3Aanswered" {
		t.Fatal(rec.Code, rec.Header())
	}
	if body := html.UnescapeString(w.ask("GET", "/turns", nil).Body.String()); !strings.Contains(body, `<a href="/turns?q=moon+state%3Aanswered">the moon</a>`) {
		t.Error(body)
	}
	if body := w.ask("GET", rec.Header().Get("Location"), nil).Body.String(); !strings.Contains(body, "Forget the search “the moon”") {
		t.Error(body)
	}
	rec = w.ask("GET", "/turns.jsonl?q=moon+state%3Aanswered", nil)
	if lines := strings.Split(strings.TrimSpace(rec.Body.String()), "\n"); len(lines) != 2 || !strings.Contains(rec.Body.String(), `"Question":"How many moons`) {
		t.Error(lines)
	}
	w.ask("POST", "/views", url.Values{"name": {"the moon"}})
	if body := w.ask("GET", "/turns", nil).Body.String(); strings.Contains(body, "the moon") {
		t.Error("it is still there")
	}
}

// TestSorted: what used most comes first and all are counted, on each page of a search that stops early.
func TestSorted(t *testing.T) {
	w := newWorld(t, nil)
	for i := range 120 {
		tr := someone{who: "Ada", channel: "901", question: fmt.Sprint("question ", i), took: time.Duration(i*37%120+1) * time.Second}.record(fmt.Sprintf("01SORT%03d", i), w.now.Add(time.Duration(i)*time.Minute))
		if err := w.traces.Save(t.Context(), tr); err != nil {
			t.Fatal(err)
		}
	}
	if body := w.ask("GET", "/turns", nil).Body.String(); !strings.Contains(body, "At least 50 turns.") || strings.Contains(body, "question 0") {
		t.Error(body)
	}
	body := w.ask("GET", "/turns?q=question+sort:took", nil).Body.String()
	if first := regexp.MustCompile(`/turn/01SORT(\d+)`).FindStringSubmatch(body); !strings.Contains(body, "120 turns.") || first == nil || first[1] != "107" || strings.Count(body, "<tr>") != 51 {
		t.Error(first, body)
	}
	w.traces.SearchTime = 1
	body = html.UnescapeString(w.ask("GET", "/turns?q=sort:took", nil).Body.String())
	if !strings.Contains(body, "At least ") || !strings.Contains(body, `href="/turns?before=%40`) || !strings.Contains(body, "The search stopped") {
		t.Error(body)
	}
}

// TestCallWords: the page says for people what each model was asked for.
func TestCallWords(t *testing.T) {
	for _, purpose := range []string{turn.ForAnswer, turn.ForNeed, turn.ForReword, turn.ForSelect, turn.ForVerify, turn.ForFilter, turn.ForSpeech, turn.ForMood, "think", "recast", "orders", "vision", "chatter", "summary", "learn", "topics"} {
		if callWord(purpose) == callWord("unheard of") {
			t.Errorf("%s has no words", purpose)
		}
	}
}

// TestSecrets checks that no page shows a secret, wherever it came from.
func TestSecrets(t *testing.T) {
	w := newWorld(t, nil).fill(t)
	tr := someone{who: "Ada", channel: "901", question: "my key is " + secret, reply: secret, took: time.Second}.record("01SECRET", w.now)
	if err := w.traces.Save(t.Context(), tr); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(w.Shelf.Dir, "sage", "persona.md")
	if err := w.Shelf.save(t.Context(), "sage", "persona.md", "Sage knows "+secret); err != nil {
		t.Fatal(err)
	}
	for _, path := range append(pagesOf(), "/turn/01SECRET", "/turn/01SECRET?tab=prompt", "/turn/01SECRET?tab=record", "/turns?q=key") {
		if strings.Contains(html.UnescapeString(w.ask("GET", path, nil).Body.String()), secret) {
			t.Error(path, "shows a secret")
		}
	}
	// A text that is shown without its secret must not be saved.
	if body := w.ask("GET", "/characters/sage?file=persona.md", nil).Body.String(); strings.Contains(body, "<textarea") {
		t.Error("a file with a secret can be edited")
	}
	if text, err := os.ReadFile(file); err != nil || !strings.Contains(string(text), secret) {
		t.Error("the file has changed", err)
	}
}

func TestCorrectMemory(t *testing.T) {
	w := newWorld(t, nil).fill(t)
	rec := w.ask("POST", "/memory/1", url.Values{"text": {"Ada is allergic to walnuts.\r\n"}})
	if rec.Code != 303 || rec.Header().Get("Location") != "/memory/6?done=corrected" {
		t.Fatal(rec.Code, rec.Header())
	}
	body := w.ask("GET", "/memory/6?done=corrected", nil).Body.String()
	for _, word := range []string{"allergic to walnuts", "What it said before", "hazelnuts", "The statement is corrected"} {
		if !strings.Contains(body, word) {
			t.Errorf("the page does not say %q", word)
		}
	}
	told, err := w.memories.About(t.Context(), memory.FilterGuild("900", []string{"905"}), []string{"7Ada"})
	if err != nil || len(told) != 1 || told[0].Text != "Ada is allergic to walnuts." || told[0].By != "7Ada" || !told[0].Pinned {
		t.Fatal(told, err)
	}
	if rec := w.ask("POST", "/memory/1", url.Values{"text": {"something else"}}); rec.Code != 422 {
		t.Error("history was corrected:", rec.Code)
	}
	if rec := w.ask("POST", "/memory/6", url.Values{"text": {""}}); rec.Code != 422 {
		t.Error("an empty statement:", rec.Code)
	}
	if rec := w.ask("POST", "/memory/6", url.Values{"text": {told[0].Text}, "pin": {"no"}}); rec.Code != 303 {
		t.Error("unpin:", rec.Code)
	}
	if rec := w.ask("POST", "/memory/6/delete", url.Values{}); rec.Code != 303 {
		t.Error("delete:", rec.Code)
	}
	for _, path := range []string{"/memory/6", "/memory/1"} {
		if rec := w.ask("GET", path, nil); rec.Code != 404 {
			t.Error(path, "is still there:", rec.Code)
		}
	}
}

// TestExamine uses a check that takes longer than anybody waits for a page. The results of the other checks appear at
// once, with the names of those that still run. The examination continues after the request.
func TestExamine(t *testing.T) {
	answer, found, asked := make(chan struct{}), make(chan struct{}, 9), 0
	w := newWorld(t, func(c *Config) {
		c.Doctor = func(ctx context.Context, progress doctor.Progress) []doctor.Finding {
			asked++
			return doctor.Run(ctx, []doctor.Check{
				{ID: "guard", Limit: time.Hour, Run: func(context.Context) []doctor.Finding {
					return []doctor.Finding{{ID: "guard", State: doctor.OK, Text: "All were refused."}}
				}},
				{ID: "model", Limit: time.Hour, Run: func(ctx context.Context) []doctor.Finding {
					select {
					case <-answer:
						return []doctor.Finding{{ID: "model", State: doctor.OK, Text: "It answers, if slowly."}}
					case <-ctx.Done():
						return nil
					}
				}},
			}, func(s doctor.Standing) {
				progress(s)
				if s.Ended > 0 {
					found <- struct{}{}
				}
			})
		}
	})
	left, leave := context.WithCancel(t.Context())
	leave()
	w.ask("POST", "/doctor", url.Values{}, func(r *http.Request) { *r = *r.WithContext(left) })
	<-found
	w.ask("POST", "/doctor", url.Values{}) // must not start another
	rec := w.ask("GET", "/doctor", nil)
	for _, words := range []string{"All were refused.", "1 of 2 checks have ended, and it waits for model.", "disabled"} {
		if !strings.Contains(rec.Body.String(), words) {
			t.Errorf("the page does not say %q", words)
		}
	}
	if rec.Header().Get("Refresh") == "" || asked != 1 {
		t.Errorf("headers %v, asked %d times", rec.Header(), asked)
	}
	close(answer)
	<-w.checks.over
	rec = w.ask("GET", "/doctor", nil)
	for _, words := range []string{"All were refused.", "It answers, if slowly.", "2 ok"} {
		if !strings.Contains(rec.Body.String(), words) {
			t.Errorf("the page does not say %q", words)
		}
	}
	if rec.Header().Get("Refresh") != "" {
		t.Error("the page is still reloading")
	}
	answer = make(chan struct{})
	w.ask("POST", "/doctor", url.Values{})
	w.checks.end() // as the server does, which goleak checks
	if w.ask("POST", "/doctor", url.Values{}); asked != 2 {
		t.Error("an examination started after the end")
	}
}

func TestForgetSource(t *testing.T) {
	w := newWorld(t, nil).fill(t)
	form := url.Values{"character": {"sage"}, "domain": {"old-astronomy.example"}}
	if rec := w.ask("POST", "/sources/forget", form); rec.Code != 303 {
		t.Fatal(rec.Code)
	}
	all, err := w.store.Ratings.AllFeedback(t.Context())
	if err != nil || len(all) != 1 || all[0].Domain != "content-farm.example" {
		t.Error(all, err)
	}
}

func TestEditCharacter(t *testing.T) {
	w := newWorld(t, nil)
	text, err := w.Shelf.read("sage", "character.toml")
	if err != nil {
		t.Fatal(err)
	}
	form := func(text, read string) url.Values {
		return url.Values{"file": {"character.toml"}, "sum": {sumOf(read)}, "text": {strings.ReplaceAll(text, "\n", "\r\n")}}
	}
	named := strings.Replace(text, "\"Sage\"", "\"Minerva\"", 1)
	if named == text {
		t.Fatal("the character has no name to change")
	}
	wrong := named + "\n[web]\nenabeld = true\n"
	rec := w.ask("POST", "/characters/sage", form(wrong, text))
	place := regexp.MustCompile(`line \d+, column 1</a>`).FindString(rec.Body.String())
	if rec.Code != 422 || place == "" || !strings.Contains(rec.Body.String(), "enabeld") || !strings.Contains(rec.Body.String(), "Minerva") {
		t.Errorf("an unknown key: %d %q", rec.Code, place)
	}
	if _, err := os.Stat(w.Shelf.Dir); err == nil {
		t.Error("something was written")
	}
	rec = w.ask("POST", "/characters/sage/check", form(wrong, text), func(r *http.Request) { r.Header.Set("X-Fragment", "1") })
	if rec.Code != 200 || !strings.Contains(rec.Body.String(), place) || strings.Contains(rec.Body.String(), "<html") {
		t.Error("while it is typed:", rec.Code, rec.Body)
	}
	rec = w.ask("POST", "/characters/sage/check", form(named, text))
	if rec.Code != 200 || !strings.Contains(rec.Body.String(), "You are Minerva") {
		t.Error("a preview without scripts:", rec.Code)
	}
	if rec = w.ask("POST", "/characters/sage", form(named, text)); rec.Code != 303 {
		t.Fatal(rec.Code, rec.Body)
	}
	if now := w.cast.get("sage"); now.Name != "Minerva" || now.Persona == "" {
		t.Errorf("%s is active", now.Name)
	}
	mine := strings.Replace(text, "\"Sage\"", "\"Athena\"", 1)
	rec = w.ask("POST", "/characters/sage", form(mine, text))
	if body := rec.Body.String(); rec.Code != 409 || !strings.Contains(body, "Athena") || !strings.Contains(body, "Minerva") || !strings.Contains(body, " data-unsaved") || !strings.Contains(body, sumOf(named)) {
		t.Error("the file was changed by another editor:", rec.Code)
	}
	if rec = w.ask("POST", "/characters/sage", form(mine, named)); rec.Code != 303 || w.cast.get("sage").Name != "Athena" {
		t.Error("saved over the other:", rec.Code)
	}
	if rec = w.ask("POST", "/characters/sage", url.Values{"file": {"../../etc/passwd"}, "text": {"x"}}); rec.Code != 404 {
		t.Error("a file outside:", rec.Code)
	}
}

// TestTrustForm checks that the form of trusted sites writes character.toml, refuses mistakes as the editor does, and
// keeps comments.
func TestTrustForm(t *testing.T) {
	w := newWorld(t, nil)
	text, err := w.Shelf.read("sage", "character.toml")
	if err != nil {
		t.Fatal(err)
	}
	form := func(read string, pairs ...string) url.Values {
		v := url.Values{"sum": {sumOf(read)}}
		for i := 0; i < len(pairs); i += 2 {
			v.Add(pairs[i], pairs[i+1])
		}
		return v
	}
	if rec := w.ask("GET", "/sources/sage", nil); rec.Code != 200 || !strings.Contains(rec.Body.String(), sumOf(text)) || !strings.Contains(rec.Body.String(), `name="web.trusted.fact_check"`) {
		t.Fatal(rec.Code, rec.Body)
	}
	rec := w.ask("POST", "/sources/sage", form(text, "web.trusted.news", "https://bbc.co.uk/x y", "web.trusted.only", "weather"))
	if body := rec.Body.String(); rec.Code != 422 || !strings.Contains(body, "web.trusted.news[0]") || !strings.Contains(body, "no sites are trusted for weather") || !strings.Contains(body, "https://bbc.co.uk/x, y") {
		t.Errorf("an unknown site: %d %s", rec.Code, body)
	}
	if _, err := os.Stat(w.Shelf.Dir); err == nil {
		t.Error("something was written")
	}
	rec = w.ask("POST", "/sources/sage", form(text, "web.trusted.news", "bbc.co.uk, apnews.com", "web.trusted.weather", "yr.no", "web.trusted.only", "weather", "web.deny", "farm.example.org"))
	now := w.cast.get("sage").Web
	if rec.Code != 303 || fmt.Sprint(now.Trusted, now.TrustedOnly, now.Deny, now.Allow) != "map[news:[bbc.co.uk apnews.com] weather:[yr.no]] [weather] [farm.example.org] []" {
		t.Errorf("%d %v", rec.Code, now)
	}
	written, err := w.Shelf.read("sage", "character.toml")
	if err != nil || !strings.HasPrefix(written, text) || strings.Contains(written, "forum") {
		t.Errorf("%v\n%s", err, written)
	}
	if rec = w.ask("POST", "/sources/sage", form(text, "web.deny", "")); rec.Code != 409 || !strings.Contains(rec.Body.String(), sumOf(written)) {
		t.Error("the file was changed by another editor:", rec.Code)
	}
	if rec = w.ask("POST", "/sources/sage", form(written)); rec.Code != 303 || len(w.cast.get("sage").Web.Trusted) != 0 {
		t.Error("nothing is trusted any more:", rec.Code, w.cast.get("sage").Web)
	}
	if rec = w.ask("GET", "/sources/nobody", nil); rec.Code != 404 {
		t.Error("nobody:", rec.Code)
	}
}

func TestTheme(t *testing.T) {
	w := newWorld(t, nil)
	rec := w.ask("POST", "/theme", url.Values{"theme": {"dark"}, "back": {"/turns?q=a"}})
	c := rec.Result().Cookies()[0]
	if rec.Header().Get("Location") != "/turns?q=a" || c.Value != "dark" || c.SameSite != http.SameSiteStrictMode {
		t.Error(rec.Header())
	}
	for _, back := range []string{"https://evil.example/", "//evil.example", `/\evil.example`, "javascript:alert(1)", ""} {
		if to := w.ask("POST", "/theme", url.Values{"theme": {"dark"}, "back": {back}}).Header().Get("Location"); to != "/" {
			t.Errorf("back to %q goes to %q", back, to)
		}
	}
	if body := w.ask("GET", "/", nil, func(r *http.Request) { r.AddCookie(c) }).Body.String(); !strings.Contains(body, `data-theme="dark"`) {
		t.Error("the page is not dark")
	}
}

// TestFeed checks that a page that does not read is dropped without affecting other pages or turns.
func TestFeed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &Feed{}
		f.Publish(turn.Progress{ID: "a", Phase: turn.Begun, Began: time.Now()})
		if len(f.Running()) != 1 || f.take() != nil {
			t.Error("with no page open")
		}
		slow, _ := f.join()
		quick, _ := f.join()
		for range maxQueued + 1 {
			f.send([]byte("x"))
			<-quick.events
		}
		n := 0
		for range slow.events {
			n++
		}
		if n != maxQueued || f.open() != 1 {
			t.Errorf("%d events, %d pages", n, f.open())
		}
		f.Publish(turn.Progress{ID: "a", Phase: turn.Begun, Activity: turn.Reading, N: 3})
		f.Publish(turn.Progress{ID: "a", Phase: turn.Answered})
		f.Publish(turn.Progress{ID: "a", Phase: turn.Begun, Activity: turn.Checking}) // from a provider that was canceled
		if got := f.take(); len(got) != 1 || got[0].Phase != turn.Answered || len(f.Running()) != 0 {
			t.Error(got, f.Running())
		}
		f.leave(slow)
		f.leave(quick)
		for range maxPages {
			if _, ok := f.join(); !ok {
				t.Fatal("too many pages")
			}
		}
		if _, ok := f.join(); ok {
			t.Error("there is no limit")
		}
	})
}

// TestLive checks the feed over a real connection: what runs, what changes, and the end when the program stops.
func TestLive(t *testing.T) {
	w := newWorld(t, nil).fill(t)
	server := serve(t, w)
	resp, err := http.Get(server.url + "/live")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	lines := make(chan string, 100)
	go func() {
		defer close(lines)
		var buffer [64 << 10]byte
		for {
			n, err := resp.Body.Read(buffer[:])
			if n > 0 {
				lines <- string(buffer[:n])
			}
			if err != nil {
				return
			}
		}
	}()
	await := func(word string) {
		t.Helper()
		late := time.After(10 * time.Second)
		for all := ""; !strings.Contains(all, word); {
			select {
			case more, open := <-lines:
				if all += more; !open {
					t.Fatalf("the feed ended without %q: %s", word, all)
				}
			case <-late:
				t.Fatalf("no %q in %s", word, all)
			}
		}
	}
	await("event: all")
	p := w.begin(t, "01RUN9", "Hugo", "901", "what is the tallest tree?", 0)
	w.feed.Publish(p)
	await("tallest tree")
	p.Activity, p.N = turn.Reading, 4
	w.feed.Publish(p)
	await("reading 4 pages")
	p.Phase = turn.Answered
	w.feed.Publish(p)
	await(`"over":true`)
	server.stop()
	for range lines {
	}
}

// TestIdleConnections: a page is shown beside connections that ask for nothing, more than are served at once. Each of them is closed soon.
func TestIdleConnections(t *testing.T) {
	server := serve(t, newWorld(t, nil))
	address := strings.TrimPrefix(server.url, "http://")
	for range maxConnections + 50 {
		idle, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		defer idle.Close()
	}
	client := &http.Client{Timeout: 3 * headerLimit}
	defer client.CloseIdleConnections()
	resp, err := client.Get(server.url + "/healthz")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode >= 500 {
		t.Error(resp.Status)
	}
	server.stop() // which is no failure
}

// served is a console that listens on an address.
type served struct {
	url  string
	stop func()
}

// serve starts a console on a loopback address.
func serve(tb testing.TB, w *world) served {
	tb.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- w.Serve(ctx, l) }()
	stop := sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			tb.Error(err)
		}
		http.DefaultClient.CloseIdleConnections()
	})
	tb.Cleanup(stop)
	return served{"http://" + l.Addr().String(), stop}
}

// TestProcesses shows who shares the database.
func TestProcesses(t *testing.T) {
	w, now := newWorld(t, nil), time.Now()
	fleet := store.Fleet{Now: now, Processes: []store.Process{{ID: "ABCDEFGH", Host: "one", Version: "1.2", Began: now.Add(-time.Hour), Until: now.Add(time.Second)}},
		Shards: []store.Holding{{Number: 3, Holder: "ABCDEFGH", Since: now, Until: now.Add(time.Second)}, {Number: 7}}}
	rec := httptest.NewRecorder()
	w.render(rec, httptest.NewRequest("GET", "/health", nil), 200, "health", "Health", healthPage{Fleet: fleet})
	body := rec.Body.String()
	for _, want := range []string{"<td>one/ABCDEF</td><td>1.2</td>", `">3</span> </td>`, `title="since `, `nobody</td><td></td><td></td><td class="num">7 </td>`} {
		if rec.Code != 200 || !strings.Contains(body, want) {
			t.Errorf("%d: %q is not in %s", rec.Code, want, body)
		}
	}
}
