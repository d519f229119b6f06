package view

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/trace"
)

// Receipt writes what left the machine for turns, and to whom it went, of those since some time. first is when the oldest record that is
// kept began.
func Receipt(turns []*turn.Trace, since, first time.Time) []Page {
	r := receipt{models: map[string]turn.Usage{}, backends: map[string]int{}, sites: map[string]int{}, voices: map[string]turn.Transcript{}, embedded: map[string]int{}}
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

// receipt is what turns have sent to whom.
type receipt struct {
	models         map[string]turn.Usage
	backends       map[string]int // queries
	sites          map[string]int // pages
	voices         map[string]turn.Transcript
	embedded       map[string]int // questions, by host
	queries, pages writer
}

func (r *receipt) add(t *turn.Trace) {
	model := func(name string, u turn.Usage) {
		if u != (turn.Usage{}) {
			name = strings.TrimSpace(name + " " + inParens(t.ModelHost))
			r.models[name] = r.models[name].Plus(u)
		}
	}
	model(t.Model, t.Usage)
	for _, p := range t.Processed {
		model(p.Model, p.Usage)
	}
	if t.Verified != nil {
		model("a model that checks citations", t.Verified.Usage)
	}
	for _, v := range t.Transcripts {
		if v.Host != "" {
			sum := r.voices[v.Host]
			r.voices[v.Host] = turn.Transcript{Seconds: sum.Seconds + v.Seconds, Bytes: sum.Bytes + v.Bytes}
		}
	}
	for _, o := range t.Outcomes {
		for _, c := range o.Contributions {
			if c.Embedding != nil {
				r.embedded[c.Embedding.Host]++
			}
		}
	}
	for _, l := range trace.Lookups(t) {
		model("the model that reads pages", l.Usage)
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
		r.queries.line("%s  %s to %s", l.Began.UTC().Format("2006-01-02 15:04"), Queries(l.Query), orDash(strings.Join(slices.Compact(names), ", ")))
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
	for i, name := range slices.Sorted(maps.Keys(r.backends)) {
		w.item(i, "searches", "%s: %d", name, r.backends[name])
	}
	for i, host := range slices.Sorted(maps.Keys(r.sites)) {
		w.item(i, "pages", "%s: %d", host, r.sites[host])
	}
	if len(r.models)+len(r.voices)+len(r.backends)+len(r.sites) == 0 {
		w.line("Nothing is on record that left this machine.")
	}
	return w.String()
}

// WholePages writes pages one below the other.
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
