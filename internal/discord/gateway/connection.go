package gateway

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bwmarrin/discordgo"
	"github.com/gorilla/websocket"

	"familiar/internal/context/turn"
)

// Gateway opcodes: https://discord.com/developers/docs/topics/opcodes-and-status-codes#gateway-gateway-opcodes
const (
	opDispatch  = 0
	opHeartbeat = 1
	opIdentify  = 2
	opPresence  = 3
	opResume    = 6
	opReconnect = 7
	opInvalid   = 9
	opHello     = 10
	opAck       = 11
)

// leastIntents are the least that let the bot read what is written to it. MessageContent must be switched on in the
// developer portal. Without it the gateway closes with 4014, and the next session begins without that intent.
const leastIntents = discordgo.IntentGuilds | discordgo.IntentGuildMessages | discordgo.IntentDirectMessages | discordgo.IntentMessageContent

// reactionIntents bring people's reactions. They need no switch.
const reactionIntents = discordgo.IntentGuildMessageReactions | discordgo.IntentDirectMessageReactions

func (g *Gateway) intents() discordgo.Intent {
	all := leastIntents
	if g.Reactions {
		all |= reactionIntents
	}
	if g.contentless.Load() {
		all &^= discordgo.IntentMessageContent
	}
	return all
}

// Reasons why a connection ended that the gateway's close code does not give.
var (
	errReconnect = errors.New("the gateway asked to reconnect")
	errZombie    = errors.New("a heartbeat was not answered")
	errUnreached = errors.New("no connection in time")
	errSilent    = errors.New("the gateway did not begin the session in time")
)

// invalidated is the error when op 9 ends a session.
type invalidated struct{ resumable bool }

func (i invalidated) Error() string {
	return fmt.Sprintf("the gateway calls the session invalid (resumable: %t)", i.resumable)
}

const writeTimeout = 5 * time.Second

// connection is one connection to the gateway. Two goroutines use it. The reader runs it. The heartbeat closes the
// socket when the connection's context ends.
type connection struct {
	gateway *Gateway
	state   *Shard
	ws      *websocket.Conn
	write   sync.Mutex // held while a frame is written
	end     context.CancelCauseFunc
	every   time.Duration // between two heartbeats

	sent     atomic.Int64 // when the last heartbeat was sent, in Unix nanoseconds
	awaiting atomic.Bool  // the last heartbeat is not answered yet
	welcomed atomic.Bool  // the session is begun or resumed
}

// dial connects to the gateway and waits for HELLO. The gateway must accept the connection within limit.
func (g *Gateway) dial(ctx context.Context, address string, limit time.Duration) (*connection, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "wss" && (u.Scheme != "ws" || strings.HasPrefix(g.REST.Base, "https:")) {
		return nil, errors.New("the gateway's address is not a wss URL")
	}
	u.RawQuery = "v=10&encoding=json"
	dialer := websocket.Dialer{Proxy: http.ProxyFromEnvironment, HandshakeTimeout: helloLimit, NetDialContext: g.Dial}
	dialling, cancel := reaching(ctx, limit)
	defer cancel()
	ws, resp, err := dialer.DialContext(dialling, u.String(), http.Header{"User-Agent": {g.REST.UserAgent}})
	if cause := context.Cause(dialling); err != nil && cause == errUnreached {
		err = cause
	}
	if err != nil {
		return nil, fmt.Errorf("connect to gateway: %w", err)
	}
	g.REST.Clock.Learn(resp.Header, g.REST.Log) // a session that is resumed begins without another request
	c := &connection{gateway: g, ws: ws}
	stop := context.AfterFunc(ctx, func() { ws.Close() }) // until the heartbeat runs, nothing else watches ctx
	defer stop()
	if err := c.hello(); err != nil {
		ws.Close()
		return nil, err
	}
	return c, nil
}

// reaching returns a context for dialling. It ends if no connection is made within limit. Handshakes after that do not
// count.
func reaching(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	late := time.AfterFunc(limit, func() { cancel(errUnreached) })
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { late.Stop() }})
	return ctx, func() {
		late.Stop()
		cancel(nil)
	}
}

func (c *connection) hello() error {
	_ = c.ws.SetReadDeadline(time.Now().Add(helloLimit))
	f, err := c.read()
	if err != nil {
		return fmt.Errorf("wait for HELLO: %w", err)
	}
	var hello struct {
		Interval int64 `json:"heartbeat_interval"` // milliseconds
	}
	if err := json.Unmarshal(f.Data, &hello); f.Op != opHello || err != nil || hello.Interval <= 0 {
		return fmt.Errorf("wait for HELLO: got op %d", f.Op)
	}
	c.every = time.Duration(hello.Interval) * time.Millisecond
	return nil
}

// run begins or resumes the session and reads until the connection ends. It returns why it ended.
func (c *connection) run(ctx context.Context, state *Shard) error {
	c.state = state
	linked, end := context.WithCancelCause(ctx)
	c.end = end
	welcome := time.AfterFunc(welcomeLimit, func() { end(errSilent) })
	defer welcome.Stop()
	var heart sync.WaitGroup
	heart.Go(func() { c.beat(linked) })
	err := c.greet()
	for err == nil {
		// In a quiet session only heartbeat answers arrive, one per interval.
		_ = c.ws.SetReadDeadline(time.Now().Add(2 * c.every))
		var f frame
		if f, err = c.read(); err == nil {
			err = c.take(ctx, f, welcome)
		}
	}
	if cause := context.Cause(linked); cause != nil {
		err = cause
	}
	end(err)
	heart.Wait()
	return err
}

// greet sends RESUME for the session, or IDENTIFY for a new one.
func (c *connection) greet() error {
	token := c.gateway.Token
	if c.state.id != "" {
		err := c.send(opResume, map[string]any{"token": token, "session_id": c.state.id, "seq": c.state.seq.Load()})
		if err == nil {
			c.state.failed++ // RESUMED resets it
		}
		return err
	}
	c.state.identified = time.Now()
	c.state.countIdentify()
	c.state.asked = c.gateway.intents()
	identify := map[string]any{
		"token": token, "intents": c.state.asked, "large_threshold": 50,
		"properties": map[string]string{"os": runtime.GOOS, "browser": "familiar", "device": "familiar"},
	}
	if of := c.state.set.of; of > 1 {
		identify["shard"] = [2]int{c.state.number, of}
	}
	err := c.send(opIdentify, identify)
	c.state.slot.sent()
	return err
}

func (c *connection) take(ctx context.Context, f frame, welcome *time.Timer) error {
	c.state.alive = time.Now()
	switch f.Op {
	case opDispatch:
		c.state.seq.Store(f.Seq)
		c.state.at.seq = f.Seq
		c.state.note(func(h *turn.Shard) { h.LastEvent = time.Now() })
		switch {
		case f.Skipped && f.Type == "READY":
			return errors.New("READY is too large")
		case f.Skipped:
			c.gateway.Log.Error("gateway event is too large and was skipped", "event", f.Type, "sequence", f.Seq)
		case f.Type == "READY":
			welcome.Stop()
			if err := c.state.begin(ctx, f.Data); err != nil {
				return err
			}
			c.welcomed.Store(true)
			return c.present()
		case f.Type == "RESUMED":
			welcome.Stop()
			c.state.resumed(ctx, f.Data)
			c.welcomed.Store(true)
			return c.present()
		default:
			c.state.dispatch(ctx, f.Type, f.Data)
		}
		c.gateway.waiting.reach(c.state, c.state.at)
	case opHeartbeat:
		return c.pulse()
	case opReconnect:
		return errReconnect
	case opInvalid:
		return invalidated{resumable: string(f.Data) == "true"}
	case opAck:
		c.awaiting.Store(false)
		sent := time.Unix(0, c.sent.Load())
		c.state.note(func(h *turn.Shard) { h.LastAck, h.Latency = time.Now(), time.Since(sent) })
	}
	return nil
}

// beat sends a heartbeat in each interval, the first at a random moment. It ends the connection if a heartbeat is not
// answered before the next is due. That takes at most two intervals. When the connection's context ends for any reason,
// beat closes the socket, which wakes the reader.
func (c *connection) beat(ctx context.Context) {
	timer := time.NewTimer(rand.N(c.every))
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			c.close(context.Cause(ctx))
			return
		case <-c.state.presenting:
			if c.welcomed.Load() {
				if err := c.present(); err != nil {
					c.end(err)
				}
			}
			continue
		case <-timer.C:
		}
		if c.awaiting.Load() {
			c.end(errZombie)
			continue
		}
		if err := c.pulse(); err != nil {
			c.end(err)
			continue
		}
		timer.Reset(c.every)
	}
}

// present shows the presence, if one was set.
// https://discord.com/developers/docs/events/gateway-events#update-presence
func (c *connection) present() error {
	p := c.gateway.presence.Load()
	if p == nil {
		return nil
	}
	status, activities := "online", []map[string]any{}
	if p.Text != "" {
		status = "idle"
		activities = append(activities, map[string]any{"type": discordgo.ActivityTypeCustom, "name": "state", "state": p.Text})
	}
	return c.send(opPresence, map[string]any{"since": nil, "activities": activities, "status": status, "afk": false})
}

// Present shows a presence beside the bot's name, in this session and in later ones. It does not wait.
func (g *Gateway) Present(p turn.Presence) {
	g.presence.Store(&p)
	for _, one := range g.shards() {
		one.show()
	}
}

// show has the connection show the presence soon.
func (s *Shard) show() {
	select {
	case s.presenting <- struct{}{}:
	default:
	}
}

func (c *connection) pulse() error {
	c.sent.Store(time.Now().UnixNano())
	c.awaiting.Store(true)
	seq := c.state.seq.Load()
	if seq == 0 {
		return c.send(opHeartbeat, nil)
	}
	return c.send(opHeartbeat, seq)
}

// close ends the connection. Code 1000 ends the session too. Any other code keeps it for a RESUME, even after a restart.
func (c *connection) close(cause error) {
	code := 4000
	if errors.Is(cause, errReplaced) || c.gateway.Save == nil && (errors.Is(cause, context.Canceled) || errors.Is(cause, context.DeadlineExceeded)) {
		code = websocket.CloseNormalClosure
	}
	_ = c.ws.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(code, ""), time.Now().Add(time.Second))
	c.ws.Close()
}

// frame is any message of the gateway.
type frame struct {
	Op   int             `json:"op"`
	Data json.RawMessage `json:"d"`
	Seq  int64           `json:"s"`
	Type string          `json:"t"`

	Skipped bool `json:"-"` // the frame was too large, and Data is missing
}

// read returns the next frame. If the frame is too large, read skips its data and sets Skipped.
func (c *connection) read() (frame, error) {
	var f frame
	_, r, err := c.ws.NextReader()
	if err != nil {
		return f, err
	}
	data, err := io.ReadAll(io.LimitReader(r, c.gateway.MostFrame))
	if err != nil {
		return f, err
	}
	if int64(len(data)) == c.gateway.MostFrame {
		return skim(data, r)
	}
	if err := json.Unmarshal(data, &f); err != nil {
		return f, fmt.Errorf("read gateway frame: %w", err)
	}
	return f, nil
}

const frameEnds = 4096 // bytes at each end of a frame that are searched for its number and kind

// skim reads a frame to its end and keeps only both ends of it. It reads its number and kind from them.
func skim(begun []byte, rest io.Reader) (frame, error) {
	f := frame{Skipped: true}
	head := slices.Clone(begun[:min(len(begun), frameEnds)])
	tail := slices.Clone(begun[max(0, len(begun)-frameEnds):])
	for chunk := make([]byte, 64<<10); ; {
		n, err := rest.Read(chunk)
		tail = append(tail, chunk[:n]...)
		tail = append(tail[:0], tail[max(0, len(tail)-frameEnds):]...)
		if err == io.EOF {
			break
		}
		if err != nil {
			return f, err
		}
	}
	if !f.readHead(head) && !f.readTail(tail) {
		return f, errors.New("read gateway frame: it is too large, and its number cannot be read")
	}
	return f, nil
}

// readHead reads the fields before a frame's data and reports whether the number was among them.
func (f *frame) readHead(head []byte) bool {
	d := json.NewDecoder(bytes.NewReader(head))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return false
	}
	for {
		key, err := d.Token()
		if err != nil || key == "d" {
			return f.Seq > 0
		}
		var value json.RawMessage
		if d.Decode(&value) != nil {
			return f.Seq > 0
		}
		_ = json.Unmarshal(fmt.Appendf(nil, "{%q:%s}", key, value), f)
	}
}

// afterData matches the fields after a frame's data.
var afterData = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?:,\s*"(?:op|s|t)"\s*:\s*(?:null|\d+|"[A-Z_]*")\s*)+\}\s*$`)
})

// readTail reads the fields after a frame's data and reports whether the number was among them.
func (f *frame) readTail(tail []byte) bool {
	found := afterData().Find(tail)
	if found == nil {
		return false
	}
	found[0] = '{' // replaces the comma
	return json.Unmarshal(found, f) == nil && f.Seq > 0
}

func (c *connection) send(op int, data any) error {
	c.write.Lock()
	defer c.write.Unlock()
	_ = c.ws.SetWriteDeadline(time.Now().Add(writeTimeout))
	if err := c.ws.WriteJSON(map[string]any{"op": op, "d": data}); err != nil {
		return fmt.Errorf("write to gateway: %w", err)
	}
	return nil
}
