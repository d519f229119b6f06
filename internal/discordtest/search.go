package discordtest

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// SearchState says what the server's own search answers.
type SearchState int

// Its states. At first the bot may not search.
const (
	SearchRefused SearchState = iota
	SearchIndexing
	SearchReady
)

// Searching sets what the server's own search answers.
func (s *Server) Searching(state SearchState) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.searching = state
}

// searchMessages finds the messages of a server that hold all words, whoever may read them: the bot may, and what it tells is its own
// affair. https://discord.com/developers/docs/resources/message#search-guild-messages
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
	for _, ch := range s.channels {
		if ch.guild != g.id || len(c.query["channel_id"]) > 0 && !slices.Contains(c.query["channel_id"], ch.id) {
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

// matches reports whether a message is one that a search is for. Its caller holds mu.
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
