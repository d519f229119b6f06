package main

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"familiar/internal/bot"
	"familiar/internal/context/turn"
	"familiar/internal/search"
	"familiar/internal/search/backends"
	"familiar/internal/web/guard"

	"github.com/oklog/ulid/v2"
)

type searchCommand struct {
	Words     []string    `arg:"" optional:"" name:"query" help:"What to search for; it leaves the machine as it is. If left out, it is read from the input."`
	Character string      `placeholder:"ID" help:"Keep to the lists of this character's sites, in place of that of FAMILIAR_CHARACTER."`
	Backends  []string    `name:"backend" help:"Ask this one alone; may be repeated. familiar backends lists them."`
	Intent    turn.Intent `enum:"general,weather,person,news,fact_check,forum,image,video,docs,howto" default:"general" help:"What kind of question: ${enum}."`
	Depth     string      `enum:"basic,advanced" default:"basic" help:"basic, or advanced: pages are read and ranked by what stands on them."`
	Sites     []string    `name:"site" help:"Only pages on this host and below; may be repeated."`
	Freshness string      `enum:"any,day,week,month,year" default:"any" help:"The oldest page wanted: ${enum}."`
	Language  string      `help:"The language, and the region, as in de or en-GB."`
	Safe      string      `enum:"off,moderate,strict" default:"moderate" help:"What is kept out: ${enum}."`
	JSON      bool        `name:"json" help:"Print everything as JSON."`
}

// searchPatience is how long all of a search may take.
const searchPatience = 15 * time.Second

// Run asks the search engine and prints what it found. What left the machine is recorded like a turn.
func (s searchCommand) Run(ctx context.Context, p *program, stop stopper) error {
	speaker{Character: s.Character}.choose(p)
	text, err := p.question("search", s.Words)
	if err != nil {
		return err
	}
	return p.interruptible(stop, func() error {
		a, err := open(ctx, p, toSearch)
		if err != nil {
			return err
		}
		defer a.close()
		if err := a.needWeb(); err != nil {
			return err
		}
		q := search.Query{Text: text, Intent: s.Intent, Depth: s.Depth, Safe: s.Safe, Language: s.Language, Fresh: s.Freshness, Include: s.Sites, Backends: s.Backends}
		if err := a.checkQuery(q); err != nil {
			return err
		}
		found, err := a.search(ctx, p, q)
		if err != nil {
			return err
		}
		return s.show(p, a, found)
	})
}

// checkQuery refuses backends that cannot be asked, with those that can, and sites that are none.
func (a *app) checkQuery(q search.Query) error {
	var wrong problems
	for _, name := range q.Backends {
		if slices.ContainsFunc(a.backends.On, func(b search.Backend) bool { return b.Name() == name }) {
			continue
		}
		why := "there is none of that name; known: " + strings.Join(a.backendNames(), ", ")
		if i := slices.IndexFunc(a.backends.Off, func(d backends.Disabled) bool { return d.Name == name }); i >= 0 {
			why = "it is off: " + a.backends.Off[i].Why
		}
		wrong = append(wrong, fmt.Sprintf("--backend %q: %s", name, why))
	}
	for _, site := range q.Include {
		if _, err := guard.Host(site); err != nil {
			wrong = append(wrong, fmt.Sprintf("--site %q: it is not the name of a public host, such as example.org", site))
		}
	}
	if wrong != nil {
		return wrong
	}
	return nil
}

func (a *app) backendNames() []string {
	var names []string
	for _, l := range backends.Table() {
		names = append(names, l.Name)
	}
	return names
}

// searched is what came of a search.
type searched struct {
	State   turn.State    `json:"state"`
	Failure turn.Code     `json:"failure,omitempty"`
	Reason  string        `json:"reason,omitempty"`
	Cached  bool          `json:"cached,omitempty"`
	Stale   time.Duration `json:"stale,omitempty"`
	Took    time.Duration `json:"took"`
	Hits    []pictured    `json:"hits"`
	Asked   []turn.Asked  `json:"asked"`
}

// pictured is a hit with what is known of its thumbnail.
type pictured struct {
	turn.Hit
	Picture *picture `json:"picture,omitempty"`
}

// search searches and records what was asked.
func (a *app) search(ctx context.Context, p *program, q search.Query) (*searched, error) {
	found, l := a.find(ctx, q)
	t := &turn.Trace{Began: l.Began, Took: l.Took, Phase: turn.Answered, Model: bot.NoModel}
	t.Request = turn.Request{ID: ulid.Make().String(), Character: a.character.ID, ChannelID: "search", Message: asMessage(p, "search", q.Text),
		Web: turn.Web{Switch: turn.WebAlways}}
	t.Outcomes = []turn.Outcome{{Provider: "search", Status: turn.OK, Took: t.Took,
		Contributions: []turn.Contribution{{Layer: turn.Content, Source: "search", Lookup: l}}}}
	if l.State == turn.LookupFailed {
		t.Outcomes[0].Status = turn.Failed
	}
	return found, a.traces.Save(context.WithoutCancel(ctx), t)
}

// find searches and keeps to the character's lists. What is to be recorded of it comes beside what was found.
func (a *app) find(ctx context.Context, q search.Query) (*searched, *turn.Lookup) {
	ctx, cancel := context.WithTimeout(ctx, searchPatience)
	defer cancel()
	began := time.Now()
	r := a.engine.Search(ctx, q)
	r.Hits = slices.DeleteFunc(r.Hits, func(hit turn.Hit) bool {
		u, err := url.Parse(hit.URL)
		return err != nil || !a.domains.Allows(u.Hostname())
	})
	if r.State == turn.Found && len(r.Hits) == 0 {
		r.State = turn.Empty
	}
	l := &turn.Lookup{State: r.State, Failure: r.Failure, Reason: r.Reason, Intent: q.Intent, Question: q.Text, Query: q.Text, Asked: r.Asked,
		Hits: r.Hits, Cached: r.Cached, Stale: r.Stale, Began: began, Took: time.Since(began)}
	found := &searched{State: r.State, Failure: r.Failure, Reason: r.Reason, Cached: r.Cached, Stale: r.Stale, Took: l.Took, Asked: r.Asked, Hits: []pictured{}}
	for _, hit := range r.Hits {
		found.Hits = append(found.Hits, pictured{Hit: hit})
	}
	if q.Intent == turn.IntentImage || q.Intent == turn.IntentVideo {
		a.look(ctx, found.Hits)
	}
	return found, l
}

func (s searchCommand) show(p *program, a *app, found *searched) (err error) {
	if s.JSON {
		err = a.printJSON(p, found)
	} else {
		_, err = fmt.Fprint(p.out, a.redact.String(found.String()))
	}
	if err == nil && found.State == turn.LookupFailed {
		err = fmt.Errorf("the search failed: %s", found.Reason)
	}
	return err
}
