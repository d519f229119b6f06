package discordtest

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"
)

// Message is a message as the server has it.
type Message struct {
	ID, Channel string // ids
	Author      string // name
	Avatar      string // URL, of a webhook's message
	Own         bool   // by the bot itself or by a webhook of the bot
	From        string // address of the connection on which the bot itself posted it
	Text        string
	ReplyTo     string
	Nonce       string
	Flags       int
	Ephemeral   bool
	Pinged      []string // names of those whom the text pings according to allowed_mentions; "everyone"; role ids
	Buttons     []Button
	Files       map[string]string // name → content
	Reactions   []string          // the bot's
	At          time.Time
	EditedAt    time.Time // zero: never
	Deleted     bool
}

// Button is a button under a message.
type Button struct {
	ID, Label string
	Disabled  bool
}

type message struct {
	Message
	channel     *channel
	by          *user
	mentions    []*user
	components  []any
	webhook     string
	application string // owner of the webhook
	files       []*file
	forwards    []Forward
	embeds      []Embed
}

// Post is a message of a person, with everything unusual that it may have.
type Post struct {
	Channel, Author, Text string
	ReplyTo               string // message id
	Ping                  bool   // the reply mentions the author of the message it replies to
	Bot                   bool   // the author is another bot
	Webhook               bool   // it comes from a webhook
	Application           string // owner of the webhook; empty: none
	Components            []any  // e.g. an unknown kind: map[string]any{"type": 99}

	Files    []File
	Expired  bool // the links to the files in the event are expired; reading the message again gives valid ones
	Forwards []Forward
	Embeds   []Embed
}

// Rewrite posts a text under another name through a webhook of an application. A proxy does so before it deletes a person's message.
func (s *Server) Rewrite(id, name, text, application string) string {
	s.mu.Lock()
	channel := s.must(id).channel.id
	s.mu.Unlock()
	return s.Post(Post{Channel: channel, Author: name, Text: text, Webhook: true, Application: application})
}

// Say writes a message as a person and returns its id.
func (s *Server) Say(channel, author, text string) string {
	return s.Post(Post{Channel: channel, Author: author, Text: text})
}

// DM writes a direct message to the bot and returns its id.
func (s *Server) DM(author, text string) string { return s.Say("@"+author, author, text) }

// Reply writes a reply to a message, with or without a ping.
func (s *Server) Reply(channel, author, to, text string, ping bool) string {
	return s.Post(Post{Channel: channel, Author: author, Text: text, ReplyTo: to, Ping: ping})
}

// Post writes a message and returns its id.
func (s *Server) Post(p Post) string {
	s.mu.Lock()
	by := s.person(p.Author)
	by.bot = by.bot || p.Bot
	m := s.add(s.find(p.Channel), by, p.Text)
	m.ReplyTo, m.components = p.ReplyTo, p.Components
	m.forwards, m.embeds = p.Forwards, p.Embeds
	for _, f := range p.Files {
		m.files = append(m.files, s.upload(m, f))
	}
	s.staleLinks = p.Expired
	if p.Webhook {
		m.webhook, m.application = "100000000000000009", p.Application
		m.by = &user{id: m.webhook, name: p.Author, bot: true}
	}
	if above := s.messages[p.ReplyTo]; above != nil && p.Ping {
		m.mention(above.by)
	}
	s.announce("MESSAGE_CREATE", m)
	return m.ID
}

// add makes a message. The caller must hold mu.
func (s *Server) add(c *channel, by *user, text string) *message {
	m := &message{channel: c, by: by}
	m.Message = Message{ID: s.newID(), Channel: c.id, Author: by.name, Own: by.id == botID, At: time.Now()}
	s.write(m, text)
	s.messages[m.ID] = m
	c.messages = append(c.messages, m)
	s.bump()
	return m
}

// announce sends a message's event. The caller must hold mu; announce unlocks it.
func (s *Server) announce(kind string, m *message) {
	payload, away := s.payload(m, true), s.away(m.channel)
	s.staleLinks = false
	hidden := m.channel.guild != "" && !m.Own && !slices.Contains(m.mentions, s.users[botID])
	s.mu.Unlock()
	if away {
		return
	}
	if hidden && s.gateway.blind() {
		payload["content"], payload["attachments"], payload["embeds"] = "", []object{}, []object{}
		delete(payload, "message_snapshots")
	}
	s.gateway.dispatch(kind, payload)
}

// blind reports whether the session did not ask for the content of messages (intent 1<<15).
func (g *gateway) blind() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.ContainsFunc(g.sessions, func(s *session) bool { return !s.lost && s.intents&contentIntent == 0 })
}

var userMention = regexp.MustCompile(`<@!?(\d+)>`)

// write sets a message's text. Names become mentions unless the bot wrote the text. The caller must hold mu.
func (s *Server) write(m *message, text string) {
	if !m.Own && strings.ContainsAny(text, "@#") {
		text = s.expand(m.channel, text)
	}
	m.Text, m.mentions = text, nil
	for _, found := range userMention.FindAllStringSubmatch(text, -1) {
		if u := s.users[found[1]]; u != nil {
			m.mention(u)
		}
	}
}

func (m *message) mention(u *user) {
	if !slices.Contains(m.mentions, u) {
		m.mentions = append(m.mentions, u)
	}
}

// expand replaces the names of people, roles and channels by mentions, longest names first.
func (s *Server) expand(c *channel, text string) string {
	names := map[string]string{}
	for _, u := range s.users {
		names["@"+u.name] = "<@" + u.id + ">"
	}
	if g := s.guild(c.guild); g != nil {
		for id, name := range g.roles {
			names["@"+name] = "<@&" + id + ">"
		}
		for _, other := range g.channels {
			names["#"+other.name] = "<#" + other.id + ">"
		}
	}
	var pairs []string
	for name := range names {
		if strings.Contains(text, name) {
			pairs = append(pairs, name)
		}
	}
	slices.SortFunc(pairs, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
	var args []string
	for _, name := range pairs {
		args = append(args, name, names[name])
	}
	return strings.NewReplacer(args...).Replace(text)
}

// Edit changes the text of a message.
func (s *Server) Edit(id, text string) {
	s.mu.Lock()
	m := s.must(id)
	s.write(m, text)
	m.EditedAt = time.Now()
	s.bump()
	s.announce("MESSAGE_UPDATE", m)
}

// Embed sends the MESSAGE_UPDATE of a link preview, which changes nothing that a person wrote.
func (s *Server) Embed(id string) {
	s.mu.Lock()
	s.announce("MESSAGE_UPDATE", s.must(id))
}

// Repeat sends a message's MESSAGE_CREATE again.
func (s *Server) Repeat(id string) {
	s.mu.Lock()
	s.announce("MESSAGE_CREATE", s.must(id))
}

// Delete deletes a message.
func (s *Server) Delete(id string) {
	s.mu.Lock()
	payload := s.remove(s.must(id))
	s.mu.Unlock()
	s.gateway.dispatch("MESSAGE_DELETE", payload)
}

// Purge deletes in bulk everything that people, or one person, wrote in a channel, as moderators do.
func (s *Server) Purge(channel, author string) {
	s.mu.Lock()
	c := s.find(channel)
	var ids []string
	for _, m := range slices.Clone(c.messages) {
		if !m.Own && (author == "" || m.Author == author) {
			s.remove(m)
			ids = append(ids, m.ID)
		}
	}
	payload := object{"ids": ids, "channel_id": c.id}
	if c.guild != "" {
		payload["guild_id"] = c.guild
	}
	s.mu.Unlock()
	s.gateway.dispatch("MESSAGE_DELETE_BULK", payload)
}

// remove removes a message and returns the event's payload. The caller must hold mu.
func (s *Server) remove(m *message) object {
	m.Deleted = true
	delete(s.messages, m.ID)
	if m.Own {
		m.channel.taken -= m.channel.given(m)
	}
	m.channel.messages = slices.DeleteFunc(m.channel.messages, func(o *message) bool { return o == m })
	s.bump()
	p := object{"id": m.ID, "channel_id": m.channel.id}
	if m.channel.guild != "" {
		p["guild_id"] = m.channel.guild
	}
	return p
}

// given returns 1 if WaitReply has returned the message, else 0.
func (c *channel) given(m *message) int {
	own := 0
	for _, o := range c.messages {
		if o == m && own < c.taken {
			return 1
		}
		if o.Own {
			own++
		}
	}
	return 0
}

func (s *Server) must(id string) *message {
	if m := s.messages[id]; m != nil {
		return m
	}
	s.mu.Unlock()
	panic(fmt.Sprintf("discordtest: no message %s", id))
}

// Messages lists a channel's messages, oldest first.
func (s *Server) Messages(channel string) []Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []Message
	for _, m := range s.find(channel).messages {
		all = append(all, m.Message)
	}
	return all
}

// React adds a person's reaction to a message, as a member or as somebody who may manage messages.
func (s *Server) React(messageID, who, emoji string, moderates bool) {
	s.reaction("MESSAGE_REACTION_ADD", messageID, who, emoji, moderates)
}

// Unreact removes a person's reaction.
func (s *Server) Unreact(messageID, who, emoji string) {
	s.reaction("MESSAGE_REACTION_REMOVE", messageID, who, emoji, false)
}

func (s *Server) reaction(kind, messageID, who, emoji string, moderates bool) {
	s.mu.Lock()
	m, by := s.must(messageID), s.person(who)
	p := object{"user_id": by.id, "channel_id": m.channel.id, "message_id": m.ID, "emoji": object{"id": nil, "name": emoji}, "burst": false, "type": 0}
	intent := 1 << 13
	var role object
	if g := s.guild(m.channel.guild); g != nil {
		intent = 1 << 10
		p["guild_id"] = g.id
		if kind == "MESSAGE_REACTION_ADD" {
			member := s.member(g.id, by.id)
			member["user"] = by.payload()
			p["member"], p["message_author_id"] = member, m.by.id
			if moderates {
				id := s.newID()
				g.roles[id] = "moderators"
				role = g.rolePayload(id)
				role["permissions"] = "8192"
				member["roles"] = []string{id}
				role = object{"guild_id": g.id, "role": role}
			}
		}
	}
	s.mu.Unlock()
	if role != nil {
		s.gateway.dispatch("GUILD_ROLE_CREATE", role)
	}
	if s.gateway.asked(intent) {
		s.gateway.dispatch(kind, p)
	}
}

// asked reports whether the session asked for an intent.
func (g *gateway) asked(intent int) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.ContainsFunc(g.sessions, func(s *session) bool { return s.intents&intent != 0 })
}

// maxReactions limits the different emojis under a message.
const maxReactions = 20

func (s *Server) putReaction(c *call) answer {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, no, ok := s.writable(c)
	m := s.messages[c.parts[3]]
	emoji, err := url.PathUnescape(c.parts[5])
	switch {
	case !ok:
		return no
	case m == nil || m.channel.id != c.parts[1]:
		return refusal(http.StatusNotFound, 10008, "Unknown Message")
	case err != nil || emoji == "" || strings.ContainsFunc(emoji, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsSpace(r) }):
		return refusal(http.StatusBadRequest, 10014, "Unknown Emoji")
	case len(m.Reactions) >= maxReactions:
		return refusal(http.StatusBadRequest, 30010, "Maximum number of reactions reached (20)")
	}
	if !slices.Contains(m.Reactions, emoji) {
		m.Reactions = append(m.Reactions, emoji)
	}
	s.bump()
	return answer{status: http.StatusNoContent}
}
