package turn

import (
	"fmt"
	"strings"
	"time"
)

// Lookup is one question asked of the outside world, whatever came of it.
type Lookup struct {
	State    State             `json:"state"`
	Reason   string            `json:"reason"`             // why it was, or was not, looked up; for a failure, what failed
	Need     string            `json:"need,omitempty"`     // why it was, or was not, needed
	Failure  Code              `json:"failure,omitempty"`  // when State is failed
	Score    float64           `json:"score"`              // 0 (surely not needed) to 1 (surely needed)
	Cues     []string          `json:"cues,omitempty"`     // what moved the score, strongest first
	Intent   Intent            `json:"intent,omitempty"`   // the first of Intents
	Intents  []ScoredIntent    `json:"intents,omitempty"`  // what kinds of question it is; records older than them have Intent alone
	Question string            `json:"question,omitempty"` // the message as a standalone question; never leaves the machine, but to the models
	Query    string            `json:"query,omitempty"`    // exactly what left the machine for the search backends
	Scrubbed []string          `json:"scrubbed,omitempty"` // kinds of things kept from leaving: "mention", "email", …
	Steps    []Step            `json:"steps,omitempty"`    // how the message became the query
	Asked    []Asked           `json:"asked,omitempty"`    // the backends, in their fixed order
	Hits     []Hit             `json:"hits,omitempty"`     // merged and ranked
	Pages    []Page            `json:"pages,omitempty"`    // every page that was tried, read or not
	Summary  []Claim           `json:"summary,omitempty"`  // what the main model was told, checked
	Rejected []Claim           `json:"rejected,omitempty"` // what a side model selected and the checks refused
	Dropped  []DroppedSentence `json:"dropped,omitempty"`  // what was considered and not told, by page; only where somebody asked for it
	Sources  []Source          `json:"sources,omitempty"`  // numbered as in the block
	// Unanswered says that nothing on the pages that a person named answers the question: Summary is what these pages say.
	Unanswered bool          `json:"unanswered,omitempty"`
	By         string        `json:"by,omitempty"`        // who summarised: a model's name, or "extractive"
	Conflicts  []Conflict    `json:"conflicts,omitempty"` // what the sources of the summary contradict each other in
	Verdict    *Verdict      `json:"verdict,omitempty"`   // fact checks only
	Newest     time.Time     `json:"newest,omitzero"`     // newest publication date among the sources
	Block      string        `json:"block,omitempty"`     // what the main model was shown, to the byte
	Stages     []Stage       `json:"stages,omitempty"`
	Removed    []Removal     `json:"removed,omitempty"` // what cleaning took out of page text
	Usage      Usage         `json:"usage,omitzero"`    // the side model's
	Began      time.Time     `json:"began"`
	Took       time.Duration `json:"took"`
	Cached     bool          `json:"cached,omitempty"`
	Stale      time.Duration `json:"stale,omitempty"` // nobody could search, and what an earlier search had found was used: its age
	Caps       []Cap         `json:"caps,omitempty"`
	Quoted     []string      `json:"quoted,omitempty"` // ids of the messages of the server that stand in it, also beside the sources
	Reused     *Reuse        `json:"reused,omitempty"` // the earlier lookup whose pages answer this one; nothing was asked then
}

// ScoredIntent is a kind of question, and how sure it is that one is asked.
type ScoredIntent struct {
	Name       Intent  `json:"name"`
	Confidence float64 `json:"confidence"` // 0 to 1
}

// Cap is a limit on how much is looked up, and how much of it is used with this lookup.
type Cap struct {
	Of    string    `json:"of"` // "channel", in half an hour; "person", in a day; "minute", of all channels together
	Used  int       `json:"used"`
	Limit int       `json:"limit"`
	Free  time.Time `json:"free,omitzero"` // when the next is free, where it is used up
}

// Reuse is an earlier lookup that answers a like question.
type Reuse struct {
	Turn  string        `json:"turn"` // its record's id
	Query string        `json:"query"`
	Age   time.Duration `json:"age"`
}

// Step is one step from a message to a query.
type Step struct {
	By   string `json:"by"`   // "standalone", "side model", "question", "dates", "year", "titles", "scrub"
	Text string `json:"text"` // what it made
}

// State is what came of a lookup. "Could not look" and "found nothing" are different words.
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
	Query   int           `json:"query,omitempty"`  // which line of Lookup.Query it was asked, from 1; 0: none, or not recorded
	Status  Code          `json:"status"`           // CodeOK, CodeEmpty, or why it did not answer
	Detail  string        `json:"detail,omitempty"` // for the operator: cause and cure; redacted
	Hits    int           `json:"hits"`
	Took    time.Duration `json:"took"`
	Stale   time.Duration `json:"stale,omitempty"` // it failed, and its hits are of an earlier answer of this age
}

// Hit is one search result. Every string is from outside, as plain text.
type Hit struct {
	Backend   string    `json:"backend"`
	Also      []string  `json:"also,omitempty"`  // other backends that returned the same page
	Twins     []string  `json:"twins,omitempty"` // other addresses at which the same text was found
	Rank      int       `json:"rank"`            // from 1, within Backend
	Score     float64   `json:"score,omitempty"`
	Given     float64   `json:"given,omitempty"` // the backend's own score, on its own scale
	Title     string    `json:"title"`
	URL       string    `json:"url"`
	Snippet   string    `json:"snippet,omitempty"`
	Text      string    `json:"-"`                  // content that the backend itself delivered: read in place of fetching URL
	Why       string    `json:"why,omitempty"`      // why it stands where it stands, and why its page was not read
	Answer    bool      `json:"answer,omitempty"`   // Text answers the query by itself: a forecast, an instant answer
	Published time.Time `json:"published,omitzero"` // zero: undated
	DayOnly   bool      `json:"day_only,omitempty"` // Published is midnight UTC of a day whose hour is not known
	Thumbnail string    `json:"thumbnail,omitempty"`
	Media     string    `json:"media,omitempty"` // the image or video itself, where URL is the page that shows it
	Language  string    `json:"language,omitempty"`

	Age time.Duration `json:"age,omitempty"` // how long ago the backend said so; 0: just now
}

// Page is one page that was tried.
type Page struct {
	N         int           `json:"n,omitempty"` // source number in the block, 0 if not used
	URL       string        `json:"url"`
	Final     string        `json:"final,omitempty"`
	Status    int           `json:"status,omitempty"`  // HTTP status, 0 if there was none
	Failure   Code          `json:"failure,omitempty"` // empty if it was read
	Reason    Code          `json:"reason,omitempty"`  // a finer code than Failure, if there is one
	Via       string        `json:"via,omitempty"`     // backend or special reader that delivered the text, if the page was not fetched
	Passed    string        `json:"passed,omitempty"`  // special reader that failed before the page was fetched, and its code: "github: rate_limited"
	Title     string        `json:"title,omitempty"`
	Site      string        `json:"site,omitempty"` // canonical host
	Bytes     int           `json:"bytes,omitempty"`
	SHA256    string        `json:"sha256,omitempty"`
	Took      time.Duration `json:"took,omitempty"`
	Fetched   time.Time     `json:"fetched,omitzero"`
	Published time.Time     `json:"published,omitzero"`
	Modified  time.Time     `json:"modified,omitzero"`
	Cached    bool          `json:"cached,omitempty"`
	Hidden    int           `json:"hidden,omitempty"` // characters dropped as hidden
	Text      string        `json:"text,omitempty"`   // clean text; stored once by hash, apart from the trace
}

// Snippet reports whether the page could not be read, and its text is only what a search service says about it.
func (p Page) Snippet() bool { return strings.HasSuffix(p.Via, SnippetMark) }

// SnippetMark is what Via ends with behind the backend's name where the text is a snippet.
const SnippetMark = " snippet"

// Claim is one quote of a page.
type Claim struct {
	Text    string    `json:"text"`           // as it is shown: with "…" where something of the sentence is left out, and without the sounds of speech
	Quote   string    `json:"quote"`          // as it stands on the page; in old records, the words that a text of a side model rested on
	Source  int       `json:"source"`         // number in Sources
	Also    []Backing `json:"also,omitempty"` // other sources that say the same
	Checks  []string  `json:"checks,omitempty"`
	Refused string    `json:"refused,omitempty"` // the check that failed
	Framing Framing   `json:"framing,omitzero"`  // what it is on its page

	// Where it stands: of the evidence of a verdict alone, which may be of a page that is no source.
	URL       string    `json:"url,omitempty"`
	Published time.Time `json:"published,omitzero"` // zero: undated
}

// DroppedSentence is a sentence of a page that was considered as evidence and is not in the summary.
type DroppedSentence struct {
	Source int     `json:"source,omitempty"` // number of its page in Sources, 0 if that is none
	URL    string  `json:"url"`              // of its page
	Text   string  `json:"text"`             // at most 160 characters
	Score  float64 `json:"score"`            // among those of its page, the higher the better
	Why    string  `json:"why"`              // "below the best", "says the same as [1]", "failed check: number", …
}

// Backing is another source's words for a claim.
type Backing struct {
	Source int    `json:"source"`
	Quote  string `json:"quote"`
}

// Sources are the numbers of all sources that say it, the quoted one first.
func (c Claim) Sources() []int {
	all := []int{c.Source}
	for _, b := range c.Also {
		all = append(all, b.Source)
	}
	return all
}

// Cited is how the sources of a claim are cited: "[1][3]".
func (c Claim) Cited() string { return cited(c.Sources()) }

// Cited is how the sources of a value are cited.
func (g Given) Cited() string { return cited(g.Sources) }

func cited(sources []int) string {
	var b strings.Builder
	for _, n := range sources {
		fmt.Fprintf(&b, "[%d]", n)
	}
	return b.String()
}

// Source is one numbered source of a block. The list under a reply is written from it, by code.
type Source struct {
	N         int       `json:"n"`
	URL       string    `json:"url"`
	Title     string    `json:"title"`
	Site      string    `json:"site"`
	Published time.Time `json:"published,omitzero"`
	Fetched   time.Time `json:"fetched"`
	Links     []string  `json:"links,omitempty"` // addresses that a person posted there: a reply may hold them
}

// Conflict is two values that different sources give for what looks like the same.
type Conflict struct {
	Of     string   `json:"of"` // "number" or "date"
	Values [2]Given `json:"values"`
}

// Given is a value as it is written in a claim, with all the claim's sources.
type Given struct {
	Value   string `json:"value"`
	Sources []int  `json:"sources"` // numbers in Lookup.Sources
}

// Verdict is the result of a fact check.
type Verdict struct {
	Statement  string       `json:"statement,omitempty"` // that was judged, of the question's words
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
	Cached     int     `json:"cached,omitempty"` // of these, that the server had from an earlier prompt
	Completion int     `json:"completion,omitempty"`
	Reasoning  int     `json:"reasoning,omitempty"`
	Calls      int     `json:"calls,omitempty"`
	Cost       float64 `json:"cost,omitempty"` // US dollars, where the server says so
}

// Plus returns what both used.
func (u Usage) Plus(v Usage) Usage {
	return Usage{u.Prompt + v.Prompt, u.Cached + v.Cached, u.Completion + v.Completion, u.Reasoning + v.Reasoning, u.Calls + v.Calls, u.Cost + v.Cost}
}
