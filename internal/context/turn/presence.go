package turn

// Presence is what people see beside the bot's name.
type Presence struct {
	Text string // what keeps it from answering as usual; empty: nothing
}
