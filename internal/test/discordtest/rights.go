package discordtest

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// overwrite holds the permissions that a role or a person gains or loses in one channel.
type overwrite struct {
	person      bool
	allow, deny Rights
}

// Allow sets the permissions of a role, by name or id. "@everyone" means the role of every server.
func (s *Server) Allow(guild, role string, may Rights) {
	s.mu.Lock()
	g := s.guild(guild)
	id := g.role(role)
	g.may[id] = may
	payload := object{"guild_id": g.id, "role": g.rolePayload(id)}
	s.mu.Unlock()
	s.gateway.dispatch("GUILD_ROLE_UPDATE", payload)
}

// role returns the id of a role. The caller must hold the server's mu.
func (g *guild) role(name string) string {
	if name == "@everyone" {
		return g.id
	}
	for id, n := range g.roles {
		if n == name || id == name {
			return id
		}
	}
	panic(fmt.Sprintf("discordtest: no role %q", name))
}

// Join gives a person exactly these roles. The bot lacks the intent for members, so no event is sent: the roles come with the person's next
// message.
func (s *Server) Join(guild, person string, roles ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	g, id := s.guild(guild), s.person(person).id
	g.members[id] = nil
	for _, r := range roles {
		g.members[id] = append(g.members[id], g.role(r))
	}
}

// Overwrite changes the permissions of a role, or of a person ("@ada"), in a channel. "@everyone" is a role.
func (s *Server) Overwrite(channelName, whom string, allow, deny Rights) {
	s.mu.Lock()
	c := s.find(channelName)
	if c.overwrites == nil {
		c.overwrites = map[string]overwrite{}
	}
	o, id := overwrite{allow: allow, deny: deny}, ""
	if whom != "@everyone" && whom[0] == '@' {
		o.person, id = true, s.person(whom[1:]).id
	} else {
		id = s.guild(c.guild).role(whom)
	}
	c.overwrites[id] = o
	payload := c.payload()
	s.mu.Unlock()
	s.gateway.dispatch("CHANNEL_UPDATE", payload)
}

func (c *channel) overwritePayloads() []object {
	all := []object{}
	for _, id := range slices.Sorted(maps.Keys(c.overwrites)) {
		o, kind := c.overwrites[id], 0
		if o.person {
			kind = 1
		}
		all = append(all, object{"id": id, "type": kind, "allow": fmt.Sprint(int64(o.allow)), "deny": fmt.Sprint(int64(o.deny))})
	}
	return all
}

// Topic sets the topic of a channel.
func (s *Server) Topic(channelName, topic string) {
	s.mu.Lock()
	c := s.find(channelName)
	c.topic = topic
	payload := c.payload()
	s.mu.Unlock()
	s.gateway.dispatch("CHANNEL_UPDATE", payload)
}

// Pin pins a message in its channel.
func (s *Server) Pin(message string) {
	s.mu.Lock()
	m := s.must(message)
	m.channel.pins = slices.Insert(m.channel.pins, 0, m)
	payload := object{"channel_id": m.channel.id, "guild_id": m.channel.guild}
	s.mu.Unlock()
	s.gateway.dispatch("CHANNEL_PINS_UPDATE", payload)
}

// https://discord.com/developers/docs/resources/message#get-channel-pins
func (s *Server) listPins(c *call) answer {
	s.mu.Lock()
	defer s.mu.Unlock()
	ch := s.channels[c.parts[1]]
	if ch == nil {
		return refusal(http.StatusNotFound, 10003, "Unknown Channel")
	}
	items := []object{}
	for _, m := range ch.pins {
		items = append(items, object{"pinned_at": "2026-01-01T00:00:00+00:00", "message": s.payload(m, false)})
	}
	return answer{http.StatusOK, object{"items": items, "has_more": false}}
}

// https://discord.com/developers/docs/resources/guild#get-guild-member
func (s *Server) getMember(c *call) answer {
	s.mu.Lock()
	defer s.mu.Unlock()
	g, u := s.guild(c.parts[1]), s.users[c.parts[3]]
	switch {
	case g == nil:
		return refusal(http.StatusNotFound, 10004, "Unknown Guild")
	case u == nil:
		return refusal(http.StatusNotFound, 10007, "Unknown Member")
	}
	m := s.member(g.id, u.id)
	m["user"] = u.payload()
	return answer{http.StatusOK, m}
}

// searchMembers returns the members whose names begin with a text.
// https://discord.com/developers/docs/resources/guild#search-guild-members
func (s *Server) searchMembers(c *call) answer {
	s.mu.Lock()
	defer s.mu.Unlock()
	g, query := s.guild(c.parts[1]), strings.ToLower(c.query.Get("query"))
	most, err := strconv.Atoi(cmp.Or(c.query.Get("limit"), "1"))
	switch {
	case g == nil || g.away:
		return refusal(http.StatusNotFound, 10004, "Unknown Guild")
	case query == "" || err != nil || most < 1 || most > 1000:
		return malformed("limit", "NUMBER_TYPE_MAX", "int value should be between 1 and 1000.")
	}
	found := []object{}
	for _, id := range slices.SortedFunc(maps.Keys(s.users), byAge) {
		u := s.users[id]
		if begins := strings.HasPrefix(strings.ToLower(u.name), query) || strings.HasPrefix(strings.ToLower(g.nicks[id]), query); begins && len(found) < most {
			m := s.member(g.id, id)
			m["user"] = u.payload()
			found = append(found, m)
		}
	}
	return answer{http.StatusOK, found}
}

// Link returns the address of a message.
func (s *Server) Link(message string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := s.must(message)
	return "https://discord.com/channels/" + cmp.Or(m.channel.guild, "@me") + "/" + m.channel.id + "/" + m.ID
}

// SearchState is how the server's own search answers.
type SearchState int

// States of search. At first the bot may not search.
const (
	SearchRefused SearchState = iota
	SearchIndexing
	SearchReady
)

// Searching sets how the server's own search answers.
func (s *Server) Searching(state SearchState) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.searching = state
}

// searchMessages finds the messages of a server that contain all words. It checks nobody's permissions except the bot's: the bot decides
// what it shows. https://discord.com/developers/docs/resources/message#search-guild-messages
func (s *Server) searchMessages(c *call) answer {
	s.mu.Lock()
	defer s.mu.Unlock()
	g := s.guild(c.parts[1])
	limit, err := strconv.Atoi(c.query.Get("limit"))
	switch {
	case g == nil:
		return refusal(http.StatusNotFound, 10004, "Unknown Guild")
	case s.searching == SearchRefused:
		return refusal(http.StatusForbidden, 50001, "Missing Access")
	case s.searching == SearchIndexing:
		return answer{http.StatusAccepted, object{"message": "Index not yet available. Try again later", "code": 110000, "documents_indexed": 0, "retry_after": 2}}
	case c.query.Has("limit") && (err != nil || limit < 1 || limit > 25):
		return malformed("limit", "NUMBER_TYPE_MAX", "int value should be between 1 and 25.")
	case len([]rune(c.query.Get("content"))) > 1024:
		return malformed("content", "BASE_TYPE_MAX_LENGTH", "Must be 1024 or fewer in length.")
	}
	found := [][]object{}
	for _, ch := range g.channels {
		if len(c.query["channel_id"]) > 0 && !slices.Contains(c.query["channel_id"], ch.id) {
			continue
		}
		for _, m := range ch.messages {
			if s.matches(c, m) && len(found) < 25 {
				found = append(found, []object{s.payload(m, false)})
			}
		}
	}
	return answer{http.StatusOK, object{"doing_deep_historical_index": false, "total_results": len(found), "messages": found}}
}

// matches reports whether a message matches a search. The caller must hold mu.
func (s *Server) matches(c *call, m *message) bool {
	if by := c.query["author_id"]; len(by) > 0 && !slices.Contains(by, m.by.id) {
		return false
	}
	if from := c.query.Get("min_id"); from != "" && number(m.ID) < number(from) {
		return false
	}
	if to := c.query.Get("max_id"); to != "" && number(m.ID) > number(to) {
		return false
	}
	for _, word := range strings.Fields(strings.ToLower(c.query.Get("content"))) {
		if !strings.Contains(strings.ToLower(m.Text), word) {
			return false
		}
	}
	return true
}
