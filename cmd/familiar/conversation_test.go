package main

import (
	"cmp"
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/discordtest"
	"familiar/internal/llm/llmtest"
	"familiar/internal/search/backends"
	"familiar/internal/store"
	"familiar/internal/trace"
	"familiar/internal/web/webtest"

	"github.com/rogpeppe/go-internal/txtar"
)

// A conversation is a txtar archive. Its comment is the script, a command a line; its files are the far ends:
//
//	env                 further variables of the environment, NAME=value
//	web/HOST/PATH       pages, in webtest's format; web/dns is the DNS
//	search              what the metasearch server answers, see metasearch
//	model               the models' script, in llmtest's format; without it no model is configured
//	characters/…        files of the operator's characters
//
// The commands are
//
//	start                    run the program and wait until it is on Discord
//	say CHANNEL WHO TEXT     somebody writes; @familiar is the bot, @WHO as a channel is WHO's direct messages
//	answer CHANNEL WHO TEXT  somebody replies to the bot's last message, without a ping
//	edit TEXT                the author of the last message changes it
//	heard CHANNEL            wait for the bot's next message; "has" and "lacks" look at it
//	silent CHANNEL           for half a second, no message comes
//	command WHO NAME K=V …   a slash command in general, + for spaces; its answer is looked at
//	press LABEL              a button under the answer
//	has TEXT, lacks TEXT     the reply holds, or does not hold, a text; \n is a new line
//	attached TEXT            the answer to the command has a file that holds a text
//	posts N                  the bot has posted so many messages in general
//	asked N                  the metasearch server was asked so many times
//	query TEXT               its last query, exactly
//	fetched URL N            a page was asked for so many times
//	dialled N                so many connections were made for pages
//	prompted TEXT            the last prompt of the main model holds a text; unprompted TEXT
//	trace STATE              the last turn's record has this lookup state ("-" for none)
//	recorded TEXT            the last turn's record, as JSON, holds a text; unrecorded TEXT
//	drop CODE, reconnect     the gateway closes; op 7
//	repeat                   the gateway sends its last message event again
//	fault METHOD ROUTE STATUS N  the next N such requests fail; with status 0 they take effect and the answer is lost
//	deny CHANNEL             the bot may not write there any more
//	thread CHANNEL NAME      a thread is made
//	ownrole                  the bot gets the role that Discord makes for it, "familiar role"
//	gone CHANNEL, kick       the channel is deleted; the bot is removed from the server
//	later DURATION TEXT…     wait, for what has no other sign
//	stop, restart            SIGTERM; and a new start
//	exits CODE               what the stopped program returned
//	printed TEXT             its output, or error output, holds a text
type conversation struct {
	*testing.T
	dir      string
	env      map[string]string
	discord  *discordtest.Server
	web      *webtest.Web
	search   *metasearch
	model    *llmtest.Server
	program  *running
	output   string // what "has" looks at
	lastSaid string
	ollama   string              // address of an Ollama; empty: there is none
	answer   discordtest.Message // to the last command
}

// running is one run of the program.
type running struct {
	out     *lockedBuffer
	signals chan os.Signal
	done    chan struct{}
	code    int // valid once done is closed
}

type lockedBuffer struct {
	mu sync.Mutex
	b  strings.Builder // guarded by mu
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

const patience = 10 * time.Second

func TestConversations(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no conversations: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			t.Parallel()
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			c := newConversation(t, archive)
			for n, line := range strings.Split(string(archive.Comment), "\n") {
				if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
					c.do(fmt.Sprintf("%s:%d", file, n+1), line)
				}
			}
			c.stop()
		})
	}
}

// newConversation makes the far ends of an archive.
func newConversation(t *testing.T, archive *txtar.Archive) *conversation {
	c := &conversation{T: t, dir: t.TempDir(), discord: discordtest.New(t), search: newMetasearch(t)}
	c.env = map[string]string{
		"DISCORD_TOKEN": discordtest.Token, "DISCORD_API_URL": c.discord.URL, "SEARXNG_URL": c.search.server.URL, "FAMILIAR_LOG": "debug",
	}
	pages := &txtar.Archive{}
	for _, f := range archive.Files {
		switch name, rest, _ := strings.Cut(f.Name, "/"); name {
		case "env":
			for line := range strings.Lines(string(f.Data)) {
				name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
				c.env[name] = value
			}
		case "web":
			pages.Files = append(pages.Files, txtar.File{Name: rest, Data: f.Data})
		case "search":
			c.search.read(t, f.Data)
		case "model":
			c.startModel(f.Data)
		case "characters":
			path := filepath.Join(c.dir, f.Name)
			c.must(os.MkdirAll(filepath.Dir(path), 0o755))
			c.must(os.WriteFile(path, f.Data, 0o644))
		default:
			t.Fatalf("what is %s?", f.Name)
		}
	}
	c.web = webtest.New(t, txtar.Format(pages))
	return c
}

func (c *conversation) startModel(script []byte) {
	c.model = llmtest.New(c.T)
	parsed, err := llmtest.ParseScript(script)
	c.must(err)
	c.model.Play(parsed)
	for name, value := range map[string]string{
		"OPENAI_BASE_URL": c.model.URL, "OPENAI_API_KEY": "sk-test-0123456789abcdef", "OPENAI_MODEL": "main", "SIDE_MODEL": "side",
	} {
		if _, set := c.env[name]; !set {
			c.env[name] = value
		}
	}
}

func (c *conversation) must(err error) {
	c.Helper()
	if err != nil {
		c.Fatal(err)
	}
}

// start runs the program's own run, with the far ends in the world's place.
func (c *conversation) start(args ...string) *running {
	r := &running{out: &lockedBuffer{}, signals: make(chan os.Signal, 2), done: make(chan struct{})}
	p := program{
		args: args, dir: c.dir, signals: r.signals, in: strings.NewReader(""), out: r.out, err: r.out,
		env:  func(name string) (string, bool) { v, ok := c.env[name]; return v, ok },
		exit: func(int) { c.Error("the program left at once") },
		far:  c.far(),
	}
	go func() {
		defer close(r.done)
		r.code = run(p)
	}()
	return r
}

// far puts the archive's web in the world's place. Backends that no script names are nowhere.
func (c *conversation) far() far {
	nowhere := "http://127.0.0.1:1/v1"
	return far{
		resolver: c.web, dial: c.web.Dial, roots: c.web.RootCAs(), services: c.service, ollama: cmp.Or(c.ollama, nowhere),
		backends: c.backends(),
	}
}

// backends are the addresses of the search backends: three of them answer.
func (c *conversation) backends() map[string]string {
	all := backendsAt("http://127.0.0.1:1")
	for _, name := range []string{"wikipedia", "duckduckgo", "openmeteo"} {
		all[name] = c.search.server.URL + "/" + name
	}
	return all
}

// backendsAt is one address for every search backend that there is.
func backendsAt(base string) map[string]string {
	all := map[string]string{}
	for _, b := range backends.Table() {
		all[b.Name] = base
	}
	return all
}

// service is the client of a special reader's service, which is a site of the archive's web.
func (c *conversation) service(string) *http.Client {
	transport := &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: c.web.RootCAs()},
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			host, port, err := net.SplitHostPort(address)
			if err != nil {
				return nil, err
			}
			found, err := c.web.LookupNetIP(ctx, "ip4", host)
			if err != nil {
				return nil, err
			}
			return c.web.Dial(ctx, network, net.JoinHostPort(found[0].String(), port))
		},
	}
	c.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

// stop ends the program as an operator does.
func (c *conversation) stop() {
	if c.program == nil {
		return
	}
	select {
	case c.program.signals <- os.Interrupt:
	default:
	}
	select {
	case <-c.program.done:
	case <-time.After(patience):
		c.Errorf("the program does not stop:\n%s", c.program.out)
	}
	if c.Failed() {
		c.Logf("the program said:\n%s", c.program.out)
	}
}

func (c *conversation) do(where, line string) {
	c.Helper()
	verb, rest, _ := strings.Cut(line, " ")
	rest = strings.TrimSpace(rest)
	defer func() {
		if c.Failed() {
			c.stop()
			c.Fatalf("%s: %s", where, line)
		}
	}()
	for _, table := range []map[string]func(string){c.deeds(), c.looks(), c.troubles()} {
		if f, ok := table[verb]; ok {
			f(rest)
			return
		}
	}
	c.Errorf("what is %q?", verb)
}

// deeds are what people and the operator do.
func (c *conversation) deeds() map[string]func(string) {
	return map[string]func(string){
		"start": func(string) {
			c.program = c.start("run")
			if !c.discord.WaitSession(patience) {
				c.Errorf("the program does not come:\n%s", c.program.out)
			}
			// The session that is connected may still be that of the program before.
			for began := time.Now(); !strings.Contains(c.program.out.String(), " is here, as ") && time.Since(began) < patience; {
				time.Sleep(time.Millisecond)
			}
		},
		"stop": func(string) { c.stop() },
		"restart": func(string) {
			c.stop()
			c.deeds()["start"]("")
		},
		"say": func(rest string) {
			channel, who, text := words3(rest)
			c.lastSaid = c.discord.Say(channel, who, unescape(text))
		},
		"answer": func(rest string) {
			channel, who, text := words3(rest)
			messages := c.discord.Messages(channel)
			last := slices.IndexFunc(reversed(messages), func(m discordtest.Message) bool { return m.Own })
			if last < 0 {
				c.Error("the bot has said nothing yet")
				return
			}
			c.lastSaid = c.discord.Reply(channel, who, reversed(messages)[last].ID, unescape(text), false)
		},
		"edit": func(text string) { c.discord.Edit(c.lastSaid, unescape(text)) },
		"command": func(rest string) {
			fields := strings.Fields(rest)
			options := make(map[string]string)
			for _, f := range fields[2:] {
				k, v, _ := strings.Cut(f, "=")
				options[k] = strings.ReplaceAll(v, "+", " ")
			}
			c.hearAnswer(c.discord.Interact("general", fields[0], fields[1], options, true), 1)
		},
		"press": func(label string) {
			for _, b := range c.answer.Buttons {
				if b.Label == label {
					c.hearAnswer(c.discord.Press("ana", c.answer, b.ID, true), 1)
					return
				}
			}
			c.Errorf("buttons %+v", c.answer.Buttons)
		},
		"later": func(rest string) {
			d, err := time.ParseDuration(strings.Fields(rest)[0])
			c.must(err)
			time.Sleep(d)
		},
	}
}

func (c *conversation) hearAnswer(order *discordtest.Interaction, n int) {
	answer, ok := order.WaitAnswer(n, patience)
	if _, hidden, _ := order.WaitAck(patience); !ok || !hidden {
		c.Errorf("answered %v, for its giver alone %v", ok, hidden)
	}
	c.answer, c.output = answer, answer.Text
}

// hear waits for the bot's next message, and for its last words.
func (c *conversation) hear(channel string) {
	m, ok := c.discord.WaitReply(channel, patience)
	if !ok {
		c.Error("nothing was said")
		return
	}
	c.finished(m.ID)
	for _, now := range c.discord.Messages(channel) {
		if now.ID == m.ID {
			m = now
		}
	}
	c.output = m.Text
	if len(m.Pinged) > 0 || m.Flags&4 == 0 {
		c.Errorf("pinged %v, flags %d", m.Pinged, m.Flags)
	}
}

// finished waits for the record of a reply. A notice has none.
func (c *conversation) finished(reply string) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	db, err := store.Look(ctx, filepath.Join(c.dir, "data"))
	c.must(err)
	defer db.Close()
	for ctx.Err() == nil {
		if t, err := (&trace.Store{DB: db}).ByMessage(ctx, reply); err == nil && t.Took > 0 {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// looks are what a test expects to see.
func (c *conversation) looks() map[string]func(string) {
	holds := func(what func() string, want bool) func(string) {
		return func(text string) {
			if got := what(); strings.Contains(got, unescape(text)) != want {
				c.Errorf("holds it: %v; the text:\n%s", !want, got)
			}
		}
	}
	count := func(what func() int) func(string) {
		return func(text string) {
			if got := what(); strconv.Itoa(got) != text {
				c.Errorf("%d", got)
			}
		}
	}
	return map[string]func(string){
		"heard": c.hear,
		"silent": func(channel string) {
			if m, ok := c.discord.WaitReply(channel, 500*time.Millisecond); ok {
				c.Errorf("somebody said %q", m.Text)
			}
		},
		"has":        holds(func() string { return c.output }, true),
		"lacks":      holds(func() string { return c.output }, false),
		"prompted":   holds(c.prompt, true),
		"unprompted": holds(c.prompt, false),
		"recorded":   holds(c.record, true),
		"unrecorded": holds(c.record, false),
		"printed":    holds(func() string { return c.program.out.String() }, true),
		"attached": holds(func() string {
			return strings.Join(slices.Collect(maps.Values(c.answer.Files)), "\n")
		}, true),
		"posts":   count(c.posts),
		"asked":   count(func() int { return len(c.search.asked()) }),
		"dialled": count(func() int { return len(c.web.Dials()) }),
		"exits":   count(func() int { return c.program.code }),
		"query": func(want string) {
			asked := c.search.asked()
			if len(asked) == 0 || asked[len(asked)-1] != want {
				c.Errorf("queries %q", asked)
			}
		},
		"fetched": func(rest string) {
			url, n, _ := strings.Cut(rest, " ")
			if got := c.web.Hits(url); strconv.Itoa(got) != n {
				c.Errorf("%d times; requests %v", got, c.web.Requests())
			}
		},
		"trace": func(want string) {
			l, got := c.lastTrace().Lookup(), "-"
			if l != nil {
				got = string(l.State)
			}
			if got != want {
				c.Errorf("lookup state %s: %+v", got, l)
			}
		},
	}
}

// troubles are what goes wrong.
func (c *conversation) troubles() map[string]func(string) {
	return map[string]func(string){
		"drop": func(rest string) {
			code, err := strconv.Atoi(rest)
			c.must(err)
			c.discord.Drop(code)
		},
		"reconnect": func(string) { c.discord.Reconnect() },
		"repeat":    func(string) { c.discord.Repeat(c.lastSaid) },
		"fault": func(rest string) {
			f := strings.Fields(rest)
			status, err := strconv.Atoi(f[2])
			c.must(err)
			n, err := strconv.Atoi(f[3])
			c.must(err)
			route := f[0] + " " + f[1]
			switch {
			case status == 0:
				c.discord.Fail(discordtest.Fault{Route: route, Times: n, Cut: true, After: true})
			case status == 429:
				c.discord.Fail(discordtest.TooMany(route, n, 300*time.Millisecond))
			default:
				c.discord.Fail(discordtest.Fault{Route: route, Times: n, Status: status, Body: "<html>no</html>"})
			}
		},
		"deny":    func(channel string) { c.discord.Deny(channel, true) },
		"ownrole": func(string) { c.discord.AddOwnRole("hall") },
		"thread": func(rest string) {
			channel, name, _ := strings.Cut(rest, " ")
			c.discord.AddThread(channel, name, false)
		},
		"gone": func(channel string) { c.discord.DeleteChannel(channel) },
		"kick": func(string) { c.discord.Kick("hall") },
	}
}

func (c *conversation) posts() int {
	n := 0
	for _, m := range c.discord.Messages("general") {
		if m.Own {
			n++
		}
	}
	return n
}

// prompt is the last one of the main model.
func (c *conversation) prompt() string {
	requests := c.model.Requests()
	for i := len(requests) - 1; i >= 0; i-- {
		if requests[i].Model == "main" {
			return requests[i].Prompt()
		}
	}
	return ""
}

// lastTrace waits until the last turn is over.
func (c *conversation) lastTrace() *turn.Trace {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	db, err := store.Look(ctx, filepath.Join(c.dir, "data"))
	c.must(err)
	defer db.Close()
	traces := &trace.Store{DB: db}
	for {
		list, err := traces.Recent(ctx, "", 1)
		c.must(err)
		if len(list) > 0 && (list[0].Phase == turn.Answered || list[0].Phase == turn.Broken || list[0].Phase == turn.Interrupted) {
			t, err := traces.Get(ctx, list[0].ID)
			c.must(err)
			return t
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func (c *conversation) record() string {
	b, err := json.Marshal(c.lastTrace())
	c.must(err)
	return string(b)
}

func words3(rest string) (string, string, string) {
	first, rest, _ := strings.Cut(rest, " ")
	second, third, _ := strings.Cut(rest, " ")
	return first, second, third
}

func unescape(s string) string {
	s = strings.ReplaceAll(s, `\n`, "\n")
	return repeats.ReplaceAllStringFunc(s, func(m string) string {
		parts := repeats.FindStringSubmatch(m)
		n, _ := strconv.Atoi(parts[2])
		return strings.Repeat(parts[1], n)
	})
}

// repeats is {TEXT×N}: TEXT, N times.
var repeats = regexp.MustCompile(`\{([^{}×]+)×(\d+)\}`)

func reversed[T any](s []T) []T {
	s = slices.Clone(s)
	slices.Reverse(s)
	return s
}

// metasearch is a SearXNG whose answers stand in a file. A line "when REGEX" begins the answer to the queries that it
// matches; the lines below are its hits, "title | url | snippet | thumbnail", or one word for what goes wrong instead: "status N",
// "html", "hang", "blocked".
type metasearch struct {
	server *httptest.Server
	rules  []searchRule // fixed before the first query

	mu      sync.Mutex
	queries []string // guarded by mu
}

type searchRule struct {
	when  *regexp.Regexp
	lines []string
}

// ignorant are the replies of the other backends: they answer, and know nothing.
var ignorant = map[string]string{
	"/wikipedia":  `{"batchcomplete":true}`,
	"/duckduckgo": `{"Abstract":"","AbstractText":"","Answer":"","Definition":"","Heading":"","RelatedTopics":[],"Results":[],"Type":""}`,
	"/openmeteo":  `{"generationtime_ms":0.1}`,
}

func newMetasearch(t testing.TB) *metasearch {
	m := &metasearch{}
	m.server = httptest.NewServer(m)
	t.Cleanup(func() {
		m.server.CloseClientConnections()
		m.server.Close()
	})
	return m
}

func (m *metasearch) read(t testing.TB, text []byte) {
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if pattern, isWhen := strings.CutPrefix(line, "when "); isWhen {
			m.rules = append(m.rules, searchRule{when: regexp.MustCompile("(?i)" + pattern)})
		} else if line != "" {
			if len(m.rules) == 0 {
				t.Fatal("search: a hit before the first when")
			}
			last := &m.rules[len(m.rules)-1]
			last.lines = append(last.lines, line)
		}
	}
}

func (m *metasearch) asked() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.queries)
}

func (m *metasearch) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	for backend, reply := range ignorant {
		if strings.HasPrefix(r.URL.Path, backend) {
			if code := m.others(r); code != 0 {
				http.Error(w, "no", code)
				return
			}
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprint(w, reply)
			return
		}
	}
	query := r.FormValue("q")
	m.mu.Lock()
	m.queries = append(m.queries, query)
	m.mu.Unlock()
	for _, rule := range m.rules {
		if rule.when.MatchString(query) {
			rule.answer(w, r)
			return
		}
	}
	searchRule{}.answer(w, r)
}

// others is the status with which the backends beside the metasearch answer, where a rule has a line "others 503".
func (m *metasearch) others(r *http.Request) int {
	asked, _ := url.QueryUnescape(r.URL.RawQuery)
	for _, rule := range m.rules {
		for _, line := range rule.lines {
			if code, ok := strings.CutPrefix(line, "others "); ok && rule.when.MatchString(asked) {
				status, _ := strconv.Atoi(code)
				return status
			}
		}
	}
	return 0
}

func (rule searchRule) answer(w http.ResponseWriter, r *http.Request) {
	type result struct {
		Title   string `json:"title"`
		URL     string `json:"url"`
		Content string `json:"content"`
		Engine  string `json:"engine"`
		Picture string `json:"thumbnail_src,omitempty"`
	}
	reply := struct {
		Results      []result   `json:"results"`
		Unresponsive [][]string `json:"unresponsive_engines"`
	}{Results: []result{}, Unresponsive: [][]string{}}
	for _, line := range rule.lines {
		switch word, rest, _ := strings.Cut(line, " "); word {
		case "status":
			code, _ := strconv.Atoi(rest)
			http.Error(w, "no", code)
			return
		case "html":
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, "<!doctype html><title>Sorry</title>")
			return
		case "hang":
			<-r.Context().Done()
			return
		case "others":
			continue
		case "blocked":
			reply.Unresponsive = append(reply.Unresponsive, []string{"google", "CAPTCHA"})
			continue
		}
		parts := strings.SplitN(line, "|", 4)
		for len(parts) < 4 {
			parts = append(parts, "")
		}
		reply.Results = append(reply.Results, result{strings.TrimSpace(parts[0]), strings.TrimSpace(parts[1]), strings.TrimSpace(parts[2]), "test", strings.TrimSpace(parts[3])})
	}
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(reply)
}
