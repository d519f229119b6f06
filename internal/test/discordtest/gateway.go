package discordtest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/gorilla/websocket"
)

// object is a JSON object.
type object = map[string]any

// maxMissed is how many events a session keeps for a RESUME.
const maxMissed = 4096

// gateway is the WebSocket side: the sessions of shards, each with at most one connection.
type gateway struct {
	refuseContent bool       // guarded by mu
	mu            sync.Mutex // also held while writing, so that events keep their order; all fields are guarded by it
	interval      time.Duration
	open          map[*websocket.Conn]bool
	sessions      []*session // that can be resumed or are connected, in the order of their beginning
	begun         int        // sessions so far
	most          int        // servers of a session
	muted         bool
	dataFirst     bool // the data precedes the event's number
	silent        bool
	next          []func(*websocket.Conn) // what to do with the next IDENTIFYs and RESUMEs
	log           []Greeting
	distorted     map[string]func(map[string]any)
	concurrency   int               // IDENTIFYs that may come at once
	identified    map[int]time.Time // when the last IDENTIFY came, by bucket
}

// session brings the events of the servers of one shard.
type session struct {
	id        string
	shard, of int
	ws        *websocket.Conn // nil: it is not connected
	lost      bool            // it cannot be resumed, and gets no events
	seq       int64
	sent      []dispatched // its events, oldest first
	intents   int
	guilds    int
	presence  string // the bot's status line
}

type dispatched struct {
	seq   int64
	frame []byte
}

// Greeting is one IDENTIFY or RESUME.
type Greeting struct {
	Resume  bool
	Shard   int // the shard's number, and how many there are
	Of      int
	Intents int // of an IDENTIFY
	Seq     int64
	At      time.Time
	OK      bool // answered with READY or RESUMED
}

// dispatch sends an event to the sessions that bring it, or keeps it for their RESUME. Without a session the event is lost.
func (g *gateway) dispatch(kind string, data any) {
	raw, err := json.Marshal(data)
	if err != nil {
		panic(fmt.Sprintf("discordtest: encode %s: %v", kind, err))
	}
	guild := guildOf(kind, data)
	g.mu.Lock()
	defer g.mu.Unlock()
	raw = g.distort(kind, raw)
	for _, s := range g.sessions {
		if s.brings(guild) {
			g.dispatchLocked(s, kind, raw)
			g.count(s, kind)
		}
	}
}

// distort changes a payload as the test wants. The caller must hold mu.
func (g *gateway) distort(what string, raw []byte) []byte {
	change := g.distorted[what]
	var o object
	if change == nil || json.Unmarshal(raw, &o) != nil {
		return raw
	}
	change(o)
	raw, _ = json.Marshal(o)
	return raw
}

// Distort changes every payload of a kind before it is sent, as servers do that are not Discord. The kind is an event such as
// "MESSAGE_CREATE", or the answer to a route such as "GET guilds/*". nil ends it.
func (s *Server) Distort(what string, change func(payload map[string]any)) {
	g := &s.gateway
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.distorted == nil {
		g.distorted = map[string]func(map[string]any){}
	}
	g.distorted[what] = change
}

// distortAnswer changes the answer to a request as the test wants.
func (s *Server) distortAnswer(c *call, a answer) answer {
	g := &s.gateway
	g.mu.Lock()
	defer g.mu.Unlock()
	for what := range g.distorted {
		if !c.matches(what) || a.body == nil {
			continue
		}
		raw, _ := json.Marshal(a.body)
		a.body = json.RawMessage(g.distort(what, raw))
	}
	return a
}

// guildOf returns the server that an event is about, or "".
func guildOf(kind string, data any) string {
	fields, _ := data.(object)
	key := "guild_id"
	if kind == "GUILD_CREATE" || kind == "GUILD_UPDATE" || kind == "GUILD_DELETE" {
		key = "id"
	}
	id, _ := fields[key].(string)
	return id
}

// ShardOf returns the number of the shard that brings a server's events, given by id. The nth server that was made, counted from 0, is in
// shard n modulo of. There are 10 shards at most, or 16.
func ShardOf(guildID string, of int) int {
	id, _ := strconv.ParseUint(guildID, 10, 64)
	return int(id >> 22 % uint64(of))
}

// brings reports whether the session brings the events of a server, or with "" those of none.
func (s *session) brings(guildID string) bool { return !s.lost && ShardOf(guildID, s.of) == s.shard }

// count counts the servers of a session, which ends when it has too many. The caller must hold mu.
func (g *gateway) count(s *session, kind string) {
	switch kind {
	case "GUILD_CREATE":
		s.guilds++
	case "GUILD_DELETE":
		s.guilds--
	}
	if s.guilds > g.most {
		s.lost = true
		g.hangUp(s.ws, tooFewShards)
	}
}

// Close codes about shards.
const (
	badShard     = 4010
	tooFewShards = 4011
)

func (g *gateway) dispatchLocked(s *session, kind string, raw json.RawMessage) {
	s.seq++
	about := fmt.Sprintf(`"op":0,"s":%d,"t":%q`, s.seq, kind)
	frame := fmt.Appendf(nil, `{%s,"d":%s}`, about, raw)
	if g.dataFirst {
		frame = fmt.Appendf(nil, `{"d":%s,%s}`, raw, about)
	}
	s.sent = append(s.sent, dispatched{s.seq, frame})
	if len(s.sent) > maxMissed {
		s.sent = append([]dispatched(nil), s.sent[maxMissed/2:]...)
	}
	g.write(s.ws, frame)
}

// of returns the session of a connection, or nil. The caller must hold mu.
func (g *gateway) of(ws *websocket.Conn) *session {
	for _, s := range g.sessions {
		if s.ws == ws && ws != nil {
			return s
		}
	}
	return nil
}

// write sends a frame to a connection. If the connection is nil or dead, the event is missed. The caller must hold mu.
func (g *gateway) write(ws *websocket.Conn, frame []byte) {
	if ws == nil {
		return
	}
	_ = ws.SetWriteDeadline(time.Now().Add(5 * time.Second))
	_ = ws.WriteMessage(websocket.TextMessage, frame)
}

func (g *gateway) op(ws *websocket.Conn, op int, data any) {
	frame, _ := json.Marshal(object{"op": op, "d": data, "s": nil, "t": nil})
	g.write(ws, frame)
}

// hangUp closes a connection with a code. Code 0 cuts it without a close frame. The caller must hold mu.
func (g *gateway) hangUp(ws *websocket.Conn, code int) {
	if ws == nil {
		return
	}
	if code != 0 {
		_ = ws.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(code, ""), time.Now().Add(time.Second))
	}
	ws.Close()
	if s := g.of(ws); s != nil {
		s.ws = nil
	}
}

func (g *gateway) shut() {
	g.mu.Lock()
	defer g.mu.Unlock()
	for ws := range g.open {
		ws.Close()
	}
}

// serveGateway serves one WebSocket connection, from HELLO to its end.
func (s *Server) serveGateway(w http.ResponseWriter, r *http.Request) {
	if r.URL.Query().Get("v") != "10" || r.URL.Query().Get("encoding") != "json" {
		http.Error(w, "want v=10 and encoding=json", http.StatusBadRequest)
		return
	}
	upgrader := websocket.Upgrader{}
	dated := http.Header{}
	s.date(dated)
	ws, err := upgrader.Upgrade(w, r, dated)
	if err != nil {
		return
	}
	s.conns.Add(1)
	defer s.conns.Done()
	defer ws.Close()
	g := &s.gateway
	g.mu.Lock()
	if g.open == nil {
		g.open = map[*websocket.Conn]bool{}
	}
	g.open[ws] = true
	watch := g.hello(ws)
	g.mu.Unlock()
	defer func() {
		g.mu.Lock()
		delete(g.open, ws)
		if s := g.of(ws); s != nil {
			s.ws = nil
		}
		g.mu.Unlock()
		s.touch()
	}()
	for {
		var f struct {
			Op   int             `json:"op"`
			Data json.RawMessage `json:"d"`
		}
		_, raw, err := ws.ReadMessage()
		if err != nil {
			if websocket.IsCloseError(err, websocket.CloseNormalClosure, websocket.CloseGoingAway) {
				g.end(ws) // a client that closes with one of these codes ends its session
			}
			return
		}
		_ = json.Unmarshal(raw, &f)
		g.mu.Lock()
		s.frame(watch, f.Op, len(raw), bucketOf(f.Data, g.concurrency))
		g.mu.Unlock()
		s.receive(ws, f.Op, f.Data)
	}
}

// end ends the session of a connection.
func (g *gateway) end(ws *websocket.Conn) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if s := g.of(ws); s != nil {
		s.lost = true
	}
}

// receive handles one frame of the client.
func (s *Server) receive(ws *websocket.Conn, op int, data []byte) {
	g := &s.gateway
	switch op {
	case 1:
		g.mu.Lock()
		if !g.muted {
			g.op(ws, 11, nil)
		}
		g.mu.Unlock()
	case 3:
		g.mu.Lock()
		g.present(ws, data)
		g.mu.Unlock()
	case 2, 6:
		var hello struct {
			Token   string `json:"token"`
			Intents int    `json:"intents"`
			Session string `json:"session_id"`
			Seq     int64  `json:"seq"`
			Shard   [2]int `json:"shard"`
		}
		hello.Shard = [2]int{0, 1}
		_ = json.Unmarshal(data, &hello)
		begins := &session{ws: ws, shard: hello.Shard[0], of: hello.Shard[1], intents: hello.Intents}
		valid := begins.of > 0 && begins.shard >= 0 && begins.shard < begins.of
		var ready object
		var guilds [][]byte
		spent := op == 2 && !s.spend()
		if op == 2 && valid {
			ready, guilds = s.readyPayloads(begins)
		}
		g.mu.Lock()
		if spent {
			s.violates("an IDENTIFY beyond the day's limit")
		}
		greeting := Greeting{Resume: op == 6, Shard: begins.shard, Of: begins.of, Intents: hello.Intents, Seq: hello.Seq, At: time.Now()}
		switch {
		case len(g.next) > 0:
			answer := g.next[0]
			g.next = g.next[1:]
			answer(ws)
		case hello.Token != Token && hello.Token != "Bot "+Token:
			g.hangUp(ws, 4004)
		case op == 2 && g.refuseContent && hello.Intents&contentIntent != 0:
			g.hangUp(ws, 4014)
		case op == 2 && !valid:
			g.hangUp(ws, badShard)
		case op == 2 && len(guilds) > g.most:
			g.hangUp(ws, tooFewShards)
		case op == 2:
			greeting.OK = true
			g.identify(begins, ready, guilds)
		default:
			var resumed *session
			if resumed, greeting.OK = g.resume(ws, hello.Session, hello.Seq); resumed != nil {
				greeting.Shard, greeting.Of = resumed.shard, resumed.of
			}
		}
		g.log = append(g.log, greeting)
		g.mu.Unlock()
		s.touch()
	}
}

// identify begins a new session in place of that of the same shard. The caller must hold mu.
func (g *gateway) identify(s *session, ready object, guilds [][]byte) {
	g.sessions = slices.DeleteFunc(g.sessions, func(other *session) bool {
		return other.lost && other.ws == nil || other.shard == s.shard && other.of == s.of
	})
	g.begun++
	s.id, s.guilds = fmt.Sprintf("session-%d", g.begun), len(guilds)
	g.sessions = append(g.sessions, s)
	ready["session_id"] = s.id
	raw, _ := json.Marshal(ready)
	g.dispatchLocked(s, "READY", g.distort("READY", raw))
	for _, raw := range guilds {
		g.dispatchLocked(s, "GUILD_CREATE", g.distort("GUILD_CREATE", raw))
	}
}

// resume replays the events that a session has missed. The caller must hold mu.
func (g *gateway) resume(ws *websocket.Conn, id string, seq int64) (*session, bool) {
	i := slices.IndexFunc(g.sessions, func(s *session) bool { return s.id == id && !s.lost })
	if i < 0 || seq > g.sessions[i].seq || len(g.sessions[i].sent) > 0 && g.sessions[i].sent[0].seq > seq+1 {
		g.op(ws, 9, false)
		return nil, false
	}
	s := g.sessions[i]
	s.ws = ws
	for _, d := range s.sent {
		if d.seq > seq {
			g.write(ws, d.frame)
		}
	}
	g.dispatchLocked(s, "RESUMED", []byte("{}"))
	return s, true
}

// touch wakes everything that waits for a change.
func (s *Server) touch() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.bump()
}

// HeartbeatInterval sets the interval in HELLO. The default is 41.25 s.
func (s *Server) HeartbeatInterval(d time.Duration) {
	s.gateway.mu.Lock()
	defer s.gateway.mu.Unlock()
	s.gateway.interval = d
}

// ResumeURL sets the address for a RESUME in READY.
func (s *Server) ResumeURL(address string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.resumeURL = &address
}

// DataFirst chooses whether an event's data precedes its number and kind.
func (s *Server) DataFirst(first bool) {
	s.gateway.mu.Lock()
	defer s.gateway.mu.Unlock()
	s.gateway.dataFirst = first
}

// MuteAcks stops acknowledging heartbeats, or resumes it.
func (s *Server) MuteAcks(muted bool) {
	s.gateway.mu.Lock()
	defer s.gateway.mu.Unlock()
	s.gateway.muted = muted
}

// Silence chooses whether new connections hang without a HELLO.
func (s *Server) Silence(silent bool) {
	s.gateway.mu.Lock()
	defer s.gateway.mu.Unlock()
	s.gateway.silent = silent
}

// Connections returns the number of open WebSocket connections.
func (s *Server) Connections() int {
	s.gateway.mu.Lock()
	defer s.gateway.mu.Unlock()
	return len(s.gateway.open)
}

// Drop closes the connections with a code; 0 cuts them without a close frame. The sessions can be resumed.
func (s *Server) Drop(code int) { s.each(func(one *session) { s.gateway.hangUp(one.ws, code) }) }

// DropShard does so with the connections of one shard.
func (s *Server) DropShard(shard, code int) {
	s.each(func(one *session) {
		if one.shard == shard {
			s.gateway.hangUp(one.ws, code)
		}
	})
}

// Forget makes the server lose the sessions, so that a RESUME gets op 9.
func (s *Server) Forget() { s.each(func(one *session) { one.lost = true }) }

// Reconnect sends op 7.
func (s *Server) Reconnect() { s.each(func(one *session) { s.gateway.op(one.ws, 7, nil) }) }

// Beat sends op 1, which asks for a heartbeat at once.
func (s *Server) Beat() { s.each(func(one *session) { s.gateway.op(one.ws, 1, nil) }) }

// Invalidate sends op 9 to the running sessions.
func (s *Server) Invalidate(resumable bool) {
	s.each(func(one *session) { s.gateway.op(one.ws, 9, resumable) })
}

// each calls f with each session while the gateway's mu is held.
func (s *Server) each(f func(*session)) {
	s.gateway.mu.Lock()
	defer s.gateway.mu.Unlock()
	for _, one := range s.gateway.sessions {
		f(one)
	}
}

// MostGuilds sets how many servers a session may have before it is closed with 4011. The default is 2,500.
func (s *Server) MostGuilds(n int) {
	s.gateway.mu.Lock()
	defer s.gateway.mu.Unlock()
	s.gateway.most = n
}

// Crowd does so, and closes the sessions that have more already.
func (s *Server) Crowd(most int) {
	s.MostGuilds(most)
	s.each(func(one *session) { s.gateway.count(one, "") })
}

// Concurrency sets how many IDENTIFYs may come in five seconds, each in a bucket of its own. The default is 1.
func (s *Server) Concurrency(n int) {
	s.gateway.mu.Lock()
	defer s.gateway.mu.Unlock()
	s.gateway.concurrency = n
}

// bucketOf returns the bucket of an IDENTIFY.
func bucketOf(data []byte, concurrency int) int {
	var hello struct {
		Shard [2]int `json:"shard"`
	}
	_ = json.Unmarshal(data, &hello)
	return hello.Shard[0] % concurrency
}

// present notes the bot's presence. It is not allowed before the session. The caller must hold mu.
func (g *gateway) present(ws *websocket.Conn, data []byte) {
	var p struct {
		Status     string `json:"status"`
		Activities []struct {
			Type  int    `json:"type"`
			Name  string `json:"name"`
			State string `json:"state"`
		} `json:"activities"`
	}
	to := g.of(ws)
	if to == nil || json.Unmarshal(data, &p) != nil || p.Activities == nil || !slices.Contains([]string{"online", "idle", "dnd"}, p.Status) {
		g.hangUp(ws, 4003)
		return
	}
	to.presence = p.Status
	for _, a := range p.Activities {
		if a.Type == 4 && a.Name != "" { // a custom status
			to.presence += " " + a.State
		}
	}
}

// Presence returns the bot's status and custom text, as people see them, in the newest session.
func (s *Server) Presence() (latest string) {
	s.each(func(one *session) { latest = one.presence })
	return latest
}

// Presences returns them for each session.
func (s *Server) Presences() (all []string) {
	s.each(func(one *session) { all = append(all, one.presence) })
	return all
}

// RefuseContent refuses sessions that ask for the content of messages. Discord does so if the developer portal does not grant it.
func (s *Server) RefuseContent() {
	s.gateway.mu.Lock()
	defer s.gateway.mu.Unlock()
	s.gateway.refuseContent = true
}

const contentIntent = 1 << 15

// CloseNext answers the next n IDENTIFYs or RESUMEs by closing with a code.
func (s *Server) CloseNext(n, code int) {
	s.answerNext(n, func(ws *websocket.Conn) { s.gateway.hangUp(ws, code) })
}

// InvalidateNext answers the next n IDENTIFYs or RESUMEs with op 9.
func (s *Server) InvalidateNext(n int, resumable bool) {
	s.answerNext(n, func(ws *websocket.Conn) { s.gateway.op(ws, 9, resumable) })
}

// IgnoreNext leaves the next n IDENTIFYs or RESUMEs unanswered.
func (s *Server) IgnoreNext(n int) { s.answerNext(n, func(*websocket.Conn) {}) }

func (s *Server) answerNext(n int, answer func(*websocket.Conn)) {
	s.gateway.mu.Lock()
	defer s.gateway.mu.Unlock()
	for range n {
		s.gateway.next = append(s.gateway.next, answer)
	}
}

// Dispatch sends any event.
func (s *Server) Dispatch(kind string, data any) { s.gateway.dispatch(kind, data) }

// Greetings lists the IDENTIFYs and RESUMEs so far.
func (s *Server) Greetings() []Greeting {
	s.gateway.mu.Lock()
	defer s.gateway.mu.Unlock()
	return append([]Greeting(nil), s.gateway.log...)
}

// WaitShards waits until all sessions of a number of shards are connected.
func (s *Server) WaitShards(of int, timeout time.Duration) bool {
	return s.until(timeout, func() bool { return s.Shards(of) == of })
}

// Shards counts the connected sessions of a number of shards.
func (s *Server) Shards(of int) (n int) {
	s.each(func(one *session) {
		if one.of == of && one.ws != nil && !one.lost {
			n++
		}
	})
	return n
}

// WaitSession waits until a session is connected.
func (s *Server) WaitSession(timeout time.Duration) bool {
	return s.until(timeout, func() bool { return s.gateway.connected() })
}

// WaitGreetings waits until n sessions have been begun or resumed.
func (s *Server) WaitGreetings(n int, timeout time.Duration) bool {
	return s.until(timeout, func() bool {
		ok := 0
		for _, g := range s.Greetings() {
			if g.OK {
				ok++
			}
		}
		return ok >= n
	})
}

func (g *gateway) connected() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.ContainsFunc(g.sessions, func(s *session) bool { return s.ws != nil })
}
