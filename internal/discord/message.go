package discord

import (
	"cmp"
	"context"
	"fmt"
	"hash/maphash"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/bwmarrin/discordgo"

	"familiar/internal/context/turn"
	"familiar/internal/discord/gateway"
	"familiar/internal/discord/rest"
)

// fromPerson reports whether a person wrote a message, and not this bot, another bot, a webhook or Discord. Two bots
// that answer each other never stop. A message that a proxy posts for a person is that person's.
func (s *Session) fromPerson(m *message) bool {
	return m.Author != nil && !m.Author.System && (!m.Author.Bot && m.WebhookID == "" || s.proxied(m)) &&
		(m.Type == discordgo.MessageTypeDefault || m.Type == discordgo.MessageTypeReply)
}

func (s *shard) onMessage(_ context.Context, m *message) {
	id := min(gateway.FlakeOf(m.ID), gateway.FlakeAt(s.Now().Add(time.Minute))) // a server may number its messages differently
	if m.GuildID == "" {
		s.noteDirect(m.ChannelID, id)
	}
	if s.fromPerson(m) {
		s.seen.remember(m.ID, m.Content)
		e := s.event(turn.Created, m.ID, m)
		if len(s.cfg.Proxies) > 0 {
			s.origins.pair(&e, m)
		}
		e.Replayed = s.from.Replays()
		s.from.Emit(e)
	}
	s.from.Saw(id)
}

// onEdit reports an edit of the text. Discord sends the same event when a link preview appears or a message is pinned.
func (s *shard) onEdit(_ context.Context, m *message) {
	if !s.fromPerson(m) || m.Edited == nil || !s.seen.remember(m.ID, m.Content) {
		return
	}
	when := m.Edited.text
	if when == "" {
		when = m.Edited.UTC().Format(time.RFC3339Nano)
	}
	s.from.Emit(s.event(turn.Edited, m.ID+":"+when, m))
}

func (s *shard) onDelete(_ context.Context, d *deletion) {
	for _, id := range append(d.IDs, d.ID) {
		if id == "" {
			continue
		}
		s.from.Emit(turn.Event{
			Kind: turn.Deleted, ID: id + ":deleted", GuildID: d.GuildID, Direct: d.GuildID == "",
			Message: turn.Message{ID: id, ChannelID: d.ChannelID}, Rewritten: s.origins.deleted(id),
		})
	}
}

func (s *Session) event(kind turn.Kind, id string, m *message) turn.Event {
	mentioned := s.ownRole(m) || slices.ContainsFunc(m.Mentions, func(u mention) bool { return u.ID == s.me().user.ID })
	e := turn.Event{
		Kind: kind, ID: id, GuildID: m.GuildID, Direct: m.GuildID == "",
		Message:   s.message(m, m.Member),
		Mentioned: mentioned, Locale: s.names.locale(m.GuildID), Reader: m.Member.reader(m.Author.ID), Proxied: s.proxied(m),
	}
	if m.Reference == nil || m.Reference.Type != 0 {
		return e
	}
	e.Message.ReplyTo = m.Reference.MessageID
	if r := m.Referenced; r != nil && r.Author != nil {
		r.ChannelID, r.GuildID = m.ChannelID, m.GuildID
		above := s.message(r, nil)
		for _, u := range m.Mentions {
			if u.ID == r.Author.ID { // a reply that pings includes the nickname, which m.Referenced lacks
				above.Author.Name = u.name(u.Member)
			}
		}
		e.Reply = &above
	}
	return e
}

// ownRole replaces mentions of the bot's own role by mentions of the bot and reports whether there was one. Discord's
// clients offer both under the same name.
func (s *Session) ownRole(m *message) (found bool) {
	self := s.me().user.ID
	for _, id := range m.Roles {
		if self != "" && s.names.role(m.GuildID, id).Tags.BotID == self {
			m.Content, found = strings.ReplaceAll(m.Content, "<@&"+id+">", "<@"+self+">"), true
		}
	}
	return found
}

func (s *Session) message(m *message, by *member) turn.Message {
	text, mentions := s.readable(m)
	own := m.Author.ID == s.me().user.ID || m.WebhookID != "" && m.AppID != "" && m.AppID == s.me().app
	out := turn.Message{
		ID: m.ID, ChannelID: m.ChannelID, Text: text, Mentions: mentions, At: m.Timestamp.Time, Own: own,
		Author: turn.Author{ID: m.Author.ID, Name: m.Author.name(by), Machine: !own && !s.fromPerson(m)},
		Files:  files(m.ID, m.Attachments, m.Flags), Quotes: s.quotes(m),
	}
	if m.Reference != nil && m.Reference.Type == 0 {
		out.ReplyTo = m.Reference.MessageID
	}
	if out.At.IsZero() {
		out.At = gateway.FlakeOf(m.ID).Time()
	}
	return out
}

// edits remembers the hashes of the latest messages' texts. They tell an edit from other changes, and a new message from
// a known one. The zero value is ready.
type edits struct {
	mu    sync.Mutex
	seed  maphash.Seed // guarded by mu, as is all that follows
	text  map[string]uint64
	order []string // ring of the ids in text
	next  int
}

const editMemory = 2048 // messages

// remember stores a message's text. changed reports whether the message is new or its text differs.
func (e *edits) remember(id, text string) (changed bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	known, same := e.store(id, text)
	return !known || !same
}

// add stores a message's text unless the message is known. It reports whether it was new.
func (e *edits) add(id, text string) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if _, known := e.text[id]; known {
		return false
	}
	e.store(id, text)
	return true
}

// store stores a message's text. It reports whether the message was known and had the same text. The caller holds mu.
func (e *edits) store(id, text string) (known, same bool) {
	if e.text == nil {
		e.seed, e.text, e.order = maphash.MakeSeed(), map[string]uint64{}, make([]string, editMemory)
	}
	hash := maphash.String(e.seed, text)
	before, known := e.text[id]
	if !known {
		delete(e.text, e.order[e.next])
		e.order[e.next] = id
		e.next = (e.next + 1) % editMemory
	}
	e.text[id] = hash
	return known, before == hash
}

// markup matches what Discord's clients show as something else: everything in angle brackets.
// https://discord.com/developers/docs/reference#message-formatting
var markup = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`<(@!?|@&|#|a?:\w{1,32}:|/[^<>:]{1,100}:|t:)(-?\d{1,20})(?::[tTdDfFR])?>`)
})

// readable returns a message's text as a person sees it, with names for ids. The bot's own mention is removed, because
// it says only whom the text is for. mentions are the names of people, roles and channels that replace ids in the text.
func (s *Session) readable(m *message) (text string, mentions []string) {
	text = m.Content
	name := func(mention string) string {
		mentions = append(mentions, mention)
		return mention
	}
	if self := s.self.Load(); self != nil {
		text = self.strip.Replace(text)
	}
	text = markup().ReplaceAllStringFunc(text, func(found string) string {
		parts := markup().FindStringSubmatch(found)
		kind, id := parts[1], parts[2]
		switch {
		case kind == "@" || kind == "@!":
			return name("@" + m.mentionedUser(id))
		case kind == "@&":
			return name("@" + cmp.Or(s.names.role(m.GuildID, id).Name, "unknown-role"))
		case kind == "#":
			c, _ := s.names.channel(id)
			return name("#" + cmp.Or(c.Name, "unknown-channel"))
		case kind == "t:":
			seconds, _ := strconv.ParseInt(id, 10, 64)
			return time.Unix(seconds, 0).UTC().Format("2006-01-02 15:04 UTC")
		case kind[0] == '/':
			return strings.TrimSuffix(kind, ":")
		}
		return strings.TrimPrefix(kind, "a") // an emoji: :name:
	})
	return strings.TrimSpace(text), mentions
}

// mentionedUser returns the name of a user whom the message mentions.
func (m *message) mentionedUser(id string) string {
	for _, u := range m.Mentions {
		if u.ID == id {
			return u.name(u.Member)
		}
	}
	return "unknown-user"
}

// identity is the bot's own user and application, from READY.
type identity struct {
	user  user
	app   string
	strip *strings.Replacer // removes the bot's mention with one adjoining space
}

func newIdentity(u user, app string) *identity {
	plain, nick := "<@"+u.ID+">", "<@!"+u.ID+">"
	return &identity{user: u, app: app, strip: strings.NewReplacer(
		" "+plain, "", " "+nick, "", plain+" ", "", nick+" ", "", plain, "", nick, "")}
}

// me returns the bot's identity, or the zero value before the first READY.
func (s *Session) me() identity {
	if self := s.self.Load(); self != nil {
		return *self
	}
	return identity{}
}

const (
	isVoice    = 1 << 13 // message flag of a voice message
	maxName    = 100     // characters of a file's name
	maxAlt     = 1000    // characters of a file's description; Discord allows 1,024
	maxQuoted  = 4000    // characters of a forwarded message or an embed, as many as Discord's longest message has
	maxQuotes  = 5       // quotes of one message; Discord allows 10 embeds
	maxOnQuote = 4       // files of a forwarded message
)

// files returns the attachments of a message with these flags. An attachment without an id is left out.
func files(messageID string, sent []sentFile, flags discordgo.MessageFlags) (all []turn.Attachment) {
	for _, a := range sent {
		if a.ID == 0 {
			continue
		}
		all = append(all, turn.Attachment{
			ID: a.ID.String(), MessageID: messageID, Name: fileName(a.Filename), Type: strings.ToLower(head(a.ContentType, maxName)), Size: max(0, a.Size), Alt: head(a.Description, maxAlt),
			Width: max(0, a.Width), Height: max(0, a.Height), URL: a.URL,
			Seconds: max(0, a.Seconds), Voice: flags&isVoice != 0 && (a.Seconds > 0 || a.Waveform != ""),
		})
	}
	return all
}

// fileName returns the last part of a name on one line, without folders, control characters and bidi controls.
func fileName(name string) string {
	name = strings.Map(func(r rune) rune {
		switch {
		case r == '\\':
			return '/'
		case unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Zl, r) || unicode.Is(unicode.Zp, r):
			return -1
		}
		return r
	}, strings.ToValidUTF8(name, ""))
	name = strings.TrimSpace(path.Base(strings.TrimRight(name, "/")))
	if strings.Trim(name, "./") == "" {
		return "file"
	}
	if r := []rune(name); len(r) > maxName { // the extension is kept
		end := []rune(path.Ext(name))
		if len(end) > maxName/2 {
			end = nil
		}
		name = string(r[:maxName-len(end)]) + string(end)
	}
	return name
}

// quotes returns the messages that a message forwards and the embeds on it. Embeds are written by bots, or made from
// links by Discord.
func (s *Session) quotes(m *message) (all []turn.Quote) {
	for _, snap := range m.Snapshots {
		was := message{GuildID: m.GuildID, ChannelID: m.ChannelID, Content: snap.Message.Content, Mentions: snap.Message.Mentions}
		text, _ := s.readable(&was)
		sent := files(m.ID, snap.Message.Attachments, snap.Message.Flags&^isVoice)
		all = append(all, turn.Quote{Kind: turn.Forwarded, Text: head(text, maxQuoted), Files: sent[:min(len(sent), maxOnQuote)]})
		all = append(all, embeds(snap.Message.Embeds)...)
	}
	all = append(all, embeds(m.Embeds)...)
	return all[:min(len(all), maxQuotes)]
}

func embeds(sent []embed) (all []turn.Quote) {
	for _, e := range sent {
		var lines []string
		if e.Description != "" {
			lines = append(lines, e.Description)
		}
		for _, f := range e.Fields {
			lines = append(lines, f.Name+": "+f.Value)
		}
		q := turn.Quote{
			Kind: turn.Embedded, From: head(cmp.Or(e.Provider.Name, e.Author.Name), maxName), Title: head(e.Title, 300), Text: head(strings.Join(lines, "\n"), maxQuoted),
		}
		if q.Title != "" || q.Text != "" {
			all = append(all, q)
		}
	}
	return all
}

// head returns at most the first n characters of s.
func head(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}

// Message reads a message again, for example because links to its files have expired.
func (s *Session) Message(ctx context.Context, channelID, messageID string) (turn.Message, error) {
	var m message
	if err := s.rest.Get(ctx, rest.Request{URL: discordgo.EndpointChannelMessage(channelID, messageID), Rank: rest.Create}, &m); err != nil {
		return turn.Message{}, fmt.Errorf("read message again: %w", err)
	}
	if m.ID != messageID || m.Author == nil {
		return turn.Message{}, fmt.Errorf("read message again: the response is another message")
	}
	return s.message(&m, nil), nil
}
