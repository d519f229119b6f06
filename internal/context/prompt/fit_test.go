package prompt

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"familiar/internal/context/turn"
)

// words counts a token for each word, so that a reader can check the figures.
func words(s string) int { return len(strings.Fields(s)) }

func TestFit(t *testing.T) {
	section := func(layer turn.Layer, priority int, text string) turn.Contribution {
		return turn.Contribution{Layer: layer, Priority: priority, Text: text, Source: text}
	}
	web := func(text string) turn.Contribution {
		return turn.Contribution{Layer: turn.Content, Priority: 70, Text: text, Source: "web", Web: true}
	}
	said := func(minute, priority int, text string) turn.Contribution {
		at := time.Date(2026, 11, 20, 12, minute, 0, 0, time.UTC)
		return turn.Contribution{Layer: turn.RecentHistory, Priority: priority, Source: text,
			Message: &turn.Message{ID: fmt.Sprint(minute), Author: turn.Author{Name: "Bo"}, Text: text, At: at}}
	}
	lost := func(layer turn.Layer, source, reason string, tokens int) turn.Dropped {
		return turn.Dropped{Layer: layer, Source: source, Reason: reason, Tokens: tokens}
	}
	tests := []struct {
		name    string
		total   int
		layers  map[turn.Layer]int
		offered []turn.Contribution
		kept    []string // texts, in the order of the prompt
		dropped []turn.Dropped
	}{{
		name: "priority within a layer, then order of providers", layers: map[turn.Layer]int{turn.Content: 3},
		offered: []turn.Contribution{section(turn.Content, 1, "low"), section(turn.Content, 5, "first"), section(turn.Content, 5, "second")},
		kept:    []string{"first", "second", "low"},
	}, {
		name: "a layer without budget", layers: map[turn.Layer]int{turn.Content: 3},
		offered: []turn.Contribution{section(turn.AuthorNote, 1, "note"), section(turn.Content, 1, "content")},
		kept:    []string{"content"},
		dropped: []turn.Dropped{lost(turn.AuthorNote, "note", "dropped", 1)},
	}, {
		name: "cut at a sentence", layers: map[turn.Layer]int{turn.Character: 6},
		offered: []turn.Contribution{section(turn.Character, 1, "One two three. Four five. Six seven eight.")},
		kept:    []string{"One two three. Four five."},
		dropped: []turn.Dropped{lost(turn.Character, "One two three. Four five. Six seven eight.", "truncated", 3)},
	}, {
		name: "web text whole or not at all", layers: map[turn.Layer]int{turn.Content: 7},
		offered: []turn.Contribution{web("One two three. Four five. Six seven eight."), section(turn.Content, 1, "memory")},
		kept:    []string{"memory"},
		dropped: []turn.Dropped{lost(turn.Content, "web", "dropped", 8)},
	}, {
		name: "web text that fills its layer", layers: map[turn.Layer]int{turn.Content: 8},
		offered: []turn.Contribution{web("One two three. Four five. Six seven eight.")},
		kept:    []string{"One two three. Four five. Six seven eight."},
	}, {
		name: "the newest messages, without a hole", layers: map[turn.Layer]int{turn.RecentHistory: 17},
		offered: []turn.Contribution{said(3, 803, "newest"), said(2, 802, "a b c d e f g"), said(1, 801, "old")},
		kept:    []string{"Bo: newest"},
		dropped: []turn.Dropped{
			lost(turn.RecentHistory, "a b c d e f g", "dropped", 8+perMessage),
			lost(turn.RecentHistory, "old", "dropped", 2+perMessage),
		},
	}, {
		name: "the parent, then the newest, in the order of time", layers: map[turn.Layer]int{turn.RecentHistory: 12},
		offered: []turn.Contribution{said(3, 803, "newest"), said(2, 802, "older"), said(1, 1000, "parent")},
		kept:    []string{"Bo: parent", "Bo: newest"},
		dropped: []turn.Dropped{lost(turn.RecentHistory, "older", "dropped", 2+perMessage)},
	}, {
		name: "the total, by importance", total: perMessage + perMessage + 2 + 3,
		layers:  map[turn.Layer]int{turn.Character: 9, turn.HistorySummary: 9, turn.Content: 9},
		offered: []turn.Contribution{section(turn.HistorySummary, 1, "summary"), section(turn.Content, 1, "fact"), section(turn.Character, 1, "persona"), section(turn.Character, 1, "more")},
		kept:    []string{"persona", "more", "fact"},
		dropped: []turn.Dropped{lost(turn.HistorySummary, "summary", "dropped", 1)},
	}, {
		name: "footnotes are not rendered", layers: map[turn.Layer]int{turn.Content: 9},
		offered: []turn.Contribution{{Layer: turn.Content, Lookup: &turn.Lookup{State: turn.NotNeeded}}, section(turn.Content, 1, "fact")},
		kept:    []string{"fact"},
	}}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := &Builder{Count: words, Preamble: "\t"}
			req := turn.Request{
				Message: turn.Message{Author: turn.Author{Name: "Ada"}, Text: "Hello?"},
				Budget:  turn.Budget{Total: tt.total, Layers: tt.layers},
			}
			f := b.fit(req, []turn.Outcome{{Contributions: tt.offered}})
			messages := b.render(f)
			var kept []string
			if system := strings.TrimSpace(messages[0].Text); system != "" {
				kept = strings.Split(system, "\n\n")
			}
			for _, m := range messages[1 : len(messages)-1] {
				kept = append(kept, strings.Split(m.Text, "\n\n")...)
			}
			if d := cmp.Diff(tt.kept, kept); d != "" {
				t.Errorf("kept: %s", d)
			}
			if d := cmp.Diff(tt.dropped, f.dropped); d != "" {
				t.Errorf("dropped: %s", d)
			}
			if got := messages[len(messages)-1].Text; got != "Ada: Hello?" {
				t.Errorf("last message %q", got)
			}
		})
	}
}

func TestLongMessageLeavesTheRulesInPlace(t *testing.T) {
	b := &Builder{Providers: []Provider{offers(
		turn.Contribution{Layer: turn.Core, Text: "Be honest.", Source: "core"},
		turn.Contribution{Layer: turn.Character, Text: "You are an owl.", Source: "persona"},
	)}}
	req := request(time.Minute)
	req.Message.Text = strings.Repeat("🦉", 4000)
	req.Budget = turn.Budget{Total: 2000, Layers: map[turn.Layer]int{turn.Core: 400, turn.Character: 700}}
	p := b.Build(t.Context(), req)

	sum := 0
	for _, m := range p.Messages {
		sum += m.Tokens
	}
	if sum > 2000 {
		t.Errorf("%d tokens", sum)
	}
	if text := p.Messages[0].Text; !strings.Contains(text, "Be honest.") || !strings.Contains(text, "You are an owl.") {
		t.Errorf("the rules or the character are gone: %s", text)
	}
	last := p.Messages[len(p.Messages)-1].Text
	if !strings.HasPrefix(last, "Ada: 🦉🦉") || !utf8.ValidString(last) || len(last) < 3500 {
		t.Errorf("the message is %d bytes: %.20q", len(last), last)
	}
	i := slices.IndexFunc(p.Dropped, func(d turn.Dropped) bool { return d.Source == "message" })
	if i < 0 || p.Dropped[i].Reason != "truncated" || p.Dropped[i].Tokens < 2000 {
		t.Errorf("not recorded: %+v", p.Dropped)
	}
}

func TestMessageIsNeverLost(t *testing.T) {
	req := request(time.Minute)
	req.Budget.Total = 1
	p := (&Builder{}).Build(t.Context(), req)
	if last := p.Messages[len(p.Messages)-1]; last.Text != "Ada: Hello?" {
		t.Errorf("last message %q", last.Text)
	}
}

func TestCountsAreNoted(t *testing.T) {
	p := (&Builder{Providers: []Provider{offers(plain("12345678")...)}}).Build(t.Context(), request(time.Minute))
	if got := p.Outcomes[0].Contributions[0].Tokens; got != 2 {
		t.Errorf("outcome says %d tokens", got)
	}
	want := turn.LayerTokens{Layer: turn.Content, Used: 3, Budget: 500} // with the blank line before it
	if got := p.Layers[turn.Content]; got != want {
		t.Errorf("layer %+v, want %+v", got, want)
	}
}

// For random contributions no layer exceeds its budget, and all layers together do not exceed the total. Every contribution is either
// rendered or recorded as dropped.
func TestFitProperties(t *testing.T) {
	count := func(s string) int { return (utf8.RuneCountInString(s) + 2) / 3 }
	rapid.Check(t, func(t *rapid.T) {
		var offered []turn.Contribution
		for i := range rapid.IntRange(0, 12).Draw(t, "n") {
			c := turn.Contribution{
				Layer:    rapid.SampledFrom(turn.Layers()).Draw(t, "layer"),
				Priority: rapid.IntRange(0, 3).Draw(t, "priority"),
				Source:   fmt.Sprint(i),
				Text:     rapid.StringMatching(`([a-zé日]{1,9}[.!?]? ?){0,40}`).Draw(t, "text"),
				Web:      rapid.IntRange(0, 5).Draw(t, "web") == 0,
				Depth:    rapid.IntRange(-1, 9).Draw(t, "depth"),
			}
			if c.Layer == turn.RecentHistory && rapid.Bool().Draw(t, "message") {
				c.Message = &turn.Message{ID: fmt.Sprint(i), Text: c.Text, Own: rapid.Bool().Draw(t, "own")}
				c.Text = ""
			}
			if c.Layer == turn.Attachments && rapid.Bool().Draw(t, "attached") {
				c.Text = "| " + strings.ReplaceAll(c.Text, " ", "\n| ") + "\n"
				c.Attached = &turn.Attached{Open: "<file>\n", Close: "</file>", CutNote: rapid.SampledFrom([]string{"", "(cut)\n"}).Draw(t, "note"), Most: rapid.IntRange(0, 60).Draw(t, "most")}
				if rapid.Bool().Draw(t, "image") {
					c.Attached = &turn.Attached{Image: &turn.Image{Label: "a picture", Tokens: rapid.IntRange(1, 90).Draw(t, "tokens")}}
				}
			}
			offered = append(offered, c)
		}
		req := turn.Request{
			Message: turn.Message{Text: strings.Repeat(rapid.String().Draw(t, "message"), rapid.SampledFrom([]int{1, 1, 500}).Draw(t, "times"))},
			Budget:  turn.Budget{Total: rapid.IntRange(400, 900).Draw(t, "total"), Layers: map[turn.Layer]int{}},
		}
		for _, l := range turn.Layers() {
			req.Budget.Layers[l] = rapid.IntRange(-5, 100).Draw(t, "budget")
		}
		b := &Builder{Count: count}
		f := b.fit(req, []turn.Outcome{{Contributions: offered}})
		messages := b.render(f)

		for _, l := range f.layers {
			if l.Used > max(0, l.Budget) {
				t.Errorf("%v uses %d of %d", l.Layer, l.Used, l.Budget)
			}
		}
		sum := 0
		for _, m := range messages {
			sum += m.Tokens
			if !utf8.ValidString(m.Text) {
				t.Errorf("cut through a character: %q", m.Text)
			}
			if strings.HasPrefix(m.Text, "<file>") && !(strings.HasSuffix(m.Text, "\n</file>") && strings.Count(m.Text, "\n") == strings.Count(m.Text, "\n| ")+strings.Count(m.Text, "\n(cut)")+1) {
				t.Errorf("a file is cut within a line, or not closed: %q", m.Text)
			}
		}
		if sum > req.Budget.Total {
			t.Errorf("%d tokens of %d", sum, req.Budget.Total)
		}
		for _, p := range f.pieces {
			gone := slices.ContainsFunc(f.dropped, func(d turn.Dropped) bool { return d.Source == p.source && d.Reason == "dropped" })
			if p.kept == gone {
				t.Errorf("piece %s: kept %v, recorded as dropped %v", p.source, p.kept, gone)
			}
		}
		if messages[0].Role != "system" || messages[len(messages)-1].Text != f.message.text {
			t.Error("the system prompt is not first, or the message not last")
		}
	})
}

func TestCut(t *testing.T) {
	perRune := utf8.RuneCountInString
	tests := []struct {
		name, text string
		limit      int
		want       string
	}{
		{"fits", "One. Two.", 9, "One. Two."},
		{"at a sentence", "One. Two. Three.", 12, "One. Two."},
		{"just at its end", "One. Two. Three.", 9, "One. Two."},
		{"question", "Why? Because of it.", 10, "Why?"},
		{"not in a number", "Pi is 3.14159 and so on.", 12, "Pi is"},
		{"newline ends it too", "One!\nTwo three four", 12, "One!"},
		{"full width", "今日は。明日も晴れるでしょう", 8, "今日は。"},
		{"at a space", "one two three", 9, "one two"},
		{"hard", "abcdefgh", 5, "abcde"},
		{"whole characters", "ééééé", 3, "ééé"},
		{"nothing", "abc", 0, ""},
		{"less than nothing", "abc", -4, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, n := cut(tt.text, tt.limit, perRune(tt.text), perRune)
			if got != tt.want || n != perRune(got) {
				t.Errorf("got %q (%d tokens), want %q", got, n, tt.want)
			}
		})
	}
}

func TestCutIsFrugal(t *testing.T) {
	calls := 0
	count := func(s string) int { calls++; return words(s) }
	text := strings.Repeat("word ", 5000) + strings.Repeat("longish.words ", 5000)
	got, n := cut(text, 3000, words(text), count)
	if n > 3000 || n < 2800 || calls > 12 {
		t.Errorf("%d tokens (%d bytes) after %d counts", n, len(got), calls)
	}
}
