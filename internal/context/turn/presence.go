package turn

import "time"

// Presence is what people see beside the bot's name.
type Presence struct {
	Text string // what keeps it from answering as usual; empty: nothing
}

// Activity is what the bot is at in a turn, for whoever watches it.
type Activity string

// At tells whoever watches the turn what it is at, and of how many things.
func (r Request) At(a Activity, n int) {
	if r.Watch != nil {
		r.Watch(a, n)
	}
}

// What takes time, in its order.
const (
	Searching Activity = "searching" // asking search services
	Reading   Activity = "reading"   // some pages
	Checking  Activity = "checking"  // what they say
	Thinking  Activity = "thinking"  // waiting for the model
	Writing   Activity = "writing"   // the model has begun to answer
)

// Progress is how far a turn has come, for whoever watches all of them. Who asked what is on the turn's record, if anything of theirs is kept.
type Progress struct {
	ID        string
	Character string
	GuildID   string
	ChannelID string
	Began     time.Time
	Phase     Phase    // Begun while it goes on, and then how it ended
	Activity  Activity // empty: it gathers what it knows
	N         int      // of how many things
	Lookup    State    // at the end; empty: there was none
	Took      time.Duration
	Err       string // at the end; redacted
}
