package discordtest

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Message is a message as the server has it.
type Message struct {
	ID, Channel string // ids
	Author      string // name
	Avatar      string // URL, of a webhook's message
	Own         bool   // the bot's, also by a webhook
	Text        string
	ReplyTo     string
	Nonce       string
	Flags       int
	Ephemeral   bool
	Pinged      []string // names of those whom the text pings, as allowed_mentions has it; "everyone"; role ids
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
	application string // that owns the webhook
	files       []*file
	forwards    []Forward
	embeds      []Embed
}

// Post is a message of a person with everything that may be odd about it.
type Post struct {
	Channel, Author, Text string
	ReplyTo               string // message id
	Ping                  bool   // a reply mentions the author of what it replies to
	Bot                   bool   // the author is another bot
	Webhook               bool   // it comes from a webhook
	Application           string // that owns the webhook; empty: none does
	Components            []any  // e.g. an unknown kind: map[string]any{"type": 99}

	Files    []File
	Expired  bool // the links to the files in the event do not work any more; those of a message that is read again do
	Forwards []Forward
	Embeds   []Embed
}

// Rewrite posts a text under another name through a webhook of an application, as a proxy does with a person's message before it
// deletes that.
func (s *Server) Rewrite(id, name, text, application string) string {
	s.mu.Lock()
	channel := s.must(id).channel.id
	s.mu.Unlock()
	return s.Post(Post{Channel: channel, Author: name, Text: text, Webhook: true, Application: application})
}

// Say writes a message as a person and gives its id.
func (s *Server) Say(channel, author, text string) string {
	return s.Post(Post{Channel: channel, Author: author, Text: text})
}

// DM writes a direct message to the bot.
func (s *Server) DM(author, text string) string { return s.Say("@"+author, author, text) }

// Reply writes a reply to a message, with or without a ping.
func (s *Server) Reply(channel, author, to, text string, ping bool) string {
	return s.Post(Post{Channel: channel, Author: author, Text: text, ReplyTo: to, Ping: ping})
}

// Post writes a message and gives its id.
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

// add makes a message. Its caller holds mu.
func (s *Server) add(c *channel, by *user, text string) *message {
	m := &message{channel: c, by: by}
	m.Message = Message{ID: s.newID(), Channel: c.id, Author: by.name, Own: by.id == botID, At: time.Now()}
	s.write(m, text)
	s.messages[m.ID] = m
	c.messages = append(c.messages, m)
	s.bump()
	return m
}

// announce sends a message's event. Its caller holds mu, which announce gives back.
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

// blind reports whether the session has not asked for the content of messages (intent 1<<15).
func (g *gateway) blind() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.session != "" && g.intents&(1<<15) == 0
}

var userMention = regexp.MustCompile(`<@!?(\d+)>`)

// write sets a message's text, with names made mentions unless the bot wrote it. Its caller holds mu.
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

// expand makes mentions of the names of people, roles and channels, the longest first.
func (s *Server) expand(c *channel, text string) string {
	names := map[string]string{}
	for _, u := range s.users {
		names["@"+u.name] = "<@" + u.id + ">"
	}
	if g := s.guild(c.guild); g != nil {
		for id, name := range g.roles {
			names["@"+name] = "<@&" + id + ">"
		}
	}
	for _, other := range s.channels {
		if other.guild == c.guild && other.name != "" {
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

// Embed sends the MESSAGE_UPDATE of a link preview: nothing that a person wrote has changed.
func (s *Server) Embed(id string) {
	s.mu.Lock()
	s.announce("MESSAGE_UPDATE", s.must(id))
}

// Repeat sends a message's MESSAGE_CREATE once more.
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

// Purge deletes all that people wrote in a channel, or one of them, as a moderator's bulk delete does.
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

// remove takes a message away and gives the event's payload. Its caller holds mu.
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

// given is 1 if WaitReply has given a message of the bot's, else 0.
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
