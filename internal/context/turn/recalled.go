package turn

import "time"

// Recalled is a statement of the bot's memory, a message from before or a passage of the character's lore that was offered: with what it rests on and why it was chosen.
type Recalled struct {
	ID      int64    `json:"id,omitempty"` // of a statement
	Text    string   `json:"text"`
	Scope   string   `json:"scope,omitempty"`   // of a statement, where it may be told: "dm", "channel", "guild", "public"
	Sources []string `json:"sources,omitempty"` // ids of the messages that it rests on; of a message, its own and that of the one quoted before it

	File    string `json:"file,omitempty"`    // of a passage, as in "lore/harbour.md"
	Line    int    `json:"line,omitempty"`    // of it, on which the passage begins
	Heading string `json:"heading,omitempty"` // under which it stands

	URL   string    `json:"url,omitempty"` // of a message in a server
	By    string    `json:"by,omitempty"`  // who wrote a message
	At    time.Time `json:"at,omitzero"`
	Score float64   `json:"score,omitempty"` // of a message: the log of its odds against the others
	Why   []Gain    `json:"why,omitempty"`   // what moved that most, the strongest first
}

// Gain is something that was seen, and what it added to a score.
type Gain struct {
	Of  string  `json:"of"`
	Add float64 `json:"add"`
}

// Embedding says that a message was sent to have its meaning compared with what was written before.
type Embedding struct {
	Host    string        `json:"host"`
	Model   string        `json:"model"`
	Took    time.Duration `json:"took"`
	Failure Code          `json:"failure,omitempty"` // why there was no list of what is near, or ""
}

// RecallFilter is what a side model left out of what was recalled.
type RecallFilter struct {
	Model string        `json:"model,omitempty"`
	Shown int           `json:"shown"`         // what it was asked about
	Out   []string      `json:"out,omitempty"` // ids of messages, "statement 7", "lore/harbour.md:12"
	Err   string        `json:"err,omitempty"` // why all stayed
	Took  time.Duration `json:"took"`
	Usage Usage         `json:"usage,omitzero"`
}

// Filtered returns what a side model left out of what was recalled, or nil.
func (t *Trace) Filtered() *RecallFilter {
	for _, o := range t.Outcomes {
		for _, c := range o.Contributions {
			if c.Filter != nil {
				return c.Filter
			}
		}
	}
	return nil
}
