package discord

import (
	"context"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/discord/rest"
)

// handlers returns the handler of each gateway event that is read. They run one after the other on the goroutine that
// reads the shard, so none may wait.
func handlers() map[string]func(*shard, context.Context, []byte) error {
	return map[string]func(*shard, context.Context, []byte) error{
		"MESSAGE_CREATE":          onMost((*shard).onMessage),
		"MESSAGE_UPDATE":          onMost((*shard).onEdit),
		"MESSAGE_DELETE":          on((*shard).onDelete),
		"MESSAGE_DELETE_BULK":     on((*shard).onDelete),
		"MESSAGE_REACTION_ADD":    onMost(func(s *shard, _ context.Context, r *reaction) { s.onReaction(turn.Reacted, r) }),
		"MESSAGE_REACTION_REMOVE": onMost(func(s *shard, _ context.Context, r *reaction) { s.onReaction(turn.Unreacted, r) }),
		"INTERACTION_CREATE":      onMost((*shard).onInteraction),
		"GUILD_CREATE":            on(func(s *shard, _ context.Context, g *guildInfo) { s.onGuild(g) }),
		"GUILD_UPDATE":            on(func(s *shard, _ context.Context, g *guildInfo) { s.names.changeGuild(*g) }),
		"GUILD_DELETE":            on((*shard).onGuildGone),
		"GUILD_MEMBER_UPDATE":     on((*shard).onMember),
		"GUILD_ROLE_CREATE":       on((*shard).onRole),
		"GUILD_ROLE_UPDATE":       on((*shard).onRole),
		"GUILD_ROLE_DELETE":       on(func(s *shard, _ context.Context, r *roleChange) { s.names.removeRole(r.GuildID, r.RoleID) }),
		"CHANNEL_CREATE":          on((*shard).onChannel),
		"CHANNEL_UPDATE":          on((*shard).onChannelChange),
		"CHANNEL_DELETE":          on((*shard).onChannelGone),
		"THREAD_CREATE":           on((*shard).onChannel),
		"THREAD_UPDATE":           on((*shard).onChannel),
		"THREAD_DELETE":           on((*shard).onChannelGone),
		"THREAD_LIST_SYNC": on(func(s *shard, _ context.Context, l *threadList) {
			for _, c := range l.Threads {
				c.GuildID = l.GuildID
				s.names.setChannel(c)
			}
		}),
	}
}

// on returns a handler that decodes the payload and calls f with it.
func on[T any](f func(*shard, context.Context, *T)) func(*shard, context.Context, []byte) error {
	return func(s *shard, ctx context.Context, data []byte) error {
		v := new(T)
		if err := rest.Decode(data, v); err != nil {
			return err
		}
		f(s, ctx, v)
		return nil
	}
}

// onMost is on for what people do: an odd field does not lose the event.
func onMost[T any](f func(*shard, context.Context, *T)) func(*shard, context.Context, []byte) error {
	return func(s *shard, ctx context.Context, data []byte) error {
		v, err := decodeMost[T](data)
		if err == nil {
			f(s, ctx, v)
		}
		return err
	}
}

// dispatch handles one gateway event. It logs errors and panics.
func (s *shard) dispatch(ctx context.Context, kind string, data []byte) {
	handle := s.handle[kind]
	if handle == nil {
		return
	}
	defer s.logPanic("handle " + kind)
	if err := handle(s, ctx, data); err != nil {
		s.log.Error("gateway event cannot be read", "event", kind, "err", s.redact(err.Error()))
	}
}

// logPanic is deferred. It logs a panic and keeps it from ending the process.
func (s *Session) logPanic(what string) {
	if r := recover(); r != nil {
		s.log.Error("panic", "in", what, "panic", s.redact(fmt.Sprint(r)), "stack", string(debug.Stack()))
	}
}

// emit queues an event for the bot. Only the goroutine that reads the shard calls it.
func (s *shard) emit(e turn.Event) { s.enqueue(queued{event: e, from: s.at}) }

func (s *Session) enqueue(e queued) {
	lost, full := s.waiting.put(e)
	if !full {
		return
	}
	s.log.Warn("the bot does not keep up: the oldest event was dropped", "dropped", s.waiting.lost())
	if !lost.late && s.cfg.Overdue != nil {
		s.cfg.Overdue([]turn.Event{lost.event})
	}
}

// forward moves events from the queue to the bot until ctx is done. It does not wait for unknown channels: place marks
// the event and asks for the channel in the background.
func (s *Session) forward(ctx context.Context) {
	for {
		batch := s.waiting.take(ctx)
		if len(batch) == 0 {
			return
		}
		for i := range batch {
			s.place(&batch[i])
		}
		if !s.handOut(ctx, batch) {
			return
		}
	}
}

// overdueAfter is how long an event may wait for the bot until the bot is told that it does, and overdueEvery how often that is checked.
const (
	overdueAfter = 6 * time.Second
	overdueEvery = time.Second
)

// handOut waits until the bot takes a batch. It reports false when ctx is done.
func (s *Session) handOut(ctx context.Context, batch []turn.Event) bool {
	var check <-chan time.Time
	for {
		select {
		case <-ctx.Done():
			return false
		case s.events <- batch:
			s.waiting.handOut()
			return true
		default:
		}
		if check == nil { // most batches are taken at once
			ticks := time.NewTicker(overdueEvery)
			defer ticks.Stop()
			check = ticks.C
		}
		select {
		case <-ctx.Done():
			return false
		case s.events <- batch:
			s.waiting.handOut()
			return true
		case <-check:
			if late := s.waiting.overdue(batch); len(late) > 0 && s.cfg.Overdue != nil {
				s.log.Warn("the bot takes no events", "waiting", len(late))
				s.cfg.Overdue(late)
			}
		}
	}
}

func (s *Session) onGuild(g *guildInfo) {
	if g.Unavailable {
		return
	}
	own := s.me().user.ID
	g.Members = slices.DeleteFunc(g.Members, func(m member) bool { return m.User.ID != own || m.Roles == nil })
	s.names.addGuild(*g)
	s.mu.Lock()
	defer s.mu.Unlock()
	close(s.guildCame)
	s.guildCame = make(chan struct{})
}

// onGuildGone reports the bot's removal from a server. An outage is not reported.
func (s *shard) onGuildGone(_ context.Context, g *guildInfo) {
	if g.Unavailable {
		return
	}
	s.names.removeGuild(g.ID)
	s.emit(turn.Event{Kind: turn.Gone, ID: g.ID + ":gone", GuildID: g.ID})
}

// onMember notes what the bot is in a server. Discord reports changes of the bot itself, and of others only with an intent that it does not
// ask for.
func (s *Session) onMember(_ context.Context, m *memberChange) {
	if m.User.ID == s.me().user.ID && m.Roles != nil {
		s.names.setOwn(m.GuildID, m.member)
		s.permissionsChanged()
	}
}

func (s *Session) onRole(_ context.Context, r *roleChange) {
	s.names.setRole(r.GuildID, r.Role)
	s.permissionsChanged()
}

func (s *Session) onChannel(_ context.Context, c *channel) { s.names.setChannel(*c) }

func (s *Session) onChannelChange(_ context.Context, c *channel) {
	s.names.setChannel(*c)
	s.permissionsChanged()
}

// permissionsChanged forgets refusals, because the bot may do more now.
func (s *Session) permissionsChanged() {
	s.refusals.forget()
	s.hooks.retry()
}

// onChannelGone reports that a channel is gone, and also its threads, which Discord does not mention.
func (s *shard) onChannelGone(_ context.Context, c *channel) {
	for _, gone := range append(s.names.removeChannel(c.ID), *c) {
		e := turn.Event{Kind: turn.Gone, ID: gone.ID + ":gone", GuildID: gone.GuildID, Message: turn.Message{ChannelID: gone.ID}}
		if gone.thread() {
			e.ParentID = gone.ParentID
		}
		s.emit(e)
	}
}

// onReaction reports a person's reaction under any message. The message's author may be one of the bot's webhooks, which
// is not known here.
func (s *shard) onReaction(kind turn.Kind, r *reaction) {
	if r.UserID == s.me().user.ID || r.Member != nil && r.Member.User.Bot {
		return
	}
	by := turn.Author{ID: r.UserID}
	if r.Member != nil {
		by.Name = r.Member.User.name(r.Member)
	}
	s.emit(turn.Event{
		Kind: kind, ID: r.MessageID + ":" + string(kind) + ":" + r.UserID + ":" + r.Emoji.Name, GuildID: r.GuildID, Direct: r.GuildID == "",
		Message:  turn.Message{ID: r.MessageID, ChannelID: r.ChannelID},
		Reaction: &turn.Reaction{Emoji: r.Emoji.Name, By: by, Deletes: s.names.moderates(r.GuildID, r.Member)},
	})
}

// A proxy such as PluralKit lets several persons share one account. It reposts a message through a webhook under another
// name, without the marks that chose the name. A moment later it deletes the original.
// https://pluralkit.me/guide/#proxying

const (
	proxySpan    = 10 * time.Second // after the original, within which a proxy reposts it
	originalsMax = 256
)

// proxied reports whether a proxy posted a message for a person.
func (s *Session) proxied(m *message) bool {
	return m.WebhookID != "" && m.AppID != "" && m.AppID != s.me().app && s.cfg.Proxies[m.AppID]
}

// originals are people's latest messages, which a proxy may repost. The zero value is ready.
type originals struct{ latest []original }

type original struct {
	event     turn.Event
	content   string
	files     int
	rewritten string // id of the proxy's message
	deleted   bool
}

// pair records a person's message. For a proxy's message it finds the original and copies what the repost lacks: the
// author's id, the message it replies to, and the author's roles. It does not copy the author's name.
func (o *originals) pair(e *turn.Event, m *message) {
	if !e.Proxied {
		if len(o.latest) == originalsMax {
			o.latest = slices.Delete(o.latest, 0, originalsMax/4)
		}
		o.latest = append(o.latest, original{event: *e, content: m.Content, files: len(m.Attachments)})
		return
	}
	for i := len(o.latest) - 1; i >= 0; i-- {
		from := &o.latest[i]
		if !from.becomes(*e, m) {
			continue
		}
		from.rewritten = e.Message.ID
		e.Message.Author.ID, e.Reader, e.Mentioned = from.event.Message.Author.ID, from.event.Reader, e.Mentioned || from.event.Mentioned
		if e.Message.ReplyTo == "" {
			e.Message.ReplyTo, e.Reply = from.event.Message.ReplyTo, from.event.Reply
		}
		if !from.deleted {
			e.Original = from.event.Message.ID
		}
		return
	}
}

// becomes reports whether a proxy's message is a repost of this one.
func (from *original) becomes(e turn.Event, m *message) bool {
	was := from.event.Message
	return was.ChannelID == e.Message.ChannelID && (from.rewritten == "" || from.rewritten == e.Message.ID) &&
		e.Message.At.Sub(was.At).Abs() < proxySpan && len(m.Attachments) == from.files && strings.Contains(from.content, strings.TrimSpace(m.Content))
}

// deleted records that a message was deleted. It reports whether a proxy has reposted it.
func (o *originals) deleted(id string) (rewritten bool) {
	for i := range o.latest {
		if from := &o.latest[i]; from.event.Message.ID == id {
			from.deleted = true
			return from.rewritten != ""
		}
	}
	return false
}

// queue is between the reader of the gateway, which must not wait, and the bot, which may be busy. When it is full the
// oldest event is dropped and counted, because an answer to it would come too late. Its author is told.
//
// It also tracks how far the bot has followed the gateway, so that a restart misses nothing.
type queue struct {
	wake chan struct{} // holds one token while the queue may not be empty

	mu      sync.Mutex
	waiting []queued // guarded by mu, as is all that follows
	max     int
	dropped int
	current []queued    // being handed to the bot
	latest  []handedOut // handed to the bot, which may not have stored them yet; oldest first
	holds   []*position // gaps that are being filled
}

// queued is one waiting event.
type queued struct {
	event turn.Event
	from  position // where the gateway's reader was; zero: a RESUME would not send the event again
	came  time.Time
	late  bool // it was returned by overdue
}

// position is a place in what the gateway sends.
type position struct {
	shard   *shard
	session int       // number of the session; noSession: a gap between two sessions
	seq     int64     // the event's number in the session
	mark    snowflake // the latest message seen before
}

const noSession = -1

// handedOut is a batch of events that the bot has taken.
type handedOut struct {
	events []queued // without the events themselves
	at     time.Time
}

// mostTogether is how many events the bot gets, and stores, at once.
const mostTogether = 100

// Times after which a batch that was handed out is surely stored. settledLast is for the last batch, which no other
// followed.
const (
	settled     = 10 * time.Second
	settledLast = time.Minute
)

func newQueue(size int) *queue { return &queue{wake: make(chan struct{}, 1), max: size} }

// put adds an event. full reports whether the oldest event, lost, was dropped for it.
func (q *queue) put(e queued) (lost queued, full bool) {
	q.mu.Lock()
	if full = len(q.waiting) >= q.max; full {
		lost = q.waiting[0]
		q.waiting = q.waiting[1:]
		q.dropped++
	}
	e.came = time.Now()
	q.waiting = append(q.waiting, e)
	q.mu.Unlock()
	select {
	case q.wake <- struct{}{}:
	default:
	}
	return lost, full
}

// take waits for events and returns them. It returns none when ctx is done. The caller must call handOut when the bot
// has them.
func (q *queue) take(ctx context.Context) (batch []turn.Event) {
	for {
		q.mu.Lock()
		n := min(len(q.waiting), mostTogether)
		q.current = slices.Clone(q.waiting[:n])
		clear(q.waiting[:n])
		q.waiting = q.waiting[n:]
		for i := range q.current {
			batch = append(batch, q.current[i].event)
			q.current[i].event = turn.Event{}
		}
		q.mu.Unlock()
		if n > 0 {
			return batch
		}
		select {
		case <-ctx.Done():
			return nil
		case <-q.wake:
		}
	}
}

// overdue returns the events that have waited too long, each once: those of the batch that is being handed out, and those behind it.
func (q *queue) overdue(batch []turn.Event) (late []turn.Event) {
	q.mu.Lock()
	defer q.mu.Unlock()
	now := time.Now()
	for i := range q.current {
		if e := &q.current[i]; !e.late && now.Sub(e.came) >= overdueAfter {
			e.late, late = true, append(late, batch[i])
		}
	}
	for i := range q.waiting {
		if e := &q.waiting[i]; !e.late && now.Sub(e.came) >= overdueAfter {
			e.late, late = true, append(late, e.event)
		}
	}
	return late
}

// handOut records that the bot has the events that were taken.
func (q *queue) handOut() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.settle()
	q.latest = append(q.latest, handedOut{q.current, time.Now()})
	q.current = nil
}

// settle forgets events that the bot has surely stored. The caller holds mu.
func (q *queue) settle() {
	for len(q.latest) > 1 && time.Since(q.latest[0].at) >= settled || len(q.latest) == 1 && time.Since(q.latest[0].at) >= settledLast {
		q.latest = q.latest[1:]
	}
}

// reach records how far a shard's reader is. All earlier events have been put.
func (q *queue) reach(s *shard, p position) {
	q.mu.Lock()
	defer q.mu.Unlock()
	s.reached = p
}

// hold keeps the mark at a gap that is being filled, until release is called.
func (q *queue) hold(at position) (release func()) {
	q.mu.Lock()
	defer q.mu.Unlock()
	held := &position{shard: at.shard, session: noSession, mark: at.mark}
	q.holds = append(q.holds, held)
	return func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		q.holds = slices.DeleteFunc(q.holds, func(other *position) bool { return other == held })
	}
}

// position returns how far the bot has followed a shard. If the session is resumed there, every later event comes
// again. Without a session, every message after the mark is asked for. whole is false if a RESUME would miss events:
// some of an older session, a gap or another set of shards have not reached the bot yet.
func (q *queue) position(s *shard) (p position, whole bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	p, whole = s.reached, true
	one := func(from position) {
		switch {
		case from.session == 0 || from.shard != s && from.shard.set == s.set:
			return
		case from.session != p.session:
			whole = false
		default:
			p.seq = min(p.seq, from.seq-1)
		}
		p.mark = min(p.mark, from.mark)
	}
	consider := func(events []queued) {
		for i := range events {
			one(events[i].from)
		}
	}
	for _, held := range q.holds {
		one(*held)
	}
	q.settle()
	for _, batch := range q.latest {
		consider(batch.events)
	}
	consider(q.current)
	consider(q.waiting)
	return p, whole
}

// mark returns the latest message that the bot surely has from every shard of a set, or 0 if none had a session.
func (q *queue) mark(of *set) (mark snowflake) {
	for _, member := range of.members {
		if p, _ := q.position(member); p.mark > 0 && (mark == 0 || p.mark < mark) {
			mark = p.mark
		}
	}
	return mark
}

func (q *queue) lost() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.dropped
}
