package main

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/memory"
	"familiar/internal/search"
	"familiar/internal/store"
	"familiar/internal/test/wait"

	"github.com/rogpeppe/go-internal/txtar"

	"familiar/internal/search/backend"
	"familiar/internal/view"
)

// mountain is a little web with one page that answers one question, and no model.
const mountain = `
-- search --
when example
Mount Example | https://fast.example.org/mount | A mountain.
-- web/fast.example.org/mount.head --
Content-Type: text/html; charset=utf-8
-- web/fast.example.org/mount --
<html><head><title>Mount Example</title></head><body><article><h1>Mount Example</h1><p>Mount Example is 4,321 metres high, which makes it the highest mountain of the Sample Range. It was first climbed in 1899 by a party of three from the valley below.</p><p>The height of Mount Example was measured again in 2019 with satellite receivers, and the figure of 4,321 metres was confirmed to within half a metre.</p></article></body></html>
`

// environment returns the variables of this moment. A test may change them for the next program while one runs.
func (c *conversation) environment() func(string) (string, bool) {
	now := maps.Clone(c.env)
	return func(name string) (string, bool) { v, ok := now[name]; return v, ok }
}

// command runs the program with an input and returns its exit code and output.
func (c *conversation) command(in io.Reader, args ...string) (int, string, string) {
	var out, err bytes.Buffer
	env := c.environment()
	code := run(program{
		args: args, dir: c.dir, in: in, out: &out, err: &err, signals: make(chan os.Signal),
		env:  func(name string) (string, bool) { v, ok := env(name); return v, ok && name != "FAMILIAR_LOG" },
		exit: func(int) { c.Error("the program left at once") }, far: c.far(),
	})
	return code, out.String(), err.String()
}

func TestChatThroughAPipe(t *testing.T) {
	t.Parallel()
	c := newConversation(t, txtar.Parse([]byte(mountain)))
	code, out, err := c.command(strings.NewReader("hi\nhow high is Mount Example?\n/context\n/mode\n/help\n/nonsense\n/quit\nnever read\n"), "chat")
	if code != exitOK || err != "" {
		t.Fatalf("exit code %d, errors %q", code, err)
	}
	rest := out
	for _, want := range []string{"sage> ", "OPENAI_API_KEY", "sage> ", "4,321", "[1]", "Sources", "https://fast.example.org/mount", "lookup     found", "claims", "text mode", "I am Sage. Write what you want", "/help"} {
		_, after, found := strings.Cut(rest, want)
		if !found {
			t.Fatalf("%q is missing, or not in its place:\n%s", want, out)
		}
		rest = after
	}
	if strings.Contains(out, "-# ") || strings.Contains(out, "\x1b") {
		t.Errorf("marks for Discord or colours in a pipe:\n%s", out)
	}
}

// The person at the terminal runs the bot. They may pause it everywhere, are told that it is paused, and go on.
func TestChatPaused(t *testing.T) {
	t.Parallel()
	c := newConversation(t, txtar.Parse([]byte(mountain)))
	code, out, _ := c.command(strings.NewReader("/pause state:on where:everywhere\nhi\n/lookup how high is Mount Example?\n/pause state:off where:everywhere\nhi\n"), "chat")
	if code != exitOK || len(c.search.asked()) > 0 || strings.Count(out, "I am paused here.") != 2 || !strings.Contains(out, "I say nothing anywhere") || !strings.HasPrefix(out[strings.LastIndex(out, "sage> "):], "sage> Hello") {
		t.Errorf("exit code %d, %d searches:\n%s", code, len(c.search.asked()), out)
	}
}

func TestChatWithoutALastNewline(t *testing.T) {
	t.Parallel()
	c := newConversation(t, txtar.Parse([]byte(mountain)))
	if code, out, _ := c.command(strings.NewReader("hi"), "chat"); code != exitOK || !strings.Contains(out, "sage> ") {
		t.Errorf("exit code %d: %s", code, out)
	}
}

// TestChatWithoutAStore takes the store away: every line gets its answer, and the chat ends.
func TestChatWithoutAStore(t *testing.T) {
	t.Parallel()
	c := newConversation(t, txtar.Parse([]byte("-- model --\nsay Hello.\n")))
	in, typed := io.Pipe()
	out := &lockedBuffer{}
	done := make(chan int)
	go func() {
		done <- run(program{
			args: []string{"chat"}, dir: c.dir, in: in, out: out, err: io.Discard, signals: make(chan os.Signal), far: c.far(),
			env: c.environment(), exit: func(int) { t.Error("left at once") },
		})
	}()
	io.WriteString(typed, "hello\n")
	waitFor(t, out, "Hello.")
	c.breakStore()
	io.WriteString(typed, "can you hear me?\nand now?\n")
	typed.Close()
	select {
	case <-done:
		if n := strings.Count(out.String(), outOfOrderSentence); n != 2 {
			t.Errorf("%d of two lines were answered:\n%s", n, out)
		}
	case <-time.After(patience):
		t.Errorf("the chat hangs:\n%s", out)
	}
}

func TestAsk(t *testing.T) {
	t.Parallel()
	c := newConversation(t, txtar.Parse([]byte(mountain)))
	code, out, err := c.command(nil, "ask", "how", "high", "is", "Mount", "Example?")
	if code != exitOK || !strings.Contains(out, "4,321") || !strings.Contains(out, "https://fast.example.org/mount") {
		t.Fatalf("exit code %d, errors %q:\n%s", code, err, out)
	}
	code, out, _ = c.command(nil, "ask", "--trace", "how high is Mount Example?")
	if code != exitOK || !strings.Contains(out, "websearch ok") || !strings.Contains(out, "claims") {
		t.Errorf("exit code %d:\n%s", code, out)
	}
	code, out, _ = c.command(nil, "ask", "--json", "how high is Mount Example?")
	var record turn.Trace
	if e := json.Unmarshal([]byte(out), &record); code != exitOK || e != nil || record.Lookup() == nil || record.Lookup().State != turn.Found {
		t.Errorf("exit code %d, %v:\n%s", code, e, out)
	}
}

func TestLookup(t *testing.T) {
	t.Parallel()
	c := newConversation(t, txtar.Parse([]byte(mountain)))
	code, out, err := c.command(nil, "lookup", "how high is Mount Example?")
	if code != exitOK {
		t.Fatalf("exit code %d, errors %q", code, err)
	}
	for _, want := range []string{"state      found", "query", "asked      searxng ok", "hits", "pages      ✓ [1] https://fast.example.org/mount", "claims     [1]", "took"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is missing:\n%s", want, out)
		}
	}
	code, out, _ = c.command(nil, "lookup", "--json", "how high is Mount Example?")
	var l turn.Lookup
	if e := json.Unmarshal([]byte(out), &l); code != exitOK || e != nil || l.State != turn.Found || len(l.Summary) == 0 {
		t.Errorf("exit code %d, %v:\n%s", code, e, out)
	}
}

// docsWorld is a site of documentation that no search service knows.
const docsWorld = `
-- characters/sage/persona.md --
Sage is a librarian.
-- characters/sage/character.toml --
[[docs]]
name = "colony"
url = "https://docs.example.org/colony"

[[docs]]
name = "hive"
url = "https://hive.example.org/"
-- web/docs.example.org/colony/sitemap.xml.head --
Content-Type: application/xml
-- web/docs.example.org/colony/sitemap.xml --
<urlset><url><loc>https://docs.example.org/colony/architecture/blackboard.html</loc></url><url><loc>https://docs.example.org/blog/blackboard.html</loc></url></urlset>
-- web/docs.example.org/colony/architecture/blackboard.html --
<!doctype html><html><head><title>The blackboard</title></head><body><article><h1>The blackboard</h1>
<p>The blackboard of a colony keeps every event for seven days, after which a sweeper removes it for good.</p>
<p>Agents write to the blackboard through an event bus, and they read from it by the key of a channel.</p></article></body></html>
-- web/docs.example.org/colony/leaves.head --
302
Location: https://docs.example.org/blog/blackboard.html
-- web/docs.example.org/blog/blackboard.html --
<!doctype html><html><head><title>A blog</title></head><body><article><h1>A blog</h1><p>The blackboard of a colony keeps every event for ninety days, says somebody who does not know it.</p></article></body></html>
-- web/hive.example.org/bees/index.html --
<!doctype html><html><head><title>Bees</title></head><body><article><h1>Bees</h1><p>A bee of the hive visits about two thousand flowers on a day without any rain.</p></article></body></html>
`

// TestQuestionFromTheInput pipes questions in.
func TestQuestionFromTheInput(t *testing.T) {
	t.Parallel()
	c := newConversation(t, txtar.Parse([]byte(mountain)))
	for command, want := range map[string]string{"ask": "4,321", "lookup": "state      found", "search": "https://fast.example.org/mount"} {
		if code, out, complaint := c.command(strings.NewReader("how high is Mount Example?\n"), command); code != exitOK || !strings.Contains(out, want) {
			t.Errorf("%s: exit code %d, errors %q:\n%s", command, code, complaint, out)
		}
		if code, _, complaint := c.command(strings.NewReader(" \n"), command); code != exitUsage || !strings.Contains(complaint, "familiar "+command+` "who was`) {
			t.Errorf("%s: exit code %d, errors %q", command, code, complaint)
		}
	}
	if code, _, complaint := c.command(nil, "ask", "--character", "sagge", "hello"); code != exitUsage || !strings.Contains(complaint, `did you mean "sage"?`) {
		t.Errorf("exit code %d, errors %q", code, complaint)
	}
}

func TestDocs(t *testing.T) {
	t.Parallel()
	c := newConversation(t, txtar.Parse([]byte(docsWorld)))
	want := `The blackboard of a colony keeps every event for seven days, after which a sweeper removes it for good. [1]`
	for _, args := range [][]string{
		{"docs", "colony", "how long does the blackboard keep an event?"}, {"docs", "Colony", "architecture/blackboard"},
		{"docs", "https://docs.example.org/colony/architecture/blackboard.html"}, {"docs", "--trace", "what is the blackboard of colony?"},
	} {
		code, out, complaint := c.command(nil, args...)
		if code != exitOK || !strings.Contains(out, want) || !strings.Contains(out, "\n  [1] The blackboard · docs.example.org · undated https://docs.example.org/colony/architecture/blackboard.html\n") ||
			strings.Contains(out, "state      found") != (args[1] == "--trace") {
			t.Errorf("%q: exit code %d, errors %q:\n%s", args, code, complaint, out)
		}
	}
	for question, wants := range map[string]string{"bees": "I know colony, hive.", " ": "empty"} {
		if code, _, complaint := c.command(nil, "docs", question); code != exitUsage || !strings.Contains(complaint, wants) {
			t.Errorf("%q: exit code %d, errors %q", question, code, complaint)
		}
	}
	code, out, _ := c.command(nil, "docs", "--json", "colony", "https://docs.example.org/blog/blackboard.html")
	var l turn.Lookup
	if err := json.Unmarshal([]byte(out), &l); code != exitFailed || err != nil || l.State != turn.LookupFailed || len(l.Pages) != 1 || l.Pages[0].Reason != "outside_site" {
		t.Errorf("exit code %d, %v:\n%s", code, err, out)
	}
	if n := c.web.Hits("https://docs.example.org/blog/blackboard.html"); n > 0 {
		t.Errorf("a page outside was asked for %d times", n)
	}
}

func TestSearchJSON(t *testing.T) {
	t.Parallel()
	c := newConversation(t, txtar.Parse([]byte(mountain)))
	code, out, complaint := c.command(nil, "search", "--json", "--intent", "docs", "Mount Example")
	var got view.Searched
	if err := json.Unmarshal([]byte(out), &got); code != exitOK || err != nil || got.State != turn.Found || len(got.Hits) != 1 || got.Hits[0].URL != "https://fast.example.org/mount" || len(got.Asked) == 0 {
		t.Errorf("exit code %d, errors %q, %v:\n%s", code, complaint, err, out)
	}
	if _, list, _ := c.command(nil, "trace"); !strings.Contains(list, "Mount Example") {
		t.Errorf("what left the machine is not on record:\n%s", list)
	}
	c.env["FAMILIAR_WEB"] = "off"
	if code, _, complaint := c.command(nil, "search", "Mount Example"); code != exitUsage || !strings.Contains(complaint, "FAMILIAR_WEB") || len(c.search.asked()) != 1 {
		t.Errorf("exit code %d, errors %q", code, complaint)
	}
}

// TestBackendsBesideARunningBot looks at the backends, and asks them, while the store has an owner.
func TestBackendsBesideARunningBot(t *testing.T) {
	t.Parallel()
	c := newConversation(t, txtar.Parse([]byte(mountain)))
	c.env["FAMILIAR_SEARCH"] = "" // all that there are
	c.env["BRAVE_SEARCH_API_KEY"] = "brave-key-0123456789"
	c.command(nil, "lookup", "how high is Mount Example?")
	db, err := store.Open(t.Context(), filepath.Join(c.dir, "data"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	code, out, complaint := c.command(nil, "backends", "--json")
	var list []backend.Status
	if err := json.Unmarshal([]byte(out), &list); code != exitOK || err != nil || len(list) != len(backend.Table()) {
		t.Fatalf("exit code %d, errors %q, %v:\n%s", code, complaint, err, out)
	}
	for _, b := range list {
		switch {
		case b.Name == "searxng" && (b.Health != search.Healthy || b.Answers != 1 || !strings.Contains(out, `"p50_ms": `)),
			b.Name == "brave" && (!b.On || b.Failure != turn.CodeUnreachable || b.Of != 1000),
			b.Name == "tavily" && (b.On || !strings.Contains(b.Why, "TAVILY_API_KEY")):
			t.Errorf("%+v", b)
		}
	}
	if strings.Contains(out, "0123456789") {
		t.Error("the key is shown")
	}
	c.env["FAMILIAR_SEARCH"] = "searxng"
	if code, out, complaint := c.command(nil, "backends", "--probe"); code != exitOK || !strings.Contains(complaint, "works beside it") || !strings.Contains(out, "asked just now") {
		t.Errorf("exit code %d, errors %q:\n%s", code, complaint, out)
	}
}

func TestFailedLookup(t *testing.T) {
	t.Parallel()
	c := newConversation(t, txtar.Parse([]byte("-- search --\nwhen .\nstatus 500\n")))
	for _, form := range []string{"--json=false", "--json"} {
		code, out, err := c.command(nil, "lookup", form, "how high is Mount Example?")
		if code != exitFailed || !strings.Contains(out, "failed") || !strings.Contains(err, "the lookup failed: ") {
			t.Errorf("%s: exit code %d, errors %q:\n%s", form, code, err, out)
		}
	}
	if code, out, err := c.command(nil, "ask", "how high is Mount Example?"); code != exitFailed || !strings.Contains(out, "could not reach the web") || !strings.Contains(err, "the lookup failed: ") {
		t.Errorf("a question whose lookup failed: exit code %d, errors %q:\n%s", code, err, out)
	}
}

func TestChatWithoutInput(t *testing.T) {
	t.Parallel()
	c := newConversation(t, txtar.Parse([]byte(mountain)))
	for range 5 {
		if code, _, err := c.command(strings.NewReader(""), "chat"); code != exitOK || err != "" {
			t.Fatalf("exit code %d, errors %q", code, err)
		}
	}
}

func TestTrace(t *testing.T) {
	t.Parallel()
	c := newConversation(t, txtar.Parse([]byte(mountain)))
	c.command(nil, "ask", "how high is Mount Example?")
	code, list, err := c.command(nil, "trace")
	if code != exitOK || !strings.Contains(list, "how high is Mount Example?") {
		t.Fatalf("exit code %d, errors %q:\n%s", code, err, list)
	}
	id := strings.Fields(list)[0]
	if code, out, err := c.command(nil, "trace", id[:20]); code != exitOK || !strings.Contains(out, "4,321") {
		t.Errorf("exit code %d, errors %q:\n%s", code, err, out)
	}
	if code, _, err := c.command(nil, "trace", "0"); code != exitFailed || !strings.Contains(err, "at least four characters") {
		t.Errorf("exit code %d, errors %q", code, err)
	}
	c.command(nil, "ask", "how high is Mount Example?")
	if code, _, err := c.command(nil, "trace", id[:4]); code != exitFailed || !strings.Contains(err, "several") || !strings.Contains(err, id) {
		t.Errorf("exit code %d, errors %q", code, err)
	}
	if code, _, err := c.command(nil, "trace", "01ZZZZZZ"); code != exitFailed || !strings.Contains(err, "no turn") {
		t.Errorf("exit code %d, errors %q", code, err)
	}
}

// TestStopDuringAnAnswer presses Ctrl-C while the model speaks: what was said stays, and the chat goes on.
func TestStopDuringAnAnswer(t *testing.T) {
	t.Parallel()
	c := newConversation(t, txtar.Parse([]byte("-- model --\nwhen \"stop\"\nsay The first words\nhold\nsay and never these\nwhen \"then\"\nsay Yes, I am here.\n")))
	signals := make(chan os.Signal, 2)
	in, typed := io.Pipe()
	out := &lockedBuffer{}
	done := make(chan int)
	go func() {
		done <- run(program{
			args: []string{"chat"}, dir: c.dir, in: in, out: out, err: out, signals: signals, far: c.far(),
			env: c.environment(), exit: func(int) { t.Error("left at once") },
		})
	}()
	io.WriteString(typed, "please stop\n")
	waitFor(t, out, "The first") // the last word is held back until the next has begun
	signals <- os.Interrupt
	waitFor(t, out, "stopped")
	io.WriteString(typed, "and then?\n")
	waitFor(t, out, "Yes, I am here.")
	typed.Close()
	select {
	case code := <-done:
		if code != exitOK || strings.Contains(out.String(), "never these") {
			t.Errorf("exit code %d:\n%s", code, out)
		}
	case <-time.After(patience):
		t.Errorf("the chat does not end:\n%s", out)
	}
}

func waitFor(t *testing.T, out *lockedBuffer, text string) {
	t.Helper()
	if !wait.Until(func() bool { return strings.Contains(out.String(), text) }) {
		t.Fatalf("%q does not come:\n%s", text, out)
	}
}

// TestMemoryCommand writes what is remembered as files, changes one, forgets the rest and reads the files again.
func TestMemoryCommand(t *testing.T) {
	t.Parallel()
	c := newConversation(t, txtar.Parse(nil))
	db, err := store.Open(t.Context(), filepath.Join(c.dir, "data"))
	c.must(err)
	for i, text := range []string{"I collect stamps", "The raid starts at eight"} {
		_, err := memory.New(db).Save(t.Context(), memory.Statement{Kind: memory.Note, Scope: memory.Scope{Kind: memory.ScopeDM, ID: "d"}, Text: text, By: "ana",
			Sources: []string{memory.CommandSource("1")}, SaidAt: time.Unix(int64(i), 0), LearnedAt: time.Unix(int64(i), 0)})
		c.must(err)
	}
	c.must(db.Close())
	does := func(want string, args ...string) {
		t.Helper()
		code, out, err := c.command(nil, append([]string{"memory"}, args...)...)
		if !strings.Contains(out+err, want) || code == exitOK != (err == "") {
			t.Errorf("%v: exit code %d\n%s%s", args, code, out, err)
		}
	}
	does("I collect stamps")
	does("note · dm d", "show")
	does("The raid", "search", "RAID", "eight")
	does("Nothing is remembered.", "search", "raid", "stamps")
	does("Written: 2.", "export", "files")
	does("is not empty", "export", "files")
	does("Forgotten: 2.", "forget", "1", "2")
	does("there is no statement 2", "forget", "2")
	file := filepath.Join(c.dir, "files", "note", "000002.md")
	data, err := os.ReadFile(file)
	c.must(err)
	c.must(os.WriteFile(file, []byte(strings.Replace(string(data), "kind =", "kid =", 1)), 0o600))
	does("note/000002.md:4: unknown setting kid", "import", "files")
	c.must(os.WriteFile(file, []byte(strings.Replace(string(data), "eight", "nine", 1)), 0o600))
	does("Added: 2. Replaced: 0.", "import", "files")
	does("Added: 0. Replaced: 2.", "import", "files")
	does(`"text": "The raid starts at nine"`, "show", "--json")
}
