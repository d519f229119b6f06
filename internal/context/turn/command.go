package turn

import "cmp"

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

// Option is one option of a command: a text or, if Channel is set, the id of a channel.
type Option struct {
	Name        string // 1–32 lower-case characters
	Description string // 1–100 characters
	Required    bool   // required options come first
	Choices     []Choice
	Suggests    bool // values are suggested while a person types; Choices is empty then
	Channel     bool // a channel of the server that is no thread; Choices and Suggests are not set then
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
