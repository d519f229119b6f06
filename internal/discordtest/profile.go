package discordtest

import (
	"net/http"
	"strings"
	"unicode/utf8"
)

// DenyNickname takes the bot's permission Change Nickname in a server, or gives it back.
func (s *Server) DenyNickname(guild string, denied bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.guild(guild).nameless = denied
}

// Profile returns the bot's nickname and avatar in a server; "" where it has none.
func (s *Server) Profile(guild string) (nick, avatar string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	g := s.guild(guild)
	return g.nicks[botID], g.avatar
}

// modifySelf changes how the bot looks in a server.
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
	case in.Nick != nil && utf8.RuneCountInString(*in.Nick) > 32:
		return malformed("nick", "BASE_TYPE_MAX_LENGTH", "Must be 32 or fewer in length.")
	case in.Avatar != nil && !strings.HasPrefix(*in.Avatar, "data:image/"):
		return malformed("avatar", "IMAGE_INVALID", "Invalid image data")
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
