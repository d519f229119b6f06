package view

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode"

	"familiar/internal/context/turn"
	"familiar/internal/trace"
	"familiar/internal/web/clean"
)

const (
	storyPages  = 4 // pages that are named, read or not
	storyClaims = 2
)

// Story tells a turn in about twenty lines. It has the question, the searches and pages, the model, and how long each took. [Whole] has the
// rest.
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
	return Visible(w.String())
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
		w.row("refused", "%d claims that their pages do not support", len(l.Rejected))
	}
}

// storyPrompt says how long the prompt was, and how much was left out.
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

// storyTimes says when the prompt was ready, when the first word came and when the turn was over.
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

// Visible removes invisible characters, except the joiners of emoji and of some scripts. It replaces private characters, which mark
// strangers' words, by a sign that is seen.
func Visible(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\u200c' || r == '\u200d':
			return r
		case unicode.Is(unicode.Co, r):
			return '¦'
		case unicode.Is(unicode.Cf, r), unicode.IsControl(r) && r != '\n' && r != '\t':
			return -1
		}
		return r
	}, text)
}

// Sent writes the page of a record that shows what the model was sent.
func Sent(t *turn.Trace) string {
	if len(t.Prompt) == 0 {
		return "No model was sent anything.\n"
	}
	return Visible(promptPage(t))
}

// Widths of bars, in characters.
const (
	timeBar  = 20
	tokenBar = 10
)

// bar draws the interval between two values as part of a whole. An interval that is not empty has at least one character.
func bar[T int | time.Duration](from, to, whole T, width int) string {
	if whole <= 0 {
		return strings.Repeat("·", width)
	}
	first := min(int(from*T(width)/whole), width-1)
	last := min(max(int((to*T(width)+whole-1)/whole), first+1), width)
	return strings.Repeat("·", first) + strings.Repeat("█", last-first) + strings.Repeat("·", width-last)
}

// timeline shows when each part ran and how long it took. The parts are the providers, which run at the same time, the steps of the lookup,
// and the model.
func timeline(t *turn.Trace) string {
	var w writer
	whole := max(t.Took, t.Timings.Prompt, t.Timings.FirstToken)
	row := func(from, to time.Duration, format string, values ...any) {
		if to = max(from, to); from < whole {
			w.line("%s %8s  %s", bar(from, min(to, whole), whole, timeBar), ms(to-from), fmt.Sprintf(format, values...))
		}
	}
	for _, o := range t.Outcomes {
		row(0, o.Took, "%s %s%s", o.Provider, o.Status, inParens(o.Err))
		for _, c := range o.Contributions {
			if c.Lookup == nil {
				continue
			}
			at := time.Duration(0)
			for _, s := range c.Lookup.Stages {
				row(at, at+s.Took, "  %s", s.Name)
				at += s.Took
			}
		}
	}
	if t.Timings.FirstToken > 0 {
		row(t.Timings.Prompt, t.Timings.FirstToken, "the model, up to its first word")
		row(t.Timings.FirstToken, t.Took, "the reply")
	}
	w.line("prompt after %s, first word after %s, seen after %s", ms(t.Timings.Prompt), ms(t.Timings.FirstToken), ms(t.Timings.FirstSeen))
	return w.String()
}

// Receipt lists what left the machine during turns since a time, and who received it. first is when the oldest record began.
func Receipt(turns []*turn.Trace, since, first time.Time) []Page {
	r := receipt{models: map[string]turn.Usage{}, backends: map[string]int{}, sites: map[string]int{}, voices: map[string]turn.Transcript{}, embedded: map[string]int{}, aloud: map[string]int{}}
	for _, t := range turns {
		r.add(t)
	}
	pages := []Page{{Overview, sections("", r.overview(len(turns), since, first))}}
	if text := r.queries.String(); text != "" {
		pages = append(pages, Page{Lookups, sections(Search, text)})
	}
	if text := r.pages.String(); text != "" {
		pages = append(pages, Page{Reading, sections("", text)})
	}
	return pages
}

// receipt counts what turns have sent, by recipient.
type receipt struct {
	models         map[string]turn.Usage
	backends       map[string]int // queries
	sites          map[string]int // pages
	voices         map[string]turn.Transcript
	embedded       map[string]int // questions, by host
	aloud          map[string]int // characters, by host
	queries, pages writer
}

func (r *receipt) add(t *turn.Trace) {
	for _, c := range t.Asked() {
		if c.Usage != (turn.Usage{}) && c.For != turn.ForSpeech {
			name := strings.TrimSpace(c.Model + " " + inParens(t.ModelHost))
			r.models[name] = r.models[name].Plus(c.Usage)
		}
	}
	for _, v := range t.Transcripts {
		if v.Host != "" {
			sum := r.voices[v.Host]
			r.voices[v.Host] = turn.Transcript{Seconds: sum.Seconds + v.Seconds, Bytes: sum.Bytes + v.Bytes}
		}
	}
	if t.Speech != nil {
		r.aloud[t.Speech.Host] += t.Speech.Characters
	}
	for c := range t.Contributions() {
		if c.Embedding != nil {
			r.embedded[c.Embedding.Host]++
		}
	}
	for _, l := range trace.Lookups(t) {
		r.addLookup(l)
	}
}

func (r *receipt) addLookup(l *turn.Lookup) {
	var names []string
	for _, a := range l.Asked {
		if a.Status != turn.CodeSkipped {
			r.backends[a.Backend]++
			names = append(names, a.Backend)
		}
	}
	if l.Query != "" {
		slices.Sort(names)
		r.queries.line("%s  %s to %s", l.Began.UTC().Format("2006-01-02 15:04"), l.Queries(), orDash(strings.Join(slices.Compact(names), ", ")))
	}
	if l.Reused != nil || l.Intent == turn.IntentServer {
		return
	}
	for _, p := range l.Pages {
		if p.Snippet() || p.Cached {
			continue
		}
		host := p.URL
		if u, err := url.Parse(p.URL); err == nil {
			host = u.Hostname()
		}
		r.sites[host]++
		r.pages.line("%s  %s", l.Began.UTC().Format("2006-01-02 15:04"), p.URL)
	}
}

func (r *receipt) overview(turns int, since, first time.Time) string {
	var w writer
	w.row("since", "%s", since.UTC().Format("2006-01-02 15:04 UTC"))
	w.row("turns", "%d", turns)
	if first.IsZero() || first.After(since) {
		oldest := "there is no record"
		if !first.IsZero() {
			oldest = "the oldest record is of " + first.UTC().Format("2006-01-02 15:04 UTC")
		}
		w.row("", "%s: what left before is not known any more", oldest)
	}
	for i, name := range slices.Sorted(maps.Keys(r.models)) {
		u := r.models[name]
		w.item(i, "models", "%s: %d tokens sent, %d received", name, u.Prompt, u.Completion)
	}
	for i, host := range slices.Sorted(maps.Keys(r.embedded)) {
		w.item(i, "embedded", "%s: %d questions; and the text of each message that is kept, once", host, r.embedded[host])
	}
	for i, host := range slices.Sorted(maps.Keys(r.voices)) {
		v := r.voices[host]
		w.item(i, "voice", "%s: %.0f s, %d bytes", host, v.Seconds, v.Bytes)
	}
	for i, host := range slices.Sorted(maps.Keys(r.aloud)) {
		w.item(i, "aloud", "%s: %d characters of replies", host, r.aloud[host])
	}
	for i, name := range slices.Sorted(maps.Keys(r.backends)) {
		w.item(i, "searches", "%s: %d", name, r.backends[name])
	}
	for i, host := range slices.Sorted(maps.Keys(r.sites)) {
		w.item(i, "pages", "%s: %d", host, r.sites[host])
	}
	if len(r.models)+len(r.voices)+len(r.aloud)+len(r.backends)+len(r.sites) == 0 {
		w.line("Nothing is on record that left this machine.")
	}
	return w.String()
}

// WholePages writes all pages, one below the other.
func WholePages(pages []Page) string {
	var all strings.Builder
	for _, p := range pages {
		fmt.Fprintf(&all, "── %s ──\n", p.Name)
		for _, s := range p.Sections {
			all.WriteString(s.Text)
		}
	}
	return all.String()
}
