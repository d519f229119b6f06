package turn

import "time"

// Trace is the record of one turn: everything that /context can show.
type Trace struct {
	Request   Request        `json:"request"`
	Phase     Phase          `json:"phase"`
	Outcomes  []Outcome      `json:"outcomes,omitempty"`
	Layers    []LayerTokens  `json:"layers,omitempty"`     // tokens by layer, in reading order
	Dropped   []Dropped      `json:"dropped,omitempty"`    // what the budget cut
	Prompt    []Rendered     `json:"prompt,omitempty"`     // what the model was sent
	Model     string         `json:"model,omitempty"`      // who answered; "none" when no model is configured
	ModelHost string         `json:"model_host,omitempty"` // where it was asked
	Tried     []ModelFailure `json:"tried,omitempty"`      // models that failed before it
	Usage     Usage          `json:"usage,omitzero"`
	Finish    string         `json:"finish,omitempty"`  // why the model stopped: stop, length, truncated, …
	Reply     string         `json:"reply,omitempty"`   // as delivered
	Reacted   bool           `json:"reacted,omitempty"` // the reply is a reaction under the question
	ReplyIDs  []string       `json:"reply_ids,omitempty"`
	Guarded   []Guarded      `json:"guarded,omitempty"`   // what the output guard changed
	Unborne   []Citation     `json:"unborne,omitempty"`   // citations that their pages do not bear out, marked [n?] in the reply
	Processed []Processed    `json:"processed,omitempty"` // what models did beside the answer, in order
	Verified  *Verified      `json:"verified,omitempty"`  // what a model said of the citations; nil: words alone decided
	Uncited   bool           `json:"uncited,omitempty"`   // the model was given sources and named none of them
	Cut       bool           `json:"cut,omitempty"`       // the answer broke off, reached a limit or was stopped: the reply ends before it does
	Presses   []Press        `json:"presses,omitempty"`   // what people did with the reply
	Blind     bool           `json:"blind,omitempty"`     // the model was not shown images, because it cannot see
	Err       string         `json:"err,omitempty"`       // redacted cause, for the operator
	Cure      string         `json:"cure,omitempty"`      // what the operator should check about it
	Began     time.Time      `json:"began"`

	Memory      *MemoryChange `json:"memory,omitempty"`      // what its author ordered to be remembered or forgotten; nil: nothing
	Transcripts []Transcript  `json:"transcripts,omitempty"` // of voice messages
	Timings     Timings       `json:"timings"`
	Took        time.Duration `json:"took"`
}

// MemoryChange is what became of an order to remember, to forget or to correct. It is carried out before the turn reads anything, in the
// person's own words.
type MemoryChange struct {
	Deed    string  `json:"deed"`              // "keep", "forget" or "correct"
	Text    string  `json:"text,omitempty"`    // what was to be remembered, or forgotten
	Kind    string  `json:"kind,omitempty"`    // of what is remembered now: "person" or "note"
	Scope   string  `json:"scope,omitempty"`   // where: "dm" or "channel"
	IDs     []int64 `json:"ids,omitempty"`     // of what is remembered now, or was forgotten
	Refused string  `json:"refused,omitempty"` // why nothing was changed

	Also []MemoryChange `json:"also,omitempty"` // what became of the message's further orders, in their order
}

// All are the change and those beside it.
func (m *MemoryChange) All() []MemoryChange {
	if m == nil {
		return nil
	}
	all := append([]MemoryChange{*m}, m.Also...)
	all[0].Also = nil
	return all
}

// Why an order to remember or to forget is not carried out.
const (
	MemoryOthers  = "it is about somebody else"
	MemoryNothing = "nothing of that kind is remembered"
	MemorySecret  = "it holds a secret"
	MemoryFull    = "there is as much as one person may have remembered"
	MemoryOptOut  = "who asks has opted out, so that nothing of theirs is kept"
	MemoryBroken  = "the store failed"
)

// Phase is how far a turn came. A turn found in an early phase at start-up was interrupted.
type Phase string

const (
	Begun       Phase = "begun"     // the event is claimed
	Answering   Phase = "answering" // the prompt is built; something may have been sent
	Answered    Phase = "answered"
	Broken      Phase = "failed"
	Interrupted Phase = "interrupted" // the process ended, a person stopped it, or a newer message replaced it
)

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

	Images []Image `json:"images,omitempty"` // behind the text
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

// Processed is what a model did before the answer or with it, beside the model that answers.
type Processed struct {
	By     string        `json:"by"` // "think", "recast" or, without a model, "rewrites"
	Model  string        `json:"model,omitempty"`
	Status Status        `json:"status"`         // of all but OK, the turn went on as if it had not been asked
	Text   string        `json:"text,omitempty"` // what it wrote
	Err    string        `json:"err,omitempty"`  // redacted
	Usage  Usage         `json:"usage,omitzero"`
	Took   time.Duration `json:"took"`
}

// Citation is one citation of a reply.
type Citation struct {
	Source  int    `json:"source"`
	Text    string `json:"text"`    // the words that cite it, shortened
	Refused string `json:"refused"` // the check that failed: quote, date, number, …
}

// Verified is what a model said of a reply's citations, after words had judged them.
type Verified struct {
	Opinions []Opinion     `json:"opinions"`
	Usage    Usage         `json:"usage,omitzero"`
	Took     time.Duration `json:"took"`
}

// Add adds an opinion and what it used.
func (v *Verified) Add(o Opinion, u Usage) {
	v.Opinions = append(v.Opinions, o)
	v.Usage = v.Usage.Plus(u)
}

// Decided is how many citations the model decided about.
func (v *Verified) Decided() (n int) {
	for _, o := range v.Opinions {
		if o.Is != "none" {
			n++
		}
	}
	return n
}

// Opinion is what a model said of some words and the pages that they cite.
type Opinion struct {
	Sources []int  `json:"sources"`
	Text    string `json:"text"`            // the words, shortened
	Words   string `json:"words,omitempty"` // by page, the check by which words refuse it; none if they let it pass
	Is      string `json:"is"`              // yes or no, which decides, or none
	Why     string `json:"why,omitempty"`   // of none: failed, garbled, …
	Quote   string `json:"quote,omitempty"` // of yes: the page's words
	Model   string `json:"model,omitempty"`
}

// Press is a button under a reply, or another deed of a person, that changed what became of it.
type Press struct {
	Kind   string    `json:"kind"` // delete, regenerate or continue; or PressEdited
	ByID   string    `json:"by_id"`
	At     time.Time `json:"at"`
	TurnID string    `json:"turn_id,omitempty"` // of the turn that it began
}

// PressEdited is the kind of a question that was edited: the reply of the turn that this began took the place of this one's.
const PressEdited = "edited"

// Timings are measured from Began.
type Timings struct {
	Prompt     time.Duration `json:"prompt,omitempty"`      // prompt built
	FirstToken time.Duration `json:"first_token,omitempty"` // model's first words
	FirstSeen  time.Duration `json:"first_seen,omitempty"`  // first post accepted
}

// Lookup returns the turn's first lookup, or nil.
func (t *Trace) Lookup() *Lookup {
	for i := range t.Outcomes {
		for j := range t.Outcomes[i].Contributions {
			if l := t.Outcomes[i].Contributions[j].Lookup; l != nil {
				return l
			}
		}
	}
	return nil
}
