package trace

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"familiar/internal/context/turn"
)

// BenchmarkSave saves 10 KB records: the first time with five new pages of 8 KB, or again, as a turn does at each phase.
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
