package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"familiar/internal/app"
	"familiar/internal/context/turn"
	"familiar/internal/llm"
	"familiar/internal/store"
	"familiar/internal/test/discordtest"
	"familiar/internal/test/llmtest"
	"familiar/internal/test/postgres"
	"familiar/internal/trace"
)

// stage is a program between the far ends of a benchmark or a test. doc/benchmarks.md has the commands and the figures.
type stage struct {
	testing.TB
	dir     string
	place   string // of the store
	env     map[string]string
	discord *discordtest.Server
	model   *llmtest.Server
	rooms   []string // ids of the channels
	pid     int      // of the process, if there is one

	mu      sync.Mutex
	replied map[string]chan discordtest.Message // by channel; guarded by mu
}

// once reports whether every benchmark runs a single time, which only shows that it runs. What comes before the measuring is small then.
func once() bool { return flag.Lookup("test.benchtime").Value.String() == "1x" }

// newStage makes a Discord with so many channels and a model that answers as answer says.
func newStage(b testing.TB, channels int, answer func(llmtest.Request) llmtest.Reply) *stage {
	b.Helper()
	s := &stage{TB: b, dir: b.TempDir(), discord: discordtest.New(b), model: llmtest.New(b), replied: make(map[string]chan discordtest.Message)}
	s.place = postgres.Place(b, filepath.Join(s.dir, "data"))
	s.model.Forget, s.model.Reply = true, answer
	s.discord.Quiet()
	s.env = map[string]string{
		"DISCORD_TOKEN": discordtest.Token, "DISCORD_API_URL": s.discord.URL, "FAMILIAR_LOG": "error", "FAMILIAR_CONSOLE": "off", "FAMILIAR_TURNS_PER_MINUTE": "1000000",
		"OPENAI_BASE_URL": s.model.URL, "OPENAI_API_KEY": "sk-test-0123456789abcdef", "OPENAI_MODEL": "main", "SIDE_MODEL": "side",
	}
	if postgres.Used() {
		s.env["FAMILIAR_DATABASE"] = s.place
	}
	for i := range channels {
		id := s.discord.AddChannel("hall", fmt.Sprintf("room-%d", i))
		s.rooms = append(s.rooms, id)
		s.replied[id] = make(chan discordtest.Message, 16)
	}
	s.discord.OnReply(func(m discordtest.Message) {
		s.mu.Lock()
		defer s.mu.Unlock()
		if heard := s.replied[m.Channel]; heard != nil {
			heard <- m
		}
	})
	return s
}

// far has no web: what is said on a stage asks for none.
func (s *stage) far() app.Far {
	const nowhere = "http://127.0.0.1:1"
	return app.Far{
		Local: []llm.Place{}, PerSecond: 1 << 20,
		Backends: backendsAt(nowhere),
	}
}

func (s *stage) program() program {
	return program{
		args: []string{"run"}, dir: s.dir, in: strings.NewReader(""), out: &lockedBuffer{}, err: s.Output(),
		env:  func(name string) (string, bool) { v, ok := s.env[name]; return v, ok },
		exit: func(int) { s.Error("the program left at once") },
		far:  s.far(),
	}
}

// start runs the program in this process, until stop.
func (s *stage) start() (stop func()) {
	s.Helper()
	signals, done := make(chan os.Signal, 2), make(chan struct{})
	p := s.program()
	p.signals = signals
	go func() {
		defer close(done)
		if code := run(p); code != exitOK {
			s.Errorf("exit code %d", code)
		}
	}()
	if !s.discord.WaitSession(patience) {
		s.Fatal("the program does not come")
	}
	return func() {
		signals <- os.Interrupt
		<-done
	}
}

// ask says something that is meant for the bot in a channel and waits for the reply. It returns the question's id.
func (s *stage) ask(channel, author, text string) string {
	id := s.discord.Say(channel, author, text)
	select {
	case <-s.replied[channel]:
	case <-time.After(patience):
		s.Errorf("no reply to %s", id)
	}
	return id
}

// records opens the program's store beside it.
func (s *stage) records() *trace.Store {
	s.Helper()
	db, err := store.Look(context.Background(), s.place)
	if err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() { db.Close() })
	return &trace.Store{DB: db}
}

// fill gives every channel so many messages. They come interleaved, as messages do, so that no two of one channel are neighbours in the
// file.
func (s *stage) fill(each int) {
	s.Helper()
	db, err := store.Open(context.Background(), s.place)
	if err != nil {
		s.Fatal(err)
	}
	defer db.Close()
	if postgres.Used() {
		s.fillServer(each)
		return
	}
	begin := time.Now().Add(-time.Duration(each) * time.Minute)
	for i := range each {
		round := make([]store.Message, len(s.rooms))
		for j, room := range s.rooms {
			round[j] = store.Message{
				ID: fmt.Sprintf("%019d", i*len(s.rooms)+j), ChannelID: room, GuildID: "1", AuthorID: fmt.Sprint(1000 + i%7),
				AuthorName: fmt.Sprintf("person %d", i%7), Text: sentence(i*len(s.rooms) + j), At: begin.Add(time.Duration(i) * time.Minute),
			}
		}
		if err := db.Messages.Save(context.Background(), round...); err != nil {
			s.Fatal(err)
		}
	}
	if err := db.Messages.TidyIndex(context.Background()); err != nil { // as the upkeep has done long ago
		s.Fatal(err)
	}
}

// fillServer does the same on PostgreSQL, in statements of a million words. One for each message would take half an hour.
func (s *stage) fillServer(each int) {
	s.Helper()
	const rounds = 20
	postgres.Run(s, s.place, `DROP INDEX message_words_by_word`)
	for first := 0; first < each; first += rounds {
		postgres.Run(s, s.place, fmt.Sprintf(`WITH saved AS (INSERT INTO messages (id, channel_id, guild_id, author_id, author_name, text, reply_to, turn_id, at, own, note)
			SELECT lpad(CAST(n AS TEXT), 19, '0'), room, '1', 1000 + i %% 7, 'person ' || i %% 7, n || ': ' || (SELECT string_agg((CAST('{the,owl,reads,another,chapter,before,breakfast,and,forgets,its,spectacles,again,of,course}' AS TEXT[]))[1 + (n + k * k) %% 14], ' ')
				FROM generate_series(0, 3 + n %% 29) k), '', '', CAST(extract(epoch FROM now()) * 1000000 AS BIGINT) - CAST(%[4]d - i AS BIGINT) * 60000000, FALSE, ''
			FROM generate_series(%[1]d, %[2]d) i, unnest(CAST('{%[3]s}' AS TEXT[])) WITH ORDINALITY AS r (room, j), LATERAL (SELECT i * %[5]d + j AS n) numbered ORDER BY n RETURNING rowid, channel_id, author_id, text)
			INSERT INTO message_words SELECT rowid, array_to_tsvector(ARRAY(SELECT DISTINCT 'a' || word FROM string_to_table(text, ' ') word) || ARRAY['bg1', 'bc' || channel_id, 'ba' || author_id]) || message_parts(rowid) FROM saved`,
			first, min(each, first+rounds)-1, strings.Join(s.rooms, ","), each, len(s.rooms)))
	}
	postgres.Run(s, s.place, `CREATE INDEX message_words_by_word ON message_words USING gin (words) WITH (fastupdate = off)`)
	postgres.Run(s, s.place, `VACUUM ANALYZE`)
}

// sentence returns one of many sentences, 20 to 200 bytes long: the tokens of each have to be counted.
func sentence(n int) string {
	words := [...]string{"the", "owl", "reads", "another", "chapter", "before", "breakfast", "and", "forgets", "its", "spectacles", "again", "of", "course"}
	var b strings.Builder
	fmt.Fprintf(&b, "%d:", n)
	for i := range 3 + n%29 {
		b.WriteString(" " + words[(n+i*i)%len(words)])
	}
	return b.String()
}

// report gives the median and the 99th percentile, in milliseconds.
func (s *stage) report(times []time.Duration, what string) {
	slices.Sort(times)
	at := func(p int) float64 { return times[(len(times)-1)*p/100].Seconds() * 1000 }
	b := s.TB.(*testing.B)
	b.ReportMetric(at(50), what+"-p50-ms")
	b.ReportMetric(at(99), what+"-p99-ms")
	b.ReportMetric(0, "ns/op") // waits of the benchmark's own
}

// BenchmarkPipeline measures what a turn costs beside its slowest provider. It goes from the gateway's event to the request that reaches
// the model. The store has a million messages, or nearly none.
func BenchmarkPipeline(b *testing.B) {
	b.Run("used", func(b *testing.B) { pipeline(b, 1000, 1000) })
	b.Run("new", func(b *testing.B) { pipeline(b, 50, 2) })
}

func pipeline(b *testing.B, channels, each int) {
	if once() {
		channels, each = 10, 10
	}
	asked := make(chan time.Time, 1)
	s := newStage(b, channels, func(r llmtest.Request) llmtest.Reply {
		if r.Model == "main" { // not a summary, which nobody waits for
			asked <- r.At
		}
		return llmtest.Reply{llmtest.Say("Never better.")}
	})
	s.fill(each)
	syscall.Sync() // no turn waits for a million messages on their way to the disk
	defer s.start()()
	busy := min(50, channels) // the others are there to be looked through
	take := func(i int) (question string, took time.Duration) {
		said := time.Now()
		question = s.ask(s.rooms[i%busy*7919%channels], "ana", fmt.Sprintf("Sage, how are you? I am at page %d", i))
		time.Sleep(5 * time.Millisecond) // the record's last state goes to disk
		return question, (<-asked).Sub(said)
	}
	for i := range busy { // the vocabulary is loaded, connections are made, what was said before is summarised
		take(i)
	}
	if !once() {
		time.Sleep(5 * time.Second)
	}
	var questions []string
	var took []time.Duration
	for i := 0; b.Loop(); i++ {
		q, t := take(busy + i)
		questions, took = append(questions, q), append(took, t)
	}
	own := make([]time.Duration, len(took))
	records := s.records()
	for i, q := range questions {
		t, err := records.ByMessage(context.Background(), q)
		if err != nil {
			b.Fatal(err)
		}
		own[i] = took[i] - slowest(t.Outcomes)
	}
	s.report(own, "own")
	s.report(took, "whole")
}

func slowest(outcomes []turn.Outcome) (most time.Duration) {
	for _, o := range outcomes {
		most = max(most, o.Took)
	}
	return most
}

// BenchmarkFirstWords is the time from the model's first words to the post that shows them.
func BenchmarkFirstWords(b *testing.B) {
	spoken := make(chan time.Time, 1)
	s := newStage(b, 8, func(llmtest.Request) llmtest.Reply {
		spoken <- time.Now() // the first word follows at once
		return llmtest.Reply{llmtest.Gap(30 * time.Millisecond), llmtest.Say("Never better, thank you for asking, and now back to the shelves with me.")}
	})
	defer s.start()()
	s.ask(s.rooms[0], "ana", "Sage, how are you?")
	<-spoken
	var took []time.Duration
	for i := 0; b.Loop(); i++ {
		room := s.rooms[i%len(s.rooms)]
		s.ask(room, "ana", "Sage, how are you?")
		seen := time.Now()
		took = append(took, seen.Sub(<-spoken))
		time.Sleep(300 * time.Millisecond)
	}
	s.report(took, "seen")
}

// BenchmarkTurns is how many turns a second go through in 128 channels, with a model that answers at once. The far
// ends work on the same processors. Every turn must be on record.
func BenchmarkTurns(b *testing.B) {
	s := newStage(b, 128, func(llmtest.Request) llmtest.Reply {
		return llmtest.Reply{llmtest.Say("Never better, thanks."), llmtest.Usage(1200, 5, 0)}
	})
	stop := s.start()
	s.ask(s.rooms[0], "warm", "Sage, how are you?")
	b.ReportAllocs()
	b.ResetTimer()
	next := make(chan int)
	var people sync.WaitGroup
	for i, room := range s.rooms {
		people.Go(func() {
			for n := range next {
				s.ask(room, fmt.Sprint("person", i), fmt.Sprintf("Sage, how are you? I am at page %d", n))
			}
		})
	}
	for n := range b.N {
		next <- n
	}
	close(next)
	people.Wait()
	b.StopTimer()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "turns/s")
	stop()
	s.complete(b.N + 1)
}

// BenchmarkBesideSearches is how long a turn takes while two people search 200,000 records in the console, beside 3,000,000 messages. They
// search without a pause for what no turn has. Each round has a turn alone and one beside the searches, so other work on the machine is in
// both. One pair is of a model that answers at once, another of one that takes a second.
func BenchmarkBesideSearches(b *testing.B) {
	var thinking atomic.Int64
	channels, each := 1000, 3000
	if once() {
		channels, each = 10, 10
	}
	s := newStage(b, channels, func(llmtest.Request) llmtest.Reply {
		return llmtest.Reply{llmtest.Wait(time.Duration(thinking.Load())), llmtest.Say("Never better, thanks."), llmtest.Usage(1200, 5, 0)}
	})
	s.fill(each)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	s.env["FAMILIAR_CONSOLE"], s.env["FAMILIAR_KEEP_RECORDS"] = l.Addr().String(), "1000" // nothing is pruned meanwhile
	l.Close()
	stop := s.start()
	for i := range 5 {
		s.ask(s.rooms[0], "ana", fmt.Sprintf("Sage, how is owl %d?", i))
	}
	stop()
	s.copyRecords(200_000)
	defer s.start()()
	var searching atomic.Bool
	var searches atomic.Int64
	var people sync.WaitGroup
	over := make(chan struct{})
	defer http.DefaultClient.CloseIdleConnections()
	defer people.Wait()
	defer close(over)
	for _, query := range []string{"/turns?q=owl+took>90s", "/turns?q=error:nothing"} {
		people.Go(func() {
			for {
				select {
				case <-over:
					return
				default:
				}
				if !searching.Load() {
					time.Sleep(time.Millisecond)
					continue
				}
				if resp, err := http.Get("http://" + s.env["FAMILIAR_CONSOLE"] + query); err == nil {
					_, _ = io.Copy(io.Discard, resp.Body)
					resp.Body.Close()
					searches.Add(1)
				}
			}
		})
	}
	asked := 0
	took := func(search bool) time.Duration {
		searching.Store(search)
		asked++
		time.Sleep(150 * time.Millisecond) // what goes on ends or is well under way, and the record before is on disk
		began := time.Now()
		s.ask(s.rooms[0], "ana", fmt.Sprintf("Sage, how are you? I am at page %d", asked))
		return time.Since(began)
	}
	paces := []struct {
		name                  string
		of                    time.Duration
		alone, beside, slower []time.Duration
	}{{name: "at-once"}, {name: "a-second", of: time.Second}}
	rounds := 0
	for ; b.Loop(); rounds++ {
		for i := range paces {
			p := &paces[i]
			thinking.Store(int64(p.of))
			first := rounds%2 == 0
			a, c := took(first), took(!first)
			if first {
				a, c = c, a
			}
			p.alone, p.beside, p.slower = append(p.alone, a), append(p.beside, c), append(p.slower, c-a)
		}
	}
	for _, p := range paces {
		s.report(p.alone, p.name+"-alone")
		s.report(p.beside, p.name+"-beside")
		s.report(p.slower, p.name+"-slower")
	}
	b.ReportMetric(float64(searches.Load())/float64(2*rounds), "searches/turn")
}

// copyRecords copies the records that there are until there are n, a minute apart.
func (s *stage) copyRecords(n int) {
	s.Helper()
	if once() {
		n = 500
	}
	db, err := store.Open(context.Background(), s.place)
	if err != nil {
		s.Fatal(err)
	}
	defer db.Close()
	err = db.Write(context.Background(), func(tx *store.Tx) error {
		_, err := tx.Exec(`WITH RECURSIVE seq (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM seq WHERE i < ?),
			some AS (SELECT *, row_number() OVER (ORDER BY id) - 1 AS k, count(*) OVER () AS n FROM traces)
			INSERT INTO traces (id, channel_id, guild_id, began, took, phase, lookup, author, question, model, err, record, part, parts, said)
			SELECT printf('01JA%022d', i), 'c' || (i % 200), s.guild_id, ? + i * 60000000, s.took, s.phase, s.lookup, s.author, s.question || ' ' || i, s.model, '', '', s.part, s.parts, s.said
			FROM seq JOIN some s ON s.k = seq.i % s.n`, n-1, time.Now().Add(-time.Duration(n)*time.Minute-24*time.Hour).UnixMicro())
		return err
	})
	if err == nil {
		err = (&trace.Store{DB: db}).IndexWords(context.Background())
	}
	if err != nil {
		s.Fatal(err)
	}
}

// complete checks that so many turns are on record, each of them answered.
func (s *stage) complete(n int) {
	s.Helper()
	list, err := s.records().Recent(context.Background(), "", n+1)
	if err != nil || len(list) != n {
		s.Errorf("%d turns of %d on record: %v", len(list), n, err)
	}
	for _, t := range list {
		if t.Phase != turn.Answered {
			s.Errorf("turn %s is %s: %s", t.ID, t.Phase, t.Err)
		}
	}
}
