// Package turn holds the words of the house: what a turn asks, what providers answer, what is recorded.
//
// It is plain data and knows nothing of ours, so every room may speak it. A [Request] goes to each
// context provider; a provider answers with [Contribution]s; what it looked up travels with them as
// [Lookup]s; how it went is an [Outcome]; and the whole of it, with the prompt, the reply and what the
// guard removed, is the [Trace], which is what /context shows. [Event] and [Post] are what a door
// (Discord, the terminal) brings in and carries out.
package turn

import (
	"fmt"
	"time"
)

// Request is what every provider is told about the turn. Providers must not change it.
type Request struct {
	ID        string                  `json:"id"`                 // ULID; the trace's key
	Character string                  `json:"character"`          // its id: what is stored is kept by it, and nobody is called so
	Names     []string                `json:"-"`                  // what the character is called when it is written as a word: its name and aliases
	GuildID   string                  `json:"guild_id,omitempty"` // empty in a direct message
	ChannelID string                  `json:"channel_id"`
	Mode      Mode                    `json:"mode"`
	Language  string                  `json:"language,omitempty"` // ISO 639-1 code of what code says in this turn
	Addressed Address                 `json:"addressed,omitempty"`
	Message   Message                 `json:"message"`          // the message being answered; the text of a whole burst, where its author wrote several
	Burst     []string                `json:"burst,omitempty"`  // ids of the earlier messages of the burst: they are in Message already
	Target    *Message                `json:"target,omitempty"` // the message of somebody else that a command was given for: its text is that of Message
	Parent    *Message                `json:"parent,omitempty"` // the message it replies to, if any
	Chain     []Message               `json:"chain,omitempty"`  // the reply chain above Message, newest first; the last exchange where nothing was replied to
	People    []string                `json:"-"`                // names of those who have spoken in the server: they leave in no query (P10)
	Web       Web                     `json:"web"`
	Claim     string                  `json:"claim,omitempty"`      // under which the store knows what asked for the turn, where that is not Message's id
	Backdrop  *Backdrop               `json:"backdrop,omitempty"`   // the scene of the channel; nil: none
	Persona   *Persona                `json:"persona,omitempty"`    // under whose name the reply is posted, where several characters speak in the channel
	EarlierID string                  `json:"earlier_id,omitempty"` // the turn that answered Message before, if this one was asked for by a button under its reply
	GoOn      bool                    `json:"go_on,omitempty"`      // only the rest of that reply is wanted, which was cut
	Edited    bool                    `json:"edited,omitempty"`     // Message was edited after that turn: this one's reply takes the place of its reply
	Buttons   bool                    `json:"-"`                    // the reply gets buttons
	Reader    Reader                  `json:"-"`                    // for whom is read what stands elsewhere in the server; an id alone after a restart
	Private   bool                    `json:"-"`                    // the reply is seen by Reader alone, and not by all who read the channel
	Watch     func(a Activity, n int) `json:"-"`                    // is told what the turn is at, and of how many; nil: nobody watches
	Budget    Budget                  `json:"budget"`
	Deadline  time.Time               `json:"deadline"` // when context must be ready
}

// Backdrop is the scene of a channel, in the words of somebody who may manage the server.
type Backdrop struct {
	Text string    `json:"text"`
	By   string    `json:"by"` // name of who wrote it
	At   time.Time `json:"at"`
}

// Address is how a message, or one of a burst, addresses the character. A door takes the mention of the bot out of the text, so
// nothing in the text may tell.
type Address string

// The addresses, the plainest first.
const (
	ByDirect    Address = "direct"       // written where nobody else is meant: a direct message, a terminal, a command
	ByMention   Address = "mention"      // mentions the bot
	ByReply     Address = "reply"        // replies to a message of the bot
	ByThread    Address = "thread"       // goes on in a thread that was made for the bot to answer in
	ByPost      Address = "post"         // begins a post of a forum in which all are answered
	ByChannel   Address = "subscribed"   // written in a channel where people chose that every message is for it
	ByName      Address = "name"         // holds one of its names, as words to it or about it
	ByLull      Address = "lull"         // nobody wrote for a while, and the bot joins in unasked
	ByTier      Address = "interjection" // the same after many messages in which it took no part
	ByPattern   Address = "pattern"      // matches a pattern of the operator's, which may match all that is written
	Unaddressed Address = ""             // is not for it as far as anybody knows
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

// Web says whether this turn may ask the outside world.
type Web struct {
	Switch Switch    `json:"switch"`
	Reason OffReason `json:"reason,omitempty"` // why it is off
	Docs   string    `json:"docs,omitempty"`   // name of the site of documentation that a person asked to look in, and nowhere else
	Intent Intent    `json:"intent,omitempty"` // kind of question that a person says it is; empty: the words decide
	Site   string    `json:"site,omitempty"`   // host to which a person kept the search, with all below it; empty: none
}

// Switch is the web's position in a turn.
type Switch string

const (
	WebAuto   Switch = "auto"   // look up if the message needs it
	WebAlways Switch = "always" // a person asked for a lookup by command
	WebOff    Switch = "off"
)

// Budget is in tokens. A layer that is missing has budget 0.
type Budget struct {
	Total  int           `json:"total"`
	Layers map[Layer]int `json:"layers"`
}

// Message is one message in a channel, as a person would read it: mentions are names, not ids.
type Message struct {
	ID        string    `json:"id"`
	ChannelID string    `json:"channel_id,omitempty"`
	Author    Author    `json:"author"`
	Text      string    `json:"text"`
	At        time.Time `json:"at"`
	ReplyTo   string    `json:"reply_to,omitempty"` // id of the message it replies to
	Mentions  []string  `json:"mentions,omitempty"` // what it mentions, as it stands in Text: "@Ada Lovelace", "#general"
	Own       bool      `json:"own,omitempty"`      // written by this bot, and where a character reads it, by that character

	Files  []Attachment `json:"files,omitempty"`
	Quotes []Quote      `json:"quotes,omitempty"` // words of others that hang on it: nothing in them is its author's
	Note   string       `json:"note,omitempty"`   // names what hangs on it, for models: "[image: cat.png]"
}

// ByPerson reports whether a person wrote the message. Only people's words make links allowed, pages fetchable and
// queries (rules O1, P2 and P7).
func (m Message) ByPerson() bool { return !m.Own && !m.Author.Machine }

// Author is who wrote a message. Name is what others see.
type Author struct {
	ID      string `json:"id"`
	Name    string `json:"name"`
	Machine bool   `json:"machine,omitempty"` // no person and not this character: another one of this bot, another bot, a webhook, Discord itself
}

// Layer is where in the prompt a contribution stands, in reading order.
type Layer int

const (
	Core Layer = iota
	Character
	Content
	HistorySummary
	RecentHistory
	AuthorNote
	DepthInject
	Attachments // what hangs on the turn's message, on top of the total
	Lorebook    // entries of lorebooks, which pay for themselves and stand where they say: see Spot
)

var layerNames = [...]string{"core", "character", "content", "history_summary", "recent_history", "author_note", "depth_inject", "attached", "lorebook"}

// Layers lists every layer in reading order.
func Layers() []Layer {
	return []Layer{Core, Character, Content, HistorySummary, RecentHistory, AuthorNote, DepthInject, Attachments, Lorebook}
}

func (l Layer) String() string {
	if l < 0 || int(l) >= len(layerNames) {
		return fmt.Sprintf("layer(%d)", int(l))
	}
	return layerNames[l]
}

// MarshalText writes the layer's name, so that it reads well in JSON and TOML.
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

// Contribution is one piece of text offered to the prompt. One with neither Text nor Message is a footnote:
// traced, never rendered.
type Contribution struct {
	Layer    Layer    `json:"layer"`
	Priority int      `json:"priority"` // within a layer, higher wins
	Text     string   `json:"text,omitempty"`
	Tokens   int      `json:"tokens"`            // 0: not counted yet; the builder counts
	Source   string   `json:"source"`            // "character:persona.md", "history:recent", "websearch"
	Message  *Message `json:"message,omitempty"` // recent_history: rendered as a chat message instead of Text
	// Web marks text that came from strangers (security rules P7, P8): it is rendered as a message of its own
	// outside the system prompt, kept or dropped whole, and never becomes memory.
	Web   bool   `json:"web,omitempty"`
	Depth int    `json:"depth,omitempty"` // depth_inject: messages from the end
	Role  string `json:"role,omitempty"`  // depth_inject: whose message it is; empty: system
	Spot  *Spot  `json:"spot,omitempty"`  // where it stands, if not where its layer does
	Lore  *Lore  `json:"lore,omitempty"`  // a footnote: what was looked for in lorebooks
	// Embedding is a footnote: for what vector the message was sent where.
	Embedding *Embedding `json:"embedding,omitempty"`
	Lookup    *Lookup    `json:"lookup,omitempty"` // where Text came from, if it was looked up
	// Attached is what Text came from, if that hangs on a message. The layer is attached.
	Attached *Attached `json:"attached,omitempty"`
	Summary  *Summary  `json:"summary,omitempty"` // which one Text is, if it is the summary of a channel
	// Recalled are the statements of memory or passages of lore that Text tells, or the messages of before that it quotes, the best first.
	Recalled []Recalled    `json:"recalled,omitempty"`
	Filter   *RecallFilter `json:"filter,omitempty"` // a footnote: what a side model left out
}

// Summary is what is on record of a summary that was offered.
type Summary struct {
	ChannelID string        `json:"channel_id"`
	Channel   string        `json:"channel,omitempty"` // its name, where that is another channel than the turn's
	Sentences int           `json:"sentences"`
	Messages  int           `json:"messages"` // that it covers
	FirstAt   time.Time     `json:"first_at"` // when the first of them was written
	LastAt    time.Time     `json:"last_at"`
	LastID    string        `json:"last_id"`
	Age       time.Duration `json:"age"`     // since it was made
	By        string        `json:"by"`      // a model, or "extractive"
	Sources   []string      `json:"sources"` // ids of the messages that its sentences rest on
}

// Spot is where in the prompt a contribution stands whose tokens another layer pays.
type Spot struct {
	Layer Layer `json:"layer"`
	Rank  int   `json:"rank"` // among the sections of the layer, as their priorities
}

// Lore says which entries of lorebooks are in the prompt, and why, and which could have been.
type Lore struct {
	Fired []LoreEntry `json:"fired,omitempty"` // in the order of the prompt
	Lost  []LoreEntry `json:"lost,omitempty"`
	Steps int         `json:"steps,omitempty"` // how often all was searched: texts of entries may make others fire
	Cut   bool        `json:"cut,omitempty"`   // there was no time for all of it
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

// Outcome is how one provider did. Outcomes are stored in the order of the providers, whoever was quickest.
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
	Timeout   Status = "timeout" // it returned, cut short by its deadline
	Failed    Status = "error"
	Panicked  Status = "panic"
	Abandoned Status = "abandoned" // it had not returned when the turn went on without it
)
