package recall

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"familiar/internal/context/turn"
	"familiar/internal/llm"
	"familiar/internal/store"
	"familiar/internal/text"
)

const (
	shownWindow = 40   // messages of the channel
	fewExtra    = 4    // messages read besides the window at first, for the turn's own
	manyExtra   = 20   // messages read besides the window if those were not enough
	maxLength   = 1500 // characters of a message; longer messages are shortened at the end of a sentence
	maxChain    = 10   // messages of the reply chain
	maxChannels = 4096 // channels whose first message is known
	perLabel    = 16   // tokens of a message besides its text: time, name and role
)

// Priorities within the layer. In the chain and among the recent messages, each older message has one less. Windows are too small for the
// ranges to overlap.
const (
	parentPriority = 1000
	chainPriority  = 900
	recentPriority = 800
)

// HistoryProvider is the context provider "history". It offers each message as one contribution, so that the budget can keep the newest. The
// parent of a reply comes first, even if it is older than the window. Older messages are offered as a summary.
type HistoryProvider struct {
	Store     *store.DB
	Window    int              // messages of the channel, at most; 0: 40
	Summaries *Summaries       // nil: there are none
	Side      *llm.Client      // writes summaries; nil: they quote the most important messages
	Zone      *time.Location   // of the times in summaries; nil: UTC
	Count     func(string) int // returns the tokens of a text; nil: an estimate that is too high

	mu    sync.Mutex
	first map[string]string // by channel: id of the first message that is shown; guarded by mu
}

// Name implements prompt.Provider.
func (p *HistoryProvider) Name() string { return "history" }

// Contribute implements prompt.Provider. With an error it returns what the request itself has: the parent and the chain.
func (p *HistoryProvider) Contribute(ctx context.Context, req turn.Request) ([]turn.Contribution, error) {
	o := offer{known: map[string]bool{req.Message.ID: true}}
	for _, id := range req.Burst {
		o.known[id] = true
	}
	parent, err := p.parent(ctx, req)
	if parent != nil {
		o.add(*parent, parentPriority, "history:parent")
	}
	for i, m := range req.Chain[:min(len(req.Chain), maxChain)] {
		o.add(m, chainPriority-i, "history:chain")
	}
	recent, recentErr := p.recent(ctx, req)
	recent, full := p.begin(req, recent)
	for i, m := range recent {
		o.add(m, recentPriority-i, "history:recent")
	}
	if recentErr != nil {
		err = recentErr // probably the same cause, but a greater loss
	}
	summaries, summaryErr := p.summaries(ctx, req, recent, full)
	if err == nil && summaryErr != nil {
		err = fmt.Errorf("read summaries: %w", summaryErr)
	}
	return append(o.contributions, summaries...), err
}

// begin returns those of the recent messages that are shown. Half of them are dropped at once when they are too many or too long. Until then
// all prompts of a channel begin with the same message, and model servers reuse what they have processed. full is true if the next turn may
// drop some, or this one did.
func (p *HistoryProvider) begin(req turn.Request, recent []turn.Message) (shown []turn.Message, full bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if first, known := p.first[req.ChannelID]; known {
		i := slices.IndexFunc(recent, func(m turn.Message) bool { return m.ID == first })
		switch {
		case i >= 0:
			recent = recent[:i+1]
		case len(recent) == p.window():
			recent, full = recent[:p.kept()], true
		}
	}
	room, limited := req.Budget.Layers[turn.RecentHistory]
	used := p.fitting(recent, room)
	if limited && used < len(recent) {
		recent, full = recent[:max(1, p.fitting(recent, room/2))], true
	}
	if p.first == nil || len(p.first) == maxChannels {
		p.first = map[string]string{}
	}
	if len(recent) > 0 {
		p.first[req.ChannelID] = recent[len(recent)-1].ID
	}
	nearly := len(recent) > p.window()-3 || limited && p.fitting(recent, room*7/8) < len(recent)
	return recent, full || nearly
}

// fitting returns how many of the newest messages fit into room tokens.
func (p *HistoryProvider) fitting(recent []turn.Message, room int) int {
	for i, m := range recent {
		if room -= p.count(shorten(m.Text)+m.Note) + perLabel; room < 0 {
			return i
		}
	}
	return len(recent)
}

// kept is how many messages stay when too many are dropped.
func (p *HistoryProvider) kept() int { return (p.window() + 1) / 2 }

// refreshSummary starts a new summary if messages will be dropped that the last one does not cover. The turn does not wait.
func (p *HistoryProvider) refreshSummary(ctx context.Context, req turn.Request, recent []turn.Message, full bool, last store.Summary) {
	if oldest := min(p.kept(), len(recent)) - 1; full && oldest >= 0 && last.LastAt.Before(recent[oldest].At) {
		p.Summaries.refresh(ctx, job{req.ChannelID, req.GuildID, p.kept(), p.Side})
	}
}

func (p *HistoryProvider) window() int {
	if p.Window <= 0 {
		return shownWindow
	}
	return p.Window
}

// parent returns the message that the turn's message replies to. It reads it from the store if the request lacks it.
func (p *HistoryProvider) parent(ctx context.Context, req turn.Request) (*turn.Message, error) {
	if req.Parent != nil || req.Message.ReplyTo == "" {
		return req.Parent, nil
	}
	m, err := p.Store.Messages.Get(ctx, req.Message.ReplyTo)
	if errors.Is(err, store.ErrNotFound) || err == nil && m.ChannelID != req.ChannelID {
		return nil, nil // it was deleted, or it belongs to another channel
	}
	if err != nil {
		return nil, fmt.Errorf("find parent: %w", err)
	}
	parent := m.SeenBy(req.Character)
	return &parent, nil
}

// recent returns the channel's last messages before the turn's, newest first, without the turn's own. Later messages of people have turns
// of their own. Later messages of the bot are included, because it wrote them while this turn waited. An earlier answer to the same message
// is left out, because this turn replaces it.
func (p *HistoryProvider) recent(ctx context.Context, req turn.Request) ([]turn.Message, error) {
	n := p.window()
	for extra := fewExtra; ; extra = manyExtra {
		stored, err := p.Store.Messages.Latest(ctx, req, n+extra)
		if err != nil {
			return nil, fmt.Errorf("read recent messages: %w", err)
		}
		ms := before(req, stored, n)
		if len(ms) == n || len(stored) < n+extra || extra == manyExtra {
			return ms, nil
		}
	}
}

// before returns the last n stored messages before the turn's, newest first.
func before(req turn.Request, stored []turn.Message, n int) []turn.Message {
	at := req.Message.At.Truncate(time.Microsecond) // the precision of the store
	ms := make([]turn.Message, 0, n)
	for _, m := range slices.Backward(stored) {
		answer := m.Own && m.ReplyTo != "" && m.ReplyTo == req.Message.ID
		later := m.ByPerson() && !at.IsZero() && m.At.After(at)
		if m.ID == req.Message.ID || slices.Contains(req.Burst, m.ID) || answer || later {
			continue
		}
		if ms = append(ms, m); len(ms) == n {
			break
		}
	}
	return ms
}

// offer collects contributions and skips messages that it has already.
type offer struct {
	contributions []turn.Contribution
	known         map[string]bool // ids
}

func (o *offer) add(m turn.Message, priority int, source string) {
	if m.ID != "" && o.known[m.ID] || strings.TrimSpace(m.Text+m.Note) == "" {
		return
	}
	o.known[m.ID] = true
	m.Text = shorten(m.Text)
	o.contributions = append(o.contributions, turn.Contribution{
		Layer: turn.RecentHistory, Priority: priority, Source: source, Message: &m,
	})
}

// shorten cuts a long message after the last sentence that fits, or else at a space, and adds "…".
func shorten(message string) string {
	if len(message) <= maxLength || utf8.RuneCountInString(message) <= maxLength {
		return message
	}
	head, left := 0, maxLength-2 // room for the mark
	for end := range text.SentenceEnds(message) {
		if left -= utf8.RuneCountInString(message[head:end]); left < 0 {
			break
		}
		head = end
	}
	if head == 0 {
		head = firstWords(message, maxLength-2)
	}
	return strings.TrimRightFunc(message[:head], unicode.IsSpace) + " …"
}

// firstWords returns the length in bytes of the first n characters of a text. It does not cut a word if there is a space among them.
func firstWords(text string, n int) int {
	for i := range text {
		if n--; n < 0 {
			if space := strings.LastIndexFunc(text[:i], unicode.IsSpace); space > 0 {
				return space
			}
			return i
		}
	}
	return len(text)
}
