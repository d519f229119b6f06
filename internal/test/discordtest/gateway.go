package discordtest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/gorilla/websocket"
)

// object is a JSON object.
type object = map[string]any

// maxMissed is how many events a session keeps for a RESUME.
const maxMissed = 4096

// gateway is the WebSocket side: at most one session, with at most one connection.
type gateway struct {
	presence      string     // the bot's status line; guarded by mu
	refuseContent bool       // guarded by mu
	mu            sync.Mutex // also held while writing, so that events keep their order; all fields are guarded by it
	interval      time.Duration
	ws            *websocket.Conn // of the session, or nil
	open          map[*websocket.Conn]bool
	session       string // session id; empty before the first IDENTIFY
	begun         int    // sessions so far
	seq           int64
	sent          []dispatched // events of the session, oldest first
	intents       int
	muted         bool
	dataFirst     bool // the data precedes the event's number
	silent        bool
	next          []func(*websocket.Conn) // what to do with the next IDENTIFYs and RESUMEs
	log           []Greeting
	identified    time.Time // when the last IDENTIFY came
	distorted     map[string]func(map[string]any)
}

type dispatched struct {
	seq   int64
	frame []byte
}

// Greeting is one IDENTIFY or RESUME.
type Greeting struct {
	Resume  bool
	Intents int // of an IDENTIFY
	Seq     int64
	At      time.Time
	OK      bool // answered with READY or RESUMED
}

// dispatch sends an event to the session, or keeps it for the session's RESUME. Without a session the event is lost.
func (g *gateway) dispatch(kind string, data any) {
	raw, err := json.Marshal(data)
	if err != nil {
		panic(fmt.Sprintf("discordtest: encode %s: %v", kind, err))
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.dispatchLocked(kind, g.distort(kind, raw))
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

// Distort changes every payload of a kind before it is sent, as servers do that are not Discord: an event such as "MESSAGE_CREATE", or the
// answer to a route such as "GET guilds/*". nil ends it.
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

func (g *gateway) dispatchLocked(kind string, raw json.RawMessage) {
	if g.session == "" {
		return
	}
	g.seq++
	about := fmt.Sprintf(`"op":0,"s":%d,"t":%q`, g.seq, kind)
	frame := fmt.Appendf(nil, `{%s,"d":%s}`, about, raw)
	if g.dataFirst {
		frame = fmt.Appendf(nil, `{"d":%s,%s}`, raw, about)
	}
	g.sent = append(g.sent, dispatched{g.seq, frame})
	if len(g.sent) > maxMissed {
		g.sent = append([]dispatched(nil), g.sent[maxMissed/2:]...)
	}
	g.write(g.ws, frame)
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
	if g.ws == ws {
		g.ws = nil
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
	ws, err := upgrader.Upgrade(w, r, nil)
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
		if g.ws == ws {
			g.ws = nil
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
		s.frame(watch, f.Op, len(raw))
		g.mu.Unlock()
		s.receive(ws, f.Op, f.Data)
	}
}

// end ends the session of a connection.
func (g *gateway) end(ws *websocket.Conn) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.ws == ws {
		g.session = ""
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
		}
		_ = json.Unmarshal(data, &hello)
		s.mu.Lock()
		ready, guilds := s.readyPayload(), s.guildPayloads()
		s.mu.Unlock()
		g.mu.Lock()
		greeting := Greeting{Resume: op == 6, Intents: hello.Intents, Seq: hello.Seq, At: time.Now()}
		switch {
		case len(g.next) > 0:
			answer := g.next[0]
			g.next = g.next[1:]
			answer(ws)
		case hello.Token != Token && hello.Token != "Bot "+Token:
			g.hangUp(ws, 4004)
		case op == 2 && g.refuseContent && hello.Intents&contentIntent != 0:
			g.hangUp(ws, 4014)
		case op == 2:
			greeting.OK = true
			g.identify(ws, hello.Intents, ready, guilds)
		default:
			greeting.OK = g.resume(ws, hello.Session, hello.Seq)
		}
		g.log = append(g.log, greeting)
		g.mu.Unlock()
		s.touch()
	}
}

// identify begins a new session. The caller must hold mu.
func (g *gateway) identify(ws *websocket.Conn, intents int, ready object, guilds []object) {
	g.begun++
	g.session, g.seq, g.sent, g.ws, g.intents = fmt.Sprintf("session-%d", g.begun), 0, nil, ws, intents
	ready["session_id"] = g.session
	raw, _ := json.Marshal(ready)
	g.dispatchLocked("READY", raw)
	for _, guild := range guilds {
		raw, _ := json.Marshal(guild)
		g.dispatchLocked("GUILD_CREATE", raw)
	}
}

// resume replays the events that a session has missed. The caller must hold mu.
func (g *gateway) resume(ws *websocket.Conn, session string, seq int64) bool {
	if session != g.session || seq > g.seq || len(g.sent) > 0 && g.sent[0].seq > seq+1 {
		g.op(ws, 9, false)
		return false
	}
	g.ws = ws
	for _, d := range g.sent {
		if d.seq > seq {
			g.write(ws, d.frame)
		}
	}
	g.dispatchLocked("RESUMED", []byte("{}"))
	return true
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

// Drop closes the connection with a code; 0 cuts it without a close frame. The session can be resumed.
func (s *Server) Drop(code int) {
	s.gateway.mu.Lock()
	defer s.gateway.mu.Unlock()
	s.gateway.hangUp(s.gateway.ws, code)
}

// Forget makes the server lose the session, so that a RESUME gets op 9.
func (s *Server) Forget() {
	s.gateway.mu.Lock()
	defer s.gateway.mu.Unlock()
	s.gateway.session = ""
}

// Reconnect sends op 7.
func (s *Server) Reconnect() {
	s.gateway.mu.Lock()
	defer s.gateway.mu.Unlock()
	s.gateway.op(s.gateway.ws, 7, nil)
}

// Beat sends op 1, which asks for a heartbeat at once.
func (s *Server) Beat() {
	s.gateway.mu.Lock()
	defer s.gateway.mu.Unlock()
	s.gateway.op(s.gateway.ws, 1, nil)
}

// Invalidate sends op 9 to the running session.
func (s *Server) Invalidate(resumable bool) {
	s.gateway.mu.Lock()
	defer s.gateway.mu.Unlock()
	s.gateway.op(s.gateway.ws, 9, resumable)
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
	if g.ws != ws || json.Unmarshal(data, &p) != nil || p.Activities == nil || !slices.Contains([]string{"online", "idle", "dnd"}, p.Status) {
		g.hangUp(ws, 4003)
		return
	}
	g.presence = p.Status
	for _, a := range p.Activities {
		if a.Type == 4 && a.Name != "" { // a custom status
			g.presence += " " + a.State
		}
	}
}

// Presence returns the bot's status and custom text, as people see them.
func (s *Server) Presence() string {
	s.gateway.mu.Lock()
	defer s.gateway.mu.Unlock()
	return s.gateway.presence
}

// RefuseContent refuses sessions that ask for the content of messages, as Discord does if the developer portal does not grant it.
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
	return g.ws != nil
}
