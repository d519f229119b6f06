package bot

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"familiar/internal/context/turn"
	"familiar/internal/discord/rest"
	"familiar/internal/gate"
	"familiar/internal/llm"
	"familiar/internal/reply"
	"familiar/internal/store"
)

// A reply can be said aloud, in a voice message below it. A command does it, a button, or the character's habit. The reply stays as it is. Each
// voice message counts as a turn.

// Unsaid is why something was not said aloud. Its value is said to people.
type Unsaid sentence

func (u Unsaid) Error() string { return string(u) }

// The reasons.
const (
	voiceless     sentence = "My operator has not given me a voice."
	saidBefore    sentence = "That was said aloud already."
	nothingToSay  sentence = "There is nothing here that I could say aloud."
	mayNotSpeak   sentence = "I may not send voice messages here: I need the permission Send Voice Messages."
	couldNotSpeak sentence = "I could not say that aloud. My operator will find the reason in my log."
)

// saidFor is below a text that somebody had the bot say.
const saidFor sentence = "said at the request of %s"

// SayAloud posts a voice message with the words of a turn's reply, once. The event's author wants that, or caused the turn. The error is an
// [Unsaid], a [*gate.Refusal], or the store's.
func (b *Bot) SayAloud(ctx context.Context, e turn.Event, turnID string) error {
	if !b.talking.add(turnID) {
		return Unsaid(saidBefore)
	}
	defer b.talking.drop(turnID)
	t, err := b.Traces.Get(ctx, turnID)
	if err != nil {
		return err
	}
	actor := b.CurrentCast().Actor(t.Request.Character)
	words := b.wordsOf(ctx, t)
	switch {
	case actor == nil || !b.speaks(actor):
		return Unsaid(voiceless)
	case t.Speech != nil && t.Speech.MessageID != "":
		return Unsaid(saidBefore)
	case words == "":
		return Unsaid(nothingToSay)
	}
	pass, no := b.Gate.Pass(ctx, e, gate.Passage{Posts: true, Rated: e.Command != nil})
	if no != nil {
		return no
	}
	defer pass.GiveBack()
	last, times := t.ReplyIDs[len(t.ReplyIDs)-1], 0
	for _, c := range t.Calls {
		if c.For == turn.ForSpeech {
			times++
		}
	}
	said, call, err := b.speak(ctx, actor, words, turn.Post{GuildID: t.Request.GuildID, ChannelID: t.Request.ChannelID, ReplyTo: last, Final: true, Nonce: nonce("speech "+turnID, times)})
	keep, cancel := context.WithTimeout(context.WithoutCancel(ctx), storeLimit)
	defer cancel()
	b.logged("record a voice message", b.Traces.Spoke(keep, turnID, said, call))
	if err == nil && b.wordsOf(keep, t) != words {
		b.logged("take back a voice message", b.deleteSpeech(keep, turnID))
	}
	b.logged("count a voice message", b.Store.Quotas.AddUsage(keep, b.now(), gate.Party(e), store.Used{Turns: 1}))
	return err
}

// SayWords has a character say a person's words. They are posted as a text that says who asked for it, and said aloud below it. The errors are
// those of SayAloud.
func (b *Bot) SayWords(ctx context.Context, e turn.Event, words string) error {
	actor := b.speaker(ctx, e)
	if !b.speaks(actor) {
		return Unsaid(voiceless)
	}
	words, _ = reply.RulesFor(turn.Request{GuildID: e.GuildID, ChannelID: e.Message.ChannelID}, nil, b.Redact).Guard(words)
	aloud := reply.Aloud(words)
	if aloud == "" {
		return Unsaid(nothingToSay)
	}
	if b.Gate.MayPost != nil && !b.Gate.MayPost(e.Message.ChannelID) {
		return &gate.Refusal{Why: gate.MayNotPost}
	}
	e.Message = turn.Message{ID: e.ID, ChannelID: e.Message.ChannelID, Author: e.Command.By, Text: words, At: b.now()}
	var unsaid error
	_, err := b.Aside(ctx, actor, e, func(*turn.Request) {}, func(ctx context.Context, t *turn.Trace) bool {
		p := turn.Post{GuildID: e.GuildID, ChannelID: e.Message.ChannelID, Persona: t.Request.Persona, Final: true, Nonce: nonce("said "+e.ID, 0),
			Text: words + "\n" + reply.SmallType + saidFor.In(t.Request.Language, reply.PlainName(e.Command.By.Name))}
		id, err := b.sendPost(ctx, p, true)
		if unsaid = err; err != nil {
			return false
		}
		t.ReplyIDs, t.Reply = []string{id}, words
		m := b.stored(e, turn.Message{ID: id, ChannelID: p.ChannelID, Author: turn.Author{ID: actor.ID, Name: actor.Name}, Text: reply.OwnWords(p.Text), At: b.now(), Own: true})
		m.TurnID = t.Request.ID
		b.logged("keep what was said", b.Store.Messages.Save(ctx, m))
		p.ReplyTo, p.Nonce = id, nonce("speech "+e.ID, 0)
		var said turn.Speech
		said, _, unsaid = b.speak(ctx, actor, aloud, p)
		t.Speech = &said
		return true
	})
	return errors.Join(err, unsaid)
}

// speaks reports whether a character can say something aloud. A terminal has no voice messages.
func (b *Bot) speaks(a *Actor) bool { return a.Speech != nil && b.Pace.Units > 0 }

// speak has words said by a character's voice, and posts the recording. It returns the record of that, also of a failure.
func (b *Bot) speak(ctx context.Context, actor *Actor, words string, p turn.Post) (said turn.Speech, call turn.Call, err error) {
	began := time.Now()
	said = turn.Speech{Host: actor.Speech.Host(), Voice: actor.Speech.Voice, Characters: utf8.RuneCountInString(words)}
	p.Voice, said.Failure, err = actor.Speech.Say(ctx, words)
	asked := llm.Call{Request: llm.Request{For: turn.ForSpeech, Lane: p.ChannelID}, Answer: llm.Answer{Model: actor.Speech.Model, Usage: turn.Usage{Calls: 1}}, Err: err, Began: began, Took: time.Since(began)}
	llm.Observer(ctx)(asked)
	call = asked.Record()
	if err != nil {
		call.Err = b.Redact.String(err.Error())
		b.Log.Warn("cannot say a reply aloud", "channel", p.ChannelID, "err", call.Err)
		return said, call, Unsaid(couldNotSpeak)
	}
	said.Seconds, said.Bytes, p.Persona, p.Text = p.Voice.Seconds, len(p.Voice.Data), nil, ""
	said.MessageID, err = b.sendPost(ctx, p, true)
	if err == nil {
		return said, call, nil
	}
	said.Failure = turn.CodeRejected
	b.logged("post a voice message", err)
	if rest.KindOf(err) == rest.Forbidden {
		return said, call, Unsaid(mayNotSpeak)
	}
	return said, call, Unsaid(couldNotSpeak)
}

// sayByHabit says a complete reply aloud, if that is the habit of its character. It does not wait. People are told once that it fails.
func (b *Bot) sayByHabit(ctx context.Context, actor *Actor, t *turn.Trace, e turn.Event) {
	if !actor.Voice.Habit || !b.speaks(actor) || t.Phase != turn.Answered || len(t.ReplyIDs) == 0 {
		return
	}
	b.notices.posting.Go(func() {
		defer func() { b.recovered("say a reply aloud", recover()) }()
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), commandLimit)
		defer cancel()
		ctx, release := until(ctx, b.left)
		defer release()
		err := b.SayAloud(ctx, e, t.Request.ID)
		why, _ := errors.AsType[Unsaid](err)
		switch sentence(why) {
		case couldNotSpeak, mayNotSpeak:
			b.tellOnce(ctx, e, sentence(why))
		case "":
			var no *gate.Refusal
			if !errors.As(err, &no) {
				b.logged("say a reply aloud", err)
			}
		}
	})
}

// wordsOf returns the words of a reply as they are said aloud. What is deleted is not said, nor is another answer in its place.
func (b *Bot) wordsOf(ctx context.Context, t *turn.Trace) string {
	var all []string
	for _, id := range t.ReplyIDs {
		m, err := b.Store.Messages.Get(ctx, id)
		if errors.Is(err, store.ErrNotFound) || err == nil && m.TurnID != t.Request.ID {
			return ""
		}
		b.logged("read a reply", err)
		all = append(all, m.Text)
	}
	return reply.Aloud(strings.Join(all, "\n"))
}

// deleteSpeech deletes the voice message of a turn's reply, which may be said aloud again.
func (b *Bot) deleteSpeech(ctx context.Context, turnID string) error {
	t, err := b.Traces.Get(ctx, turnID)
	if err != nil || t.Speech == nil || t.Speech.MessageID == "" {
		return err
	}
	if err = b.sendDelete(ctx, t.Request.Ref(t.Speech.MessageID)); err != nil && rest.KindOf(err) != rest.Gone {
		return err
	}
	return b.Traces.SpeechDeleted(ctx, turnID)
}

// deleteEarlierSpeech deletes the voice message of the answer that another one has replaced.
func (b *Bot) deleteEarlierSpeech(ctx context.Context, t *turn.Trace) {
	if t.Request.EarlierID == "" || t.Request.GoOn {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), commandLimit)
	defer cancel()
	earlier, err := b.Traces.Get(ctx, t.Request.EarlierID)
	b.logged("read the record of a replaced answer", err)
	if err == nil && slices.ContainsFunc(t.ReplyIDs, func(id string) bool { return slices.Contains(earlier.ReplyIDs, id) }) {
		b.logged("take back a voice message", b.deleteSpeech(ctx, earlier.Request.ID))
	}
}
