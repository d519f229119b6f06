package turn

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Lookup is one question to the outside world and its result.
type Lookup struct {
	State    State             `json:"state"`
	Reason   string            `json:"reason"`             // why something was, or was not, looked up; for a failure, what failed
	Need     string            `json:"need,omitempty"`     // why a lookup was, or was not, needed
	Failure  Code              `json:"failure,omitempty"`  // set if State is failed
	Score    float64           `json:"score"`              // 0 (certainly not needed) to 1 (certainly needed)
	Cues     []string          `json:"cues,omitempty"`     // what moved the score, strongest first
	Intent   Intent            `json:"intent,omitempty"`   // the first of Intents
	Intents  []ScoredIntent    `json:"intents,omitempty"`  // kinds of question; older records have only Intent
	Question string            `json:"question,omitempty"` // the message as a standalone question; leaves the machine only to the models
	Query    string            `json:"query,omitempty"`    // exactly what was sent to the search backends
	Scrubbed []string          `json:"scrubbed,omitempty"` // kinds of text that was removed before sending: "mention", "email", …
	Steps    []Step            `json:"steps,omitempty"`    // how the message became the query
	Asked    []Asked           `json:"asked,omitempty"`    // the backends, in their fixed order
	Hits     []Hit             `json:"hits,omitempty"`     // merged and ranked
	Pages    []Page            `json:"pages,omitempty"`    // every page that was tried, read or not
	Summary  []Claim           `json:"summary,omitempty"`  // what the main model was told, checked
	Rejected []Claim           `json:"rejected,omitempty"` // what a side model selected and the checks refused
	Dropped  []DroppedSentence `json:"dropped,omitempty"`  // sentences that were considered and left out, by page; only if somebody asked for them
	Sources  []Source          `json:"sources,omitempty"`  // with the numbers of the block
	// Unanswered means that no page that a person named answers the question. Summary holds what these pages say.
	Unanswered bool          `json:"unanswered,omitempty"`
	By         string        `json:"by,omitempty"`        // who summarised: a model's name, or "extractive"
	Conflicts  []Conflict    `json:"conflicts,omitempty"` // contradictions between sources of the summary
	Verdict    *Verdict      `json:"verdict,omitempty"`   // only for fact checks
	Newest     time.Time     `json:"newest,omitzero"`     // newest publication date among the sources
	Block      string        `json:"block,omitempty"`     // exactly what the main model was shown
	Stages     []Stage       `json:"stages,omitempty"`
	Removed    []Removal     `json:"removed,omitempty"` // what cleaning removed from page text
	Began      time.Time     `json:"began"`
	Took       time.Duration `json:"took"`
	Cached     bool          `json:"cached,omitempty"`
	Stale      time.Duration `json:"stale,omitempty"` // age of earlier results that were used because no backend could search; 0: none were
	Caps       []Cap         `json:"caps,omitempty"`
	Quoted     []string      `json:"quoted,omitempty"` // ids of the server's messages that it quotes, also outside of Sources
	Reused     *Reuse        `json:"reused,omitempty"` // the earlier lookup whose pages answer this one; nothing was asked then
}

// ScoredIntent is a kind of question with its confidence.
type ScoredIntent struct {
	Name       Intent  `json:"name"`
	Confidence float64 `json:"confidence"` // 0 to 1
}

// Cap is a limit on lookups, with how much of it is used after this lookup.
type Cap struct {
	Of    string    `json:"of"` // "channel", per half hour; "person", per day; "minute", over all channels
	Used  int       `json:"used"`
	Limit int       `json:"limit"`
	Free  time.Time `json:"free,omitzero"` // when the next lookup is allowed, if the limit is reached
}

// Reuse is an earlier lookup that answers a similar question.
type Reuse struct {
	Turn  string        `json:"turn"` // id of its record
	Query string        `json:"query"`
	Age   time.Duration `json:"age"`
}

// Step is one step from a message to a query.
type Step struct {
	By   string `json:"by"`   // "standalone", "side model", "question", "dates", "year", "titles", "scrub"
	Text string `json:"text"` // the result of the step
}

// State is the result of a lookup. "Could not look" and "found nothing" are different states.
type State string

const (
	NotNeeded    State = "not_needed"
	Disabled     State = "disabled"
	LookupFailed State = "failed"
	Empty        State = "empty"
	Found        State = "found"
)

// Asked is one backend's part in a search.
type Asked struct {
	Backend string        `json:"backend"`
	Query   int           `json:"query,omitempty"`  // number of its line in Lookup.Query, from 1; 0: none or not recorded
	Status  Code          `json:"status"`           // CodeOK, CodeEmpty, or why the backend did not answer
	Detail  string        `json:"detail,omitempty"` // for the operator: cause and cure; redacted
	Hits    int           `json:"hits"`
	Took    time.Duration `json:"took"`
	Stale   time.Duration `json:"stale,omitempty"` // the backend failed, and the hits are from an earlier answer of this age
}

// Hit is one search result. Every string is plain text from outside.
type Hit struct {
	Backend   string    `json:"backend"`
	Also      []string  `json:"also,omitempty"`  // other backends that returned the page
	Twins     []string  `json:"twins,omitempty"` // other addresses of the same text
	Rank      int       `json:"rank"`            // from 1, within Backend
	Score     float64   `json:"score,omitempty"`
	Given     float64   `json:"given,omitempty"` // the backend's own score, on its own scale
	Title     string    `json:"title"`
	URL       string    `json:"url"`
	Snippet   string    `json:"snippet,omitempty"`
	Text      string    `json:"-"`                  // content from the backend itself, which is read instead of URL
	Why       string    `json:"why,omitempty"`      // why it has its rank, and why its page was not read
	Answer    bool      `json:"answer,omitempty"`   // Text answers the query by itself: a forecast, an instant answer
	Published time.Time `json:"published,omitzero"` // zero: undated
	DayOnly   bool      `json:"day_only,omitempty"` // Published is midnight UTC, because the hour is unknown
	Thumbnail string    `json:"thumbnail,omitempty"`
	Media     string    `json:"media,omitempty"` // URL of the image or video itself; URL is the page that shows it
	Language  string    `json:"language,omitempty"`

	Age time.Duration `json:"age,omitempty"` // how long ago the backend returned it; 0: just now
}

// Page is one page that was tried.
type Page struct {
	N         int           `json:"n,omitempty"` // source number in the block; 0: not used
	URL       string        `json:"url"`
	Final     string        `json:"final,omitempty"`
	Status    int           `json:"status,omitempty"`  // HTTP status; 0: none
	Failure   Code          `json:"failure,omitempty"` // empty: it was read
	Reason    Code          `json:"reason,omitempty"`  // finer than Failure; empty: none
	Via       string        `json:"via,omitempty"`     // backend or special reader that delivered the text, if the page was not fetched
	Passed    string        `json:"passed,omitempty"`  // special reader that failed before the page was fetched, with its code: "github: rate_limited"
	Title     string        `json:"title,omitempty"`
	Site      string        `json:"site,omitempty"` // canonical host
	Bytes     int           `json:"bytes,omitempty"`
	SHA256    string        `json:"sha256,omitempty"`
	Took      time.Duration `json:"took,omitempty"`
	Fetched   time.Time     `json:"fetched,omitzero"`
	Published time.Time     `json:"published,omitzero"`
	Modified  time.Time     `json:"modified,omitzero"`
	Cached    bool          `json:"cached,omitempty"`
	Hidden    int           `json:"hidden,omitempty"`   // number of characters dropped as hidden
	Doubtful  int           `json:"doubtful,omitempty"` // those of them that may have been seen
	Text      string        `json:"text,omitempty"`     // clean text; stored once by hash, outside of the trace
}

// Snippet reports whether the page could not be read and Text is only what a search service says about it.
func (p Page) Snippet() bool { return strings.HasSuffix(p.Via, SnippetMark) }

// SnippetMark ends Via, after the backend's name, if the text is a snippet.
const SnippetMark = " snippet"

// Claim is one quote of a page.
type Claim struct {
	Text    string    `json:"text"`           // as shown: "…" marks what is left out of the sentence, and the sounds of speech are removed
	Quote   string    `json:"quote"`          // as on the page; in old records, the words that support a side model's text
	Source  int       `json:"source"`         // number in Sources
	Also    []Backing `json:"also,omitempty"` // other sources that say the same
	Checks  []string  `json:"checks,omitempty"`
	Refused string    `json:"refused,omitempty"` // the failed check; empty: none
	Framing Framing   `json:"framing,omitzero"`  // its context on the page

	// URL and Published are set only in the evidence of a verdict, whose page need not be a source.
	URL       string    `json:"url,omitempty"`
	Published time.Time `json:"published,omitzero"` // zero: undated
}

// DroppedSentence is a sentence that was considered as evidence and left out of the summary.
type DroppedSentence struct {
	Source int     `json:"source,omitempty"` // number of its page in Sources; 0: the page is not a source
	URL    string  `json:"url"`              // of its page
	Text   string  `json:"text"`             // at most 160 characters
	Score  float64 `json:"score"`            // compared within its page; higher is better
	Why    string  `json:"why"`              // "below the best", "says the same as [1]", "failed check: number", …
}

// Backing is another source's words for a claim.
type Backing struct {
	Source int    `json:"source"`
	Quote  string `json:"quote"`
}

// Sources returns the numbers of all sources of the claim, the quoted one first.
func (c Claim) Sources() []int {
	all := []int{c.Source}
	for _, b := range c.Also {
		all = append(all, b.Source)
	}
	return all
}

// Cited returns the citation of the claim's sources, as in "[1][3]".
func (c Claim) Cited() string { return cited(c.Sources()) }

// Cited returns the citation of the value's sources.
func (g Given) Cited() string { return cited(g.Sources) }

func cited(sources []int) string {
	var b strings.Builder
	for _, n := range sources {
		fmt.Fprintf(&b, "[%d]", n)
	}
	return b.String()
}

// Source is one numbered source of a block. Code writes the list under a reply from it.
type Source struct {
	N         int       `json:"n"`
	URL       string    `json:"url"`
	Title     string    `json:"title"`
	Site      string    `json:"site"`
	Published time.Time `json:"published,omitzero"`
	Fetched   time.Time `json:"fetched"`
	Links     []string  `json:"links,omitempty"` // addresses that a person posted there, which a reply may contain
}

// Conflict is a pair of different values that sources give for what looks like the same thing.
type Conflict struct {
	Of     string   `json:"of"` // "number" or "date"
	Values [2]Given `json:"values"`
}

// Given is a value as written in a claim, with the claim's sources.
type Given struct {
	Value   string `json:"value"`
	Sources []int  `json:"sources"` // numbers in Lookup.Sources
}

// Verdict is the result of a fact check.
type Verdict struct {
	Statement  string       `json:"statement,omitempty"` // the judged statement, in the question's words
	Label      VerdictLabel `json:"label"`
	Confidence float64      `json:"confidence"`
	For        []Claim      `json:"for,omitempty"`
	Against    []Claim      `json:"against,omitempty"`
}

// Stage is one step of a lookup and how long it took.
type Stage struct {
	Name string        `json:"name"` // need, search, read, summarise, verify
	Took time.Duration `json:"took"`
}

// Removal counts what a rule took away.
type Removal struct {
	Rule  string `json:"rule"` // "T2", "D1", "H", …
	Count int    `json:"count"`
}

// Usage is what model calls used.
type Usage struct {
	Prompt     int     `json:"prompt,omitempty"` // tokens
	Cached     int     `json:"cached,omitempty"` // part of Prompt that the server had cached
	Completion int     `json:"completion,omitempty"`
	Reasoning  int     `json:"reasoning,omitempty"`
	Calls      int     `json:"calls,omitempty"`
	Cost       float64 `json:"cost,omitempty"` // US dollars, if the server reports it
}

// Plus returns the sum of both.
func (u Usage) Plus(v Usage) Usage {
	return Usage{u.Prompt + v.Prompt, u.Cached + v.Cached, u.Completion + v.Completion, u.Reasoning + v.Reasoning, u.Calls + v.Calls, u.Cost + v.Cost}
}

// Framing is the context of a quote on its page, where the words alone mislead. Every string is the page's own text.
type Framing struct {
	Role     Role     `json:"role,omitempty"`
	Denied   Denial   `json:"denied,omitempty"`   // how the page denies it; empty: it does not
	Words    string   `json:"words,omitempty"`    // the words that deny it
	Header   string   `json:"header,omitempty"`   // first row of its table
	Question string   `json:"question,omitempty"` // the question that it answers, a heading
	Under    string   `json:"under,omitempty"`    // heading about false statements, below which the quote may correct one
	Path     []string `json:"path,omitempty"`     // headings above it, outermost first
}

// Role says whose words a quote is, or that it is not about the real world.
type Role string

// The roles. A quote without a role is the page's own statement.
const (
	RoleQuotation Role = "quotation" // the page quotes somebody
	RoleComment   Role = "comment"   // a user of the site wrote it
	RoleFiction   Role = "fiction"   // it tells a story
	RoleSatire    Role = "satire"
	RoleSponsored Role = "sponsored"
	RoleApril     Role = "april_1st" // the page was published on April 1st
)

// Denial says how a page denies a quote.
type Denial string

// The denials.
const (
	DeniedByHeading  Denial = "heading"  // it is below a heading such as "False claims"
	DeniedByList     Denial = "list"     // it is an item after "things that are not true:"
	DeniedByLabel    Denial = "label"    // "Myth:" precedes it
	DeniedByVerdict  Denial = "verdict"  // its row, or the line after it, has the verdict "False"
	DeniedByAnswer   Denial = "answer"   // "True or false?" is answered "False"
	DeniedBySentence Denial = "sentence" // a sentence next to it calls it a hoax
)

// Plain reports whether a quote may speak for its page: the page does not deny it and means it seriously. A date of
// April 1st alone does not matter, because most pages of that day are serious.
func (f Framing) Plain() bool { return f.Denied == "" && f.Role != RoleFiction && f.Role != RoleSatire }

// Note returns the words that change the meaning of a quote, or "". quote formats the page's words. say formats or
// translates the program's words, as [fmt.Sprintf] does.
func (f Framing) Note(quote func(string) string, say func(format string, values ...any) string) string {
	var parts []string
	if f.Question != "" {
		parts = append(parts, say("answers %s", quote(f.Question)))
	}
	if f.Under != "" {
		parts = append(parts, say("below the heading %s", quote(f.Under)))
	}
	if f.Header != "" {
		parts = append(parts, say("columns: %s", quote(f.Header)))
	}
	if words := roleWords[f.Role]; words != "" {
		parts = append(parts, say(words))
	}
	if words := denialWords[f.Denied]; words != "" {
		parts = append(parts, say(words, quote(f.Words)))
	}
	return strings.Join(parts, "; ")
}

var roleWords = map[Role]string{
	RoleQuotation: "quoted there, not said in the page's own name", RoleComment: "a user's comment", RoleFiction: "from the plot of a work of fiction",
	RoleSatire: "satire", RoleSponsored: "sponsored content", RoleApril: "dated April 1st",
}

var denialWords = map[Denial]string{
	DeniedByHeading: "denied there: listed under %s", DeniedByList: "denied there: listed under %s", DeniedByLabel: "denied there: labelled %s", DeniedByVerdict: "denied there: the verdict is %s",
	DeniedByAnswer: "denied there: the answer is %s", DeniedBySentence: "denied there: %s",
}

// Why returns the words for a page's failure, for people and models.
func (p Page) Why() string {
	status := ""
	if p.Status >= 400 {
		status = "status " + strconv.Itoa(p.Status)
	}
	return cmp.Or(failureWords[p.Reason], status, failureWords[p.Failure], "error")
}

// failureWords are the words for a page's failure, by reason or else by code. They are all ours: nothing that models or
// people read about a failure comes from a page.
var failureWords = map[Code]string{
	CodeDeniedDomain: "not allowed by the operator", CodeNoPages: "pages are not read here", CodeOutsideSite: "not a page of this site", CodeNotThere: "no such page", CodeRobots: "robots disallow", CodeChallenge: "wants proof of a human reader",
	CodeDNS: "name not found", CodeTLS: "no acceptable certificate", CodeConnect: "no connection", CodeTransport: "connection broke",
	CodeRateLimited: "asks to come back later", CodeTooManyRedirects: "too many redirects", CodeRedirectToBlockedTarget: "leads to a forbidden address",
	CodeRedirectToHTTP: "leads from https to http", CodeDeadline: "too slow", CodeQuorum: "not needed, others were read", CodeCanceled: "stopped",
	CodeDeniedAddress: "forbidden address", CodeInvalidTarget: "not a public page", CodeDeniedHost: "not a public page", CodeDeniedPort: "not a public page",
	CodeJavaScriptRequired: "needs JavaScript", CodeEmpty: "no text", CodeBadCharset: "unknown encoding", CodeUnparsable: "not readable", CodePanic: "not readable",

	CodeBlockedURL: "may not be read", CodeUnsupportedScheme: "not a web page", CodeUnsupportedType: "not a text page",
	CodeResponseTooLarge: "too large", CodeTimeout: "too slow", CodeHTTPError: "error", CodeExtractionFailed: "no text could be extracted", CodeSkipped: "not needed", CodeDuplicate: "same as another",
}

// Queries returns the queries of a lookup in quotation marks.
func (l *Lookup) Queries() string {
	var each []string
	for line := range strings.SplitSeq(l.Query, "\n") {
		each = append(each, `"`+line+`"`)
	}
	return strings.Join(each, ", ")
}

// LookupOutcome returns the outcome of a provider that only looked something up.
func LookupOutcome(provider string, l *Lookup, took time.Duration) Outcome {
	o := Outcome{Provider: provider, Status: OK, Took: took, Contributions: []Contribution{{Layer: Content, Source: provider, Lookup: l}}}
	if l.State == LookupFailed {
		o.Status = Failed
	}
	return o
}
