package trace

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"familiar/internal/context/turn"
)

// BenchmarkSave saves 10 KB records: the first time with five new pages of 8 KB, or again, as most saves do.
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
		b.ReportAllocs()
		for b.Loop() {
			if err := s.Save(b.Context(), t); err != nil {
				b.Fatal(err)
			}
		}
	})
}
