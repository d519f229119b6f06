package turn

import "time"

// Recalled is one thing that was remembered for a turn, with where it came from and why it was chosen.
type Recalled struct {
	Kind      string    `json:"kind"`                 // "message", or "lore" of the character's files
	MessageID string    `json:"message_id,omitempty"` // of a message
	URL       string    `json:"url,omitempty"`        // … in a server
	File      string    `json:"file,omitempty"`       // of lore
	By        string    `json:"by,omitempty"`         // who wrote it
	At        time.Time `json:"at,omitzero"`
	Text      string    `json:"text"`          // shortened
	Score     float64   `json:"score"`         // the log of its odds against the others
	Why       []Gain    `json:"why,omitempty"` // what moved it most, the strongest first
}

// Gain is something that was seen, and what it added to a score.
type Gain struct {
	Of  string  `json:"of"`
	Add float64 `json:"add"`
}
