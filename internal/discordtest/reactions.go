package discordtest

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unicode"
)

// React puts a person's emoji under a message, as a member or as somebody who may manage messages.
func (s *Server) React(messageID, who, emoji string, moderates bool) {
	s.reaction("MESSAGE_REACTION_ADD", messageID, who, emoji, moderates)
}

// Unreact takes it away.
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

// asked reports whether the session has asked for an intent.
func (g *gateway) asked(intent int) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.intents&intent != 0
}

// maxReactions is how many different emojis may be under a message.
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
