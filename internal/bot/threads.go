package bot

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"familiar/internal/context/turn"
	"familiar/internal/discord/rest"
	"familiar/internal/store"
)

// Conduct returns how people want the bot to take part in a channel. A thread inherits that.
func (b *Bot) Conduct(ctx context.Context, e turn.Event) store.Conduct {
	c, err := b.Store.Settings.Conduct(ctx, conductChannel(e))
	b.logged("read how to take part in a channel", err)
	return c
}

// conductChannel returns the channel whose conduct counts where an event happened.
func conductChannel(e turn.Event) string { return cmp.Or(e.ParentID, e.Message.ChannelID) }

// titled puts the title of a forum's post before its first message: together they are the question.
func titled(e turn.Event) turn.Event {
	if e.Title != "" {
		e.Message.Text = e.Title + "\n" + e.Message.Text
	}
	return e
}

// goesOn reports whether a message continues a thread that the bot opened. There the bot need not be mentioned, unless somebody else is.
func (b *Bot) goesOn(ctx context.Context, e turn.Event) bool {
	if e.ParentID == "" && !e.ParentUnknown || forOthers(e) {
		return false
	}
	own, quiet, err := b.Store.Threads.Get(ctx, e.Message.ChannelID)
	b.logged("read a thread", err)
	return own && !quiet
}

// forOthers reports whether a message that does not mention the bot is for somebody else: it replies to that person, or mentions one.
func forOthers(e turn.Event) bool {
	return e.Reply != nil && !e.Reply.Own || slices.ContainsFunc(e.Message.Mentions, func(m string) bool { return strings.HasPrefix(m, "@") })
}

// latest returns the character that spoke last in a channel, or else the first.
func (b *Bot) latest(ctx context.Context, e turn.Event, all []*Actor) *Actor {
	if len(all) == 1 {
		return all[0]
	}
	recent, err := b.Store.Messages.Recent(ctx, e.Message.ChannelID, chainLength)
	b.logged("read recent messages", err)
	for _, m := range slices.Backward(recent) {
		if i := slices.IndexFunc(all, func(a *Actor) bool { return m.Own && a.ID == m.AuthorID }); i >= 0 {
			return all[i]
		}
	}
	return all[0]
}

// muteWords are messages that tell the bot to be quiet.
var muteWords = []string{
	"stop", "stop it", "be quiet", "quiet", "enough", "that's all", "thats all", "silence", "stopp", "genug", "ruhe", "sei still", "basta", "para", "cállate",
	"silencio", "arrête", "ça suffit", "tais-toi", "pare", "chega", "silêncio", "やめて", "止めて", "ストップ", "静かにして",
}

// muted reports whether a message tells the bot to be quiet in one of its threads, and keeps that. A mention ends it.
func (b *Bot) muted(ctx context.Context, e turn.Event) bool {
	if e.ParentID == "" && !e.ParentUnknown {
		return false
	}
	own, quiet, err := b.Store.Threads.Get(ctx, e.Message.ChannelID)
	if b.logged("read a thread", err); !own {
		return false
	}
	words := strings.ToLower(strings.Trim(strings.TrimSpace(e.Message.Text), "!.… 。！"))
	if stop := slices.Contains(muteWords, words); stop != quiet && (stop || e.Mentioned) {
		b.logged("be quiet in a thread", b.Store.Threads.SetQuiet(ctx, e.Message.ChannelID, stop))
		if stop {
			b.tell(e, quietHere)
		}
		return stop
	}
	return false
}

// moves opens a thread for a message that mentions the bot, if people want that, and moves the turn there. If Discord does not allow a
// thread, the turn stays where it is, and the channel is told once.
func (b *Bot) moves(ctx context.Context, batch []arrival) bool {
	first := batch[0]
	if b.Pace.Units == 0 || !first.Mentioned || first.GuildID == "" || first.Kind != turn.Created || first.turnID != "" || first.newID != "" ||
		first.ParentID != "" || first.ParentUnknown || !b.Conduct(ctx, first.Event).Threads {
		return false
	}
	question := turn.Ref{ChannelID: first.Message.ChannelID, ID: first.Message.ID}
	id, err := b.sendThread(ctx, question, b.threadName(b.actor(ctx, first), first.Message))
	if err != nil {
		b.logged("open a thread", err)
		switch failureKind(err) {
		case rest.Full:
			b.tellOnce(ctx, first.Event, threadsFull)
		case rest.Forbidden:
			b.tellOnce(ctx, first.Event, noThread)
		} // else it may be a voice channel, which has no threads
		return false
	}
	moved := slices.Clone(batch)
	for i := range moved {
		moved[i].ParentID, moved[i].Message.ChannelID = first.Message.ChannelID, id
		event := ""
		if b.Resume {
			event = encodeArrival(moved[i])
		}
		b.logged("move to a thread", b.Store.Threads.MoveMessage(ctx, moved[i].Message.ID, moved[i].claim(), id, first.GuildID, event, time.Now()))
	}
	if actor := b.actor(ctx, first); actor.Greetings.Threads {
		b.logged("greet in a thread", b.Greet(ctx, moved[0].Event, actor, actor.Greetings.First, first.Message.Author))
	}
	b.enqueue(ctx, moved...)
	return true
}

// tellOnce says something in a channel, once for all time.
func (b *Bot) tellOnce(ctx context.Context, e turn.Event, what sentence) {
	key := "told/" + e.Message.ChannelID + "/" + string(what)
	if _, err := b.Store.Notes.Get(ctx, key); !errors.Is(err, store.ErrNotFound) {
		return
	}
	b.logged("note what was told", b.Store.Notes.Set(ctx, key, "yes"))
	b.tell(e, what)
}

const threadNameLength = 100 // characters

// threadName returns the name of a thread for a message: the message's words without mentions and secrets.
func (b *Bot) threadName(actor *Actor, m turn.Message) string {
	text := m.Text
	for _, mention := range m.Mentions {
		text = strings.ReplaceAll(text, mention, "")
	}
	text = strings.Join(strings.Fields(b.Redact.String(text)), " ")
	if text == "" {
		return actor.Name
	}
	if utf8.RuneCountInString(text) > threadNameLength {
		text = strings.TrimSpace(string([]rune(text)[:threadNameLength-1])) + "…"
	}
	return text
}
