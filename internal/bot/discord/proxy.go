package discord

import (
	"slices"
	"strings"
	"time"

	"familiar/internal/context/turn"
)

// A proxy such as PluralKit is a bot through which several persons write who share an account: it writes a message anew through a
// webhook, under another name and without the marks that chose the name, and deletes the original a moment later.
// https://pluralkit.me/guide/#proxying

const (
	proxySpan    = 10 * time.Second // after the original, in which a proxy writes it anew
	originalsMax = 256
)

// proxied reports whether a proxy wrote a message for a person.
func (s *Session) proxied(m *message) bool {
	return m.WebhookID != "" && m.AppID != "" && m.AppID != s.appID() && s.cfg.Proxies[m.AppID]
}

// originals are the latest messages of people. The zero value is ready.
type originals struct{ latest []original }

type original struct {
	event     turn.Event
	content   string
	files     int
	rewritten string // id of the message that a proxy made of it
	deleted   bool
}

// pair keeps what a person wrote. To what a proxy wrote it adds the original's author, whose name it does not take, and what gets lost
// on the way: whom it replies to, and who may read what.
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

// becomes reports whether a message of a proxy is this one, written anew.
func (from *original) becomes(e turn.Event, m *message) bool {
	was := from.event.Message
	return was.ChannelID == e.Message.ChannelID && (from.rewritten == "" || from.rewritten == e.Message.ID) &&
		e.Message.At.Sub(was.At).Abs() < proxySpan && len(m.Attachments) == from.files && strings.Contains(from.content, strings.TrimSpace(m.Content))
}

// deleted notes that a message was deleted, and reports whether a proxy has written it anew.
func (o *originals) deleted(id string) (rewritten bool) {
	for i := range o.latest {
		if from := &o.latest[i]; from.event.Message.ID == id {
			from.deleted = true
			return from.rewritten != ""
		}
	}
	return false
}
