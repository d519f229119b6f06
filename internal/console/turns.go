package console

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/store"
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
	Model    string
	Tokens   int
	Earlier  string
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
		Over: t.Phase.Over(), Tokens: t.Usage.Prompt + t.Usage.Completion, Earlier: t.Request.EarlierID,
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
	return b.String()
}

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

// searchPage holds the turns that were found, and the form as entered.
type searchPage struct {
	Words, Author, Channel, State, Lookup, Since, Until string

	Channels []string
	States   []turn.Phase
	Lookups  []turn.State
	Found    []trace.Summary
	Next     string // address of the next page; empty on the last
	First    string // address of the first page; empty on the first
	Filtered bool
	Problem  string
}

const (
	perPage      = 50
	mostChannels = 200
	dayLayout    = "2006-01-02"
)

func (k *Console) search(w http.ResponseWriter, r *http.Request) {
	f := r.URL.Query()
	p := searchPage{
		Words: f.Get("q"), Author: f.Get("who"), Channel: f.Get("channel"), State: f.Get("state"), Lookup: f.Get("lookup"), Since: f.Get("since"), Until: f.Get("until"),
		States:  []turn.Phase{turn.Answered, turn.Begun, turn.Broken, turn.Interrupted},
		Lookups: []turn.State{turn.Found, turn.Empty, turn.LookupFailed, turn.NotNeeded, turn.Disabled},
	}
	q := trace.Query{
		Words: p.Words, Author: strings.TrimSpace(p.Author), ChannelID: p.Channel, Phase: turn.Phase(p.State), Lookup: turn.State(p.Lookup), Before: f.Get("before"), Limit: perPage,
	}
	p.Filtered = p.Words+p.Author+p.Channel+p.State+p.Lookup+p.Since+p.Until != ""
	q.Since, p.Problem = k.day(p.Since, 0, p.Problem)
	q.Until, p.Problem = k.day(p.Until, 1, p.Problem)
	found, more, err := k.Traces.Find(r.Context(), q)
	if err == nil {
		p.Channels, err = k.Traces.Channels(r.Context(), mostChannels)
	}
	if err != nil {
		k.broken(w, r, err)
		return
	}
	slices.SortFunc(p.Channels, func(a, b string) int { return strings.Compare(k.channelName(a), k.channelName(b)) })
	p.Found = found
	if more {
		p.Next = pageAfter(r.URL, found[len(found)-1].ID)
	}
	if q.Before != "" {
		p.First = pageAfter(r.URL, "")
	}
	k.render(w, r, http.StatusOK, "search", "Search", p)
}

// day parses a day from a form and adds some days.
func (k *Console) day(text string, later int, problem string) (time.Time, string) {
	if text == "" {
		return time.Time{}, problem
	}
	t, err := time.ParseInLocation(dayLayout, text, k.Zone)
	if err != nil {
		return time.Time{}, "A day is written as in 2026-05-31."
	}
	return t.AddDate(0, 0, later), problem
}

// pageAfter returns the address of the page after a turn, or of the first page.
func pageAfter(u *url.URL, id string) string {
	values := u.Query()
	values.Del("before")
	if id != "" {
		values.Set("before", id)
	}
	for name, v := range values {
		if len(v) == 0 || v[0] == "" {
			values.Del(name)
		}
	}
	if len(values) == 0 {
		return u.Path
	}
	return u.Path + "?" + values.Encode()
}

type lookupsPage struct {
	Words, State string
	States       []turn.State
	Found        []lookedUp
	Next, First  string
	Filtered     bool
}

// lookedUp is a lookup in the list.
type lookedUp struct {
	trace.LookedUp
	Read int // number of pages
}

// lookupsPerPage is how many records are read for a page.
const lookupsPerPage = 20

func (k *Console) lookups(w http.ResponseWriter, r *http.Request) {
	f := r.URL.Query()
	p := lookupsPage{Words: f.Get("q"), State: f.Get("lookup"), States: []turn.State{turn.Found, turn.Empty, turn.LookupFailed}}
	p.Filtered = p.Words+p.State != ""
	found, more, err := k.Traces.Lookups(r.Context(), trace.Query{Words: p.Words, Lookup: turn.State(p.State), Before: f.Get("before"), Limit: lookupsPerPage})
	if err != nil {
		k.broken(w, r, err)
		return
	}
	for _, one := range found {
		l := lookedUp{LookedUp: one}
		if one.Lookup != nil {
			for _, page := range one.Lookup.Pages {
				if page.Failure == "" {
					l.Read++
				}
			}
		}
		p.Found = append(p.Found, l)
	}
	if more {
		p.Next = pageAfter(r.URL, found[len(found)-1].ID)
	}
	if f.Get("before") != "" {
		p.First = pageAfter(r.URL, "")
	}
	k.render(w, r, http.StatusOK, "lookups", "Lookups", p)
}
