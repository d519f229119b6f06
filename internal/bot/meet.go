package bot

import (
	"context"
	"sync"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/store"
)

const (
	earlierLimit = 1500 * time.Millisecond // for reading what was written before the first turn in a channel
	enoughKept   = 5                       // messages after which a channel is not read
	maxMet       = 10_000                  // channels that are remembered as met
)

// met are the channels in which this process has taken a turn.
type met struct {
	mu       sync.Mutex
	channels map[string]bool // guarded by mu
}

// first reports whether a channel is new.
func (m *met) first(channelID string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.channels[channelID] {
		return false
	}
	if m.channels == nil || len(m.channels) >= maxMet {
		m.channels = map[string]bool{}
	}
	m.channels[channelID] = true
	return true
}

// meet keeps what people wrote in a channel before the first turn there, as if it came now. It reads only channels from
// which nearly nothing is kept, and each once in a process. What people do not want kept is not.
func (b *Bot) meet(ctx context.Context, a arrival) {
	if b.Earlier == nil || a.Message.ID == a.Message.ChannelID || !b.met.first(a.Message.ChannelID) {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, earlierLimit)
	defer cancel()
	kept, err := b.Store.Messages.Recent(ctx, a.Message.ChannelID, enoughKept+1)
	if err != nil || len(kept) > enoughKept {
		b.logged("read the messages of a channel", err)
		return
	}
	earlier, err := b.Earlier(ctx, a.Message.ChannelID, a.Message.ID)
	if err != nil {
		b.Log.Debug("what was written before cannot be read", "channel", a.Message.ChannelID, "err", b.Redact.String(err.Error()))
		return
	}
	rows := make([]store.Incoming, 0, len(earlier))
	for _, m := range earlier {
		if m.ByPerson() && m.Text != "" {
			rows = append(rows, store.Incoming{Message: b.stored(turn.Event{GuildID: a.GuildID}, m)})
		}
	}
	_, err = b.Store.Messages.SaveIncoming(ctx, rows...)
	b.logged("keep what was written before", err)
}
