package console

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"familiar/internal/context/turn"
	"familiar/internal/store"
	"familiar/internal/trace"
)

// tab is one of the views of a turn.
type tab struct {
	ID, Name string
	N        int // of what is in it; 0: not counted
	Open     bool
}

type turnPage struct {
	Trace    *turn.Trace
	Lookup   *turn.Lookup
	Timeline *timeline
	Tabs     []tab
	Tab      string
	Path     string
	Over     bool
	Record   string // as JSON, for its tab alone
	Offered  []offer
	Sources  []source
	Removed  []turn.Removal
	Model    string
	Tokens   int
	Earlier  string
}

// offer is what a provider offered to the prompt.
type offer struct {
	Provider string
	turn.Contribution
}

// source is a page that was used, with what was quoted of it.
type source struct {
	turn.Source
	Page   turn.Page
	Quotes []turn.Claim
}

func (k *Console) turn(w http.ResponseWriter, r *http.Request) {
	t, err := k.Traces.Get(r.Context(), r.PathValue("id"))
	var several *trace.Ambiguous
	switch {
	case errors.Is(err, store.ErrNotFound):
		k.fail(w, r, http.StatusNotFound, "There is no record of this turn. It may have been deleted, or be older than records are kept.")
		return
	case errors.As(err, &several):
		k.fail(w, r, http.StatusNotFound, err.Error())
		return
	case err != nil:
		k.broken(w, r, err)
		return
	}
	p := turnPage{
		Trace: t, Lookup: t.Lookup(), Timeline: timelineOf(t), Path: "/turn/" + t.Request.ID, Tab: r.URL.Query().Get("tab"),
		Over: t.Phase != turn.Begun && t.Phase != turn.Answering, Tokens: t.Usage.Prompt + t.Usage.Completion, Earlier: t.Request.EarlierID,
	}
	if l := p.Lookup; l != nil {
		p.Sources, p.Removed = sourcesOf(l), l.Removed
	}
	for _, o := range t.Outcomes {
		for _, c := range o.Contributions {
			p.Offered = append(p.Offered, offer{o.Provider, c})
		}
	}
	p.Tabs = []tab{
		{ID: "", Name: "Answer"}, {ID: "prompt", Name: "Prompt", N: len(t.Prompt)}, {ID: "sources", Name: "Sources", N: len(p.Sources)},
		{ID: "cut", Name: "Cut and guarded", N: len(t.Dropped) + len(t.Guarded) + len(t.Unborne)}, {ID: "record", Name: "Record"},
	}
	if !slices.ContainsFunc(p.Tabs, func(t tab) bool { return t.ID == p.Tab }) {
		p.Tab = ""
	}
	for i := range p.Tabs {
		p.Tabs[i].Open = p.Tabs[i].ID == p.Tab
	}
	if p.Tab == "record" {
		p.Record = recordOf(t)
	}
	k.render(w, r, http.StatusOK, "turn", "Turn "+shortID(t.Request.ID), p)
}

// shortID is the end of a ULID, whose beginning is the time.
func shortID(id string) string {
	if len(id) > 8 {
		return "…" + id[len(id)-6:]
	}
	return id
}

// recordOf is a record as people read JSON.
func recordOf(t *turn.Trace) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(t); err != nil {
		return fmt.Sprint("cannot be written: ", err)
	}
	return b.String()
}

// sourcesOf are the numbered sources of a lookup with the quotes that were taken of each.
func sourcesOf(l *turn.Lookup) (all []source) {
	for _, s := range l.Sources {
		one := source{Source: s}
		for _, p := range l.Pages {
			if p.N == s.N {
				one.Page = p
			}
		}
		for _, c := range l.Summary {
			if c.Source == s.N {
				one.Quotes = append(one.Quotes, c)
			}
			for _, b := range c.Also {
				if b.Source == s.N {
					one.Quotes = append(one.Quotes, turn.Claim{Text: b.Quote, Quote: b.Quote})
				}
			}
		}
		all = append(all, one)
	}
	return all
}
