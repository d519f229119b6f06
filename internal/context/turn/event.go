package turn

import "time"

// Event is what a door brings in.
type Event struct {
	Kind      Kind
	ID        string // unique for what happened: the message's id, the interaction's id
	GuildID   string
	ParentID  string // the channel that a thread hangs on, if it is one
	Message   Message
	Reply     *Message // the message replied to, where the door was told it
	Title     string   // of the forum's post that Message begins
	Mentioned bool     // the bot itself is mentioned in Message
	Direct    bool     // a direct message, or the terminal
	Command   *Command
	Reaction  *Reaction // under Message, of which no more than the ids are known

	// ParentUnknown: the door does not know the channel yet, so it may be a thread of another one, whose settings then hold for it.
	ParentUnknown bool
	// Proxied: a proxy wrote Message for a person, through a webhook. Original is the message that it wrote anew and is about to delete;
	// empty if that is not known, or gone already.
	Proxied  bool
	Original string
	// Rewritten: Message was deleted by a proxy, which has written it anew.
	Rewritten bool
	// Late: Message was written while the bot was away, and was found afterwards in its channel.
	Late bool
	// Reader is who wrote or ordered it, with the roles that came with it. It is not kept over a restart: roles change.
	Reader Reader `json:"-"`
}

// Reader is a person for whom something is read: only what they may read themselves at that moment.
type Reader struct {
	ID         string
	Roles      []string  // ids of those in the server
	RolesKnown bool      // else the door asks for them
	Timeout    time.Time // until when the person is silenced; zero: is not
}

// Channel is a channel of a server, or a thread.
type Channel struct {
	ID, Name string
	Topic    string
}

// MessageSearch is what a server's own search is asked for.
type MessageSearch struct {
	Words    string    // all of them
	Authors  []string  // ids; none: anybody
	Channels []string  // ids; none: all that the bot may read
	From, To time.Time // zero: any time
}

// Kind is what happened.
type Kind string

const (
	Created   Kind = "created"
	Edited    Kind = "edited" // the text has changed
	Deleted   Kind = "deleted"
	Ordered   Kind = "command" // a slash command, a menu entry or a button
	Gone      Kind = "gone"    // the channel was deleted or the bot was removed from it
	Reacted   Kind = "reacted" // a reaction was put under a message; Unreacted: taken away
	Unreacted Kind = "unreacted"
)

// Command is an order given by a person to the bot itself. The door has acknowledged it already, unless suggestions are asked for.
type Command struct {
	Kind    CommandKind       // empty: ChatInput
	Name    string            // of its Definition
	Options map[string]string // option name → value
	Focused string            // name of the option that is being typed, for which values are to be suggested; empty: it is given
	Target  *Message          // of MessageMenu: the message. Its text is data and never an order
	Button  string            // custom id of the button pressed, if it was one
	ID      string            // the door's own
	Token   string            // what the door needs to answer; a secret
	By      Author
	Locale  string // BCP 47 tag of the language that By reads, or else that of the place; empty: unknown
	Admin   bool   // may manage the server, or is at the terminal
	Deletes bool   // may delete the messages of others

	// Visiting: By has brought the app along to a place that has not installed it. The event says nothing of that place: it
	// has no server, and its channel is one of By's own.
	Visiting bool
}

// Reaction is one person's emoji under a message.
type Reaction struct {
	Emoji   string // an emoji of Unicode's, or the name of a server's own
	By      Author // Name may be missing
	Deletes bool   // By may delete the messages of others
}

// Post is what a door carries out: a new message, or, with ID set, the new text of an old one. Whatever it
// holds, a door never lets it ping anybody and never lets it embed a link.
type Post struct {
	ID        string // of the message to edit; empty for a new one
	ChannelID string
	ReplyTo   string   // message to reply to; it may be gone
	Text      string   // at most 2,000 UTF-16 units; empty, with ID set: the message is taken away
	Nonce     string   // at most 25 characters; the same nonce within minutes is the same message
	Final     bool     // no more edits will follow
	Passing   bool     // with ID set: another edit will follow in any case, so that this one is sent only if it need not wait
	Buttons   []Button // all that stand under it; a door may show none
	Thread    string   // with ID set: a thread of that name, of 1 to 100 characters, is opened for that message; the id is the thread's
	Reaction  string   // with ID set: the bot's reaction to that message, which may be anybody's, and nothing else
	Persona   *Persona // under whose name it is made, or was; nil: the bot's own
	Again     bool     // an earlier process may have made it
}

// Persona is the name and the picture of a post where several characters speak in a channel. A door that has no names but its own
// puts the name in front of the text.
type Persona struct {
	Name   string `json:"name"`
	Avatar string `json:"avatar,omitempty"` // URL of a picture; empty: the bot's
}

// Profile is how the bot looks in one server. The zero value is how it looks elsewhere.
type Profile struct {
	Name    string
	Picture []byte // PNG
}

// Answer is what a command's giver alone sees.
type Answer struct {
	Text     string
	Sections []Section // below the text, of at most 3,800 UTF-16 units in all; a door may show them in its own way
	Buttons  []Button
	File     []byte   // optional attachment
	Name     string   // its file name
	Choices  []Choice // what is suggested for Command.Focused, at most 25; all else is empty then
}

// Section is a part of an answer that stands by itself: a title, which may be empty, and text in which nothing is formatted.
type Section struct{ Title, Text string }

// Button is one button under a post or an answer.
type Button struct {
	ID       string // at most 100 characters; comes back as Command.Button
	Label    string
	Disabled bool
}
