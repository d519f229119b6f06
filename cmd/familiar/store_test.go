package main

import (
	"context"
	"crypto/tls"
	"database/sql"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"familiar/internal/app"
	"familiar/internal/context/turn"
	"familiar/internal/discord"
	"familiar/internal/forget"
	"familiar/internal/memory"
	"familiar/internal/store"
	"familiar/internal/test/bulk"
	"familiar/internal/test/discordtest"
	"familiar/internal/test/llmtest"
	"familiar/internal/test/postgres"
	"familiar/internal/test/wait"
	"familiar/internal/trace"
)

// TestStoreOutOfOrder takes the store away from a running bot. It does not answer without a record, says so, and
// answers again when the store is back.
func TestStoreOutOfOrder(t *testing.T) {
	t.Parallel()
	c := newConversation(t, txtar.Parse([]byte("-- model --\nsay Hello.\n")))
	c.do("before", "start")
	c.do("before", "say general ana @familiar hello")
	c.do("before", "heard general")

	release := c.holdStore()
	c.do("without", "say general ana @familiar can you hear me?")
	m, ok := c.discord.WaitReply("general", patience) // SQLite waits five seconds for each write in line
	if !ok || m.Text != outOfOrderSentence {
		t.Errorf("said %q, %v", m.Text, ok)
	}
	release()

	c.do("after", "say general ana @familiar and now?")
	c.do("after", "heard general")
	c.do("after", "has Hello.")
	c.stop()
}

// holdStore keeps everybody else from writing to the store, until release.
func (c *conversation) holdStore() (release func()) {
	db, err := sql.Open("sqlite", filepath.Join(c.dir, "data", "familiar.db")+"?_pragma=busy_timeout(5000)")
	c.must(err)
	held, err := db.Conn(c.Context())
	c.must(err)
	_, err = held.ExecContext(c.Context(), "BEGIN EXCLUSIVE")
	c.must(err)
	return func() {
		held.Close()
		db.Close()
	}
}

// breakStore makes every write of a message fail at once, from then on.
func (c *conversation) breakStore() {
	db, err := sql.Open("sqlite", filepath.Join(c.dir, "data", "familiar.db")+"?_pragma=busy_timeout(5000)")
	c.must(err)
	defer db.Close()
	_, err = db.ExecContext(c.Context(), "ALTER TABLE messages RENAME TO lost")
	c.must(err)
}

const outOfOrderSentence = "I can't write my records at the moment, and I don't answer without them. My operator will find the reason in my log."

// TestDeletedMessage: what somebody deletes is in no record any more, neither of its own turn nor of later ones.
func TestDeletedMessage(t *testing.T) {
	t.Parallel()
	c := newConversation(t, txtar.Parse([]byte("-- model --\nsay Hello.\n")))
	c.do("before", "start")
	c.do("before", "say general ana @familiar I moved to 12 Mill Lane, how are you?")
	c.do("before", "heard general")
	regretted := c.lastSaid
	c.do("before", "say general bob @familiar and me?")
	c.do("before", "heard general")
	kept := func() string {
		list, err := c.records().Recent(c.Context(), "", 9)
		c.must(err)
		var all strings.Builder
		for _, s := range list {
			whole, err := c.records().Get(c.Context(), s.ID)
			c.must(err)
			text, err := json.Marshal(whole)
			c.must(err)
			fmt.Fprintf(&all, "%+v %s\n", s, text)
		}
		return all.String()
	}
	if n := strings.Count(kept(), "Mill Lane"); n < 4 {
		t.Fatalf("it stands %d times in two records before it is deleted", n)
	}
	c.discord.Delete(regretted)
	if !wait.Until(func() bool { return !strings.Contains(kept(), "Mill Lane") }) {
		t.Errorf("it is still there:\n%s", kept())
	}
	if all := kept(); !strings.Contains(all, "and me?") || !strings.Contains(all, "the question was deleted") {
		t.Errorf("records:\n%s", all)
	}
	if code, out, complaint := c.command(strings.NewReader(""), "trace", regretted); code != exitOK || !strings.Contains(out, "(deleted)") || strings.Contains(out, "Mill Lane") {
		t.Errorf("what is left is told as: %d %s\n%s", code, complaint, out)
	}
	c.stop()
}

// TestDataDeleted: a bot whose data directory was deleted does not pretend to keep records.
func TestDataDeleted(t *testing.T) {
	t.Parallel()
	c := newConversation(t, txtar.Parse([]byte("-- model --\nsay Hello.\n")))
	c.do("before", "start")
	c.do("before", "say general ana @familiar hello")
	c.do("before", "heard general")
	c.must(os.RemoveAll(filepath.Join(c.dir, "data")))
	c.do("without", "say general ana @familiar can you hear me?")
	if m, ok := c.discord.WaitReply("general", patience); !ok || m.Text != outOfOrderSentence {
		t.Errorf("said %q, %v", m.Text, ok)
	}
	if !wait.Until(func() bool {
		return strings.Contains(c.program.out.String(), "deleted or moved away while it was in use")
	}) {
		t.Errorf("the log says nothing:\n%s", c.program.out)
	}
	c.stop()
	if c.program.code == exitOK {
		t.Error("the program says that all was well")
	}
}

// tidying makes what tidies an empty store, with these settings.
func tidying(t *testing.T, settings func(string) (string, bool)) *app.App {
	t.Helper()
	dir := t.TempDir()
	db, err := store.Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	config, err := app.ReadConfig(settings, dir)
	if err != nil {
		t.Fatal(err)
	}
	a := &app.App{Config: config, Store: db, Traces: &trace.Store{DB: db}, Log: slog.New(slog.DiscardHandler)}
	a.Forgetter = &forget.Forgetter{Traces: a.Traces, Memories: memory.New(db)}
	return a
}

// TestLeftServers checks that a left server's data goes when the grace is over. It stays if the bot is back.
func TestLeftServers(t *testing.T) {
	t.Parallel()
	a := tidying(t, func(name string) (string, bool) {
		return "1ns", name == "FAMILIAR_LEFT_SERVER_GRACE"
	})
	db := a.Store
	for _, guild := range []string{"stays", "left", "back"} {
		m := store.Message{ID: "m-" + guild, ChannelID: "c-" + guild, GuildID: guild, AuthorID: "u", AuthorName: "Ada", Text: "words", At: time.Now()}
		if _, err := db.Messages.SaveIncoming(t.Context(), store.Incoming{Message: m}); err != nil {
			t.Fatal(err)
		}
		record := &turn.Trace{Request: turn.Request{ID: "T-" + guild, GuildID: guild, ChannelID: "c-" + guild}, Phase: turn.Answered, Began: time.Now()}
		if err := a.Traces.Save(t.Context(), record); err != nil {
			t.Fatal(err)
		}
	}
	for _, guild := range []string{"back", "left"} {
		if err := db.Guilds.Leave(t.Context(), guild, time.Now().Add(-time.Hour)); err != nil {
			t.Fatal(err)
		}
	}
	known := false
	for range 2 {
		a.Tidy(t.Context(), time.Now(), func() ([]string, bool) { return []string{"back", "stays"}, known })
		for guild, want := range map[string]bool{"stays": true, "left": !known, "back": true} {
			_, noMessage := db.Messages.Get(t.Context(), "m-"+guild)
			_, noRecord := a.Traces.Get(t.Context(), "T-"+guild)
			if (noMessage == nil) != want || (noRecord == nil) != want {
				t.Errorf("known %t, %s: %v, %v", known, guild, noMessage, noRecord)
			}
		}
		known = true
	}
}

// TestRetentionFollowsDiscordsClock: a machine whose clock is 40 days ahead deletes nothing too early.
func TestRetentionFollowsDiscordsClock(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	a := tidying(t, func(name string) (string, bool) { return "30", name == "FAMILIAR_KEEP_MESSAGES" })
	db := a.Store
	for _, one := range []struct { // as they came: no message behind a young one is looked at
		id  string
		age time.Duration
	}{{"old", 100 * day}, {"young", 45 * day}} {
		m := store.Message{ID: one.id, ChannelID: one.id, AuthorID: "u", Text: "words", At: time.Now().Add(-one.age)}
		if _, err := db.Messages.SaveIncoming(t.Context(), store.Incoming{Message: m}); err != nil {
			t.Fatal(err)
		}
	}
	far := discordtest.New(t)
	far.SkewClock(-40 * day)
	session, err := discord.New(discord.Config{Token: discordtest.Token, HTTP: http.DefaultClient, BaseURL: far.URL})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var upkeep sync.WaitGroup
	upkeep.Go(func() { a.Upkeep(ctx, session) })
	defer upkeep.Wait()
	defer cancel()
	if _, err := session.Post(ctx, turn.Post{ChannelID: far.ID("general"), Text: "the time?"}); err != nil {
		t.Fatal(err)
	}
	kept := func(id string) bool {
		_, err := db.Messages.Get(t.Context(), id)
		return err == nil
	}
	if !wait.Until(func() bool { return !kept("old") }) {
		t.Fatal("what is old is not deleted")
	}
	if !kept("young") {
		t.Error("what is young was deleted, by the clock of the machine")
	}
}

// TestALateClockPrunesNothing: what a machine dates whose clock is 40 days late is as old as that clock says.
func TestALateClockPrunesNothing(t *testing.T) {
	t.Parallel()
	a := tidying(t, func(string) (string, bool) { return "", false })
	db := a.Store
	m := store.Message{ID: "1", ChannelID: "c", AuthorID: "u", Text: "words", At: time.Now()}
	if _, err := db.Messages.SaveIncoming(t.Context(), store.Incoming{Message: m, Claim: "1", Event: "{}"}); err != nil {
		t.Fatal(err)
	}
	a.Tidy(t.Context(), time.Now().AddDate(0, 0, 40), nil)
	if open, err := db.Claims.Open(t.Context()); err != nil || len(open) != 1 {
		t.Errorf("open claims: %+v, %v", open, err)
	}
}

// mostRoundTrips is how often a turn may wait for PostgreSQL before it asks the model.
const mostRoundTrips = 12

// TestRoundTrips counts how often a turn waits for PostgreSQL before it asks the model.
func TestRoundTrips(t *testing.T) {
	postgres.Needed(t)
	c := newConversation(t, txtar.Parse([]byte("-- model --\nsay Hello.\n")))
	place, trips := postgres.Counted(t, postgres.Place(t, c.data()))
	c.env["FAMILIAR_DATABASE"], c.env["FAMILIAR_TURNS_PER_MINUTE"] = place, "1000"
	asked := make(chan []string, 64)
	c.model.Play(nil)
	c.model.Reply = func(r llmtest.Request) llmtest.Reply {
		if r.Model == "main" && strings.Contains(fmt.Sprint(r), "this is page") {
			asked <- trips.Take()
		}
		return llmtest.Reply{llmtest.Say("Hello.")}
	}
	c.do("start", "start")
	fewest := []string(nil)
	for n := range 40 { // statements are prepared first, and now and then something else is written
		trips.Take()
		c.do("said", fmt.Sprintf("say general ana @familiar hello, this is page %d", n))
		select {
		case made := <-asked:
			if n == 0 || len(made) < len(fewest) {
				fewest = made
			}
		case <-time.After(patience):
			t.Fatalf("the model was not asked: %s", c.program.out)
		}
		c.do("heard", "heard general")
	}
	c.stop()
	if most := mostRoundTrips; len(fewest) > most {
		t.Errorf("%d round trips, where %d are allowed:\n%s", len(fewest), most, strings.Join(fewest, "\n"))
	}
}

// TestWrongDatabases checks databases that cannot be used. The start and the doctor tell the fault in words with the cure, and show no
// password.
func TestWrongDatabases(t *testing.T) {
	wrong := map[string]string{
		"postgres://ada:geheim@localhost:port/x":          "postgres://user:password@host",
		"postgres://ada:geheim@127.0.0.1:1/x":             "check that PostgreSQL runs",
		"postgres://ada:a@geheim/x@127.0.0.1:1/x":         "with %xx for other characters",
		"postgres://ada:12/geheim@127.0.0.1:1/x":          "with %xx for other characters",
		"postgres://ada:geheim@nowhere.invalid/x":         "check that PostgreSQL runs",
		"postgres://ada@/x?host=/nowhere&password=geheim": "check that PostgreSQL runs",
	}
	for name, cure := range map[string]string{"require": "ssl = on", "verify-full&sslrootcert=/nowhere/ca.pem": "open /nowhere/ca.pem", "always": "no option or sslmode"} {
		wrong["postgres://ada:geheim@"+silent(t, nil)+"/x?sslmode="+name] = cure
	}
	certified := httptest.NewTLSServer(nil)
	t.Cleanup(certified.Close)
	wrong["postgres://ada:geheim@"+silent(t, certified.TLS)+"/x?sslmode=verify-full"] = "an authority in sslrootcert"
	wrong["postgres://ada:geheim@"+silent(t, nil)+"/x"] = "check that PostgreSQL runs"
	if postgres.Used() {
		place := postgres.Place(t, t.TempDir())
		as := func(change func(*url.URL)) string {
			u, err := url.Parse(place)
			if err != nil {
				t.Fatal(err)
			}
			u.User = url.UserPassword("postgres", "geheim")
			change(u)
			return u.String()
		}
		with := func(name, value string) string {
			return as(func(u *url.URL) {
				q := u.Query()
				q.Set(name, value)
				u.RawQuery = q.Encode()
			})
		}
		wrong[as(func(u *url.URL) { u.Path = "/nowhere" })] = "createdb"
		wrong[as(func(u *url.URL) { u.User = url.UserPassword("nobody_at_all", "geheim") })] = "pg_hba.conf"
		wrong[with("default_transaction_read_only", "on")] = "name the primary server"
		wrong[with("search_path", "nowhere")] = "GRANT CREATE"
		wrong[with("nonsense", "on")] = "no option or sslmode"
		wrong[postgres.Changed(t, place, "\x00\x00\x00\x0615", "\x00\x00\x00\x0614")] = "upgrade PostgreSQL"
		primary := guarded(t)
		wrong[primary.Address("ada", "geheimer")] = "the user or the password"
		wrong[primary.Address("ada", "")] = "the user or the password"
		wrong[primary.Address("late", "geheim")] = "the user or the password"
		copied := postgres.NewCluster(t, primary).Address("ada", "geheim")
		wrong[copied] = "name the primary server"
		wrong[copied+"?target_session_attrs=read-write"] = "name the primary server"
	}
	for place, cure := range wrong {
		c := newConversation(t, txtar.Parse([]byte("-- model --\nsay Hello.\n")))
		c.env["FAMILIAR_DATABASE"] = place
		for _, command := range [][]string{{"run"}, {"doctor", "database"}} {
			code, out, complaint := c.command(nil, command...)
			if text := strings.Join(strings.Fields(out+complaint), " "); code == exitOK || !strings.Contains(text, cure) || strings.Contains(text, "geh") {
				t.Errorf("%s %s: exit code %d, %q is not told, or the password is: %s", command, place, code, cure, text)
			}
		}
	}
}

// silent returns the address of a server that refuses TLS, or has one, and says nothing else.
func silent(t *testing.T, tlsConfig *tls.Config) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = io.ReadFull(c, make([]byte, 8))
			if tlsConfig == nil {
				_, _ = c.Write([]byte("N"))
			} else {
				_, _ = c.Write([]byte("S"))
				_ = tls.Server(c, tlsConfig).Handshake()
			}
			c.Close()
		}
	}()
	return l.Addr().String()
}

// guarded returns a server with passwords. That of ada is good, and that of late has expired.
func guarded(t *testing.T) *postgres.Cluster {
	t.Helper()
	c := postgres.NewCluster(t, nil)
	postgres.Run(t, c.Address("postgres", ""), `CREATE ROLE ada LOGIN PASSWORD 'geheim'; CREATE ROLE late LOGIN PASSWORD 'geheim' VALID UNTIL '2020-01-01'; ALTER DATABASE postgres OWNER TO ada`)
	return c
}

// readers say which page they are at, and the bot repeats it after a while.
type readers struct {
	*conversation
	asked []discordtest.Message
}

var pageOf = regexp.MustCompile(`this is page (\d+)`)

func newReaders(t *testing.T, place string) *readers {
	t.Helper()
	r := &readers{conversation: newConversation(t, txtar.Parse([]byte("-- model --\nsay Hello.\n")))}
	r.env["FAMILIAR_DATABASE"], r.env["FAMILIAR_TURNS_PER_MINUTE"] = place, "1000"
	r.model.Play(nil)
	r.model.Reply = func(q llmtest.Request) llmtest.Reply {
		pages := pageOf.FindAllStringSubmatch(fmt.Sprint(q), -1)
		if len(pages) == 0 {
			return llmtest.Reply{llmtest.Say("Hello.")}
		}
		return llmtest.Reply{llmtest.Gap(300 * time.Millisecond), llmtest.Say("Page " + pages[len(pages)-1][1] + " it is.")}
	}
	for n := range 4 {
		r.do("before", fmt.Sprintf("channel room-%d", n))
	}
	r.do("before", "start")
	return r
}

// talk asks while something is done and shortly before and after. Then everybody must have an answer or be told, and nobody twice.
func (r *readers) talk(what string, do func()) {
	r.Helper()
	done := make(chan struct{})
	ticks := time.NewTicker(100 * time.Millisecond)
	defer ticks.Stop()
	last := -1
	for n := 0; n != last; n++ {
		if n == 5 {
			go func() {
				defer close(done)
				do()
			}()
		}
		<-ticks.C
		room, who := fmt.Sprintf("room-%d", n%4), fmt.Sprintf("reader%03dx", len(r.asked))
		id := r.discord.Say(room, who, fmt.Sprintf("@familiar hello, this is page %d", len(r.asked)))
		r.asked = append(r.asked, discordtest.Message{ID: id, Channel: room, Author: who})
		select {
		case <-done:
			last, done = n+20, nil
		default:
		}
	}
	var open []string
	settled := wait.Until(func() bool {
		open = nil
		for page := range r.asked {
			if answered, told := r.outcome(page); answered+told == 0 {
				open = append(open, r.asked[page].Author)
			}
		}
		return len(open) == 0
	})
	if !settled {
		r.Errorf("%s: nobody answers or tells %v", what, open)
	}
	answers := 0
	for page := range r.asked {
		answered, _ := r.outcome(page)
		if answers += min(1, answered); answered > 1 {
			r.Errorf("%s: page %d has %d answers", what, page, answered)
		}
	}
	if answered, _ := r.outcome(len(r.asked) - 1); answered == 0 {
		r.Errorf("%s: the last question has no answer", what)
	}
	r.Logf("%s: %d of %d questions are answered, the others told", what, answers, len(r.asked))
}

// outcome counts the answers to a question, and the notices about it.
func (r *readers) outcome(page int) (answered, told int) {
	q := r.asked[page]
	for _, m := range r.discord.Messages(q.Channel) {
		switch {
		case !m.Own:
		case strings.Contains(m.Text, fmt.Sprintf("Page %d it is.", page)):
			answered++
		case !strings.HasPrefix(m.Text, "Page") && (m.ReplyTo == q.ID || strings.Contains(m.Text, q.Author)):
			told++
		}
	}
	return answered, told
}

// TestServerGoesAway takes the server away while people ask.
func TestServerGoesAway(t *testing.T) {
	cluster := guarded(t)
	r := newReaders(t, cluster.Address("ada", "geheim"))
	r.talk("the server is away", func() {
		cluster.Stop()
		<-time.After(time.Duration(bulk.Of(2, 10)) * time.Second)
		cluster.Start()
	})
	r.stop()
}

// TestServerFailsOver ends the server while people ask, and a copy that has followed it takes its place.
func TestServerFailsOver(t *testing.T) {
	primary := guarded(t)
	follower := postgres.NewCluster(t, primary)
	one, other := primary.Address("ada", "geheim"), follower.Address("ada", "geheim")
	both, err := url.Parse(one)
	if err != nil {
		t.Fatal(err)
	}
	u, _ := url.Parse(other)
	both.Host += "," + u.Host
	both.RawQuery = "target_session_attrs=read-write"
	r := newReaders(t, both.String())
	r.talk("the copy takes over", func() {
		primary.Stop()
		follower.Promote()
	})
	r.stop()
	r.env["FAMILIAR_DATABASE"] = other
	r.do("address", "start")
	r.talk("its own address", func() {})
	r.stop()
	db, err := store.Look(t.Context(), other)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Messages.Get(t.Context(), r.asked[0].ID); err != nil {
		t.Errorf("the first question: %v", err)
	}
}
