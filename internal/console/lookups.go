package console

import (
	"net/http"

	"familiar/internal/context/turn"
	"familiar/internal/trace"
)

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
	Read int // pages
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
