package bot

import (
	"context"
	"slices"
	"strings"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/providers/attachment"
)

// listenLimit is how long a person waits until a voice message is loaded and transcribed.
const listenLimit = 45 * time.Second

// hearing is the result of listening to a voice message.
type hearing struct {
	text, note string
	record     turn.Transcript
}

// listen has the voice messages that a turn answers transcribed, each once. Only messages for the bot leave the machine. A message that
// joins the turn meanwhile does not interrupt it, or a service would be paid twice.
func (b *Bot) listen(ctx context.Context, batch []arrival, heard map[string]hearing) {
	for _, a := range batch {
		voice := slices.IndexFunc(a.Message.Files, func(f turn.Attachment) bool { return f.Voice })
		if _, done := heard[a.Message.ID]; done || voice < 0 || strings.TrimSpace(a.Message.Text) != "" {
			continue
		}
		patient, cancel := context.WithTimeout(context.WithoutCancel(ctx), listenLimit)
		stop := context.AfterFunc(ctx, func() {
			if !startsOver(context.Cause(ctx)) {
				cancel()
			}
		})
		heard[a.Message.ID] = b.hear(patient, a.Message, a.Message.Files[voice])
		stop()
		cancel()
	}
}

// hear has one voice message transcribed, and stores its words as the message's.
func (b *Bot) hear(ctx context.Context, m turn.Message, f turn.Attachment) hearing {
	h := hearing{note: m.Note}
	var err error
	if h.text, h.record, err = b.Listener.Hear(ctx, b.Files, m, f); err != nil || h.record.Failure != "" {
		b.logged("have a voice message written down", err)
		return h
	}
	h.note = attachment.Note(m, h.record.Host)
	keep, cancel := context.WithTimeout(context.WithoutCancel(ctx), storeLimit)
	defer cancel()
	b.logged("keep the words of a voice message", b.Store.Messages.SetTranscript(keep, m.ID, h.text, h.note))
	return h
}

// withWords returns what a turn answers with the words of its voice messages, and the result for each.
func withWords(batch []arrival, heard map[string]hearing) ([]arrival, []turn.Transcript) {
	batch = slices.Clone(batch)
	var all []turn.Transcript
	for i := range batch {
		if h, ok := heard[batch[i].Message.ID]; ok {
			batch[i].Message.Text, batch[i].Message.Note = h.text, h.note
			all = append(all, h.record)
		}
	}
	return batch, all
}

// blind reports whether a picture was not shown to the model because the model cannot see.
func blind(t *turn.Trace) bool {
	for c := range t.Contributions() {
		if c.Attached != nil && c.Attached.Failure == turn.CodeBlind {
			return true
		}
	}
	return false
}

// logUnread tells the operator which attachments could not be read, and why.
func (b *Bot) logUnread(t *turn.Trace) {
	for c := range t.Contributions() {
		if a := c.Attached; a != nil && a.Failure != "" {
			b.Log.Info("attachment not read", "turn", t.Request.ID, "message", a.MessageID, "type", a.Type, "size", a.Size, "why", a.Failure)
		}
	}
}

// OnlyPictures reports whether a message has a picture and no words.
func OnlyPictures(m *turn.Message) bool {
	return m != nil && strings.TrimSpace(m.Text) == "" && slices.ContainsFunc(m.Files, attachment.IsPicture)
}
