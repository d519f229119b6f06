package console

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

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

// searchPage holds the turns that were found, and the line as entered.
type searchPage struct {
	Line    string
	Found   []found
	Channel string // the only channel that is asked for
	Next    string // address of the next page; empty on the last
	First   string // address of the first page; empty on the first
	Late    *trace.Late
	Export  string
	Problem string
	Views   []kept
	Fields  []string
}

// found is a turn in the list, with the words around what was looked for.
type found struct {
	trace.Summary
	Snippet []piece
}

// piece is a part of a snippet.
type piece struct {
	Text string
	Hit  bool
}

// kept is a search that somebody keeps.
type kept struct{ Name, Line, Address string }

const (
	perPage      = 50
	mostChannels = 200
	dayLayout    = "2006-01-02"
	viewNotes    = "console.view/"
	maxViews     = 40
	longestView  = 60 // characters of a name
)

// presets are the searches that everybody wants.
var presets = [][2]string{{"Failed", "state:failed"}, {"Slow", "took>20s"}, {"Expensive", "tokens>20000"}, {"Lookup failed", "lookup:failed"}, {"Disliked", "rated:bad"}, {"Stopped", "state:interrupted"}}

func (k *Console) search(w http.ResponseWriter, r *http.Request) {
	p := searchPage{Line: lineOf(r.URL.Query()), Fields: fieldNames(), Export: withQuery("/turns.jsonl", "q", lineOf(r.URL.Query()))}
	q, problem, err := k.parseLine(r, p.Line)
	p.Problem, p.Channel = problem, q.ChannelID
	q.Before, q.Limit = r.URL.Query().Get("before"), perPage
	var lines []trace.Summary
	more := false
	if err == nil {
		lines, more, err = k.Traces.Find(r.Context(), q)
	}
	if errors.As(err, &p.Late) {
		p.Next, err = pageAfter(r.URL, p.Late.Before), nil
	}
	if err == nil {
		p.Views, err = k.views(r.Context())
	}
	if err != nil {
		k.broken(w, r, err)
		return
	}
	for _, l := range lines {
		p.Found = append(p.Found, found{l, snippet(k.Redact(l.Said), q.Words)})
	}
	if more {
		p.Next = pageAfter(r.URL, lines[len(lines)-1].ID)
	}
	if q.Before != "" {
		p.First = pageAfter(r.URL, "")
	}
	k.render(w, r, http.StatusOK, "search", "Search", p)
}

// lineOf returns the line of a search. Links may have its fields as parameters.
func lineOf(f url.Values) string {
	line := f.Get("q")
	for _, field := range [][2]string{{"who", "who"}, {"channel", "in"}, {"state", "state"}, {"lookup", "lookup"}, {"since", "since"}, {"until", "until"}} {
		if value := f.Get(field[0]); value != "" {
			line += " " + field[1] + `:"` + strings.ReplaceAll(value, `"`, "") + `"`
		}
	}
	return strings.TrimSpace(line)
}

// lineParts are the words of a line: a field with a value, which may be quoted, or anything else.
var lineParts = text.NewLazyRegexp(`([a-z]+)([:>])(?:"([^"]*)"|(\S+))|\S+`)

// fields read the fields of a line. Their sign is > for amounts, else a colon.
var fields = map[string]func(q *trace.Query, value string) error{
	"state:": func(q *trace.Query, v string) error {
		if v == "running" {
			v = string(turn.Begun)
		}
		q.Phase = turn.Phase(v)
		return among(v, string(turn.Answered), string(turn.Begun), string(turn.Broken), string(turn.Interrupted))
	},
	"lookup:": func(q *trace.Query, v string) error {
		q.Lookup = turn.State(v)
		return among(v, string(turn.Found), string(turn.Empty), string(turn.LookupFailed), string(turn.NotNeeded), string(turn.Disabled))
	},
	"rated:":  func(q *trace.Query, v string) error { q.Rated = v; return among(v, "good", "bad") },
	"who:":    func(q *trace.Query, v string) error { q.Author = v; return nil },
	"by:":     func(q *trace.Query, v string) error { q.Character = v; return nil },
	"model:":  func(q *trace.Query, v string) error { q.Model = v; return nil },
	"error:":  func(q *trace.Query, v string) error { q.Err = v; return nil },
	"in:":     func(q *trace.Query, v string) error { q.ChannelID = v; return nil },
	"took>":   func(q *trace.Query, v string) (err error) { q.Longer, err = time.ParseDuration(v); return err },
	"tokens>": func(q *trace.Query, v string) (err error) { q.Tokens, err = strconv.Atoi(v); return err },
	"cost>":   func(q *trace.Query, v string) (err error) { q.Cost, err = strconv.ParseFloat(v, 64); return err },
	"since:":  nil, "until:": nil, // they need the reader's zone
}

func fieldNames() []string { return slices.Sorted(maps.Keys(fields)) }

func among(value string, values ...string) error {
	if slices.Contains(values, value) {
		return nil
	}
	return errors.New("it is one of " + strings.Join(values, ", "))
}

// parseLine reads a line of words and fields. The problem is for the reader; what is wrong is left out.
func (k *Console) parseLine(r *http.Request, line string) (q trace.Query, problem string, err error) {
	var words []string
	for _, m := range lineParts.FindAllStringSubmatch(line, -1) {
		name, value := m[1]+m[2], m[3]+m[4]
		read, known := fields[name]
		var wrong error
		switch {
		case !known:
			words = append(words, m[0])
		case read == nil:
			var day time.Time
			if day, wrong = time.ParseInLocation(dayLayout, value, k.zoneOf(r)); wrong != nil {
				wrong = errors.New("a day is written as in 2026-05-31")
			} else if name == "since:" {
				q.Since = day
			} else {
				q.Until = day.AddDate(0, 0, 1)
			}
		default:
			wrong = read(&q, value)
		}
		if wrong != nil {
			problem = fmt.Sprintf("%s%s: %v.", name, value, wrong)
		}
	}
	q.Words = strings.Join(words, " ")
	if q.ChannelID != "" {
		q.ChannelID, err = k.channelCalled(r.Context(), q.ChannelID)
	}
	return q, problem, err
}

// channelCalled returns the id of a channel that is given by its id or its name.
func (k *Console) channelCalled(ctx context.Context, name string) (string, error) {
	all, err := k.Traces.Channels(ctx, mostChannels)
	for _, id := range all {
		if strings.EqualFold(k.channelName(id), "#"+strings.TrimPrefix(name, "#")) {
			return id, err
		}
	}
	return name, err
}

// zoneOf returns the reader's time zone, which the script tells.
func (k *Console) zoneOf(r *http.Request) *time.Location {
	if zone, err := time.LoadLocation(r.URL.Query().Get("zone")); err == nil && r.URL.Query().Get("zone") != "" {
		return zone
	}
	return k.Zone
}

// around is how many characters a snippet has on each side of the first hit.
const around = 70

// snippet returns what stands around the first of the words in a text, with all of them marked.
func snippet(said, words string) (all []piece) {
	var parts []string
	for word := range strings.FieldsSeq(words) {
		if word = strings.Trim(word, `*"'.,?!`); word != "" {
			parts = append(parts, regexp.QuoteMeta(word))
		}
	}
	if len(parts) == 0 {
		return nil
	}
	hits, err := regexp.Compile(`(?i)` + strings.Join(parts, "|"))
	if err != nil {
		return nil
	}
	first := hits.FindStringIndex(said)
	if first == nil {
		return nil
	}
	before, rest := []rune(said[:first[0]]), []rune(said[first[0]:])
	part := text.OneLine(string(before[max(0, len(before)-around):]) + string(rest[:min(len(rest), 2*around)]))
	at := 0
	for _, hit := range hits.FindAllStringIndex(part, -1) {
		all = append(all, piece{part[at:hit[0]], false}, piece{part[hit[0]:hit[1]], true})
		at = hit[1]
	}
	return append(all, piece{part[at:], false})
}

// views returns the searches of everybody and those that were kept, by name.
func (k *Console) views(ctx context.Context) (all []kept, err error) {
	notes, err := k.Store.Notes.Under(ctx, viewNotes)
	for _, p := range presets {
		all = append(all, kept{p[0], "", withQuery("/turns", "q", p[1])})
	}
	for _, name := range slices.Sorted(maps.Keys(notes)) {
		all = append(all, kept{name, notes[name], withQuery("/turns", "q", notes[name])})
	}
	return all, err
}

// saveView keeps a search under a name. Without a search, the name is forgotten.
func (k *Console) saveView(w http.ResponseWriter, r *http.Request) {
	name, line := text.Truncate(text.OneLine(r.PostFormValue("name")), longestView), strings.TrimSpace(r.PostFormValue("q"))
	kept, err := k.Store.Notes.Under(r.Context(), viewNotes)
	switch {
	case err != nil:
	case name == "" || len(kept) >= maxViews && line != "":
		k.fail(w, r, http.StatusUnprocessableEntity, "A search is kept under a name, and there are at most "+strconv.Itoa(maxViews)+".")
		return
	default:
		err = k.Store.Notes.SetUnder(r.Context(), viewNotes, map[string]string{name: line})
	}
	if err != nil {
		k.broken(w, r, err)
		return
	}
	k.redirect(w, r, withQuery("/turns", "q", line))
}

// mostExported is how many turns are exported at most.
const mostExported = 10_000

// export writes the turns of a search as lines of JSON, newest first.
func (k *Console) export(w http.ResponseWriter, r *http.Request) {
	q, problem, err := k.parseLine(r, lineOf(r.URL.Query()))
	if problem != "" {
		http.Error(w, problem, http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "application/jsonl; charset=utf-8")
	w.Header().Set("Content-Disposition", `attachment; filename="turns.jsonl"`)
	for n, more := 0, true; more && err == nil && n < mostExported; {
		var lines []trace.Summary
		var late *trace.Late
		q.Limit = 500
		lines, more, err = k.Traces.Find(r.Context(), q)
		if errors.As(err, &late) {
			q.Before, more, err = late.Before, true, nil
		} else if more {
			q.Before = lines[len(lines)-1].ID
		}
		for n += len(lines); len(lines) > 0; lines = lines[1:] {
			line, _ := json.Marshal(lines[0]) // it always can be
			_, _ = w.Write([]byte(k.Redact(string(line)) + "\n"))
		}
	}
	if err != nil && r.Context().Err() == nil {
		k.Log.Error("console: export turns", "err", k.Redact(err.Error()))
		panic(http.ErrAbortHandler) // the client must not take it for all
	}
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
	Late         *trace.Late
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
	if errors.As(err, &p.Late) {
		p.Next, err = pageAfter(r.URL, p.Late.Before), nil
	}
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
