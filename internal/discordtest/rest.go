package discordtest

import (
	"bytes"
	"encoding/json"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// answer is what a request gets: a status and a JSON body.
type answer struct {
	status int
	body   any // nil: none
}

// refusal is an error body of Discord.
func refusal(status, code int, text string) answer {
	return answer{status, object{"code": code, "message": text}}
}

// malformed is the body of error 50035 for one field.
func malformed(field, code, text string) answer {
	return answer{http.StatusBadRequest, object{"code": 50035, "message": "Invalid Form Body",
		"errors": object{field: object{"_errors": []object{{"code": code, "message": text}}}}}}
}

// call is one request being answered.
type call struct {
	method string
	parts  []string // of the path below /api/v10
	query  url.Values
	body   []byte // JSON; of a form, its payload_json
	files  map[string]string
}

func (s *Server) gatewayURL() string {
	return "ws" + strings.TrimPrefix(s.http.URL, "http") + "/gateway"
}

// serve answers every HTTP request, the gateway's upgrade among them.
func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	if strings.TrimSuffix(r.URL.Path, "/") == "/gateway" {
		s.serveGateway(w, r)
		return
	}
	s.date(w.Header())
	path, ok := strings.CutPrefix(r.URL.Path, "/api/v10/")
	if !ok {
		send(w, refusal(http.StatusNotFound, 50041, "Invalid API version provided"))
		return
	}
	raw, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	at := time.Now()
	c := &call{method: r.Method, parts: strings.Split(path, "/"), query: r.URL.Query(), body: raw}
	if c.files, c.body, err = files(r.Header.Get("Content-Type"), raw); err != nil {
		send(w, refusal(http.StatusBadRequest, 50109, "The request body contains invalid JSON."))
		return
	}
	fault := s.fault(c)
	fault.pause(r)
	var status int
	switch {
	case !fault.harmless() && !fault.After:
		status = fault.send(w)
	default:
		a := s.authorised(r, c)
		s.refuse(c, a)
		status = a.status
		if !fault.harmless() {
			status = fault.send(w)
			break
		}
		s.rateHeaders(w.Header(), c, a)
		send(w, a)
	}
	s.record(Request{Method: r.Method, Path: "/" + path, Body: string(c.body), At: at, Status: status})
}

// authorised answers a request, if its token is right where one is needed.
func (s *Server) authorised(r *http.Request, c *call) answer {
	open := c.parts[0] == "interactions" || c.parts[0] == "webhooks"
	if !open && r.Header.Get("Authorization") != "Bot "+Token {
		return refusal(http.StatusUnauthorized, 0, "401: Unauthorized")
	}
	if a, limited := s.overPace(c); limited {
		return a
	}
	if a, limited := s.overLimit(c); limited {
		return a
	}
	return s.route(c)
}

// route finds what answers a request. A * in a pattern is any one part of the path.
func (s *Server) route(c *call) answer {
	routes := []struct {
		pattern string
		answer  func(*call) answer
	}{
		{"GET gateway", s.getGateway},
		{"GET gateway/bot", s.getGateway},
		{"GET users/@me", s.getSelf},
		{"GET applications/@me", s.getApplication},
		{"GET users/@me/guilds", s.listGuilds},
		{"GET guilds/*", s.getGuild},
		{"GET guilds/*/channels", s.listChannels},
		{"POST users/@me/channels", s.openDirect},
		{"GET channels/*", s.getChannel},
		{"PATCH channels/*", s.patchChannel},
		{"POST channels/*/typing", s.typing},
		{"GET channels/*/messages", s.listMessages},
		{"POST channels/*/messages", s.create},
		{"GET channels/*/messages/pins", s.listPins},
		{"GET guilds/*/members/*", s.getMember},
		{"GET guilds/*/messages/search", s.searchMessages},
		{"GET channels/*/messages/*", s.getMessage},
		{"PATCH channels/*/messages/*", s.edit},
		{"DELETE channels/*/messages/*", s.delete},
		{"POST channels/*/messages/*/threads", s.startThread},
		{"PUT channels/*/messages/*/reactions/*/@me", s.putReaction},
		{"GET channels/*/webhooks", s.listWebhooks},
		{"POST channels/*/webhooks", s.makeWebhook},
		{"PATCH guilds/*/members/@me", s.modifySelf},
		{"PUT applications/*/commands", s.putCommands},
		{"GET applications/*/commands", s.getCommands},
		{"POST interactions/*/*/callback", s.callback},
		{"GET webhooks/*/*/messages/@original", s.getOriginal},
		{"PATCH webhooks/*/*/messages/@original", s.editOriginal},
		{"PATCH webhooks/*/*/messages/*", s.editByWebhook},
		{"DELETE webhooks/*/*/messages/*", s.deleteByWebhook},
		{"POST webhooks/*/*", func(c *call) answer {
			if c.parts[1] == appID { // an interaction's token
				return s.followUp(c)
			}
			return s.execute(c)
		}},
	}
	for _, r := range routes {
		if c.matches(r.pattern) {
			return r.answer(c)
		}
	}
	return refusal(http.StatusNotFound, 0, "404: Not Found")
}

// matches compares a request with "METHOD path/with/*".
func (c *call) matches(pattern string) bool {
	method, path, _ := strings.Cut(pattern, " ")
	if method != c.method && method != "*" {
		return false
	}
	for i := 0; ; i++ {
		part, rest, more := strings.Cut(path, "/")
		if i >= len(c.parts) || part != "*" && part != c.parts[i] {
			return false
		}
		if !more {
			return i == len(c.parts)-1
		}
		path = rest
	}
}

// decode reads the body; an unreadable one leaves v as it is.
func (c *call) decode(v any) bool { return json.Unmarshal(c.body, v) == nil }

func send(w http.ResponseWriter, a answer) {
	if a.body == nil {
		w.WriteHeader(a.status)
		return
	}
	raw, err := json.Marshal(a.body)
	if err != nil {
		panic(err)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(a.status)
	_, _ = w.Write(raw)
}

// files takes a form apart; any other body is JSON already.
func files(contentType string, raw []byte) (map[string]string, []byte, error) {
	kind, params, err := mime.ParseMediaType(contentType)
	if err != nil || kind != "multipart/form-data" {
		return nil, raw, nil
	}
	found, payload := map[string]string{}, []byte(nil)
	form := multipart.NewReader(bytes.NewReader(raw), params["boundary"])
	for {
		part, err := form.NextPart()
		if err == io.EOF {
			return found, payload, nil
		}
		if err != nil {
			return nil, nil, err
		}
		content, err := io.ReadAll(part)
		if err != nil {
			return nil, nil, err
		}
		if part.FormName() == "payload_json" {
			payload = content
		} else {
			found[part.FileName()] = string(content)
		}
	}
}

func (s *Server) getGateway(*call) answer {
	s.mu.Lock()
	defer s.mu.Unlock()
	return answer{http.StatusOK, object{"url": s.gatewayURL(), "shards": 1, "session_start_limit": object{
		"total": 1000, "remaining": s.startsLeft, "reset_after": s.resetAfter.Milliseconds(), "max_concurrency": 1}}}
}

func (s *Server) getSelf(*call) answer {
	s.mu.Lock()
	defer s.mu.Unlock()
	return answer{http.StatusOK, s.users[botID].payload()}
}

func (s *Server) openDirect(c *call) answer {
	var to struct {
		ID string `json:"recipient_id"`
	}
	c.decode(&to)
	s.mu.Lock()
	defer s.mu.Unlock()
	u := s.users[to.ID]
	if u == nil {
		return refusal(http.StatusBadRequest, 50033, "Invalid Recipient(s)")
	}
	return answer{http.StatusOK, s.direct(u).payload()}
}

func (s *Server) getChannel(c *call) answer {
	s.mu.Lock()
	defer s.mu.Unlock()
	if ch := s.channels[c.parts[1]]; ch != nil && !s.away(ch) {
		return answer{http.StatusOK, ch.payload()}
	}
	return refusal(http.StatusNotFound, 10003, "Unknown Channel")
}

// SessionStarts sets how many sessions may be begun before the daily limit is reset, and when that is.
func (s *Server) SessionStarts(left int, reset time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.startsLeft, s.resetAfter = left, reset
}
