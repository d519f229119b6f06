package turn

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
)
