// Package turn holds the shared vocabulary: what a turn asks, what providers answer and what is recorded.
//
// It is plain data and imports nothing of the project, so every package may use it. A [Request] goes to each context
// provider. A provider answers with [Contribution]s, which carry their [Lookup]s. An [Outcome] says how a provider did.
// The [Trace] records all of it with the prompt, the reply and what the guard removed; /context shows it. A door
// (Discord, the terminal) brings in [Event]s and sends [Post]s and [Edit]s.
package turn

import (
	"fmt"
	"sync/atomic"
	"time"
)

// Request is what every provider gets to know about the turn. Providers must not change it.
type Request struct {
	ID        string                  `json:"id"`                 // ULID; key of the trace
	Character string                  `json:"character"`          // id of the character, which is the key of stored data and never shown as a name
	Names     []string                `json:"-"`                  // name and aliases by which people call the character
	GuildID   string                  `json:"guild_id,omitempty"` // empty in a direct message
	ChannelID string                  `json:"channel_id"`
	Mode      Mode                    `json:"mode"`
	Language  string                  `json:"language,omitempty"` // ISO 639-1 code of the program's own sentences in this turn
	Addressed Address                 `json:"addressed,omitempty"`
	Message   Message                 `json:"message"`          // the message to answer; the text of a whole burst if its author wrote several
	Burst     []string                `json:"burst,omitempty"`  // ids of the burst's earlier messages, whose text is in Message
	Target    *Message                `json:"target,omitempty"` // somebody else's message that a command was given for; Message has its text
	Parent    *Message                `json:"parent,omitempty"` // the message that Message replies to, if any
	Chain     []Message               `json:"chain,omitempty"`  // the reply chain above Message, newest first; without a reply, the last exchange
	Recent    []Message               `json:"-"`                // the last messages of the channel, oldest first; all of them if they are fewer than RecentOf
	RecentOf  int                     `json:"-"`                // how many were asked for; 0: nobody has read them
	Card      map[string]string       `json:"-"`                // how the author wants to be called and spoken to, by field
	People    []string                `json:"-"`                // names of people who have spoken in the server; no query contains them (P10)
	Servers   []string                `json:"-"`                // in a direct message: ids of servers where its author has spoken, latest first
	Web       Web                     `json:"web"`
	Claim     string                  `json:"claim,omitempty"`      // the store's key for what asked for the turn, if that is not Message's id
	Backdrop  *Backdrop               `json:"backdrop,omitempty"`   // the scene of the channel; nil: none
	Persona   *Persona                `json:"persona,omitempty"`    // name under which the reply is posted, if several characters speak in the channel
	EarlierID string                  `json:"earlier_id,omitempty"` // the turn that answered Message before, if a button under its reply asked for this one
	GoOn      bool                    `json:"go_on,omitempty"`      // the earlier reply was cut, and only its rest is wanted
	Edited    bool                    `json:"edited,omitempty"`     // Message was edited after the earlier turn, whose reply this reply replaces
	Buttons   bool                    `json:"-"`                    // the reply gets buttons
	Reader    Reader                  `json:"-"`                    // for whom messages elsewhere in the server are read; only an id after a restart
	Private   bool                    `json:"-"`                    // only Reader sees the reply
	Watch     func(a Activity, n int) `json:"-"`                    // called with what the turn is doing, and with how many things; may be nil
	Patterns  *atomic.Int64           `json:"-"`                    // nanoseconds for which the character's own patterns have run; nil: nobody counts them
	Budget    Budget                  `json:"budget"`
	Deadline  time.Time               `json:"deadline"` // when the context must be ready
}

// Backdrop is the scene of a channel, written by somebody who may manage the server.
type Backdrop struct {
	Text string    `json:"text"`
	By   string    `json:"by"` // name of the author
	At   time.Time `json:"at"`
}

// Address says how a message, or one of a burst, addresses the character. Doors remove the bot's mention from the text,
// so the text need not show it.
type Address string

// The addresses, plainest first.
const (
	ByDirect    Address = "direct"       // written where it can be for nobody else: a direct message, a terminal, a command
	ByMention   Address = "mention"      // it mentions the bot
	ByReply     Address = "reply"        // it replies to a message of the bot
	ByThread    Address = "thread"       // it continues a thread that was opened for the bot's answers
	ByPost      Address = "post"         // it begins a post of a forum in which the bot answers every post
	ByChannel   Address = "subscribed"   // it is in a channel whose messages are all for the bot, by people's choice
	ByName      Address = "name"         // it contains one of the character's names
	ByLull      Address = "lull"         // nobody wrote for a while, and the bot joins in unasked
	ByTier      Address = "interjection" // the bot joins in after many messages without it
	ByGreeting  Address = "greeting"     // nobody wrote it: the bot greets of itself
	ByPattern   Address = "pattern"      // it matches a pattern of the operator, which may match any text
	Unaddressed Address = ""             // not known to be for the bot
)

// Plain reports whether the message is for the character beyond doubt.
func (a Address) Plain() bool {
	return a == ByDirect || a == ByMention || a == ByReply || a == ByThread || a == ByChannel
}

// Mode is how the character behaves in a channel.
type Mode string

const (
	FullRP       Mode = "full_rp"
	Text         Mode = "text"
	ImitateVoice Mode = "imitate_voice"
)

// Modes lists every mode in the order shown to people.
func Modes() []Mode { return []Mode{FullRP, Text, ImitateVoice} }

// Web says whether this turn may use the web.
type Web struct {
	Switch Switch    `json:"switch"`
	Reason OffReason `json:"reason,omitempty"` // why it is off
	Docs   string    `json:"docs,omitempty"`   // site of documentation to which a person limited the search
	Intent Intent    `json:"intent,omitempty"` // kind of question that a person stated; empty: the words decide
	Site   string    `json:"site,omitempty"`   // host to which a person limited the search, with its subdomains; empty: none
}

// Switch is the setting of the web in a turn.
type Switch string

const (
	WebAuto   Switch = "auto"   // look up if the message needs it
	WebAlways Switch = "always" // a person asked for a lookup by command
	WebOff    Switch = "off"
)

// Budget is in tokens. A missing layer has budget 0.
type Budget struct {
	Total  int           `json:"total"`
	Layers map[Layer]int `json:"layers"`
}

// Message is one message in a channel as a person reads it: with names, not ids.
type Message struct {
	ID        string    `json:"id"`
	ChannelID string    `json:"channel_id,omitempty"`
	Author    Author    `json:"author"`
	Text      string    `json:"text"`
	At        time.Time `json:"at"`
	ReplyTo   string    `json:"reply_to,omitempty"` // id of the message it replies to
	Mentions  []string  `json:"mentions,omitempty"` // names mentioned in Text: "@Ada Lovelace", "#general"
	Own       bool      `json:"own,omitempty"`      // written by this bot; for a character as reader, written by that character

	Files  []Attachment `json:"files,omitempty"`
	Quotes []Quote      `json:"quotes,omitempty"` // text of others in the message: none of it counts as the author's words
	Note   string       `json:"note,omitempty"`   // lists the attachments for models: "[image: cat.png]"
}

// ByPerson reports whether a person wrote the message. Only people's words permit links, page reads and queries (rules
// O1, P2 and P7).
func (m Message) ByPerson() bool { return !m.Own && !m.Author.Machine }

// TerminalPrefix begins the id of a person at a terminal. Their name follows.
const TerminalPrefix = "terminal:"

// Author is the author of a message. Name is what others see.
type Author struct {
	ID      string `json:"id"`
	Name    string `json:"name"`
	Machine bool   `json:"machine,omitempty"` // not a person and not this character: another of the bot's characters, another bot, a webhook, Discord
}

// Layer is the part of the prompt that a contribution belongs to, in reading order.
type Layer int

const (
	Core Layer = iota
	Character
	Content
	HistorySummary
	RecentHistory
	AuthorNote
	DepthInject
	Attachments // attachments of the turn's message, in addition to the total
	Lorebook    // lorebook entries, which have their own budget and place: see Spot
)

var layerNames = [...]string{"core", "character", "content", "history_summary", "recent_history", "author_note", "depth_inject", "attached", "lorebook"}

// Layers returns every layer in reading order.
func Layers() []Layer {
	return []Layer{Core, Character, Content, HistorySummary, RecentHistory, AuthorNote, DepthInject, Attachments, Lorebook}
}

func (l Layer) String() string {
	if l < 0 || int(l) >= len(layerNames) {
		return fmt.Sprintf("layer(%d)", int(l))
	}
	return layerNames[l]
}

// MarshalText writes the layer's name, for JSON and TOML.
func (l Layer) MarshalText() ([]byte, error) { return []byte(l.String()), nil }

// UnmarshalText reads a layer's name.
func (l *Layer) UnmarshalText(b []byte) error {
	for i, name := range layerNames {
		if name == string(b) {
			*l = Layer(i)
			return nil
		}
	}
	return fmt.Errorf("unknown layer %q", b)
}

// Contribution is one piece of text offered to the prompt. Without Text and Message it is a footnote: recorded, but
// never rendered.
type Contribution struct {
	Layer    Layer    `json:"layer"`
	Priority int      `json:"priority"` // within a layer, higher wins
	Text     string   `json:"text,omitempty"`
	Tokens   int      `json:"tokens"`            // 0: not counted yet; the builder counts
	Source   string   `json:"source"`            // "character:persona.md", "history:recent", "websearch"
	Message  *Message `json:"message,omitempty"` // recent_history: rendered as a chat message instead of Text
	// Web marks text from strangers (security rules P7, P8). It is a separate message outside the system prompt, is kept
	// or dropped as a whole, and never becomes memory.
	Web   bool   `json:"web,omitempty"`
	Depth int    `json:"depth,omitempty"` // depth_inject: number of messages from the end
	Role  string `json:"role,omitempty"`  // depth_inject: role of the message; empty: system
	Spot  *Spot  `json:"spot,omitempty"`  // place in the prompt, if it is not the layer's
	Lore  *Lore  `json:"lore,omitempty"`  // footnote: the lorebook search
	// Embedding is a footnote: where the message was sent for its vector.
	Embedding *Embedding `json:"embedding,omitempty"`
	Lookup    *Lookup    `json:"lookup,omitempty"` // origin of Text, if it was looked up
	// Attached is the origin of Text if that is an attachment. The layer is then Attachments.
	Attached *Attached `json:"attached,omitempty"`
	Summary  *Summary  `json:"summary,omitempty"` // set if Text is the summary of a channel
	// Recalled lists the memories, passages of lore or older messages that Text quotes, best first.
	Recalled []Recalled    `json:"recalled,omitempty"`
	Filter   *RecallFilter `json:"filter,omitempty"` // footnote: what a side model removed
}

// Summary is the record of an offered summary.
type Summary struct {
	ChannelID string        `json:"channel_id"`
	Channel   string        `json:"channel,omitempty"` // name, if it is not the turn's channel
	Sentences int           `json:"sentences"`
	Messages  int           `json:"messages"` // number of messages that it covers
	FirstAt   time.Time     `json:"first_at"` // when the first message was written
	LastAt    time.Time     `json:"last_at"`
	LastID    string        `json:"last_id"`
	Age       time.Duration `json:"age"`     // time since it was made
	By        string        `json:"by"`      // the model, or "extractive"
	Sources   []string      `json:"sources"` // ids of the messages that its sentences are based on
}

// Spot is the place of a contribution in the prompt if another layer pays its tokens.
type Spot struct {
	Layer Layer `json:"layer"`
	Rank  int   `json:"rank"` // order among the sections of the layer, like Priority
}

// Lore says which lorebook entries are in the prompt and why, and which were left out.
type Lore struct {
	Fired []LoreEntry `json:"fired,omitempty"` // in the prompt's order
	Lost  []LoreEntry `json:"lost,omitempty"`
	Steps int         `json:"steps,omitempty"` // number of passes over the text: an entry's text may fire other entries
	Cut   bool        `json:"cut,omitempty"`   // the search ran out of time
}

// LoreEntry is one entry of a lorebook.
type LoreEntry struct {
	Book    string `json:"book"`
	Entry   string `json:"entry"`
	Comment string `json:"comment,omitempty"`
	Why     string `json:"why"`
	Place   string `json:"place,omitempty"`
	Tokens  int    `json:"tokens,omitempty"`
}

// Outcome is the result of one provider. Outcomes are stored in the order of the providers, whichever was quickest.
type Outcome struct {
	Provider      string         `json:"provider"`
	Status        Status         `json:"status"`
	Took          time.Duration  `json:"took"`
	Err           string         `json:"err,omitempty"` // for the operator; redacted
	Contributions []Contribution `json:"contributions,omitempty"`
}

// Status is how a provider ended.
type Status string

const (
	OK        Status = "ok"
	Timeout   Status = "timeout" // it returned early because of its deadline
	Failed    Status = "error"
	Panicked  Status = "panic"
	Abandoned Status = "abandoned" // it had not returned when the turn continued without it
)

// Attachment is a file of a message. Name, Type and Alt come from the sender or the sender's program.
// https://discord.com/developers/docs/resources/message#attachment-object
type Attachment struct {
	ID        string `json:"id"`
	MessageID string `json:"message_id"` // of the message it came with, even if it is in a quote
	Name      string `json:"name"`       // without folders and control characters
	Type      string `json:"type,omitempty"`
	Size      int64  `json:"size"`          // bytes
	Alt       string `json:"alt,omitempty"` // description for people who cannot see it
	Width     int    `json:"width,omitempty"`
	Height    int    `json:"height,omitempty"`
	// Seconds is the length of a recording. 0: it is not a recording, or the length is unknown.
	Seconds float64 `json:"seconds,omitempty"`
	Voice   bool    `json:"voice,omitempty"` // the message is this recording
	// URL gives access to the file for a while. It is a key to the file and is never stored.
	URL string `json:"-"`
}

// Quote is a part of a message that its author did not write: a forwarded message, or a link preview.
type Quote struct {
	Kind  QuoteKind    `json:"kind"`
	From  string       `json:"from,omitempty"`  // site or author of an embed, by its own account
	Title string       `json:"title,omitempty"` // of an embed
	Text  string       `json:"text,omitempty"`
	Files []Attachment `json:"files,omitempty"` // of a forwarded message
}

// QuoteKind is what a quote is.
type QuoteKind string

const (
	Forwarded QuoteKind = "forwarded" // https://discord.com/developers/docs/resources/message#message-snapshot-object
	Embedded  QuoteKind = "embedded"  // https://discord.com/developers/docs/resources/message#embed-object
)

// Attached is an attachment as offered to the model.
type Attached struct {
	MessageID string `json:"message_id"`
	Name      string `json:"name,omitempty"` // of the file
	Type      string `json:"type,omitempty"` // of the file, detected from its bytes
	Size      int64  `json:"size,omitempty"` // bytes
	SHA256    string `json:"sha256,omitempty"`
	Width     int    `json:"width,omitempty"` // of the original picture
	Height    int    `json:"height,omitempty"`
	Lines     int    `json:"lines,omitempty"`   // number of lines of a text
	Failure   Code   `json:"failure,omitempty"` // why it was not shown; empty: it was
	Image     *Image `json:"image,omitempty"`   // the picture as shown to the model

	// Open and Close enclose the contribution's text and are never cut. The text is cut at the end of a line, and
	// CutNote then follows it.
	Open    string `json:"open,omitempty"`
	Close   string `json:"close,omitempty"`
	CutNote string `json:"-"`
	Most    int    `json:"-"` // maximum of the layer's tokens that it may use; 0: all
}

// Image is a picture as shown to models. Its bytes are not recorded.
type Image struct {
	Label  string `json:"label"` // text that tells the model what it is
	Type   string `json:"type"`  // media type
	Width  int    `json:"width"`
	Height int    `json:"height"`
	Tokens int    `json:"tokens"` // estimated
	Data   []byte `json:"-"`
}

// Transcript is the result of transcribing a voice message, which leaves the machine for it.
type Transcript struct {
	MessageID string  `json:"message_id"`
	Host      string  `json:"host"` // of the service; empty: nothing left the machine
	Seconds   float64 `json:"seconds"`
	Bytes     int     `json:"bytes,omitempty"`
	Failure   Code    `json:"failure,omitempty"`
}

// Speech is a voice message with the words of a reply, which leave the machine for that.
type Speech struct {
	MessageID  string  `json:"message_id,omitempty"` // of the voice message
	Host       string  `json:"host"`                 // of the service
	Voice      string  `json:"voice"`
	Characters int     `json:"characters"` // that it was sent
	Seconds    float64 `json:"seconds,omitempty"`
	Bytes      int     `json:"bytes,omitempty"`
	Failure    Code    `json:"failure,omitempty"`
}

// Mood is the mood of a complete reply, and the character's picture of it.
type Mood struct {
	Label   string `json:"label"`             // one of text.Moods
	By      string `json:"by"`                // the model that decided, or "rules"
	Why     string `json:"why,omitempty"`     // why no model did: its failure, redacted, or that it answered something else
	Picture string `json:"picture,omitempty"` // name of the file; empty: the character has none that fits
	Failure Code   `json:"failure,omitempty"` // why the picture is not shown
}

// The fields of a person's card, which says how they want to be called and spoken to.
const (
	CardName     = "name"
	CardPronouns = "pronouns"
	CardLanguage = "language"
	CardAbout    = "about"
	CardZone     = "zone" // a time zone: see text.ZoneCalled
)

// CardFields returns the fields in the order in which people are shown them.
func CardFields() []string {
	return []string{CardName, CardPronouns, CardLanguage, CardAbout, CardZone}
}
