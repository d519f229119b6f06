package discordtest

import (
	"net/http"
	"slices"
	"time"
)

// webhook is a webhook that the bot's application made.
type webhook struct {
	id, token, name string
	channel         *channel
}

const mostWebhooks = 15 // per channel

// DenyWebhooks removes the bot's permission Manage Webhooks in a channel, or restores it.
func (s *Server) DenyWebhooks(channel string, denied bool) {
	s.mu.Lock()
	c := s.find(channel)
	c.hookless = denied
	payload := c.payload()
	s.mu.Unlock()
	s.gateway.dispatch("CHANNEL_UPDATE", payload)
}

// DenyVoice takes the permission Send Voice Messages in a channel away from the bot.
func (s *Server) DenyVoice(channel string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.find(channel).voiceless = true
}

// DenyFiles takes the permission Attach Files in a channel away from the bot.
func (s *Server) DenyFiles(channel string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.find(channel).fileless = true
}

// DeleteWebhooks deletes a channel's webhooks, as a moderator does.
func (s *Server) DeleteWebhooks(channel string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.find(channel)
	s.webhooks = slices.DeleteFunc(s.webhooks, func(w *webhook) bool { return w.channel == c })
}

// Webhooks counts a channel's webhooks.
func (s *Server) Webhooks(channel string) (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.find(channel)
	for _, w := range s.webhooks {
		if w.channel == c {
			n++
		}
	}
	return n
}

// hooked returns the channel of a request about webhooks, or why the bot may not manage them. The caller must hold mu.
func (s *Server) hooked(c *call) (*channel, answer, bool) {
	ch, no, ok := s.writable(c)
	switch {
	case !ok:
		return nil, no, false
	case ch.hookless:
		return nil, refusal(http.StatusForbidden, 50013, "Missing Permissions"), false
	case ch.guild == "" || ch.parent != "":
		return nil, refusal(http.StatusBadRequest, 50024, "Cannot execute action on this channel type"), false
	}
	return ch, answer{}, true
}

func (w *webhook) payload() object {
	return object{"id": w.id, "type": 1, "channel_id": w.channel.id, "guild_id": w.channel.guild, "name": w.name, "token": w.token, "application_id": appID}
}

func (s *Server) listWebhooks(c *call) answer {
	s.mu.Lock()
	defer s.mu.Unlock()
	ch, no, ok := s.hooked(c)
	if !ok {
		return no
	}
	list := []object{{"id": "100000000000000011", "type": 1, "channel_id": ch.id, "name": "of another app", "application_id": nil, "token": nil}}
	for _, w := range s.webhooks {
		if w.channel == ch {
			list = append(list, w.payload())
		}
	}
	return answer{http.StatusOK, list}
}

func (s *Server) makeWebhook(c *call) answer {
	var in struct {
		Name string `json:"name"`
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	ch, no, ok := s.hooked(c)
	if !ok {
		return no
	}
	c.decode(&in)
	n := 0
	for _, w := range s.webhooks {
		if w.channel == ch {
			n++
		}
	}
	if n >= mostWebhooks {
		return refusal(http.StatusBadRequest, 30007, "Maximum number of webhooks reached (15)")
	}
	w := &webhook{id: s.newID(), name: in.Name, channel: ch}
	w.token = "webhook-token-not-a-secret-" + w.id
	s.webhooks = append(s.webhooks, w)
	s.bump()
	return answer{http.StatusOK, w.payload()}
}

// webhookOf returns the webhook with the token of a request, and the channel or thread of the request. The caller must hold mu.
func (s *Server) webhookOf(c *call) (*webhook, *channel, answer, bool) {
	i := slices.IndexFunc(s.webhooks, func(w *webhook) bool { return w.id == c.parts[1] })
	switch {
	case i < 0:
		return nil, nil, refusal(http.StatusNotFound, 10015, "Unknown Webhook"), false
	case s.webhooks[i].token != c.parts[2]:
		return nil, nil, refusal(http.StatusUnauthorized, 50027, "Invalid Webhook Token"), false
	}
	w := s.webhooks[i]
	ch := w.channel
	if id := c.query.Get("thread_id"); id != "" {
		if ch = s.channels[id]; ch == nil || ch.parent != w.channel.id {
			return nil, nil, refusal(http.StatusNotFound, 10003, "Unknown Channel"), false
		}
		if ch.archived && (ch.locked || len(c.parts) > 3) {
			return nil, nil, refusal(http.StatusBadRequest, 50083, "Thread is archived"), false
		}
	}
	return w, ch, answer{}, true
}

// hookPost is the body of a webhook's request.
type hookPost struct {
	sent
	Username string `json:"username"`
	Avatar   string `json:"avatar_url"`
}

// execute posts a message through a webhook. Discord ignores a nonce here, and answers only if asked to wait.
// https://discord.com/developers/docs/resources/webhook#execute-webhook
func (s *Server) execute(c *call) answer {
	var in hookPost
	if !c.decode(&in) {
		return refusal(http.StatusBadRequest, 50109, "The request body contains invalid JSON.")
	}
	s.mu.Lock()
	w, ch, no, ok := s.webhookOf(c)
	if ok && in.blank() {
		no, ok = nothing, false
	}
	if !ok {
		s.mu.Unlock()
		return no
	}
	name := in.Username
	if name == "" {
		name = w.name
	}
	m := &message{channel: ch, by: &user{id: w.id, name: name, bot: true}, webhook: w.id, application: appID}
	m.Message = Message{ID: s.newID(), Channel: ch.id, Author: name, Avatar: in.Avatar, Own: true, At: time.Now()}
	s.write(m, in.text())
	s.messages[m.ID] = m
	ch.messages = append(ch.messages, m)
	if c.query.Get("with_components") == "true" {
		m.components, m.Buttons = in.Components, buttons(in.Components)
	}
	s.apply(m, &in.sent)
	s.bump()
	out := s.payload(m, false)
	s.announce("MESSAGE_CREATE", m)
	if c.query.Get("wait") != "true" {
		return answer{status: http.StatusNoContent}
	}
	return answer{http.StatusOK, out}
}

// hookMessage returns the webhook's message that a request is about. The caller must hold mu.
func (s *Server) hookMessage(c *call) (*message, answer, bool) {
	w, ch, no, ok := s.webhookOf(c)
	if !ok {
		return nil, no, false
	}
	m := s.messages[c.parts[4]]
	if m == nil || m.webhook != w.id || m.channel != ch {
		return nil, refusal(http.StatusNotFound, 10008, "Unknown Message"), false
	}
	return m, answer{}, true
}

func (s *Server) editByWebhook(c *call) answer {
	var in sent
	if !c.decode(&in) {
		return refusal(http.StatusBadRequest, 50109, "The request body contains invalid JSON.")
	}
	s.mu.Lock()
	m, no, ok := s.hookMessage(c)
	if ok && in.Content != nil && in.blank() {
		no, ok = nothing, false
	}
	if !ok {
		s.mu.Unlock()
		return no
	}
	if c.query.Get("with_components") != "true" {
		in.Components = nil
	}
	return s.amend(c, m, &in)
}

func (s *Server) deleteByWebhook(c *call) answer {
	s.mu.Lock()
	m, no, ok := s.hookMessage(c)
	if !ok {
		s.mu.Unlock()
		return no
	}
	payload := s.remove(m)
	s.mu.Unlock()
	s.gateway.dispatch("MESSAGE_DELETE", payload)
	return answer{status: http.StatusNoContent}
}

// DenyNickname removes the bot's permission Change Nickname in a server, or restores it.
func (s *Server) DenyNickname(guild string, denied bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.guild(guild).nameless = denied
}

// Profile returns the bot's nickname and avatar in a server, "" if it has none.
func (s *Server) Profile(guild string) (nick, avatar string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	g := s.guild(guild)
	return g.nicks[botID], g.avatar
}

// modifySelf changes the bot's profile in a server.
// https://discord.com/developers/docs/resources/guild#modify-current-member
func (s *Server) modifySelf(c *call) answer {
	var in struct {
		Nick   *string `json:"nick"`
		Avatar *string `json:"avatar"`
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	g := s.guild(c.parts[1])
	switch {
	case g == nil:
		return refusal(http.StatusNotFound, 10004, "Unknown Guild")
	case g.nameless:
		return refusal(http.StatusForbidden, 50013, "Missing Permissions")
	case !c.decode(&in):
		return refusal(http.StatusBadRequest, 50109, "The request body contains invalid JSON.")
	}
	g.avatar = ""
	if in.Avatar != nil {
		g.avatar = *in.Avatar
	}
	delete(g.nicks, botID)
	if in.Nick != nil {
		g.nicks[botID] = *in.Nick
	}
	s.bump()
	return answer{http.StatusOK, s.member(g.id, botID)}
}
