package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"familiar/internal/test/postgres"
	"familiar/internal/text"
)

// fill writes n messages over the given number of channels, interleaved as they would arrive.
func fill(tb testing.TB, db *DB, n, channels int) {
	tb.Helper()
	text := strings.Repeat("what would you say of this? ", 4)
	begin := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	err := db.Write(context.Background(), func(tx *sql.Tx) error {
		save := db.stmt(tx, insertMessage)
		for i := range n {
			_, err := save.Exec(Message{
				ID: fmt.Sprintf("1%018d", i), ChannelID: fmt.Sprintf("2%018d", i%channels), GuildID: "3", AuthorID: "4000000000000000000",
				AuthorName: "somebody", Text: text, At: begin.Add(time.Duration(i) * time.Second),
			}.values()...)
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		tb.Fatal(err)
	}
}

// BenchmarkRecent reads windows of a database that is far larger than the page cache.
func BenchmarkRecent(b *testing.B) {
	for _, n := range []int{1_000, 1_000_000} {
		b.Run(fmt.Sprintf("messages=%d", n), func(b *testing.B) {
			if testing.Short() && n > 1_000 {
				b.Skip("takes ten seconds to fill")
			}
			db := open(b, b.TempDir())
			channels := max(n/1000, 10)
			fill(b, db, n, channels)
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				ms, err := db.Messages.Recent(b.Context(), fmt.Sprintf("2%018d", (i*7919)%channels), 20)
				if err != nil || len(ms) != 20 {
					b.Fatal(len(ms), err)
				}
				i++
			}
		})
	}
}

func BenchmarkArrive(b *testing.B) {
	for _, callers := range []int{1, 8, 64} {
		b.Run(fmt.Sprintf("callers=%d", callers), func(b *testing.B) {
			db := open(b, b.TempDir())
			b.SetParallelism(callers / runtime.GOMAXPROCS(0))
			var n counter
			b.RunParallel(func(p *testing.PB) {
				for p.Next() {
					id := fmt.Sprint(n.next())
					m := Message{ID: id, ChannelID: "c", GuildID: "g", AuthorID: "4", AuthorName: "somebody", Text: "a question of some length?", At: time.Now()}
					if _, err := arrive(context.Background(), db, m, id); err != nil {
						b.Error(err)
						return
					}
				}
			})
		})
	}
}

// BenchmarkOpen opens an up-to-date database, as every start except the first does.
func BenchmarkOpen(b *testing.B) {
	dir := b.TempDir()
	db := open(b, dir)
	fill(b, db, 10_000, 100)
	db.Close()
	for b.Loop() {
		db, err := Open(b.Context(), dir)
		if err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		db.Close()
		b.StartTimer()
	}
	b.ReportMetric(float64(resident(b)), "resident-kB")
}

func resident(tb testing.TB) int {
	b, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(b)) {
		var kb int
		if _, err := fmt.Sscanf(line, "VmRSS: %d kB", &kb); err == nil {
			return kb
		}
	}
	tb.Fatal("no VmRSS in /proc/self/status")
	return 0
}

// spoken are n messages of a server. Words are as rare as in a language: Zipf's law, with a vocabulary of 20,000.
func spoken(n, channels int) iter.Seq2[int, Message] {
	return func(yield func(int, Message) bool) {
		random := rand.New(rand.NewPCG(1, 2))
		zipf := rand.NewZipf(random, 1.1, 4, 20_000)
		begin := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		for i := range n {
			var text strings.Builder
			for range 3 + random.IntN(20) {
				fmt.Fprintf(&text, "w%dx ", zipf.Uint64())
			}
			if !yield(i, Message{
				ID: fmt.Sprintf("1%018d", i), ChannelID: fmt.Sprintf("2%018d", random.IntN(channels)), GuildID: "3", AuthorID: fmt.Sprintf("4%018d", random.IntN(500)),
				AuthorName: "somebody", Text: text.String(), At: begin.Add(time.Duration(i) * 10 * time.Second),
			}) {
				return
			}
		}
	}
}

// crowd writes and indexes messages.
func crowd(tb testing.TB, db *DB, all iter.Seq2[int, Message]) {
	tb.Helper()
	var some []Message
	write := func() {
		err := db.Write(context.Background(), func(tx *sql.Tx) error {
			for _, m := range some {
				if _, _, err := db.Messages.saveIncoming(tx, Incoming{Message: m}); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			tb.Fatal(err)
		}
		some = some[:0]
	}
	for _, m := range all {
		if some = append(some, m); len(some) == 10_000 {
			write()
		}
	}
	write()
}

// crowdServer does the same to an empty database of a server, many in a statement. One for each would take half an hour. The index of words
// is made last.
func crowdServer(tb testing.TB, db *DB, all iter.Seq2[int, Message]) {
	tb.Helper()
	run := func(statement string, args ...any) {
		if _, err := db.writes.pool.Exec(statement, args...); err != nil {
			tb.Fatal(err)
		}
	}
	const each = 500
	row := "(" + strings.TrimSuffix(strings.Repeat("?, ", 12), ", ") + ")"
	var messages, words []any
	flush := func() {
		if n := len(words) / 4; n > 0 {
			run(`INSERT INTO messages (rowid, `+columns+`) VALUES `+row+strings.Repeat(", "+row, n-1), messages...)
			run(`INSERT INTO message_words (rowid, words) VALUES `+crowdWords+strings.Repeat(", "+crowdWords, n-1), words...)
		}
		messages, words = messages[:0], words[:0]
	}
	var index string
	if err := db.readers.QueryRow(`SELECT pg_get_indexdef('message_words_by_word'::regclass)`).Scan(&index); err != nil {
		tb.Fatal(err)
	}
	run(`DROP INDEX message_words_by_word`)
	for i, m := range all {
		messages = append(append(messages, i+1), m.values()...)
		words = append(words, i+1, text.IndexedWords(m.Text), tag(inGuild, m.GuildID)+" "+tag(inChannel, m.ChannelID)+" "+tag(byAuthor, m.AuthorID), i+1)
		if len(words) == 4*each {
			flush()
		}
	}
	flush()
	run(`SELECT setval(pg_get_serial_sequence('messages', 'rowid'), (SELECT max(rowid) FROM messages))`)
	run(index)
	run(`VACUUM ANALYZE`)
}

const crowdWords = `(CAST(? AS BIGINT), LEXEMES_a(?) || LEXEMES_b(?) || message_parts(CAST(? AS BIGINT)))`

// benchDir names a directory for the databases that take minutes to fill, so that later runs can use them.
const benchDir = "FAMILIAR_BENCH_DIR"

// crowded returns a store of n indexed messages of a server, after upkeep.
func crowded(tb testing.TB, n, channels int, onServer bool) *DB {
	tb.Helper()
	place, dir := tb.TempDir(), os.Getenv(benchDir)
	switch {
	case onServer && dir != "":
		place = postgres.Kept(tb, fmt.Sprint("crowd_", n))
	case onServer:
		place = postgres.Place(tb, place)
	case dir != "":
		place = filepath.Join(dir, fmt.Sprint("crowd-", n))
		if err := os.MkdirAll(place, 0o700); err != nil {
			tb.Fatal(err)
		}
		fallthrough
	default:
		seed(tb, place)
	}
	how := Open
	if onServer { // others may use it at the same time
		how = Share
	}
	db := openAt(tb, place, how)
	began := time.Now()
	db.indexing.running.Wait() // a kept database may have the index of a program with other rules for words
	if took := time.Since(began); took > time.Second {
		tb.Logf("indexed again in %v", took)
	}
	var have int
	if err := db.readers.QueryRow(`SELECT count(*) FROM messages`).Scan(&have); err != nil {
		tb.Fatal(err)
	}
	if have < n {
		if have > 0 {
			tb.Fatalf("%s holds %d messages of %d: remove it", db.engine.Place(), have, n)
		}
		began = time.Now()
		if onServer {
			crowdServer(tb, db, spoken(n, channels))
		} else {
			crowd(tb, db, spoken(n, channels))
		}
		if err := db.Messages.TidyIndex(context.Background()); err != nil {
			tb.Fatal(err)
		}
		tb.Logf("%d messages written and indexed in %v", n, time.Since(began))
	}
	return db
}

// BenchmarkSearch searches for common and rare words, in few channels and in many.
func BenchmarkSearch(b *testing.B) {
	n := 1_000_000
	if testing.Short() {
		n = 20_000
	}
	db := crowded(b, n, 100, postgres.Used())
	var all []string
	for i := range 100 {
		all = append(all, fmt.Sprintf("2%018d", i))
	}
	for _, c := range []struct {
		name string
		q    Query
	}{
		{"common", Query{Channels: all, Words: "w1x"}},
		{"two common", Query{Channels: all, Words: "w1x w20x"}},
		{"rare", Query{Channels: all, Words: "w15000x"}},
		{"common and rare", Query{Channels: all, Words: "w1x w15000x"}},
		{"common, one channel", Query{Channels: all[:1], Words: "w1x"}},
		{"common, one person", Query{Channels: all, Words: "w1x", Authors: []string{fmt.Sprintf("4%018d", 7)}}},
		{"common, one week long ago", Query{Channels: all, Words: "w1x", From: time.Date(2026, 1, 8, 0, 0, 0, 0, time.UTC), To: time.Date(2026, 1, 15, 0, 0, 0, 0, time.UTC)}},
		{"beginning", Query{Channels: all, Words: "w1500", Begin: true}},
		{"nowhere", Query{Channels: all, Words: "w1x absent"}},
	} {
		c.q.GuildID, c.q.Limit = "3", 100
		b.Run(c.name, func(b *testing.B) {
			var took []time.Duration
			for b.Loop() {
				began := time.Now()
				if _, err := db.Messages.Search(b.Context(), c.q); err != nil {
					b.Fatal(err)
				}
				took = append(took, time.Since(began))
			}
			reportTimes(b, took)
		})
	}
}

// BenchmarkRecall gathers messages for questions of common and rare words.
func BenchmarkRecall(b *testing.B) {
	n := 1_000_000
	if testing.Short() {
		n = 20_000
	}
	db := crowded(b, n, 100, postgres.Used())
	asked := questions()
	var took []time.Duration
	for b.Loop() {
		q := asked()
		began := time.Now()
		if _, err := db.Messages.Recall(b.Context(), q); err != nil {
			b.Fatal(err)
		}
		took = append(took, time.Since(began))
	}
	reportTimes(b, took)
	if postgres.Used() {
		return
	}
	var index, text int64
	if err := db.readers.QueryRow(`SELECT (SELECT sum(length(block)) FROM message_words_data), (SELECT sum(length(text)) FROM messages)`).Scan(&index, &text); err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(index)/float64(text), "index/text")
}

// questions returns a maker of seeded questions for what spoken has said in 100 channels.
func questions() func() Recall {
	var channels, kin []string
	for i := range 100 {
		channels = append(channels, fmt.Sprintf("2%018d", i))
	}
	for i := range 12 {
		kin = append(kin, fmt.Sprintf("w%dx", 200+37*i))
	}
	random := rand.New(rand.NewPCG(3, 4))
	zipf := rand.NewZipf(random, 1.1, 4, 20_000)
	return func() Recall {
		q := Recall{GuildID: "3", Channels: channels, Kin: kin}
		for range 2 + random.IntN(6) {
			q.Words = append(q.Words, []string{fmt.Sprintf("w%dx", zipf.Uint64())})
		}
		if random.IntN(3) == 0 {
			q.From = time.Date(2026, 1, 1+random.IntN(100), 0, 0, 0, 0, time.UTC)
			q.To = q.From.AddDate(0, 0, 7)
		}
		return q
	}
}

func reportTimes(b *testing.B, took []time.Duration) {
	slices.Sort(took)
	b.ReportMetric(took[len(took)/2].Seconds()*1000, "p50-ms")
	b.ReportMetric(took[len(took)*99/100].Seconds()*1000, "p99-ms")
}

// BenchmarkBeside measures how long a message takes to arrive while the index of a million messages is built. Then it measures that while
// they are deleted. It counts the messages that a step held up for longer than stepLimit.
func BenchmarkBeside(b *testing.B) {
	n := 1_000_000
	if testing.Short() {
		n = 2_000
	}
	db := open(b, b.TempDir())
	db.indexing.end()
	fill(b, db, n, 1000)
	if err := db.Write(b.Context(), emptyIndex); err != nil {
		b.Fatal(err)
	}
	for what, task := range map[string]func(context.Context) error{
		"nothing": func(ctx context.Context) error { <-ctx.Done(); return nil },
		"index":   db.Messages.indexDue,
		"prune": func(ctx context.Context) error {
			_, err := db.Messages.Prune(ctx, time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC))
			return err
		},
	} {
		b.Run(what, func(b *testing.B) {
			ctx, stop := context.WithCancel(b.Context())
			done := make(chan error, 1)
			go func() { done <- task(ctx) }()
			var took []time.Duration
			late := 0
			for i := 0; b.Loop(); i++ {
				id := fmt.Sprint(what, b.N, "-", i)
				m := Message{ID: id, ChannelID: "c", GuildID: "g", AuthorID: "4", AuthorName: "somebody", Text: "a question of some length?", At: time.Now()}
				began := time.Now()
				if _, err := arrive(ctx, db, m, ""); err != nil {
					b.Fatal(err)
				}
				if t := time.Since(began); t > stepLimit {
					late++
				}
				took = append(took, time.Since(began))
				time.Sleep(2 * time.Millisecond)
			}
			stop()
			if err := <-done; err != nil && !errors.Is(err, context.Canceled) {
				b.Error(err)
			}
			slices.Sort(took)
			b.ReportMetric(float64(late)/float64(len(took))*1000, "late/1000")
			for _, p := range []int{50, 99, 100} {
				b.ReportMetric(took[(len(took)-1)*p/100].Seconds()*1000, fmt.Sprintf("p%d-ms", p))
			}
			b.ReportMetric(0, "ns/op")
		})
	}
}
