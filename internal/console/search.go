package console

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/trace"
)

// searchPage is a page of found turns, and the form as it was filled in.
type searchPage struct {
	Words, Author, Channel, State, Lookup, Since, Until string

	Channels []string
	States   []turn.Phase
	Lookups  []turn.State
	Found    []trace.Summary
	Next     string // address of the next page; empty: this is the last
	First    string // address of the first page; empty: this is it
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

// day reads a day of a form, some days later.
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

// pageAfter is the address of the page behind a turn, or of the first page.
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
