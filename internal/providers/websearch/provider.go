// Package websearch is the lookup: it decides whether a message needs the web, asks, reads, checks, and
// hands the main model a small block of cited sentences that code has found, word for word, on the pages.
//
// The way of a lookup, one file a step:
//
//	need.go      does this message need the web? a score from trusted text only, with its cues
//	             (words.go, lexicon.go, language.go and sentence.go: how it reads)
//	classify.go  the side model's opinion, where the score is undecided
//	intent.go    what kind of question: weather, person, news, …
//	followup.go  "and in Berlin?" made into a question that stands alone
//	             (slot.go: in the place of what; subject.go: whom a pronoun means; ellipsis.go: what is left out; reword.go: the side model's wording)
//	query.go     the words that leave the machine (when.go, dated.go: dates; quote.go: exact words);
//	             scrub.go keeps the private ones in, and people.go the names
//	cap.go       how much may be looked up; reuse.go what was found already, unless anew.go hears that it is not wanted
//	trust.go     the order of what was found: the operator's trust, people's feedback
//	docs.go      a lookup that is kept to one site; sitelist.go finds pages where no search service does
//	sources.go   which URLs may be read; read.go has them read, many at once
//	facts.go     the side model's notes on one page, quarantined
//	evidence.go  the page's own best sentences, by traits.go: what of the question (asked.go) they and what is
//	             around them have, and whether a thing of the kind that answers it (answertype.go, kinds.go, kin.go);
//	             clause.go quotes long ones in parts, and outline.go sums a page up where that is asked;
//	             dropped.go says why others were not taken
//	check.go     every fact against the page it is said to come from; date.go reads dates
//	summary.go   notes and sentences judged; merge.go says once what several pages say, and numbers the sources
//	conflict.go  pages that give different numbers (measure.go, quantity.go) or dates (happening.go) for one thing
//	verify.go    a claim judged by independent sites: statement.go finds what of it a sentence holds
//	             (related.go: by another word), weigh.go what a page says to it, contradict.go the rules,
//	             polarity.go what denies; living.go guards persons
//	cite.go      the reply's citations against the pages
//	block.go     the delimited block, to the byte; state.go the words for what went wrong
//	lookup.go    the steps in their order, under one deadline; find.go the middle ones: search and read
//
// Two rules shape it. Whether to search and what for is decided before a byte of the web is read (P1), and
// nothing that a page or a model says ever becomes a query or a URL (P2, P7), but for the lists of a site that the
// operator named, which may lead to its other pages (docs.go). And a fact reaches the main
// model only if its quote stands on the page (P4), so a side model that obeys an attacker can do no more than
// choose among true sentences.
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

	kept memory
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
