package recall

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sort"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/evidence"
	"familiar/internal/question/past"
	"familiar/internal/store"
	"familiar/internal/text"
	"familiar/internal/web/clean"
)

// ServerProvider is the context provider "server". It answers questions about what was said in the server. It uses stored messages,
// Discord's own search, pins, topics and linked messages. In a direct message it looks in that conversation, and in the servers where the
// asker has written. [past.Read] decides without a language model whether a message asks such a question. Where one only may ask it, the
// store alone is searched, messages are offered that fit, and nothing otherwise. Its exported fields are set before first use and not
// changed after.
type ServerProvider struct {
	*Past
	Own  bool                                     // Discord's own search is not asked
	Told func(context.Context, turn.Request) bool // reports whether memory answers what only may be asked of the server; nil: it never does

	looks looks
}

const (
	reserve = 100 * time.Millisecond // of the turn's time, for writing the block

	noteTopic = "topic"

	usualAbsence = 24 * time.Hour      // of a person who has never written in the channel
	maxAbsence   = 14 * 24 * time.Hour // older messages are not reported as missed
	maxMissed    = 500                 // the newest messages among which the important ones are chosen
	maxEarlier   = 100                 // messages of this conversation among which the important ones are chosen
)

// Name returns "server".
func (p *ServerProvider) Name() string { return "server" }

// Contribute answers a question about the server. It contributes nothing to other messages. If ctx ends, it returns what it has found with
// an error.
func (p *ServerProvider) Contribute(ctx context.Context, req turn.Request) ([]turn.Contribution, error) {
	q := p.Asked.Read(req, p.now())
	if !q.Asks() || p.Servers == nil && req.GuildID != "" || q.Maybe && p.Off {
		return nil, nil
	}
	l := p.looks.of(req)
	l.once.Do(func() { l.look(ctx, p, req, q) })
	if l.taken.Swap(true) { // the turn began again
		l = &look{}
		l.look(ctx, p, req, q)
	}
	found, err := l.found, l.err
	l.found = nil
	return found, err
}

// Knows reports whether memory or the server answers a message that only may ask about the server. Then the web is not asked. What it has looked
// for is not looked for again by [ServerProvider.Contribute] in the same turn.
func (p *ServerProvider) Knows(ctx context.Context, req turn.Request) bool {
	q := p.Asked.Read(req, p.now())
	if !q.Asks() || p.Servers == nil && req.GuildID != "" || q.Maybe && p.Off {
		return p.Told != nil && p.Told(ctx, req)
	}
	l := p.looks.of(req)
	l.once.Do(func() { l.look(ctx, p, req, q) })
	return l.knows
}

// look is what was found for one turn. The first who asks looks; the context of that one limits how long the other waits.
type look struct {
	once  sync.Once
	knows bool // memory or the server answers
	taken atomic.Bool
	found []turn.Contribution // of who takes it, then nil
	err   error
}

func (l *look) look(ctx context.Context, p *ServerProvider, req turn.Request, q past.Question) {
	if q.Maybe && p.Told != nil && p.Told(ctx, req) {
		l.knows = true
		return
	}
	found, err := p.find(ctx, req, q)
	l.knows, l.found, l.err = err == nil && len(found) > 0, found, err
}

// looks are those of the turns that gather.
type looks struct {
	mu     sync.Mutex
	byTurn map[string]*look // guarded by mu
}

// of returns the look of a turn. A turn may begin again, after its message was changed. The look ends with the turn's time to gather. What has
// no turn, or no end, is looked for each time.
func (ls *looks) of(req turn.Request) *look {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	key := req.ID + " " + req.Message.Text
	l := ls.byTurn[key]
	if l != nil {
		return l
	}
	if l = (&look{}); req.ID == "" || req.Deadline.IsZero() {
		return l
	}
	if ls.byTurn == nil {
		ls.byTurn = map[string]*look{}
	}
	ls.byTurn[key] = l
	time.AfterFunc(time.Until(req.Deadline), func() {
		ls.mu.Lock()
		defer ls.mu.Unlock()
		delete(ls.byTurn, key)
	})
	return l
}

func (p *ServerProvider) find(ctx context.Context, req turn.Request, q past.Question) ([]turn.Contribution, error) {
	r := &run{p: p, req: req, q: q, now: p.now(), room: contentRoom(req)}
	if p.Off {
		r.begin()
		r.look.State, r.look.Reason, r.look.Block = turn.Disabled, searchOff, "Messages from before are not searched here, because the operator has turned that off. Say so, and guess nothing."
	} else {
		r.answer(ctx)
	}
	if q.Maybe && !r.fits {
		return nil, nil
	}
	c := turn.Contribution{Layer: turn.Content, Priority: serverPriority, Text: r.look.Block, Source: p.Name(), Lookup: &r.look}
	if c.Text != "" {
		c.Web, c.Tokens = true, p.count(c.Text)
	}
	if ctx.Err() != nil {
		return []turn.Contribution{c}, fmt.Errorf("search the server: %w", context.Cause(ctx))
	}
	return []turn.Contribution{c}, nil
}

// Missed returns what the asker has missed in the request's channel since from. If that is zero, it begins with their last message there.
func (p *ServerProvider) Missed(ctx context.Context, req turn.Request, from time.Time) turn.Lookup {
	r := &run{p: p, req: req, q: past.Question{Why: "asked for by command", Missed: true}, now: p.now(), room: -1}
	r.q.Span.From = from
	if p.Servers == nil || p.Off || req.GuildID == "" {
		r.begin()
		r.look.State, r.look.Reason = turn.Disabled, searchOff
		return r.look
	}
	r.answer(ctx)
	return r.look
}

const searchOff = "servers are not searched here"

// run is the work on one answer. It belongs to one goroutine.
type run struct {
	p    *ServerProvider
	req  turn.Request
	q    past.Question
	now  time.Time
	room int // tokens for the block; -1: unlimited
	look turn.Lookup
	fits bool // a message that was found may answer

	servers  []string                // ids of the servers in question; a direct message has its own conversation besides
	named    map[string]turn.Channel // their channels, by id
	server   map[string]string       // the server of a channel; "" for a direct message
	readable map[string]bool         // ids of channels that may be read for this answer
	step     time.Time               // begin of the current stage
}

func (r *run) begin() {
	r.step = time.Now()
	r.look = turn.Lookup{
		Intent: turn.IntentServer, Reason: r.q.Why, Need: r.q.Why, Score: 1, Question: r.req.Message.Text, Began: r.now, By: "extractive",
	}
}

func (r *run) answer(ctx context.Context) {
	r.begin()
	began := r.step
	defer func() { r.look.Took = time.Since(began) }()
	if end, ok := ctx.Deadline(); ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, end.Add(-reserve))
		defer cancel()
	}
	if r.room == 0 {
		r.look.State, r.look.Reason = turn.Disabled, "this channel's mode has no room for what is found"
		return
	}
	r.permit(ctx)
	r.endStage("permissions")
	var found []hit
	var missing string
	switch {
	case len(r.q.Links) > 0:
		found, missing = r.linked(ctx), unreadableLink
	case r.q.Talk, r.q.Missed && r.q.Here && r.direct():
		found = r.earlier(ctx)
	case r.q.Pins:
		found = r.pins(ctx)
	case r.q.Topic:
		if found = r.topics(); len(found) == 0 && len(r.q.Channels) > 0 {
			r.q.Span.From = r.now.Add(-maxAbsence)
			found = r.missed(ctx) // what is said there tells it
		}
	case r.q.Missed:
		found = r.missed(ctx)
	default:
		found = r.search(ctx)
	}
	r.endStage("search")
	r.fits = r.q.Missed && len(found) > 0 || slices.ContainsFunc(found, r.mayAnswer)
	r.offer(found, missing)
	r.endStage("block")
}

// mayAnswer reports whether a message of a person has most of the question's words and asks nothing itself.
func (r *run) mayAnswer(h hit) bool {
	n := 0
	for _, held := range r.held(h.Text) {
		if held {
			n++
		}
	}
	return !h.Own && !h.Author.Machine && !strings.ContainsAny(h.Text, "?？") && 2*n > len(r.q.Words)
}

// unreadableLink is the same for a missing message and for one that the asker may not read. The difference would reveal that it exists.
const unreadableLink = "The message that is linked cannot be opened for the person who asks. Say that you cannot open it, and nothing about it."

func (r *run) endStage(stage string) {
	now := time.Now()
	r.look.Stages = append(r.look.Stages, turn.Stage{Name: stage, Took: now.Sub(r.step)})
	r.step = now
}

// permit determines which channels may be read for this answer.
func (r *run) permit(ctx context.Context) {
	r.named, r.server, r.readable = map[string]turn.Channel{}, map[string]string{}, map[string]bool{}
	if r.servers = r.inQuestion(); r.direct() {
		r.named[r.req.ChannelID], r.readable[r.req.ChannelID] = turn.Channel{ID: r.req.ChannelID, Name: "this conversation"}, true
	}
	for _, id := range r.servers {
		for _, c := range r.p.Servers.Platform.Channels(id) {
			r.named[c.ID], r.server[c.ID] = c, id
		}
		maps.Copy(r.readable, r.p.Servers.Readable(ctx, id, r.req.Reader, audience(r.req)))
	}
}

func (r *run) direct() bool { return r.req.GuildID == "" }

// inQuestion returns the servers that may be searched. In a direct message they are those of the links. If the question is not only about
// the conversation, they are those where the asker has written.
func (r *run) inQuestion() (ids []string) {
	switch {
	case !r.direct():
		return []string{r.req.GuildID}
	case r.p.Servers == nil || r.q.Here:
		return nil
	}
	for _, l := range r.q.Links {
		ids = text.AddOnce(ids, l.Guild)
	}
	if len(r.q.Links) > 0 {
		return ids
	}
	return r.req.Servers
}

// channels returns the readable channels of a server that the question is about. The id of a direct message's server is "".
func (r *run) channels(server string) (ids []string) {
	for id, may := range r.readable {
		named := len(r.q.Channels) == 0 && (!r.q.Here || id == r.req.ChannelID) || slices.Contains(r.q.Channels, r.named[id].Name)
		if may && named && r.server[id] == server {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

// place returns the name of a channel and, in a direct message, of its server, both as quote writes them.
func (r *run) place(channel string, quote func(string) string) string {
	c := r.named[channel]
	switch {
	case r.server[channel] == "":
		return c.Name
	case r.direct() && c.Server != "":
		return "#" + quote(c.Name) + " of " + quote(c.Server)
	}
	return "#" + quote(c.Name)
}

// address returns the address of a message, or "" at a terminal.
func (r *run) address(m turn.Message) string {
	if r.direct() && r.p.Servers == nil {
		return ""
	}
	return clean.MessageURL(cmp.Or(r.server[m.ChannelID], "@me"), m.ChannelID, m.ID)
}

// asked records a source that was asked, with its result.
func (r *run) asked(source string, status turn.Code, detail string, hits int, began time.Time) {
	r.look.Asked = append(r.look.Asked, turn.Asked{Backend: source, Status: status, Detail: detail, Hits: hits, Took: time.Since(began)})
}

// status returns the code of a source that answered.
func status(hits int) turn.Code {
	if hits == 0 {
		return turn.CodeEmpty
	}
	return turn.CodeOK
}

// linked returns the readable messages that the question links to, from the store or else from Discord.
func (r *run) linked(ctx context.Context) (found []hit) {
	for _, l := range r.q.Links {
		began := time.Now()
		if l.Guild != r.server[l.Channel] || !r.readable[l.Channel] {
			r.asked("link", turn.CodeMissing, "missing, or not readable for everyone who would see the answer", 0, began)
			continue
		}
		m, err := r.message(ctx, l)
		if err != nil {
			r.asked("link", turn.CodeMissing, "missing, or not readable for everyone who would see the answer", 0, began)
			continue
		}
		r.asked("link", turn.CodeOK, "", 1, began)
		h := hit{Message: m, note: "linked"}
		r.surround(ctx, &h)
		found = append(found, h)
	}
	return found
}

func (r *run) message(ctx context.Context, l clean.MessageLink) (turn.Message, error) {
	m, err := r.p.Store.Messages.Get(ctx, l.Message)
	switch {
	case err == nil && m.ChannelID == l.Channel && m.GuildID == l.Guild:
		return m.SeenBy(r.req.Character), nil
	case err == nil, !errors.Is(err, store.ErrNotFound): // the link names another channel or server
		return turn.Message{}, store.ErrNotFound
	}
	return r.p.Servers.Platform.Linked(ctx, l.Guild, l.Channel, l.Message)
}

// pins returns the pinned messages of the channels in question.
func (r *run) pins(ctx context.Context) (found []hit) {
	for _, id := range r.here() {
		began := time.Now()
		pinned, err := r.p.Servers.Platform.Pins(ctx, r.server[id], id)
		if err != nil {
			r.asked("pins", turn.CodeUpstream, err.Error(), 0, began)
			continue
		}
		r.asked("pins", status(len(pinned)), "", len(pinned), began)
		for _, m := range pinned[:min(len(pinned), maxHits)] {
			found = append(found, hit{Message: m, note: "pinned"})
		}
	}
	return found
}

// topics returns the topics of the channels in question.
func (r *run) topics() (found []hit) {
	for _, id := range r.here() {
		if c := r.named[id]; c.Topic != "" {
			found = append(found, hit{
				Message: turn.Message{ChannelID: id, Text: c.Topic, At: r.now, Author: turn.Author{Name: "the channel's topic"}}, note: noteTopic,
				url: "https://discord.com/channels/" + r.server[id] + "/" + id,
			})
		}
	}
	r.asked("topic", status(len(found)), "", len(found), r.step)
	return found
}

// here returns the readable channels that the question names or, if it names none, this channel.
func (r *run) here() (ids []string) {
	if len(r.q.Channels) == 0 {
		return slices.DeleteFunc([]string{r.req.ChannelID}, func(id string) bool { return !r.readable[id] })
	}
	for _, server := range r.servers {
		ids = append(ids, r.channels(server)...)
	}
	return ids
}

// earlier returns what matters most of this conversation's last messages, in order of time. The model is shown the newest of them anyway.
func (r *run) earlier(ctx context.Context) []hit {
	began := time.Now()
	all, err := r.p.Store.Messages.Recent(ctx, r.req.ChannelID, maxEarlier)
	if err != nil {
		r.asked("index", turn.CodeInternal, err.Error(), 0, began)
		return nil
	}
	all = slices.DeleteFunc(all, func(m store.Message) bool {
		return !r.mayTell(m) || r.q.ByAsker && m.AuthorID != r.req.Reader.ID || r.q.ByBot && !m.Own
	})
	r.asked("index", status(len(all)), "this conversation", len(all), began)
	return inOrder(r.weigh(all))
}

// mayTell reports whether a message has words and is neither what is answered nor outside the span of the question.
func (r *run) mayTell(m store.Message) bool {
	return m.ID != r.req.Message.ID && !slices.Contains(r.req.Burst, m.ID) && strings.TrimSpace(m.Text) != "" &&
		!m.At.Before(r.q.Span.From) && (r.q.Span.To.IsZero() || m.At.Before(r.q.Span.To))
}

// missed returns the messages of a channel that matter most to the asker, in order of time. They are those since they last wrote there, or
// in a span. [evidence.Salience] says what matters.
func (r *run) missed(ctx context.Context) (hits []hit) {
	channels := r.here()
	if len(r.q.Channels) == 0 && r.direct() && !r.q.Here {
		channels = r.lastWritten(ctx)
	}
	if len(channels) == 0 {
		r.asked("index", turn.CodeEmpty, "the channel is not readable", 0, time.Now())
	}
	for _, id := range channels {
		hits = append(hits, r.missedIn(ctx, id)...)
	}
	return inOrder(hits)
}

// lastWritten returns the readable channel of each server in which the asker has written last.
func (r *run) lastWritten(ctx context.Context) (ids []string) {
	for _, server := range r.servers {
		if last, err := r.p.Store.Messages.LastBy(ctx, server, r.req.Reader.ID, r.now, r.channels(server)...); err == nil {
			ids = append(ids, last.ChannelID)
		}
	}
	return ids
}

func (r *run) missedIn(ctx context.Context, channel string) []hit {
	began := time.Now()
	from, until := r.q.Span.From, r.now
	if !r.q.Span.To.IsZero() {
		until = r.q.Span.To
	}
	if from.IsZero() {
		from = r.lastIn(ctx, channel)
	}
	if earliest := r.now.Add(-maxAbsence); from.Before(earliest) {
		from = earliest
	}
	all, err := r.p.Store.Messages.Between(ctx, channel, from, until, maxMissed)
	if err != nil {
		r.asked("index", turn.CodeInternal, err.Error(), 0, began)
		return nil
	}
	all = slices.DeleteFunc(all, func(m store.Message) bool {
		return m.ID == r.req.Message.ID || m.AuthorID == r.req.Reader.ID || strings.TrimSpace(m.Text) == ""
	})
	r.asked("index", status(len(all)), "since "+from.UTC().Format("2006-01-02 15:04 UTC"), len(all), began)
	return r.weigh(all)
}

// inOrder returns the best hits in order of time.
func inOrder(hits []hit) []hit {
	sort.Slice(hits, func(i, j int) bool {
		a, b := hits[i], hits[j]
		return cmp.Or(cmp.Compare(b.score, a.score), b.At.Compare(a.At)) < 0
	})
	hits = different(hits)
	sort.Slice(hits, func(i, j int) bool {
		a, b := hits[i], hits[j]
		return cmp.Or(a.At.Compare(b.At), strings.Compare(a.ID, b.ID)) < 0
	})
	return hits
}

// lastIn returns when the asker last wrote in a channel.
func (r *run) lastIn(ctx context.Context, channel string) time.Time {
	before := r.now
	if at := r.req.Message.At; !at.IsZero() && at.Before(before) {
		before = at
	}
	last, err := r.p.Store.Messages.LastBy(ctx, r.server[channel], r.req.Reader.ID, before, channel)
	if err != nil {
		return r.now.Add(-usualAbsence)
	}
	return last.At
}

// weigh scores messages by how much they matter to the asker.
func (r *run) weigh(all []store.Message) []hit {
	hits, seen := make([]hit, len(all)), make([]turn.Message, len(all))
	for i, m := range all {
		seen[i] = m.SeenBy(r.req.Character)
		seen[i].Own = m.Own // another character is not a person either
	}
	for i, score := range evidence.Salience(seen, r.req.Message.Author.Name) {
		hits[i] = hit{Message: all[i].SeenBy(r.req.Character), score: score}
	}
	return hits
}
