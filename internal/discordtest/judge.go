package discordtest

import (
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/gorilla/websocket"
)

// What the gateway allows a client.
// https://discord.com/developers/docs/events/gateway#rate-limiting
const (
	maxPayload  = 4096                                 // bytes
	maxFrames   = 120                                  // in a minute of one connection
	identifyGap = 5*time.Second - 100*time.Millisecond // what comes may have taken less time than what came before
)

// judge counts what a client does that Discord does not allow.
type judge struct {
	refused    map[string]int // answers of the server's own, by method, route, status and message; guarded by the server's mu
	violations map[string]int // on the gateway; guarded by the gateway's mu
}

// Refusals counts the requests that the server refused by its own judgement, and not for a Fault, by method, route, status and
// message.
func (s *Server) Refusals() map[string]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.judge.refused)
}

// Violations counts what was sent to the gateway that it does not allow.
func (s *Server) Violations() map[string]int {
	s.gateway.mu.Lock()
	defer s.gateway.mu.Unlock()
	return maps.Clone(s.judge.violations)
}

// refuse counts a refusal.
func (s *Server) refuse(c *call, a answer) {
	if a.status < 400 {
		return
	}
	parts := strings.Split(strings.Join(c.parts, "/"), "/")
	for i, p := range parts {
		if strings.Trim(p, "0123456789") == "" || strings.HasPrefix(p, "interaction-token-") {
			parts[i] = "*"
		}
	}
	body, _ := a.body.(object)
	key := fmt.Sprintf("%s %s: %d %v", c.method, strings.Join(parts, "/"), a.status, body["message"])
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.judge.refused == nil {
		s.judge.refused = map[string]int{}
	}
	s.judge.refused[key]++
}

// connectionJudge watches what a client sends over one connection to the gateway.
type connectionJudge struct {
	frames   []time.Time // of the last minute
	begun    bool        // it has sent an IDENTIFY or a RESUME
	lastBeat time.Time
}

// frame judges one frame. Its caller holds the gateway's mu.
func (s *Server) frame(j *connectionJudge, op, size int) {
	now, g := time.Now(), &s.gateway
	violates := func(format string, args ...any) {
		if s.judge.violations == nil {
			s.judge.violations = map[string]int{}
		}
		s.judge.violations[fmt.Sprintf(format, args...)]++
	}
	j.frames = append(j.frames, now)
	for now.Sub(j.frames[0]) > time.Minute {
		j.frames = j.frames[1:]
	}
	if len(j.frames) > maxFrames {
		violates("more than %d frames in a minute", maxFrames)
	}
	if size > maxPayload {
		violates("op %d has more than %d bytes", op, maxPayload)
	}
	switch op {
	case 1:
		if now.Sub(j.lastBeat) > g.interval+g.interval/2 {
			violates("a heartbeat is late")
		}
		j.lastBeat = now
	case 2, 6:
		if j.begun {
			violates("a second IDENTIFY or RESUME on a connection")
		}
		if op == 2 && now.Sub(g.identified) < identifyGap {
			violates("two IDENTIFYs in 5 s")
		}
		if j.begun = true; op == 2 {
			g.identified = now
		}
	case 3:
		if !j.begun {
			violates("op 3 before IDENTIFY")
		}
	default:
		violates("op %d, which no bot of this kind sends", op)
	}
}

// hello begins the watch over a connection. Its caller holds the gateway's mu.
func (g *gateway) hello(ws *websocket.Conn) *connectionJudge {
	if !g.silent {
		g.op(ws, 10, object{"heartbeat_interval": g.interval.Milliseconds()})
	}
	return &connectionJudge{lastBeat: time.Now()}
}
