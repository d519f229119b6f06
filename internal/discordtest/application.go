package discordtest

import (
	"cmp"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"time"
)

// Bits of an application's flags.
// https://discord.com/developers/docs/resources/application#application-object-application-flags
const contentLimited = 1 << 19 // Message Content is switched on, by the switch that needs no review

// SendInteractionsTo has commands and buttons sent to an address in place of the gateway, as a field of the developer portal does.
func (s *Server) SendInteractionsTo(address string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.endpoint = address
}

// SkewClock has the answers name another time than it is.
func (s *Server) SkewClock(by time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.skew = by
}

// date writes the header by which clients know the time.
func (s *Server) date(h http.Header) {
	s.mu.Lock()
	defer s.mu.Unlock()
	h.Set("Date", time.Now().Add(s.skew).UTC().Format(http.TimeFormat))
}

// https://discord.com/developers/docs/resources/application#get-current-application
func (s *Server) getApplication(*call) answer {
	s.gateway.mu.Lock()
	refused := s.gateway.refuseContent
	s.gateway.mu.Unlock()
	flags := contentLimited
	if refused {
		flags = 0
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	app := object{"id": appID, "name": botName, "flags": flags, "bot_public": true, "bot": s.users[botID].payload(), "interactions_endpoint_url": nil}
	if s.endpoint != "" {
		app["interactions_endpoint_url"] = s.endpoint
	}
	return answer{http.StatusOK, app}
}

// listGuilds lists the bot's servers in the order of their ids, from the one behind "after" on.
// https://discord.com/developers/docs/resources/user#get-current-user-guilds
func (s *Server) listGuilds(c *call) answer {
	limit := 200
	if text := c.query.Get("limit"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > 200 {
			return malformed("limit", "NUMBER_TYPE_MAX", "int value should be between 1 and 200.")
		}
		limit = n
	}
	after, _ := strconv.ParseUint(c.query.Get("after"), 10, 64)
	s.mu.Lock()
	defer s.mu.Unlock()
	all := s.joined()
	slices.SortFunc(all, func(a, b *guild) int { return byAge(a.id, b.id) })
	list := []object{}
	for _, g := range all {
		if id, _ := strconv.ParseUint(g.id, 10, 64); id > after && len(list) < limit {
			list = append(list, object{"id": g.id, "name": g.name, "owner": false, "features": []string{}})
		}
	}
	return answer{http.StatusOK, list}
}

// https://discord.com/developers/docs/resources/guild#get-guild
func (s *Server) getGuild(c *call) answer {
	s.mu.Lock()
	defer s.mu.Unlock()
	g := s.guild(c.parts[1])
	if g == nil || g.away {
		return refusal(http.StatusNotFound, 10004, "Unknown Guild")
	}
	roles := []object{g.rolePayload(g.id)}
	for _, id := range slices.Sorted(maps.Keys(g.roles)) {
		roles = append(roles, g.rolePayload(id))
	}
	return answer{http.StatusOK, object{"id": g.id, "name": g.name, "owner_id": "1", "roles": roles}}
}

// listChannels lists the channels of a server, also those that the bot may not see, without threads.
// https://discord.com/developers/docs/resources/guild#get-guild-channels
func (s *Server) listChannels(c *call) answer {
	s.mu.Lock()
	defer s.mu.Unlock()
	g := s.guild(c.parts[1])
	if g == nil || g.away {
		return refusal(http.StatusNotFound, 10004, "Unknown Guild")
	}
	list := []object{}
	for _, id := range slices.SortedFunc(maps.Keys(s.channels), byAge) {
		if ch := s.channels[id]; ch.guild == g.id && ch.kind != 11 {
			list = append(list, ch.payload())
		}
	}
	return answer{http.StatusOK, list}
}

// byAge compares ids, which grow with time.
func byAge(a, b string) int {
	x, _ := strconv.ParseUint(a, 10, 64)
	y, _ := strconv.ParseUint(b, 10, 64)
	return cmp.Compare(x, y)
}
