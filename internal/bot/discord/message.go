package discord

import (
	"context"
	"hash/maphash"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/bwmarrin/discordgo"

	"familiar/internal/context/turn"
)

// fromPerson reports whether a message is a person's: not the bot's own, another bot's, a webhook's or the system's. Two
// bots that answer each other never stop. What a proxy writes for people is theirs.
func (s *Session) fromPerson(m *message) bool {
	return m.Author != nil && !m.Author.System && (!m.Author.Bot && m.WebhookID == "" || s.proxied(m)) &&
		(m.Type == discordgo.MessageTypeDefault || m.Type == discordgo.MessageTypeReply)
}

func (s *Session) onMessage(_ context.Context, m *message) {
	id := min(flake(m.ID), flakeAt(time.Now().Add(time.Minute))) // a server may number its messages otherwise
	if m.GuildID == "" {
		s.noteDirect(m.ChannelID, id)
	}
	if s.fromPerson(m) {
		s.seen.remember(m.ID, m.Content)
		e := s.event(turn.Created, m.ID, m)
		if len(s.cfg.Proxies) > 0 {
			s.origins.pair(&e, m)
		}
		s.emit(e)
	}
	s.at.mark = max(s.at.mark, id)
}

// onEdit reports an edit of the text. Discord sends the same event when a link preview appears or a message is pinned.
func (s *Session) onEdit(_ context.Context, m *message) {
	if !s.fromPerson(m) || m.Edited == nil || !s.seen.remember(m.ID, m.Content) {
		return
	}
	when := m.Edited.text
	if when == "" {
		when = m.Edited.UTC().Format(time.RFC3339Nano)
	}
	s.emit(s.event(turn.Edited, m.ID+":"+when, m))
}

func (s *Session) onDelete(_ context.Context, d *deletion) {
	for _, id := range append(d.IDs, d.ID) {
		if id == "" {
			continue
		}
		s.emit(turn.Event{
			Kind: turn.Deleted, ID: id + ":deleted", GuildID: d.GuildID, Direct: d.GuildID == "",
			Message: turn.Message{ID: id, ChannelID: d.ChannelID}, Rewritten: s.origins.deleted(id),
		})
	}
}

// event makes an event of a message.
func (s *Session) event(kind turn.Kind, id string, m *message) turn.Event {
	mentioned := s.ownRole(m) || slices.ContainsFunc(m.Mentions, func(u mention) bool { return u.ID == s.selfID() })
	e := turn.Event{
		Kind: kind, ID: id, GuildID: m.GuildID, Direct: m.GuildID == "",
		Message:   s.message(m, m.Member),
		Mentioned: mentioned, Reader: m.Member.reader(m.Author.ID), Proxied: s.proxied(m),
	}
	if m.Reference == nil || m.Reference.Type != 0 {
		return e
	}
	e.Message.ReplyTo = m.Reference.MessageID
	if r := m.Referenced; r != nil && r.Author != nil {
		r.ChannelID, r.GuildID = m.ChannelID, m.GuildID
		above := s.message(r, nil)
		for _, u := range m.Mentions {
			if u.ID == r.Author.ID { // a reply that pings brings the nickname, which the message above lacks
				above.Author.Name = u.name(u.Member)
			}
		}
		e.Reply = &above
	}
	return e
}

// ownRole replaces mentions of the bot's own role by mentions of the bot and reports whether there was one: Discord's clients
// offer the two beside each other, under the same name.
func (s *Session) ownRole(m *message) (found bool) {
	self := s.selfID()
	for _, id := range m.Roles {
		if self != "" && s.names.role(m.GuildID, id).Tags.BotID == self {
			m.Content, found = strings.ReplaceAll(m.Content, "<@&"+id+">", "<@"+self+">"), true
		}
	}
	return found
}

func (s *Session) message(m *message, by *member) turn.Message {
	text, mentions := s.readable(m)
	own := m.Author.ID == s.selfID() || m.WebhookID != "" && m.AppID != "" && m.AppID == s.appID()
	out := turn.Message{
		ID: m.ID, ChannelID: m.ChannelID, Text: text, Mentions: mentions, At: m.Timestamp.Time, Own: own,
		Author: turn.Author{ID: m.Author.ID, Name: m.Author.name(by), Machine: !own && !s.fromPerson(m)},
		Files:  files(m.ID, m.Attachments, m.Flags), Quotes: s.quotes(m),
	}
	if m.Reference != nil && m.Reference.Type == 0 {
		out.ReplyTo = m.Reference.MessageID
	}
	if out.At.IsZero() {
		out.At = flake(m.ID).time()
	}
	return out
}

// edits remembers the text of the latest messages by hash, to tell an edit from other changes, and a message that is new from one that
// is not. Its zero value is ready.
type edits struct {
	mu    sync.Mutex
	seed  maphash.Seed // guarded by mu, as is all that follows
	text  map[string]uint64
	order []string // ring of the ids in text
	next  int
}

const editMemory = 2048 // messages

// remember stores a message's text and reports whether it is new or differs from the one stored before.
func (e *edits) remember(id, text string) (changed bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	known, same := e.store(id, text)
	return !known || !same
}

// add stores a message's text and reports whether the message is new.
func (e *edits) add(id, text string) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if _, known := e.text[id]; known {
		return false
	}
	e.store(id, text)
	return true
}

// store stores a message's text and reports whether there was one, and whether it was the same. Its caller holds mu.
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
