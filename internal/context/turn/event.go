package turn

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"time"
)

// Event is something that happened at a door.
type Event struct {
	Kind      Kind
	ID        string // unique for the event: the id of the message or the interaction
	GuildID   string
	ParentID  string // parent channel, if the event is in a thread
	Message   Message
	Reply     *Message // the message that Message replies to, if the door knows it
	Title     string   // of the forum post that Message begins
	Mentioned bool     // Message mentions the bot
	Direct    bool     // in a direct message or at the terminal
	Locale    string   // BCP 47 tag of the place's language; empty: unknown
	Language  string   // ISO 639-1 code of the language to answer in; empty: not decided yet
	Command   *Command
	Reaction  *Reaction // under Message; only the ids of that message are known

	// ParentUnknown means that the door does not know the channel yet. It may be a thread, and its parent's settings
	// then apply.
	ParentUnknown bool
	// Proxied means that a proxy posted Message for a person, through a webhook. Original is the message that the proxy
	// reposted and will delete. It is empty if it is unknown or deleted already.
	Proxied  bool
	Original string
	// Rewritten means that a proxy deleted Message and has reposted it.
	Rewritten bool
	// Late means that Message was written while the bot was away, and was found afterwards.
	Late bool
	// Replayed means that the gateway sent it again, so that an earlier process may have answered it.
	Replayed bool `json:",omitempty"`
	// Reader is the person who caused the event, with the roles at that time. It is not saved, because roles change.
	Reader Reader `json:"-"`
}

// Reader is a person for whom something is read. Only what the person may read at that moment is read.
type Reader struct {
	ID         string
	Roles      []string  // ids of the person's roles in the server
	RolesKnown bool      // false: the door asks for the roles
	Timeout    time.Time // until when the person is silenced; zero: not silenced
}

// Channel is a channel or a thread of a server.
type Channel struct {
	ID, Name string
	Topic    string
	Server   string // name
}

// MessageSearch is a query for a server's own search.
type MessageSearch struct {
	Words    string    // all must match
	Authors  []string  // ids; empty: anybody
	Channels []string  // ids; empty: all channels that the bot may read
	From, To time.Time // zero: any time
}

// Kind says what happened.
type Kind string

const (
	Created   Kind = "created"
	Edited    Kind = "edited" // the text has changed
	Deleted   Kind = "deleted"
	Ordered   Kind = "command" // a slash command, a menu entry or a button
	Gone      Kind = "gone"    // the channel was deleted or the bot was removed from it
	Reacted   Kind = "reacted" // somebody added a reaction to a message; Unreacted: removed it
	Unreacted Kind = "unreacted"
)

// Command is a command that a person gives to the bot. The door has acknowledged it, unless it asks for suggestions.
type Command struct {
	Kind    CommandKind       // empty: ChatInput
	Name    string            // of its Definition
	Options map[string]string // option name → value
	Focused string            // name of the option that is being typed, which needs suggestions; empty: the command is given
	Target  *Message          // for MessageMenu: the message, whose text is data and never an order
	Person  string            // for UserMenu: the person's id
	File    *Attachment       // the file of an option; nil: none
	Button  string            // custom id of the pressed button, if any
	ID      string            // the door's own id
	Token   string            // what the door needs to answer; a secret
	By      Author
	Locale  string // BCP 47 tag of By's language, or of the place's language; empty: unknown
	Admin   bool   // may manage the server, or is at the terminal
	Deletes bool   // may delete the messages of others

	// Visiting means that By uses the app in a place that has not installed it. The event does not reveal that place: it
	// has no server, and its channel is one of By's own.
	Visiting bool
}

// Reaction is one person's emoji under a message.
type Reaction struct {
	Emoji   string // a Unicode emoji, or the name of a server's own emoji
	By      Author // Name may be empty
	Deletes bool   // By may delete the messages of others
}

// ErrIncomplete is the error of a reference or an edit that lacks a required field.
var ErrIncomplete = errors.New("incomplete")

// Standing is a reply of the bot's own that was found in a channel.
type Standing struct {
	ID, Text string
	Buttons  int    // how many are under it: one while the reply is written, more when it is complete
	Key      string // of the first of them, if the post does not say what it replies to
}

// Ref identifies a message that exists.
type Ref struct {
	GuildID   string // empty: a direct message
	ChannelID string
	ID        string
	Persona   *Persona // the name under which it was posted; nil: the bot's own
}

// Validate returns ErrIncomplete unless the reference has a channel and an id.
func (r Ref) Validate() error {
	switch {
	case r.ChannelID == "":
		return fmt.Errorf("%w: the message has no channel", ErrIncomplete)
	case r.ID == "":
		return fmt.Errorf("%w: the message has no id", ErrIncomplete)
	}
	return nil
}

// Post is a new message. A door lets it ping nobody but Mention, and never lets it embed a link.
type Post struct {
	GuildID   string // empty: a direct message
	ChannelID string
	ReplyTo   string // id of the message it replies to, which may be deleted
	Text      string // at most 2,000 UTF-16 units
	Nonce     string // at most 25 characters; posts with the same nonce within minutes are one message
	Final     bool   // no edit will follow
	Buttons   []Button
	Persona   *Persona   // the name under which it is posted; nil: the bot's own
	Again     bool       // an earlier process may have posted it
	Mention   string     // id of a person whom the post mentions first, and pings
	Passing   bool       // a later text will be posted if this one is not. So the door drops it if it would have to wait
	Voice     *Recording // is posted as a voice message, without text, buttons and persona; nil: none
}

// Recording is a recording in Ogg Opus.
type Recording struct {
	Data     []byte
	Seconds  float64
	Waveform []byte // 1 to 256 amplitudes
}

// Edit replaces the text, the buttons and the picture of a message. It pings nobody and embeds no link either.
type Edit struct {
	Ref
	Text    string   // at most 2,000 UTF-16 units; must not be blank
	Buttons []Button // all buttons that the message then has
	Picture *Picture // that the message then has below its text; nil: none
	Final   bool     // no edit will follow
	Passing bool     // another edit will follow, so the door drops this one if it would have to wait
}

// Picture is a small picture.
type Picture struct {
	Name string // of the file
	Alt  string // for people who cannot see it
	PNG  []byte
}

// Validate returns ErrIncomplete unless the edit has a complete reference and a text that is not blank.
func (e Edit) Validate() error {
	if err := e.Ref.Validate(); err != nil {
		return err
	}
	if strings.TrimSpace(e.Text) == "" {
		return fmt.Errorf("%w: the edit has no text", ErrIncomplete)
	}
	return nil
}

// Persona is the name and the picture of a post in a channel where several characters speak. A door without such names
// writes the name before the text.
type Persona struct {
	Name   string `json:"name"`
	Avatar string `json:"avatar,omitempty"` // URL of a picture; empty: the bot's
}

// Profile is the bot's appearance in one server. The zero value is its general appearance.
type Profile struct {
	Name    string
	Picture []byte // PNG
}

// Answer is the answer to a command. Only the person who gave the command sees it.
type Answer struct {
	Text     string
	Sections []Section // below the text; at most 3,800 UTF-16 units in all; a door chooses how to show them
	Buttons  []Button
	File     []byte   // optional attachment
	Name     string   // its file name
	Choices  []Choice // suggestions for Command.Focused, at most 25; all other fields are empty then
}

// Section is a separate part of an answer. The title may be empty. The text is not formatted.
type Section struct{ Title, Text string }

// Button is one button under a post or an answer.
type Button struct {
	ID       string // at most 100 characters; comes back as Command.Button
	Label    string
	Disabled bool
}

// Presence is shown beside the bot's name.
type Presence struct {
	Text string // what keeps the bot from answering as usual; empty: nothing
}

// Definition is a command as a door offers it. A new command needs a Definition and the function that carries it out.
// The doors need no change.
type Definition struct {
	Kind        CommandKind
	Name        string // for ChatInput 1–32 lower-case characters, for a menu entry 1–32 characters
	Description string // 1–100 characters; only for ChatInput
	Options     []Option
	Permission  Permission
	Places      []Place
	Installs    []Install
	Form        bool // the command opens a form, and its option is what the person writes there

	Names, Descriptions Localized
}

// Form is a form with one field, in which a person writes the value of one option of a command.
type Form struct {
	Title  string // at most 45 characters
	Label  string // of the field; at most 45 characters
	Option string // name of the option
	Text   string // initial text of the field
	Most   int    // maximum length of the text in characters
}

// Option is one option of a command: a text, the id of a channel, or a file.
type Option struct {
	Name        string // 1–32 lower-case characters
	Description string // 1–100 characters
	Required    bool   // required options come first
	Choices     []Choice
	Suggests    bool // values are suggested while a person types; Choices is empty then
	Channel     bool // a channel of the server that is not a thread; Choices and Suggests are not set then
	File        bool // a file, which is the command's File; the value is its id. Nothing else is set then
	Most        int  // characters of a value; 0: 200

	Names, Descriptions Localized
}

// Longest returns how many characters a value may have.
func (o Option) Longest() int { return cmp.Or(o.Most, 200) }

// Choice is one value of an option. An option has at most 25.
type Choice struct {
	Name  string // as people see it, 1–100 characters
	Value string // 1–100 characters

	Names Localized
}

// Localized holds translations of a text, by ISO 639-1 code. The English text is used if one is missing.
type Localized map[string]string

// CommandKind says how people give a command.
type CommandKind string

// The kinds of commands. A menu entry is chosen on a message or on a person.
const (
	ChatInput   CommandKind = "chat_input"
	MessageMenu CommandKind = "message"
	UserMenu    CommandKind = "user"
)

// Permission says whom a command is offered to in a server, unless the server's settings differ.
type Permission string

// The permissions.
const (
	Everyone       Permission = ""
	ManageMessages Permission = "manage_messages"
	ManageServer   Permission = "manage_server"
)

// Place says where a command is offered.
type Place string

// The places.
const (
	InServer  Place = "server"
	InDirect  Place = "direct"  // in direct messages with the bot
	InPrivate Place = "private" // in direct messages between people who have installed the app for themselves
)

// Install says for whom the app is installed where a command is offered.
type Install string

// The ways to install the app: on a server, or for oneself, which works in every place.
const (
	ServerInstall Install = "server"
	UserInstall   Install = "user"
)

// Shard is what the door knows about one of its sessions with Discord's gateway.
type Shard struct {
	Number     int
	Connected  bool          // the session is established now
	Since      time.Time     // when Connected last changed
	LastEvent  time.Time     // last event from the gateway
	LastAck    time.Time     // last answered heartbeat
	Latency    time.Duration // of that heartbeat
	Guilds     int           // servers; counted by the door
	Identifies int           // sessions begun since the start
	Resumes    int           // sessions resumed since the start
	Trouble    string        // why the last connection ended or could not be made; empty: all is well
}

// Gateway is what the door knows about all sessions together, and about each.
type Gateway struct {
	Shard       // the least of all: it is connected if each one is, and its latency is the longest
	Dropped int // events dropped because the bot did not keep up
	Of      int // how many shards the bot has; 0 before it runs
	Shards  []Shard
}

// Lane is one channel with work to do.
type Lane struct {
	ChannelID string
	TurnID    string // of the present turn; empty between two
	Waiting   int    // messages that wait behind it
}
