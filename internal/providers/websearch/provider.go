// Package websearch is the lookup. It decides whether a message needs the web, asks, reads and checks. The main model
// receives a small block of cited sentences that code has found, word for word, on the pages.
//
// The files, in the order of a lookup:
//
//	lookup.go    the steps under one deadline: decide, permit, find, summarise, conclude; the allowances
//	side.go      what the side model is asked: whether to search, and a follow-up in other words (package question makes the plan and checks
//	             these words); then, in quarantine, which numbered sentences of one page answer
//	reuse.go     the pages of an earlier lookup, for a similar question
//	find.go      the middle: search, then read (package web/read) into sources
//	targets.go   which pages are read: the operator's trust, people's feedback, limits per site
//	docs.go      a lookup within one site of documentation
//	summary.go   these quotes and others (package evidence), each checked against its page; the verdict of a fact check
//	merge.go     one claim for what several pages say, the numbers of the sources, and what was left out
//	block.go     the delimited block, to the byte, or the words for what went wrong
//
// Two rules shape it. First, whether and what to search is decided before a byte of the web is read (P1). Nothing that a page or a model
// says becomes a query or a URL (P2, P7). The one exception is a site of documentation that the operator named. Its own lists may lead to
// its other pages (docs.go). Second, of a page only its own words reach the main model (P4). A side model that obeys an attacker can only
// choose among sentences, by number.
package websearch

import (
	"context"
	"fmt"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/llm"
	"familiar/internal/question"
	"familiar/internal/question/past"
	"familiar/internal/search"
	"familiar/internal/store"
	"familiar/internal/web/clean"
	"familiar/internal/web/read"
)

// Provider is the context provider. Its exported fields must not change after first use.
type Provider struct {
	Search *search.Engine
	Reader *read.Reader // nil: no page is visited
	Side   *llm.Client  // reads pages and decides doubtful needs; nil: neither uses a model
	Policy Policy
	Eager  bool                                     // no main model is configured: every real question is looked up
	Now    func() time.Time                         // the time that is shown and sent; nil: time.Now
	Zone   *time.Location                           // the zone of "today"; nil: UTC
	Count  func(string) int                         // counts the tokens of a text; nil: a cautious estimate
	Known  func(context.Context, turn.Request) bool // reports whether what was said here before may answer a message; nil: nobody knows
	Store  *store.DB                                // counts lookups and has people's feedback; nil: neither is used
	Asked  *past.Reader                             // reads what messages ask of their server, for this and other providers of a turn; nil: this reads it

	reuse reuseCache
}

// Policy is what the operator allows. A zero value means the default.
type Policy struct {
	Off          bool
	Domains      clean.Domains         // for results, typed URLs and redirects
	DeniedTopics []string              // words or phrases; a message with one is not looked up
	BlockBytes   int                   // maximum size of the block; 0: 8 KiB
	Pages        int                   // maximum pages read in a turn; 0: 5; negative: none, only what the search returned
	PerDomain    int                   // maximum of these from one registrable domain; 0: 2
	Deadline     time.Duration         // for a whole lookup; 0: 12 s
	Queries      int                   // maximum queries in a turn; 0: 2
	PerMinute    int                   // maximum searches of a character in a minute; 0: any number
	PerSession   int                   // maximum lookups in a channel in half an hour; 0: any number
	PerDay       int                   // maximum lookups of a person in a day; 0: any number
	Depth        string                // of a search: "basic" or "advanced"; empty: as the service is configured
	Backends     []string              // names of the search services that may be asked; none: all
	Trusted      map[turn.Intent]Trust // by intent
	Explain      bool                  // record what was left out, too: a few kilobytes
	Docs         []Docs                // sites of documentation that a lookup can be restricted to
}

// The defaults of Policy.
const (
	defaultBlockBytes = 8 << 10
	defaultPages      = 5
	defaultPerDomain  = 2
	defaultDeadline   = 12 * time.Second
	defaultQueries    = 2
)

// priority is the block's priority in the content layer, below what the character knows about the people.
const priority = 60

// Name returns "websearch".
func (p *Provider) Name() string { return "websearch" }

// Contribute looks up what the message needs. It always returns one contribution with the lookup; one without Text is
// only recorded. If ctx ends it, it returns what it has and ctx's error.
func (p *Provider) Contribute(ctx context.Context, req turn.Request) ([]turn.Contribution, error) {
	look, err := p.lookup(ctx, req)
	c := turn.Contribution{
		Layer:    turn.Content,
		Priority: priority,
		Text:     look.Block,
		Source:   p.Name(),
		Lookup:   &look,
	}
	if c.Text != "" {
		c.Web = true
		c.Tokens = p.count(c.Text)
	}
	if err == nil && ctx.Err() != nil {
		err = fmt.Errorf("look up: %w", context.Cause(ctx))
	}
	return []turn.Contribution{c}, err
}

// Lookup does only the lookup. It cannot fail: a failure is a state of the result.
func (p *Provider) Lookup(ctx context.Context, req turn.Request) turn.Lookup {
	look, _ := p.lookup(ctx, req)
	return look
}

func (p *Provider) now() time.Time {
	if p.Now == nil {
		return time.Now()
	}
	return p.Now()
}

// count overestimates without a counter. A block that is too small loses a fact, but one that is too big is dropped whole.
func (p *Provider) count(s string) int {
	if p.Count == nil {
		return len(s)/2 + 1
	}
	return p.Count(s)
}

// withDefaults returns the policy with defaults in place of zero values.
func (p Policy) withDefaults() Policy {
	p.BlockBytes = positive(p.BlockBytes, defaultBlockBytes)
	p.Pages = positive(p.Pages, defaultPages)
	p.PerDomain = positive(p.PerDomain, defaultPerDomain)
	p.Queries = positive(p.Queries, defaultQueries)
	if p.Deadline <= 0 {
		p.Deadline = defaultDeadline
	}
	return p
}

func positive(n, otherwise int) int {
	if n > 0 {
		return n
	}
	return otherwise
}

// Warm makes the tables that the first lookup would otherwise wait for.
func Warm(r turn.Request) {
	question.Decide(r, nil, nil)
	question.Assess("Buongiorno, come va?", nil) // the tables that English does not need
}
