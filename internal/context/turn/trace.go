package turn

import (
	"iter"
	"slices"
	"time"
)

// Trace is the record of one turn: everything that /context can show.
type Trace struct {
	Request     Request        `json:"request"`
	Phase       Phase          `json:"phase"`
	Outcomes    []Outcome      `json:"outcomes,omitempty"`
	Layers      []LayerTokens  `json:"layers,omitempty"`     // tokens by layer, in reading order
	Dropped     []Dropped      `json:"dropped,omitempty"`    // contributions that the budget cut
	Prompt      []Rendered     `json:"prompt,omitempty"`     // messages that the model was sent
	Model       string         `json:"model,omitempty"`      // model that answered; "none" if no model is configured
	ModelHost   string         `json:"model_host,omitempty"` // host of the model
	Tried       []ModelFailure `json:"tried,omitempty"`      // models that failed before it
	Usage       Usage          `json:"usage,omitzero"`
	Finish      string         `json:"finish,omitempty"`  // why the model stopped: stop, length, truncated, …
	Reply       string         `json:"reply,omitempty"`   // as delivered
	Reacted     bool           `json:"reacted,omitempty"` // the reply is a reaction under the question
	ReplyIDs    []string       `json:"reply_ids,omitempty"`
	Guarded     []Guarded      `json:"guarded,omitempty"`   // what the output guard changed
	Unsupported []Citation     `json:"unborne,omitempty"`   // citations that their pages do not support, marked [n?] in the reply
	Processed   []Processed    `json:"processed,omitempty"` // what models did in addition to the answer, in order
	Calls       []Call         `json:"calls,omitempty"`     // of models, the answer among them, in the order in which they began
	Verified    *Verified      `json:"verified,omitempty"`  // a model's opinions on the citations; nil: rules alone decided
	Uncited     bool           `json:"uncited,omitempty"`   // the model was given sources and cited none
	Cut         bool           `json:"cut,omitempty"`       // the answer broke off, reached a limit or was stopped, so the reply is incomplete
	Presses     []Press        `json:"presses,omitempty"`   // what people did with the reply
	Blind       bool           `json:"blind,omitempty"`     // images were not shown to the model, because it cannot see
	Err         string         `json:"err,omitempty"`       // redacted cause, for the operator
	Cure        string         `json:"cure,omitempty"`      // what the operator should check
	Began       time.Time      `json:"began"`

	Memory      *MemoryChange `json:"memory,omitempty"`      // result of an order to remember or forget; nil: there was none
	Transcripts []Transcript  `json:"transcripts,omitempty"` // of voice messages
	Speech      *Speech       `json:"speech,omitempty"`      // the reply was said aloud; nil: it was not
	Mood        *Mood         `json:"mood,omitempty"`        // that the reply shows by a picture; nil: pictures are off
	Timings     Timings       `json:"timings"`
	Took        time.Duration `json:"took"`
}

// MemoryChange is the result of an order to remember, forget or correct something. The order is carried out before the
// turn reads anything, in the person's own words.
type MemoryChange struct {
	Deed    string  `json:"deed"`            // "keep", "forget", "correct" or "remind"
	Text    string  `json:"text,omitempty"`  // what was to be remembered or forgotten
	From    string  `json:"from,omitempty"`  // what a correction replaced
	Field   string  `json:"field,omitempty"` // of the person's card, if that was changed
	Asks    bool    `json:"asks,omitempty"`  // it is to forget everything, which the person has yet to confirm
	Wiped   bool    `json:"wiped,omitempty"` // the person has confirmed it; Gone is how many statements went
	Gone    int     `json:"gone,omitempty"`
	Kind    string  `json:"kind,omitempty"`    // of a new statement: "person" or "note"
	Scope   string  `json:"scope,omitempty"`   // of a new statement: "dm" or "channel"
	IDs     []int64 `json:"ids,omitempty"`     // of new or forgotten statements
	Refused string  `json:"refused,omitempty"` // why nothing was changed

	// Of a reminder: when it comes, in which time zone, and whether that was taken because the person's is unknown.
	At    time.Time `json:"at,omitzero"`
	Zone  string    `json:"zone,omitempty"`
	Taken bool      `json:"taken,omitempty"`

	Also []MemoryChange `json:"also,omitempty"` // results of the message's other orders, in order
}

// All returns the change and those in Also.
func (m *MemoryChange) All() []MemoryChange {
	if m == nil {
		return nil
	}
	all := append([]MemoryChange{*m}, m.Also...)
	all[0].Also = nil
	return all
}

// Reasons why an order to remember or forget is not carried out.
const (
	MemoryOthers  = "it is about somebody else"
	MemoryNothing = "nothing of that kind is remembered"
	MemorySecret  = "it holds a secret"
	MemoryFull    = "there is as much as one person may have remembered"
	MemoryOptOut  = "who asks has opted out, so that nothing of theirs is kept"
	MemoryOrder   = "it is an order or an address, not a statement"
	MemoryBroken  = "the store failed"
	MemoryUnclear = "it is not clear what to change"
	MemoryZone    = "there is no such time zone"
	MemoryCrowded = "there are as many reminders as one person may have"
)

// Phase says how far a turn came. A turn that is in an early phase at start-up was interrupted.
type Phase string

const (
	Begun       Phase = "begun"     // the event is claimed
	Answering   Phase = "answering" // the prompt is built; something may have been sent
	Answered    Phase = "answered"
	Broken      Phase = "failed"
	Interrupted Phase = "interrupted" // the process ended, a person stopped it, or a newer message replaced it
)

// Over reports whether the turn has ended.
func (p Phase) Over() bool { return p != Begun && p != Answering }

// LayerTokens is a layer's use of its budget.
type LayerTokens struct {
	Layer  Layer `json:"layer"`
	Used   int   `json:"used"`
	Budget int   `json:"budget"`
}

// Dropped is one contribution that the budget cut.
type Dropped struct {
	Layer  Layer  `json:"layer"`
	Source string `json:"source"`
	Reason string `json:"reason"` // "truncated" or "dropped"
	Tokens int    `json:"tokens"` // lost
}

// Rendered is one message of the prompt.
type Rendered struct {
	Role   string `json:"role"` // system, user, assistant
	Name   string `json:"name,omitempty"`
	Text   string `json:"text"`
	Tokens int    `json:"tokens"`
	Web    bool   `json:"web,omitempty"`

	Images []Image `json:"images,omitempty"` // after the text
}

// ModelFailure is one model that was asked and failed.
type ModelFailure struct {
	Model string `json:"model"`
	Kind  string `json:"kind"`
}

// Guarded is what one output rule changed in the reply.
type Guarded struct {
	Rule  string `json:"rule"` // "O1", "O6", …
	Count int    `json:"count"`
	What  string `json:"what,omitempty"` // the first instance, shortened and inert
}

// Processed is a step before or after the answer, usually by another model.
type Processed struct {
	By     string        `json:"by"` // "think", "recast" or, without a model, "rewrites"
	Model  string        `json:"model,omitempty"`
	Status Status        `json:"status"`         // for any other status than OK, the turn went on without the step
	Text   string        `json:"text,omitempty"` // the result
	Err    string        `json:"err,omitempty"`  // redacted
	Took   time.Duration `json:"took"`
}

// What calls are for. The prompt of the answer's call is the record's.
const (
	ForAnswer = "answer"
	ForNeed   = "need"   // whether a message needs a lookup
	ForReword = "reword" // a follow-up in full
	ForSelect = "select" // quotes of a page
	ForVerify = "verify" // whether a page bears a sentence out
	ForFilter = "filter" // which recalled messages do not fit
	ForSpeech = "speech" // a reply is said aloud; [Trace.Speech] has the service
	ForMood   = "mood"   // which mood a reply shows
)

// Call is one request to a model, as it was answered.
type Call struct {
	For    string        `json:"for"` // one of the For constants, "vision", "think", "orders", …
	Model  string        `json:"model,omitempty"`
	Prompt []Rendered    `json:"prompt,omitempty"` // without token counts; long texts are cut
	Quoted []string      `json:"quoted,omitempty"` // ids of messages that the prompt holds and nothing else of the record
	Answer string        `json:"answer,omitempty"` // before anything was done with it
	Err    string        `json:"err,omitempty"`    // redacted
	Usage  Usage         `json:"usage,omitzero"`
	Began  time.Time     `json:"began"`
	Took   time.Duration `json:"took"`
}

// Bare returns the call without what was said.
func (c Call) Bare() Call {
	return Call{For: c.For, Model: c.Model, Usage: c.Usage, Began: c.Began, Took: c.Took}
}

// Asked returns the calls of the turn. An old record has only the answer.
func (t *Trace) Asked() []Call {
	if len(t.Calls) > 0 || t.Model == "" || t.Model == "none" {
		return t.Calls
	}
	return []Call{{For: ForAnswer, Model: t.Model, Answer: t.Reply, Usage: t.Usage, Began: t.Began.Add(t.Timings.Prompt), Took: t.Took - t.Timings.Prompt}}
}

// Spent returns what models used for the given things, or for everything if none is given.
func (t *Trace) Spent(on ...string) (u Usage) {
	for _, c := range t.Asked() {
		if len(on) == 0 || slices.Contains(on, c.For) {
			u = u.Plus(c.Usage)
		}
	}
	return u
}

// Citation is one citation of a reply.
type Citation struct {
	Source  int    `json:"source"`
	Text    string `json:"text"`    // the citing words, shortened
	Refused string `json:"refused"` // the failed check: quote, date, number, …
}

// Verified holds a model's opinions on a reply's citations, after rules had judged them.
type Verified struct {
	Opinions []Opinion     `json:"opinions"`
	Took     time.Duration `json:"took"`
}

// Decided returns how many citations the model decided.
func (v *Verified) Decided() (n int) {
	for _, o := range v.Opinions {
		if o.Is != "none" {
			n++
		}
	}
	return n
}

// Opinion is a model's opinion on some words and the pages that they cite.
type Opinion struct {
	Sources []int  `json:"sources"`
	Text    string `json:"text"`            // the words, shortened
	Words   string `json:"words,omitempty"` // by page, the rule that refused the words; empty: none did
	Is      string `json:"is"`              // "yes" or "no" decide; "none" does not
	Why     string `json:"why,omitempty"`   // for none: failed, garbled, …
	Quote   string `json:"quote,omitempty"` // for yes: the page's words
	Model   string `json:"model,omitempty"`
}

// Press is something that a person did with a reply: a button, or an edit of the question.
type Press struct {
	Kind   string    `json:"kind"` // delete, regenerate or continue; or PressEdited or PressShown
	ByID   string    `json:"by_id"`
	At     time.Time `json:"at"`
	TurnID string    `json:"turn_id,omitempty"` // of the turn that it began
}

// PressShown is the Kind for choosing this reply among the answers to one question.
const PressShown = "shown"

// PressEdited is the Kind for an edit of the question. The new turn's reply replaced this one.
const PressEdited = "edited"

// Timings are durations since Began.
type Timings struct {
	Prompt     time.Duration `json:"prompt,omitempty"`      // until the prompt was built
	FirstToken time.Duration `json:"first_token,omitempty"` // until the model's first words
	FirstSeen  time.Duration `json:"first_seen,omitempty"`  // until the first post was accepted
}

// Contributions yields everything that the providers offered.
func (t *Trace) Contributions() iter.Seq[*Contribution] {
	return func(yield func(*Contribution) bool) {
		for i := range t.Outcomes {
			for j := range t.Outcomes[i].Contributions {
				if !yield(&t.Outcomes[i].Contributions[j]) {
					return
				}
			}
		}
	}
}

// Lookup returns the turn's first lookup, or nil.
func (t *Trace) Lookup() *Lookup {
	for c := range t.Contributions() {
		if c.Lookup != nil {
			return c.Lookup
		}
	}
	return nil
}

// Recalled is something recalled for the prompt: a statement of memory, an older message or a passage of lore. It has
// its sources and why it was chosen.
type Recalled struct {
	ID      int64    `json:"id,omitempty"` // of a statement
	Text    string   `json:"text"`
	Scope   string   `json:"scope,omitempty"`   // of a statement, where it may be shown: "dm", "channel", "guild", "public"
	Sources []string `json:"sources,omitempty"` // ids of its source messages; for a message, its own id and that of the message quoted before it

	File    string `json:"file,omitempty"`    // of a passage, for example "lore/harbour.md"
	Line    int    `json:"line,omitempty"`    // of a passage, where it begins
	Heading string `json:"heading,omitempty"` // of a passage

	URL     string    `json:"url,omitempty"` // of a message in a server
	By      string    `json:"by,omitempty"`  // author of a message or a statement
	At      time.Time `json:"at,omitzero"`
	Mine    bool      `json:"mine,omitempty"`    // of a statement: the asker's own
	Machine bool      `json:"machine,omitempty"` // of a message: no person wrote it
	Share   float64   `json:"share,omitempty"`   // of the message's words that a statement has, by weight
	Score   float64   `json:"score,omitempty"`   // of a message: log odds against the others
	Why     []Gain    `json:"why,omitempty"`     // the main parts of Score, largest first
}

// Greeting is the provider of what is remembered that a greeting is about.
const Greeting = "greeting"

// AboutProgram is the source of a contribution that answers a question about the program itself with what is bundled.
const AboutProgram = "memory:program"

// Gain is a feature and what it added to a score.
type Gain struct {
	Of  string  `json:"of"`
	Add float64 `json:"add"`
}

// Embedding says where a message was sent to find older messages of similar meaning.
type Embedding struct {
	Host    string        `json:"host"`
	Model   string        `json:"model"`
	Took    time.Duration `json:"took"`
	Failure Code          `json:"failure,omitempty"` // why there were no results; empty: there were
}

// RecallFilter is what a side model removed from what was recalled.
type RecallFilter struct {
	Model string        `json:"model,omitempty"`
	Shown int           `json:"shown"`         // number of items that it was asked about
	Out   []string      `json:"out,omitempty"` // removed: ids of messages, "statement 7", "lore/harbour.md:12"
	Err   string        `json:"err,omitempty"` // why nothing was removed
	Took  time.Duration `json:"took"`
}

// LookupBy returns the lookup that a provider made, or nil.
func (t *Trace) LookupBy(provider string) *Lookup {
	for _, o := range t.Outcomes {
		for _, c := range o.Contributions {
			if o.Provider == provider && c.Lookup != nil {
				return c.Lookup
			}
		}
	}
	return nil
}

// Filtered returns the result of the recall filter, or nil.
func (t *Trace) Filtered() *RecallFilter {
	for c := range t.Contributions() {
		if c.Filter != nil {
			return c.Filter
		}
	}
	return nil
}

// Activity is what the bot is doing in a turn.
type Activity string

// Ref returns the reference to a post of the turn's reply.
func (r *Request) Ref(id string) Ref {
	return Ref{GuildID: r.GuildID, ChannelID: r.ChannelID, ID: id, Persona: r.Persona}
}

// At reports to Watch what the turn is doing, and with how many things.
func (r Request) At(a Activity, n int) {
	if r.Watch != nil {
		r.Watch(a, n)
	}
}

// The activities that take time, in order.
const (
	Searching Activity = "searching" // asking search services
	Reading   Activity = "reading"   // reading some pages
	Checking  Activity = "checking"  // checking what the pages say
	Thinking  Activity = "thinking"  // waiting for the model
	Writing   Activity = "writing"   // the model has begun to answer
)

// Progress is how far a turn has come. The turn's record says who asked what, if it was kept.
type Progress struct {
	ID        string
	Character string
	GuildID   string
	ChannelID string
	Began     time.Time
	Phase     Phase    // Begun until the turn ends, then how it ended
	Activity  Activity // empty: it gathers context
	N         int      // number of things, for example pages
	Lookup    State    // set at the end; empty: there was no lookup
	Took      time.Duration
	Err       string // set at the end; redacted
}

// Progress returns how far the turn has come.
func (t *Trace) Progress() Progress {
	r := &t.Request
	p := Progress{
		ID: r.ID, Character: r.Character, GuildID: r.GuildID, ChannelID: r.ChannelID, Began: t.Began, Phase: t.Phase, Took: t.Took, Err: t.Err,
	}
	if l := t.Lookup(); l != nil {
		p.Lookup = l.State
	}
	return p
}
