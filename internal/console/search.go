package console

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"familiar/internal/context/turn"
	"familiar/internal/text"
	"familiar/internal/trace"
)

// searchPage holds the turns that were found, and the line as entered.
type searchPage struct {
	Line    string
	Found   []found
	Channel string // the only channel that is asked for
	Next    string // address of the next page; empty on the last
	First   string // address of the first page; empty on the first
	Late    *trace.Late
	Count   string // of the turns that match, for people; empty: it is not known
	Orders  []kept // the same search in other orders; they count
	Export  string
	Problem string
	Views   []kept
	Kept    string // the name under which this search is kept; empty: none
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
	more, n := false, 0
	switch {
	case err != nil:
	case q.Order != "":
		lines, n, err = k.Traces.Rank(r.Context(), q)
	default:
		lines, more, err = k.Traces.Find(r.Context(), q)
		n = len(lines)
	}
	if errors.As(err, &p.Late) {
		p.Next, err = pageAfter(r.URL, p.Late.Before), nil
	}
	if q.Order != "" || q.Before == "" {
		p.Count = turnsSaid(n, more || p.Late != nil)
	}
	if err == nil {
		p.Views, err = k.views(r.Context())
	}
	if i := slices.IndexFunc(p.Views, func(v kept) bool { return v.Line != "" && v.Line == p.Line }); i >= 0 {
		p.Kept = p.Views[i].Name
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
	rest := strings.TrimSpace(sortField.ReplaceAllString(p.Line, ""))
	for _, order := range trace.Orders() {
		if order != q.Order {
			p.Orders = append(p.Orders, kept{Name: order, Address: withQuery("/turns", "q", strings.TrimSpace(rest+" sort:"+order))})
		}
	}
	k.render(w, r, http.StatusOK, "search", "Search", p)
}

// sortField matches the field of an order in a line.
var sortField = text.NewLazyRegexp(`\bsort:\S*`)

// turnsSaid says how many turns match.
func turnsSaid(n int, more bool) string {
	said := text.Thousands(n) + " turns"
	if n == 1 {
		said = "1 turn"
	}
	if more {
		return "At least " + said
	}
	return said
}

// around is how many characters a snippet has on each side of the first hit.
const around = 70

// snippet returns what is around the first of the words in a text, with all of them marked.
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
