package discordtest

import "net/http"

// newestThread returns the newest thread. Its name as a channel is "~". The caller must hold mu.
func (s *Server) newestThread() *channel {
	var newest *channel
	for _, c := range s.channels {
		if c.kind == 11 && (newest == nil || number(c.id) > number(newest.id)) {
			newest = c
		}
	}
	if newest == nil {
		s.mu.Unlock()
		panic("discordtest: no thread")
	}
	return newest
}

// ThreadName returns the name of the newest thread, or "".
func (s *Server) ThreadName() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.channels {
		if c.kind == 11 {
			return s.newestThread().name
		}
	}
	return ""
}

// Publish publishes a message of an announcement channel to a channel that follows it. A webhook posts the copy there.
// https://discord.com/developers/docs/resources/message#message-object-message-flags
func (s *Server) Publish(id, follower string) string {
	const crossposted, isCrosspost = 1 << 0, 1 << 1
	s.mu.Lock()
	m := s.must(id)
	m.Flags |= crossposted
	copied := s.add(s.find(follower), &user{id: s.newID(), name: "hall #" + m.channel.name, bot: true}, m.Text)
	copied.webhook, copied.Flags = copied.by.id, isCrosspost
	s.announce("MESSAGE_UPDATE", m)
	s.mu.Lock()
	s.announce("MESSAGE_CREATE", copied)
	return copied.ID
}

// PostIn makes a post in a forum: a thread whose first message has the thread's id.
func (s *Server) PostIn(forum, author, title, text string) string {
	s.mu.Lock()
	above, by := s.find(forum), s.person(author)
	c := &channel{name: title, guild: above.guild, parent: above.id, kind: 11}
	m := s.add(c, by, text)
	c.id, m.Channel = m.ID, m.ID
	s.addChannel(c)
	payload := c.payload()
	payload["newly_created"] = true
	s.gateway.dispatch("THREAD_CREATE", payload)
	s.announce("MESSAGE_CREATE", m)
	return c.id
}

// startThread opens a thread for a message. Both have the same id.
func (s *Server) startThread(c *call) answer {
	var in struct {
		Name string `json:"name"`
	}
	c.decode(&in)
	s.mu.Lock()
	ch, no, ok := s.writable(c)
	m := s.messages[c.parts[3]]
	switch {
	case !ok:
	case m == nil || m.channel != ch:
		no, ok = refusal(http.StatusNotFound, 10008, "Unknown Message"), false
	case ch.kind != TextChannel && ch.kind != Announcement:
		no, ok = refusal(http.StatusBadRequest, 50024, "Cannot execute action on this channel type"), false
	case s.channels[m.ID] != nil:
		no, ok = refusal(http.StatusBadRequest, 160004, "A thread has already been created for this message"), false
	case s.guild(ch.guild).fullOfThreads:
		no, ok = refusal(http.StatusBadRequest, 160006, "Maximum number of active threads reached"), false
	case ch.noThreads:
		no, ok = refusal(http.StatusForbidden, 50013, "Missing Permissions"), false
	}
	if !ok {
		s.mu.Unlock()
		return no
	}
	thread := &channel{id: m.ID, name: in.Name, guild: ch.guild, parent: ch.id, kind: 11}
	s.addChannel(thread)
	payload := thread.payload()
	s.bump()
	s.mu.Unlock()
	s.gateway.dispatch("THREAD_CREATE", payload)
	return answer{http.StatusCreated, payload}
}

// Archive archives a thread. Writing to it reopens it; nothing in it can be changed before. Only moderators can write to a thread that is
// also locked.
func (s *Server) Archive(thread string, locked bool) {
	s.mu.Lock()
	c := s.find(thread)
	c.archived, c.locked = true, locked
	payload := c.payload()
	s.mu.Unlock()
	s.gateway.dispatch("THREAD_UPDATE", payload)
}

// reopen takes a thread out of the archive when a message is written there. The caller must hold mu.
func (s *Server) reopen(c *channel) {
	if c.archived {
		c.archived = false
		s.gateway.dispatch("THREAD_UPDATE", c.payload())
	}
}

// patchChannel takes a thread out of the archive.
// https://discord.com/developers/docs/resources/channel#modify-channel-json-params-thread
func (s *Server) patchChannel(c *call) answer {
	var in struct {
		Archived *bool `json:"archived"`
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	ch := s.channels[c.parts[1]]
	switch {
	case ch == nil || s.away(ch):
		return refusal(http.StatusNotFound, 10003, "Unknown Channel")
	case !c.decode(&in) || in.Archived == nil || *in.Archived || ch.kind != 11:
		return refusal(http.StatusBadRequest, 50035, "Invalid Form Body")
	case ch.denied || ch.locked:
		return refusal(http.StatusForbidden, 50013, "Missing Permissions")
	}
	s.reopen(ch)
	return answer{http.StatusOK, ch.payload()}
}

// FillThreads gives a server the largest number of active threads that Discord allows.
func (s *Server) FillThreads(guild string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.guild(guild).fullOfThreads = true
}

// DenyThreads removes the bot's permission to make threads in a channel.
func (s *Server) DenyThreads(channel string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.find(channel).noThreads = true
}
