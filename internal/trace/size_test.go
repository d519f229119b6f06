package trace

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/test/storetest"
)

// conversation returns the records of a conversation of n turns with words from testdata/prose.txt. No two messages are the same. Every
// fifth turn looked up so many pages, if pages is not 0.
func conversation(tb testing.TB, n, pages int) (all []*turn.Trace) {
	tb.Helper()
	words := prose(tb)
	next := func(bytes int) string {
		var b strings.Builder
		for b.Len() < bytes {
			b.WriteString(words[0] + " ")
			words = append(words[1:], words[0])
		}
		return strings.TrimSpace(b.String())
	}
	persona, rules, note := next(2500), next(900), next(400)
	var said []turn.Message
	for i := range n {
		at := noon.Add(time.Duration(i)*40*time.Second + time.Duration(i*i*7919%1e9))
		id := func(k int) string {
			return fmt.Sprint(1_310_000_000_000_000_000 + at.UnixMicro()*4 + int64(k*i*104729))
		}
		m := turn.Message{ID: id(1), ChannelID: "1306054500000000017", Author: turn.Author{ID: fmt.Sprint(200000000000000000 + i%7), Name: fmt.Sprint("person", i%7)}, Text: next(10 + i*37%60), At: at}
		t := &turn.Trace{
			Request: turn.Request{ID: fmt.Sprintf("01KAK%021d", i*7919), Character: "sage", GuildID: "1306054500000000001", ChannelID: m.ChannelID, Mode: turn.Text, Message: m,
				Budget: turn.Budget{Total: 6000, Layers: map[turn.Layer]int{turn.Core: 400, turn.Character: 1200, turn.RecentHistory: 1400}}, Deadline: at.Add(time.Minute)},
			Phase: turn.Answered, Model: "gpt-4.1-mini", Reply: next(60 + i*53%100), ReplyIDs: []string{id(2)}, Began: at.Add(time.Millisecond), Took: 2 * time.Second,
			Usage: turn.Usage{Prompt: 1200 + i, Completion: 60, Calls: 1}, Finish: "stop",
		}
		system := rules + "\n\n" + persona + "\n\n" + note
		t.Outcomes = []turn.Outcome{{Provider: "character", Status: turn.OK, Took: 20 * time.Microsecond, Contributions: []turn.Contribution{
			{Layer: turn.Core, Priority: 100, Text: rules, Tokens: 170, Source: "character:core"},
			{Layer: turn.Character, Priority: 100, Text: persona, Tokens: 580, Source: "character:persona.md"},
			{Layer: turn.AuthorNote, Priority: 80, Text: note, Tokens: 80, Source: "character:modes/text.md"}}}}
		t.Prompt = []turn.Rendered{{Role: "system", Text: system, Tokens: 830}}
		history := turn.Outcome{Provider: "history", Status: turn.OK, Took: 300 * time.Microsecond}
		for k, h := range said[max(0, len(said)-20):] {
			history.Contributions = append(history.Contributions, turn.Contribution{Layer: turn.RecentHistory, Priority: 780 + k, Tokens: len(h.Text) / 4, Source: "history:recent", Message: &h})
			r := turn.Rendered{Role: "user", Name: h.Author.Name, Text: h.Author.Name + ": " + h.Text, Tokens: len(h.Text) / 4}
			if h.Own {
				r = turn.Rendered{Role: "assistant", Text: h.Text, Tokens: len(h.Text) / 4}
			}
			t.Prompt = append(t.Prompt, r)
		}
		l := &turn.Lookup{State: turn.NotNeeded, Reason: "small talk", Score: 0.12, Began: at, Took: time.Millisecond}
		if pages > 0 && i%5 == 4 {
			l.State, l.Reason, l.Query, l.Question, l.Block = turn.Found, "it was asked for", m.Text, m.Text, next(2500)
			for k := range pages {
				url := fmt.Sprintf("https://site%d.example.org/%d", k, i)
				l.Hits = append(l.Hits, turn.Hit{Backend: "searxng", Rank: k + 1, Title: next(40), URL: url, Snippet: next(150)})
				l.Pages = append(l.Pages, turn.Page{N: k + 1, URL: url, Status: 200, Title: l.Hits[k].Title, Site: "example.org", Bytes: 80_000, Fetched: at, Text: next(8000)})
				l.Summary = append(l.Summary, turn.Claim{Text: next(120), Quote: next(120), Source: k + 1})
			}
			t.Prompt = append(t.Prompt, turn.Rendered{Role: "user", Text: l.Block, Tokens: 600, Web: true})
		}
		t.Outcomes = append(t.Outcomes, history, turn.Outcome{Provider: "websearch", Status: turn.OK, Contributions: []turn.Contribution{{Layer: turn.Content, Source: "websearch", Text: l.Block, Web: true, Lookup: l}}})
		t.Prompt = append(t.Prompt, turn.Rendered{Role: "user", Name: m.Author.Name, Text: m.Author.Name + ": " + m.Text, Tokens: 30})
		reply := turn.Message{ID: id(2), ChannelID: m.ChannelID, Author: turn.Author{Name: "Sage"}, Text: t.Reply, At: at.Add(2 * time.Second), ReplyTo: m.ID, Own: true}
		said = append(said, m, reply)
		all = append(all, t)
	}
	return all
}

// prose returns sentences that people could have written.
func prose(tb testing.TB) (sentences []string) {
	tb.Helper()
	b, err := os.ReadFile("testdata/prose.txt")
	if err != nil {
		tb.Fatal(err)
	}
	for s := range strings.Lines(string(b)) {
		sentences = append(sentences, strings.TrimSpace(s)+",")
	}
	return sentences
}

// TestRecordSize: a turn takes at most 4 KB of the file, including its indexes.
func TestRecordSize(t *testing.T) {
	size := func(s *Store) (bytes int) {
		if err := s.DB.Read().QueryRow(`SELECT (SELECT page_count FROM pragma_page_count) * page_size FROM pragma_page_size`).Scan(&bytes); err != nil {
			t.Fatal(err)
		}
		return bytes
	}
	const turns = 120
	for _, c := range []struct{ pages, most int }{{0, 4 << 10}, {5, 9 << 10}} {
		s := &Store{DB: storetest.OpenFile(t, t.TempDir())}
		empty := size(s)
		all := conversation(t, turns, c.pages)
		for _, whole := range all {
			begun, answering := *whole, *whole
			begun.Phase, begun.Outcomes, begun.Prompt, begun.Reply, begun.ReplyIDs, begun.Model = turn.Begun, nil, nil, "", nil, ""
			answering.Phase, answering.Reply, answering.ReplyIDs = turn.Answering, "", nil
			save(t, s, &begun, &answering, whole)
		}
		each := (size(s) - empty) / turns
		t.Logf("%d pages in every fifth turn: %d bytes a turn", c.pages, each)
		if each > c.most {
			t.Errorf("%d pages: %d bytes a turn; want at most %d", c.pages, each, c.most)
		}
	}
}
