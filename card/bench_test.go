package card

import (
	"fmt"
	"strings"
	"testing"
)

// BenchmarkScan looks for ten thousand entries with three keys each in the last messages.
func BenchmarkScan(b *testing.B) {
	var entries []Entry
	for i := range 10_000 {
		entries = append(entries, Entry{Keys: []string{fmt.Sprint("word", i), fmt.Sprint("other", i), fmt.Sprint("third", i)}, Content: "x"})
	}
	s, _ := NewScanner([]Book{{File: "b", WholeWords: true, Entries: entries}})
	chat := Chat{Messages: []string{strings.Repeat("we spoke of word77 and things ", 20), strings.Repeat("and of other things yesterday ", 20)}, Budget: 1000}
	for b.Loop() {
		s.Scan(b.Context(), chat)
	}
}

func BenchmarkParse(b *testing.B) {
	var entries []Entry
	for i := range 10_000 {
		entries = append(entries, Entry{Keys: []string{fmt.Sprint("word", i)}, Content: "x"})
	}
	data, err := Book{Entries: entries}.Encode()
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		ParseBook("b", data)
	}
}
