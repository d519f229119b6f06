package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/oklog/ulid/v2"

	"familiar/internal/app"
	"familiar/internal/bot"
	"familiar/internal/context/turn"
	"familiar/internal/search"
	"familiar/internal/search/backend"
	"familiar/internal/view"
	"familiar/internal/web/clean"
	"familiar/internal/web/fetch"
)

type searchCommand struct {
	Words     []string    `arg:"" optional:"" name:"query" help:"What to search for; it leaves the machine as it is. If left out, it is read from the input."`
	Character string      `placeholder:"ID" help:"Use this character's lists of sites, instead of those of the one in FAMILIAR_CHARACTER."`
	Backends  []string    `name:"backend" help:"Ask only this backend; may be repeated. familiar backends lists them."`
	Intent    turn.Intent `enum:"general,weather,person,news,fact_check,forum,image,video,docs,howto" default:"general" help:"What kind of question: ${enum}."`
	Depth     string      `enum:"basic,advanced" default:"basic" help:"basic, or advanced: pages are read and ranked by their text."`
	Sites     []string    `name:"site" help:"Only pages on this host and below; may be repeated."`
	Freshness string      `enum:"any,day,week,month,year" default:"any" help:"The oldest page wanted: ${enum}."`
	Language  string      `help:"The language, and the region, as in de or en-GB."`
	Safe      string      `enum:"off,moderate,strict" default:"moderate" help:"Which hits are left out: ${enum}."`
	JSON      bool        `name:"json" help:"Print everything as JSON."`
}

// Run searches and prints what was found. The query is recorded like a turn.
func (s searchCommand) Run(ctx context.Context, p *program, stop stopper) error {
	speaker{Character: s.Character}.choose(p)
	text, err := p.question("search", s.Words)
	if err != nil {
		return err
	}
	return p.interruptible(stop, func() error {
		a, err := app.Open(ctx, p.process(), app.ToSearch)
		if err != nil {
			return err
		}
		defer a.Close()
		if err := a.NeedWeb(); err != nil {
			return err
		}
		q := search.Query{Text: text, Intent: s.Intent, Depth: s.Depth, Safe: s.Safe, Language: s.Language, Fresh: s.Freshness, Include: s.Sites, Backends: s.Backends}
		if err := checkQuery(a, q); err != nil {
			return err
		}
		found, err := searchRecorded(ctx, p, a, q)
		if err != nil {
			return err
		}
		return s.show(p, a, found)
	})
}

// checkQuery refuses backends that are off or unknown, and sites that are not public hosts.
func checkQuery(a *app.App, q search.Query) error {
	var wrong app.Problems
	for _, name := range q.Backends {
		if slices.ContainsFunc(a.Backends.On, func(b search.Backend) bool { return b.Name() == name }) {
			continue
		}
		why := "there is none of that name; known: " + strings.Join(backendNames(), ", ")
		if i := slices.IndexFunc(a.Backends.Off, func(d backend.Disabled) bool { return d.Name == name }); i >= 0 {
			why = "it is off: " + a.Backends.Off[i].Why
		}
		wrong = append(wrong, fmt.Sprintf("--backend %q: %s", name, why))
	}
	for _, site := range q.Include {
		if _, err := clean.Host(site); err != nil {
			wrong = append(wrong, fmt.Sprintf("--site %q: it is not the name of a public host, such as example.org", site))
		}
	}
	if wrong != nil {
		return wrong
	}
	return nil
}

func backendNames() []string {
	var names []string
	for _, l := range backend.Table() {
		names = append(names, l.Name)
	}
	return names
}

func searchRecorded(ctx context.Context, p *program, a *app.App, q search.Query) (*view.Searched, error) {
	within, cancel := context.WithTimeout(ctx, search.FindTime)
	defer cancel()
	r, l := a.Engine.Find(within, q, a.Domains)
	found := searchedBy(r, l.Took)
	if q.Intent == turn.IntentImage || q.Intent == turn.IntentVideo {
		look(within, a, found.Hits)
	}
	t := &turn.Trace{Began: l.Began, Took: l.Took, Phase: turn.Answered, Model: bot.NoModel}
	t.Request = turn.Request{ID: ulid.Make().String(), Character: a.Character.ID, ChannelID: "search", Message: asMessage(p, "search", q.Text),
		Web: turn.Web{Switch: turn.WebAlways}}
	t.Outcomes = []turn.Outcome{{Provider: "search", Status: turn.OK, Took: t.Took,
		Contributions: []turn.Contribution{{Layer: turn.Content, Source: "search", Lookup: l}}}}
	if l.State == turn.LookupFailed {
		t.Outcomes[0].Status = turn.Failed
	}
	return found, a.Traces.Save(context.WithoutCancel(ctx), t)
}

// look fetches the thumbnails of hits, through the same rules as any page.
func look(ctx context.Context, a *app.App, hits []view.Pictured) {
	var fetching sync.WaitGroup
	for i := range hits {
		if hits[i].Thumbnail == "" {
			continue
		}
		fetching.Go(func() {
			got, err := a.Reader.Fetcher.FetchImage(ctx, hits[i].Thumbnail, fetch.Options{Domains: a.Domains})
			if e, failed := errors.AsType[*fetch.Error](err); failed {
				hits[i].Picture = &view.Picture{Error: strings.ReplaceAll(string(e.Reason), "_", " ")}
				return
			}
			hits[i].Picture = &view.Picture{Type: got.ContentType, Bytes: len(got.Body)}
		})
	}
	fetching.Wait()
}

func (s searchCommand) show(p *program, a *app.App, found *view.Searched) (err error) {
	if s.JSON {
		err = printJSON(p, a, found)
	} else {
		_, err = fmt.Fprint(p.out, a.Redact.String(found.String()))
	}
	if err == nil && found.State == turn.LookupFailed {
		err = fmt.Errorf("the search failed: %s", found.Reason)
	}
	return err
}

// searchedBy describes the result of a search that took the given time.
func searchedBy(r search.Result, took time.Duration) *view.Searched {
	s := &view.Searched{State: r.State, Failure: r.Failure, Reason: r.Reason, Cached: r.Cached, Stale: r.Stale, Took: took, Asked: r.Asked, Hits: []view.Pictured{}}
	for _, hit := range r.Hits {
		s.Hits = append(s.Hits, view.Pictured{Hit: hit})
	}
	return s
}
