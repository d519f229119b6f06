package turn

// Definition is a command as a door offers it. Whoever adds one adds a Definition and the function that carries it out,
// and nothing at the doors.
type Definition struct {
	Kind        CommandKind
	Name        string // of ChatInput 1–32 lower-case characters, of a menu's entry 1–32 of any case
	Description string // 1–100 characters; of ChatInput alone
	Options     []Option
	Permission  Permission
	Places      []Place
	Installs    []Install
	Form        bool // it opens a form, and comes with what was written into that

	Names, Descriptions Localized
}

// Form is a form with one field, in which a person writes the value of a command's option.
type Form struct {
	Title  string // at most 45 characters
	Label  string // of the field, at most 45 characters
	Option string // of the command
	Text   string // what stands in the field at first
	Most   int    // characters in it
}

// Option is one option of a command: a text or, where Channel is set, the id of a channel.
type Option struct {
	Name        string // 1–32 lower-case characters
	Description string // 1–100 characters
	Required    bool   // required options come first
	Choices     []Choice
	Suggests    bool // values are suggested while it is typed; then it has no Choices
	Channel     bool // a channel of the server, which is no thread; then it has neither

	Names, Descriptions Localized
}

// Choice is one value of an option. There are at most 25.
type Choice struct {
	Name  string // as people see it, 1–100 characters
	Value string // 1–100 characters

	Names Localized
}

// Localized is a text in other languages, by ISO 639-1 code. Where one is missing, the English text stands.
type Localized map[string]string

// CommandKind is how a command is given.
type CommandKind string

// The kinds of commands. An entry in a menu is given on a message or on a person.
const (
	ChatInput   CommandKind = "chat_input"
	MessageMenu CommandKind = "message"
	UserMenu    CommandKind = "user"
)

// Permission is whom a command is offered to in a server, unless the server's settings say otherwise.
type Permission string

// The permissions that commands need.
const (
	Everyone       Permission = ""
	ManageMessages Permission = "manage_messages"
	ManageServer   Permission = "manage_server"
)

// Place is where a command is offered.
type Place string

// The places.
const (
	InServer  Place = "server"
	InDirect  Place = "direct"  // in direct messages with the bot
	InPrivate Place = "private" // in direct messages between people, who have installed the app for themselves
)

// Install is who has installed the app where a command is offered.
type Install string

// The ways to install the app: on a server, or for oneself, which goes with a person to every place.
const (
	ServerInstall Install = "server"
	UserInstall   Install = "user"
)
