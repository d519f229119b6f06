// Package websearch is the lookup: it decides whether a message needs the web, asks, reads, checks, and hands the main
// model a small block of cited sentences that code has found, word for word, on the pages.
//
// The steps of a lookup, in their order:
//
//	lookup.go    the steps under one deadline: decide, search, read, summarise, conclude
//	classify.go  the side model's opinion on a message whose need is undecided (package need scores it)
//	reword.go    the side model's wording of a follow-up (package followup has the rules', package question the query)
//	cap.go       how many lookups a channel and a person have; reuse.go: what a lookup before found for a like question
//	find.go      the middle: search and read
//	trust.go     the order of what was found, by the operator's trust and people's feedback
//	targets.go   which pages may be read; source.go: what came of each (package read reads them)
//	docs.go      a lookup that is kept to one site; sitelist.go: what stands in for a search service there
//	selection.go what the side model selects of one page, quarantined; side.go: how it is asked
//	summary.go   the quotes that it selected and others (package evidence), each checked against its page (package quote)
//	merge.go     what several pages say is told once, with the numbers of the sources
//	verdict.go   a statement against independent sites (package factcheck); package conflict finds where pages disagree
//	dropped.go   what was considered and is not told
//	block.go     the delimited block, to the byte; state.go: the words for what went wrong
//
// Two rules shape it. Whether to search and what for is decided before a byte of the web is read (P1), and nothing that
// a page or a model says ever becomes a query or a URL (P2, P7); the one exception is a site that the operator named as
// documentation, whose own lists may lead to its other pages (docs.go). And of a page only its own words reach the main model
// (P4): a side model that obeys an attacker can do no more than choose among sentences, by their numbers.
package websearch

import (
	"context"
	"fmt"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/llm"
	"familiar/internal/search"
	"familiar/internal/store"
	"familiar/internal/web/guard"
	"familiar/internal/web/read"
)

// Provider is the context provider. Its exported fields are set before first use and not changed after.
type Provider struct {
	Search *search.Engine
	Reader *read.Reader // nil: no page is visited
	Side   *llm.Client  // reads pages and settles doubtful needs; nil: both are done without a model
	Policy Policy
	Eager  bool             // no main model is configured: any real question is looked up
	Now    func() time.Time // wall clock for dates shown and sent; nil: time.Now
	Zone   *time.Location   // in which "today" is a day; nil: UTC
	Count  func(string) int // tokens of a text; nil: a cautious estimate
	Store  *store.DB        // counts lookups, and knows what people said of sources; nil: nothing is counted or lowered

	// Server: questions about what was said in the server are another provider's; nothing of them is asked of the web.
	Server bool

	reuse reuseCache
}

// Policy is what the operator allows. Zero values take the defaults.
type Policy struct {
	Off          bool
	Domains      guard.Domains         // on results, typed URLs and every redirect
	DeniedTopics []string              // words or phrases; a message that holds one is not looked up
	BlockBytes   int                   // size of the block at most; 0: 8 KiB
	Pages        int                   // pages read in a turn at most; 0: 5; less: none, and what the search itself returned is used
	PerDomain    int                   // of these from one registrable domain; 0: 2
	Deadline     time.Duration         // of a whole lookup; 0: 12 s
	Queries      int                   // queries in a turn at most; 0: 2
	PerMinute    int                   // searches of a character in a minute at most; 0: any number
	PerSession   int                   // lookups in a channel in half an hour at most; 0: any number
	PerDay       int                   // lookups of a person in a day at most; 0: any number
	Depth        string                // of a search: "basic" or "advanced"; empty: as the search service is set up
	Backends     []string              // search services that may be asked, by name; none: all
	Trusted      map[turn.Intent]Trust // by intent
	Explain      bool                  // a lookup records what was considered and not told, too: a few kilobytes
	Docs         []Docs                // sites of documentation that a lookup may be kept to
}

// The defaults of Policy.
const (
	defaultBlockBytes = 8 << 10
	defaultPages      = 5
	defaultPerDomain  = 2
	defaultDeadline   = 12 * time.Second
	defaultQueries    = 2
)

// priority of the block within the content layer: after what the character knows of the people it talks to.
const priority = 60

// Name returns "websearch".
func (p *Provider) Name() string { return "websearch" }

// Contribute looks up what the message needs. It always returns one contribution, which carries the lookup;
// without Text it is a footnote. Cut short by ctx it returns what it has, with ctx's error.
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

// Lookup is the lookup alone. It cannot fail: a failure is a state of the result.
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

// count estimates high when it has no counter: a block that is too small loses a fact, one that is too big
// is dropped whole.
func (p *Provider) count(s string) int {
	if p.Count == nil {
		return len(s)/2 + 1
	}
	return p.Count(s)
}

// withDefaults returns the policy with every zero value replaced.
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
