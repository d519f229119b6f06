package console

import (
	"database/sql"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"familiar/internal/context/turn"
)

// grow copies the existing records until there are n, a minute apart, in 200 channels and by 500 people. Copies share
// the rows with the records' bodies. For each record there are 15 messages.
func (w *world) grow(tb testing.TB, n int) {
	tb.Helper()
	err := w.store.Write(tb.Context(), func(tx *sql.Tx) error {
		if _, err := tx.Exec(`CREATE TABLE topics (id INTEGER PRIMARY KEY, word TEXT)`); err != nil {
			return err
		}
		for i := range 2000 {
			if _, err := tx.Exec(`INSERT INTO topics VALUES (?, ?)`, i, fmt.Sprintf("topic%dx", i)); err != nil {
				return err
			}
		}
		_, err := tx.Exec(`WITH RECURSIVE seq (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM seq WHERE i < ?),
			some AS (SELECT *, row_number() OVER (ORDER BY id) - 1 AS k, count(*) OVER () AS n FROM traces WHERE phase NOT IN ('begun', 'answering'))
			INSERT INTO traces (id, channel_id, guild_id, began, took, phase, lookup, author, question, model, err, record, part, parts, said)
			SELECT printf('01JA%022d', i), 'c' || (i % 200), '900', ? + i * 60000000, s.took, CASE WHEN i % 97 = 0 THEN 'failed' WHEN i % 89 = 0 THEN 'interrupted' ELSE 'answered' END,
				s.lookup, (SELECT word FROM topics WHERE id = i * 7919 % 500) || ' Smith', s.question || ' ' || (SELECT word FROM topics WHERE id = i * 31 % 2000), s.model, '', '', s.part, s.parts, s.said
			FROM seq JOIN some s ON s.k = seq.i % s.n`, n-1, w.now.Add(-time.Duration(n)*time.Minute-24*time.Hour).UnixMicro())
		if err == nil {
			_, err = tx.Exec(`WITH RECURSIVE seq (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM seq WHERE i < ?)
			INSERT INTO messages (id, channel_id, guild_id, author_id, author_name, reply_to, turn_id, at, own, text)
			SELECT printf('2%018d', i), 'c' || (i % 200), '900', CASE i % 500 WHEN 33 THEN '7Ada' ELSE '9' || (i % 500) END, (SELECT word FROM topics WHERE id = i % 500), '', '', ? + i * 4000000, FALSE, 'It rained on ' || i || ' roofs, as it does where nobody looks.' FROM seq`,
				15*n-1, w.now.Add(-time.Duration(n)*time.Minute-24*time.Hour).UnixMicro())
		}
		if err == nil {
			_, err = tx.Exec(`DROP TABLE topics`)
		}
		return err
	})
	if err == nil {
		err = w.traces.IndexWords(tb.Context())
	}
	if err != nil {
		tb.Fatal(err)
	}
}

// grown returns a world as large as a year leaves it, and how many records it has.
func grown(b *testing.B) (*world, int) {
	n := 200_000
	if testing.Short() {
		n = 2_000
	}
	w := newWorld(b, nil).fill(b)
	w.traces.SearchTime = 0 // as in the program
	w.grow(b, n)
	return w, n
}

// BenchmarkPages opens pages over 200,000 records and 3,000,000 messages through the real handler. It reports the median.
func BenchmarkPages(b *testing.B) {
	w, n := grown(b)
	for _, path := range []string{
		"/", "/turns", "/turns?q=moons", "/turns?q=topic77x", "/turns?q=saturn+topic124x", "/turns?q=zebra", "/turns?q=confirmed", "/turns?q=con*", "/turns?q=confi*", "/turns?who=topic33x", "/turns?q=moo*", "/turns?who=topic33&q=saturn", "/turns?channel=c17", "/turns?state=failed", "/turns?q=sort:took", "/turns?q=moons+sort:cost", "/turns?q=state:failed+sort:tokens",
		"/turns?lookup=failed", "/turns?state=failed&q=moons", "/turns?channel=c17&lookup=found&state=interrupted", fmt.Sprintf("/turns?before=01JA%022d", n/2), fmt.Sprintf("/turns?q=moons&before=01JA%022d", n/2), "/turns?since=2020-01-01&until=2020-02-01",
		fmt.Sprintf("/turn/01JA%022d", n/2), fmt.Sprintf("/turn/01JA%022d?tab=record", n/2), "/lookups", "/lookups?lookup=failed", "/sources", "/backends", "/memory", "/characters", "/characters/sage", "/usage", "/health", "/doctor",
		"/channels", "/channel/c17", fmt.Sprintf("/channel/c17?before=2%018d", n/20*200+17), fmt.Sprintf("/channel/c17?at=2%018d", n/25*200+17), "/person/7Ada", "/operate",
	} {
		b.Run(path, func(b *testing.B) {
			var took []time.Duration
			for b.Loop() {
				began := time.Now()
				if rec := w.ask("GET", path, nil); rec.Code != http.StatusOK {
					b.Fatal(rec.Code, rec.Body)
				}
				took = append(took, time.Since(began))
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "ms/median")
		})
	}
}

// BenchmarkTurn publishes the progress of a turn with and without open pages.
func BenchmarkTurn(b *testing.B) {
	for _, pages := range []int{0, 20} {
		b.Run(fmt.Sprint(pages, " pages"), func(b *testing.B) {
			w := newWorld(b, nil).fill(b)
			server := serve(b, w)
			var reading sync.WaitGroup
			var bytes atomic.Int64
			for range pages {
				resp, err := http.Get(server.url + "/live")
				if err != nil {
					b.Fatal(err)
				}
				reading.Go(func() {
					defer resp.Body.Close()
					var buffer [16 << 10]byte
					for {
						n, err := resp.Body.Read(buffer[:])
						bytes.Add(int64(n))
						if err != nil {
							return
						}
					}
				})
			}
			n := 0
			b.ReportAllocs()
			for b.Loop() {
				n++
				p := turn.Progress{ID: fmt.Sprint("01RUN", n%64, n), Character: "sage", ChannelID: "901", Began: w.now, Phase: turn.Begun}
				w.feed.Publish(p)
				for _, a := range []turn.Activity{turn.Searching, turn.Reading, turn.Checking, turn.Thinking, turn.Writing} {
					p.Activity = a
					w.feed.Publish(p)
				}
				p.Phase = turn.Answered
				w.feed.Publish(p)
			}
			b.StopTimer()
			server.stop()
			reading.Wait()
		})
	}
}
