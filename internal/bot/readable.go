package bot

import (
	"context"
	"slices"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/lookup/recall"
)

// unreadableLeftOut stands above what is shown of a record that quotes such channels.
const unreadableLeftOut sentence = "What this quotes from channels that you may not read is left out."

// readable returns a record as whoever gave a command may read it at this moment: without what it quotes from channels of the server
// that they may not read. complete is false if something is left out. What is not known to be readable is not.
func (b *Bot) readable(ctx context.Context, e turn.Event, t *turn.Trace) (shown *turn.Trace, complete bool) {
	may := map[string]bool{} // by channel
	complete = true
	for _, l := range serverLookups(t) {
		for _, s := range l.Sources {
			id := recall.ChannelOf(s.URL)
			if _, checked := may[id]; !checked {
				may[id] = b.mayRead(ctx, e, t, id)
			}
			complete = complete && may[id]
		}
	}
	if complete {
		return t, true
	}
	return withoutQuotes(t, may), false
}

// mayRead asks whether whoever gave a command may read a channel of the record's server.
func (b *Bot) mayRead(ctx context.Context, e turn.Event, t *turn.Trace, channelID string) bool {
	if b.Servers == nil || channelID == "" {
		return false
	}
	audience := ""
	if channelID == e.Message.ChannelID { // of a private thread they are a member, for they gave the command there
		audience = channelID
	}
	return b.Servers.Platform.Readable(ctx, t.Request.GuildID, e.Reader, audience, channelID)[channelID]
}

// serverLookups are the lookups of a record that quote messages of the server.
func serverLookups(t *turn.Trace) (all []*turn.Lookup) {
	for _, o := range t.Outcomes {
		for _, c := range o.Contributions {
			if c.Lookup != nil && c.Lookup.Intent == turn.IntentServer {
				all = append(all, c.Lookup)
			}
		}
	}
	return all
}

// withoutQuotes copies a record without what it quotes from channels that may not be read, and without all in which that may stand too:
// the prompt, what was made of it, and a reply that was not posted for all to see.
func withoutQuotes(t *turn.Trace, may map[string]bool) *turn.Trace {
	left := *t
	left.Prompt, left.Guarded, left.Unborne, left.Verified = nil, nil, nil, nil
	if len(t.ReplyIDs) == 0 {
		left.Reply = ""
	}
	left.Outcomes = slices.Clone(t.Outcomes)
	for i := range left.Outcomes {
		o := &left.Outcomes[i]
		o.Contributions = slices.Clone(o.Contributions)
		for j := range o.Contributions {
			if c := &o.Contributions[j]; c.Lookup != nil && c.Lookup.Intent == turn.IntentServer {
				c.Text, c.Lookup = "", readableLookup(c.Lookup, may)
			}
		}
	}
	return &left
}

// readableLookup is a lookup in the server with the sources whose channels may be read.
func readableLookup(l *turn.Lookup, may map[string]bool) *turn.Lookup {
	left := &turn.Lookup{
		State: l.State, Reason: l.Reason, Need: l.Need, Failure: l.Failure, Score: l.Score, Intent: l.Intent, Question: l.Question, Query: l.Query,
		Asked: l.Asked, By: l.By, Stages: l.Stages, Began: l.Began, Took: l.Took,
	}
	shown := map[int]bool{}
	for _, s := range l.Sources {
		if !may[recall.ChannelOf(s.URL)] {
			continue
		}
		shown[s.N] = true
		left.Sources = append(left.Sources, s)
		left.Newest = latest(left.Newest, s.Published)
	}
	for _, p := range l.Pages {
		if shown[p.N] {
			left.Pages = append(left.Pages, p)
		}
	}
	for _, c := range l.Summary {
		if !slices.ContainsFunc(c.Sources(), func(n int) bool { return !shown[n] }) {
			left.Summary = append(left.Summary, c)
		}
	}
	return left
}

func latest(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
