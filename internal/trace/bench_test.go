package trace

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/store"
)

// BenchmarkSave saves 10 KB records. The first save has five new pages of 8 KB. Later ones do what a turn does at each phase.
func BenchmarkSave(b *testing.B) {
	text := strings.Repeat("a sentence of some page. ", 320)
	build := func(id string) *turn.Trace {
		t := record(id, time.Now(), text+id, text+"b"+id, text+"c"+id, text+"d"+id, text+"e"+id)
		t.Prompt = append(t.Prompt, turn.Rendered{Role: "user", Text: strings.Repeat("some \"words\" of a\nprompt ", 350)})
		return t
	}
	b.Run("new", func(b *testing.B) {
		s, n := open(b), 0
		b.ReportAllocs()
		for b.Loop() {
			n++
			if err := s.Save(b.Context(), build(fmt.Sprint(n))); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("no pages", func(b *testing.B) {
		s, n := open(b), 0
		t := build("")
		t.Outcomes = nil
		b.ReportAllocs()
		for b.Loop() {
			n++
			t.Request.ID = fmt.Sprint("T", n)
			if err := s.Save(b.Context(), t); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("again", func(b *testing.B) {
		s, t := open(b), build("T")
		t.Phase = turn.Answering
		b.ReportAllocs()
		for b.Loop() {
			if err := s.Save(b.Context(), t); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkRead reads a record and the list of the newest among 200,000 turns.
func BenchmarkRead(b *testing.B) {
	if testing.Short() {
		b.Skip("takes minutes to fill")
	}
	const turns = 200_000
	s := open(b)
	all := conversation(b, 2000, 5)
	var filling sync.WaitGroup
	next := make(chan int)
	for range 32 {
		filling.Go(func() {
			for i := range next {
				t := *all[i%len(all)]
				t.Request.ID, t.Request.Message.ID = fmt.Sprintf("01K%023d", i), fmt.Sprint("q", i)
				t.Request.ChannelID, t.ReplyIDs = fmt.Sprint("c", i%500), []string{fmt.Sprint("r", i)}
				t.Began = noon.Add(time.Duration(i) * time.Second)
				if err := s.Save(context.Background(), &t); err != nil {
					b.Error(err)
				}
			}
		})
	}
	for i := range turns {
		next <- i
	}
	close(next)
	filling.Wait()
	b.Run("record", func(b *testing.B) {
		i := 0
		for b.Loop() {
			i++
			if _, err := s.ByMessage(b.Context(), fmt.Sprint("r", i*7919%turns)); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("list", func(b *testing.B) {
		for b.Loop() {
			if list, err := s.Recent(b.Context(), "", 20); err != nil || len(list) != 20 {
				b.Fatal(len(list), err)
			}
		}
	})
}

// BenchmarkTurn saves a turn three times, as it goes on.
func BenchmarkTurn(b *testing.B) {
	s, all, n := open(b), conversation(b, 500, 0), 0
	b.ReportAllocs()
	for b.Loop() {
		whole := *all[n%len(all)]
		whole.Request.ID = fmt.Sprint("T", n)
		n++
		begun, answering := whole, whole
		begun.Phase, begun.Outcomes, begun.Prompt, begun.Reply, begun.ReplyIDs = turn.Begun, nil, nil, "", nil
		answering.Phase, answering.Reply, answering.ReplyIDs = turn.Answering, "", nil
		for _, t := range []*turn.Trace{&begun, &answering, &whole} {
			if err := s.Save(b.Context(), t); err != nil {
				b.Fatal(err)
			}
		}
	}
}

// writeBeside writes repeatedly until done is called, which returns the longest time that a write waited.
func writeBeside(b *testing.B, s *Store) (done func() time.Duration) {
	ctx, stop := context.WithCancel(b.Context())
	var writing sync.WaitGroup
	var longest time.Duration
	writing.Go(func() {
		for n := 0; ctx.Err() == nil; n++ {
			began := time.Now()
			if err := s.DB.Notes.Set(b.Context(), "bench", fmt.Sprint(n)); err != nil {
				b.Error(err)
			}
			longest = max(longest, time.Since(began))
			time.Sleep(time.Millisecond)
		}
	})
	return func() time.Duration {
		stop()
		writing.Wait()
		return longest
	}
}

// BenchmarkPurge measures the longest wait of another's write while a moderator deletes 100 messages at once, as Discord allows. It then
// deletes ten times as many. The channel has 1,000 turns. The wait must stay below 50 ms.
func BenchmarkPurge(b *testing.B) {
	if testing.Short() {
		b.Skip("takes a while to fill")
	}
	all := conversation(b, 1000, 5)
	for _, n := range []int{100, 1000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			var intake, longest time.Duration
			for b.Loop() {
				b.StopTimer()
				s := open(b)
				var ids []string
				for _, t := range all {
					if err := s.Save(b.Context(), t); err != nil {
						b.Fatal(err)
					}
					m := t.Request.Message
					ids = append(ids, m.ID)
					if err := s.DB.Messages.Save(b.Context(), store.Message{ID: m.ID, GuildID: "1", ChannelID: m.ChannelID, AuthorID: m.Author.ID, AuthorName: m.Author.Name, Text: m.Text, At: m.At}); err != nil {
						b.Fatal(err)
					}
				}
				done := writeBeside(b, s)
				b.StartTimer()
				began := time.Now()
				for _, id := range ids[len(ids)-n:] { // in a transaction each: several in one are hardly quicker, and others wait longer
					if err := s.DB.Messages.Delete(b.Context(), id); err != nil {
						b.Fatal(err)
					}
				}
				intake = time.Since(began)
				gone, err := s.DB.Messages.PendingDeletions(b.Context())
				if err == nil {
					err = s.RedactMessages(b.Context(), gone)
				}
				if err != nil {
					b.Fatal(err)
				}
				b.StopTimer()
				longest = max(longest, done())
				b.StartTimer()
			}
			b.ReportMetric(float64(intake.Microseconds())/1000, "ms-intake")
			b.ReportMetric(float64(longest.Microseconds())/1000, "ms-longest")
		})
	}
}

// BenchmarkUpkeep measures the longest wait of a turn's save beside upkeep. 3,000 old records are indexed and deleted, and their space is
// freed.
func BenchmarkUpkeep(b *testing.B) {
	if testing.Short() {
		b.Skip("takes a minute to fill")
	}
	all := conversation(b, 1000, 5)
	for b.Loop() {
		b.StopTimer()
		s := open(b)
		for i := range 3000 {
			t := *all[i%len(all)]
			t.Request.ID, t.Began = fmt.Sprintf("01K%023d", i), noon.Add(time.Duration(i)*time.Second)
			if err := s.Save(b.Context(), &t); err != nil {
				b.Fatal(err)
			}
		}
		before, err := s.DB.Size(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		done := writeBeside(b, s)
		b.StartTimer()
		if err := s.IndexWords(b.Context()); err != nil {
			b.Fatal(err)
		}
		if _, err := s.Prune(b.Context(), noon.Add(time.Hour)); err != nil {
			b.Fatal(err)
		}
		if err := s.DB.Shrink(b.Context()); err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		longest := done()
		after, err := s.DB.Size(b.Context())
		if err != nil || after.File > before.File/2 {
			b.Fatalf("%+v after %+v, %v", after, before, err)
		}
		b.ReportMetric(float64(longest.Microseconds())/1000, "ms-longest")
		b.ReportMetric(float64(before.File>>20), "MB-before")
		b.StartTimer()
	}
}
