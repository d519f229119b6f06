package console

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"familiar/internal/context/turn"
	"familiar/internal/store"
	"familiar/internal/text"
	"familiar/internal/trace"
)

// tab is one view of a turn.
type tab struct {
	ID, Name string
	N        int // number of its entries; 0 is not shown
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
	Record   string // JSON, only for its own tab
	Offered  []offer
	Sources  []source
	Removed  []turn.Removal
	Spent    turn.Usage // of all models together
	Calls    []turn.Call
	Call     *turn.Call // that is shown
	N        int        // its place among them
	Earlier  string
	Before   string // the turn before in its channel, and the one after; empty: none
	After    string
	Person   string // who asked; empty: nobody who has a page
	Operated bool   // it can be stopped, and so on
	Again    bool   // it can be taken again
	Stands   bool   // its reply can be deleted
}

// offer is what a provider offered for the prompt.
type offer struct {
	Provider string
	turn.Contribution
}

// source is a page that was used, with the quotations from it.
type source struct {
	turn.Source
	Page   turn.Page
	Quotes []turn.Claim
}

// recorded returns the record of a request's turn. If there is none, it writes the response.
func (k *Console) recorded(w http.ResponseWriter, r *http.Request) (t *turn.Trace, ok bool) {
	t, err := k.Traces.Get(r.Context(), r.PathValue("id"))
	var several *trace.Ambiguous
	switch {
	case errors.Is(err, store.ErrNotFound):
		k.fail(w, r, http.StatusNotFound, "There is no record of this turn. It may have been deleted, or be older than records are kept.")
	case errors.As(err, &several):
		k.fail(w, r, http.StatusNotFound, err.Error())
	case err != nil:
		k.broken(w, r, err)
	}
	return t, err == nil
}

func (k *Console) turn(w http.ResponseWriter, r *http.Request) {
	t, ok := k.recorded(w, r)
	if !ok {
		return
	}
	p := turnPage{
		Trace: t, Lookup: t.Lookup(), Timeline: timelineOf(t), Path: "/turn/" + t.Request.ID, Tab: r.URL.Query().Get("tab"),
		Over: t.Phase.Over(), Spent: t.Spent(), Calls: t.Asked(), Earlier: t.Request.EarlierID,
	}
	if n, err := strconv.Atoi(r.URL.Query().Get("n")); err == nil && n >= 0 && n < len(p.Calls) {
		p.N = n
	}
	if len(p.Calls) > 0 {
		p.Call = &p.Calls[p.N]
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
		{ID: "", Name: "Answer"}, {ID: "prompt", Name: "Prompt", N: len(t.Prompt)}, {ID: "calls", Name: "Models", N: len(p.Calls)}, {ID: "sources", Name: "Sources", N: len(p.Sources)},
		{ID: "cut", Name: "Cut and guarded", N: len(t.Dropped) + len(t.Guarded) + len(t.Unsupported)}, {ID: "record", Name: "Record"},
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
	var err error
	p.Before, p.After, err = k.Traces.Beside(r.Context(), trace.Summary{ID: t.Request.ID, ChannelID: t.Request.ChannelID, Began: t.Began})
	if err != nil {
		k.broken(w, r, err)
		return
	}
	if p.Stands, err = k.stands(r.Context(), t); err != nil {
		k.broken(w, r, err)
		return
	}
	gone, _ := trace.Gone(t)
	p.Person, p.Operated, p.Again = personOf(t.Request.Message.Author.ID), k.Controls != nil, !gone
	k.render(w, r, http.StatusOK, "turn", "Turn "+shortID(t.Request.ID), p)
}

// shortID returns the end of a ULID. Its beginning is a time.
func shortID(id string) string {
	if len(id) > 8 {
		return "…" + id[len(id)-6:]
	}
	return id
}

// recordOf formats a record as indented JSON.
func recordOf(t *turn.Trace) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(t); err != nil {
		return fmt.Sprint("cannot be written: ", err)
	}
	return privateRune.ReplaceAllStringFunc(b.String(), func(r string) string { return strings.Trim(strconv.QuoteToASCII(r), `"`) })
}

// privateRune matches a mark of strangers' words, which has no sign. In JSON it can be escaped.
var privateRune = text.NewLazyRegexp(`[\x{e000}-\x{f8ff}]`)

// sourcesOf returns the numbered sources of a lookup, each with its quotations.
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
