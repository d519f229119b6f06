package view

import (
	"fmt"
	"strings"
	"unicode"

	"familiar/internal/context/turn"
	"familiar/internal/web/clean"
)

const (
	storyPages  = 4 // that are named, read or not
	storyClaims = 2
)

// Story tells a turn in about twenty lines: what was asked, what was looked up and read, who answered, and how long that took. [Whole] has
// the rest.
func Story(t *turn.Trace) string {
	var w writer
	w.WriteString(what(t))
	if l := t.Lookup(); l != nil {
		storyLookup(&w, l)
	}
	if prompt := storyPrompt(t); prompt != "" {
		w.row("prompt", "%s", prompt)
	}
	w.WriteString(answer(t))
	if reply := strings.TrimSpace(t.Reply); reply != "" {
		w.row("reply", "%s", clean.Line(strings.ReplaceAll(reply, "\n-# ", "\n"), 200))
	}
	w.row("times", "%s", storyTimes(t))
	w.row("more", "familiar trace %s --all; with --prompt what the model was sent", t.Request.ID)
	return visible(w.String())
}

func storyLookup(w *writer, l *turn.Lookup) {
	var asked []string
	for _, a := range l.Asked {
		text := fmt.Sprintf("%s %d", a.Backend, a.Hits)
		if a.Status != turn.CodeOK && a.Status != turn.CodeEmpty {
			text = a.Backend + " failed (" + string(a.Status) + ")"
		}
		asked = append(asked, text)
	}
	if len(asked) > 0 {
		w.row("searched", "%s", strings.Join(asked, ", "))
	}
	for i, p := range l.Pages {
		if i == storyPages {
			w.row("", "and %d more", len(l.Pages)-i)
			break
		}
		if p.Failure != "" {
			w.item(i, "pages", "✗ %s%s", orDash(p.Final, p.URL), inParens(strings.Join(nonEmpty(string(p.Failure), string(p.Reason)), ", ")))
			continue
		}
		w.item(i, "pages", "✓ [%s] %s", sourceNumber(p.N), orDash(p.Final, p.URL))
	}
	for i, c := range l.Summary {
		if i == storyClaims {
			w.row("", "and %d more", len(l.Summary)-i)
			break
		}
		w.item(i, "claims", "%s %s", c.Cited(), clean.Line(c.Text, 160))
	}
	if len(l.Rejected) > 0 {
		w.row("refused", "%d claims that their pages do not bear out", len(l.Rejected))
	}
}

// storyPrompt says how long the prompt was, and how much was left out of it.
func storyPrompt(t *turn.Trace) string {
	used := 0
	var layers []string
	for _, l := range t.Layers {
		if used += l.Used; l.Used > 0 {
			layers = append(layers, fmt.Sprintf("%s %d", l.Layer, l.Used))
		}
	}
	if used == 0 {
		return ""
	}
	text := fmt.Sprintf("%d tokens: %s", used, strings.Join(layers, ", "))
	if n := len(t.Dropped); n > 0 {
		text += fmt.Sprintf("; cut: %d", n)
	}
	return text
}

// storyTimes says when the prompt was ready, the first word came and all was over.
func storyTimes(t *turn.Trace) string {
	var parts []string
	if l := t.Lookup(); l != nil && l.Took > 0 {
		parts = append(parts, "lookup "+ms(l.Took))
	}
	parts = append(parts, "prompt after "+ms(t.Timings.Prompt))
	if t.Timings.FirstToken > 0 {
		parts = append(parts, "first word after "+ms(t.Timings.FirstToken))
	}
	return strings.Join(append(parts, "all in "+ms(t.Took)), ", ")
}

// visible takes characters without a sign of their own out of a text, but for the joiners of emoji and of some scripts. The private ones, by
// which the block from the web has its spaces, become a sign for a space.
func visible(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\u200c' || r == '\u200d':
			return r
		case unicode.Is(unicode.Co, r):
			return '␣'
		case unicode.Is(unicode.Cf, r), unicode.IsControl(r) && r != '\n' && r != '\t':
			return -1
		}
		return r
	}, text)
}

// Sent writes the page of a record with what the model was sent.
func Sent(t *turn.Trace) string {
	if len(t.Prompt) == 0 {
		return "No model was sent anything.\n"
	}
	return visible(promptPage(t))
}
