package discordtest

import (
	"bytes"
	"cmp"
	"encoding/json"
	"io"
	"maps"
	"mime"
	"mime/multipart"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// answer is the answer to a request: a status and a JSON body.
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

// call is one request that is being answered.
type call struct {
	method string
	from   string   // address of the other end
	parts  []string // path below /api/v10, split
	query  url.Values
	body   []byte // JSON; of a form, its payload_json
	files  formFiles
}

func (s *Server) gatewayURL() string {
	return "ws" + strings.TrimPrefix(s.http.URL, "http") + "/gateway"
}

// serve answers every HTTP request, including the upgrade to the gateway.
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
	c := &call{method: r.Method, from: r.RemoteAddr, parts: strings.Split(path, "/"), query: r.URL.Query(), body: raw}
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
		send(w, s.distortAnswer(c, a))
	}
	s.record(Request{Method: r.Method, Path: "/" + path, Body: string(c.body), At: at, Status: status})
}

// authorised answers a request after checking its token, if the route needs one.
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
	if no, ok := c.judged(); !ok {
		return no
	}
	return s.route(c)
}

// route finds the handler of a request. A * in a pattern matches one part of the path.
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
		{"GET guilds/*", s.ofGuild((*guild).payload)},
		{"GET guilds/*/channels", s.ofGuild((*guild).channelPayloads)},
		{"GET guilds/*/roles", s.ofGuild((*guild).rolePayloads)},
		{"POST users/@me/channels", s.openDirect},
		{"GET channels/*", s.getChannel},
		{"PATCH channels/*", s.patchChannel},
		{"POST channels/*/typing", s.typing},
		{"GET channels/*/messages", s.listMessages},
		{"POST channels/*/messages", s.create},
		{"GET channels/*/messages/pins", s.listPins},
		{"GET guilds/*/members/search", s.searchMembers},
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
		{"POST applications/*/commands", s.postCommand},
		{"GET applications/*/commands", s.getCommands},
		{"POST interactions/*/*/callback", s.callback},
		{"GET webhooks/*/*/messages/@original", s.getOriginal},
		{"PATCH webhooks/*/*/messages/@original", s.editOriginal},
		{"PATCH webhooks/*/*/messages/*", s.editByWebhook},
		{"DELETE webhooks/*/*/messages/*", s.deleteByWebhook},
		{"POST webhooks/*/*", func(c *call) answer {
			if c.parts[1] == appID { // the token of an interaction
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

// decode reads the body. If the body is invalid, v is unchanged.
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

// files splits a form into its parts. Any other body is already JSON.
func files(contentType string, raw []byte) (formFiles, []byte, error) {
	kind, params, err := mime.ParseMediaType(contentType)
	if err != nil || kind != "multipart/form-data" {
		return nil, raw, nil
	}
	found, payload := formFiles{}, []byte(nil)
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
			found = append(found, formFile{part.FormName(), part.FileName(), string(content)})
		}
	}
}

func (s *Server) getGateway(*call) answer {
	s.gateway.mu.Lock()
	concurrency := s.gateway.concurrency
	s.gateway.mu.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.renew()
	shards := s.shards
	if shards == 0 {
		shards = 1 + len(s.guilds)/guildsPerShard
	}
	reset := max(0, time.Until(s.resetAt))
	return answer{http.StatusOK, object{"url": s.gatewayURL(), "shards": shards, "session_start_limit": object{
		"total": startsADay, "remaining": s.startsLeft, "reset_after": reset.Milliseconds(), "max_concurrency": concurrency}}}
}

const (
	startsADay     = 1000
	guildsPerShard = 1000 // in what Discord recommends
)

// RecommendShards sets the number of shards that the server recommends; 0 is one for each 1,000 servers.
func (s *Server) RecommendShards(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.shards = n
}

// renew resets the limit of sessions if its day is over. The caller must hold mu.
func (s *Server) renew() {
	if !s.resetAt.IsZero() && !time.Now().Before(s.resetAt) {
		s.startsLeft, s.resetAt = startsADay, time.Time{}
	}
}

// spend counts an IDENTIFY, and reports whether it was allowed.
func (s *Server) spend() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.renew()
	s.startsLeft--
	return s.startsLeft >= 0
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

// SessionStarts sets how many sessions may begin before the daily limit is reset, and when that is.
func (s *Server) SessionStarts(left int, reset time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.startsLeft, s.resetAt = left, time.Now().Add(reset)
}

// Bits of an application's flags.
// https://discord.com/developers/docs/resources/application#application-object-application-flags
const contentLimited = 1 << 19 // Message Content is switched on, by the switch that needs no review

// SendInteractionsTo sends commands and buttons to an address instead of the gateway, like the developer portal's endpoint URL.
func (s *Server) SendInteractionsTo(address string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.endpoint = address
}

// SkewClock sets how far the server's clock, as answers show it, is off.
func (s *Server) SkewClock(by time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.skew = by
}

// date writes the Date header, from which clients know the time.
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

// listGuilds lists the bot's servers in the order of their ids, from the one after the parameter "after".
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

// ofGuild answers a request about a server that the bot can ask about. get is called with the lock held.
func (s *Server) ofGuild(get func(*guild) any) func(*call) answer {
	return func(c *call) answer {
		s.mu.Lock()
		defer s.mu.Unlock()
		g := s.guild(c.parts[1])
		if g == nil || g.away {
			return refusal(http.StatusNotFound, 10004, "Unknown Guild")
		}
		return answer{http.StatusOK, get(g)}
	}
}

// https://discord.com/developers/docs/resources/guild#get-guild
func (g *guild) payload() any {
	return object{"id": g.id, "name": g.name, "owner_id": "1", "roles": g.rolePayloads()}
}

// https://discord.com/developers/docs/resources/guild#get-guild-roles
func (g *guild) rolePayloads() any {
	roles := []object{g.rolePayload(g.id)}
	for _, id := range slices.Sorted(maps.Keys(g.roles)) {
		roles = append(roles, g.rolePayload(id))
	}
	return roles
}

// channelPayloads has no threads. It includes channels that the bot may not see.
// https://discord.com/developers/docs/resources/guild#get-guild-channels
func (g *guild) channelPayloads() any {
	list := []object{}
	for _, ch := range slices.SortedFunc(slices.Values(g.channels), func(a, b *channel) int { return byAge(a.id, b.id) }) {
		if ch.kind != 11 {
			list = append(list, ch.payload())
		}
	}
	return list
}

// byAge compares ids, which grow with time.
func byAge(a, b string) int {
	x, _ := strconv.ParseUint(a, 10, 64)
	y, _ := strconv.ParseUint(b, 10, 64)
	return cmp.Compare(x, y)
}
