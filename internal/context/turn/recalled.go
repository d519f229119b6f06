package turn

import "time"

// Recalled is a statement of the bot's memory, or a message from before, that was offered: with what it rests on and why it was chosen.
type Recalled struct {
	ID      int64    `json:"id,omitempty"` // of a statement
	Text    string   `json:"text"`
	Scope   string   `json:"scope,omitempty"` // of a statement, where it may be told: "dm", "channel", "guild", "public"
	Sources []string `json:"sources"`         // ids of the messages that it rests on; of a message, its own and that of the one quoted before it

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
