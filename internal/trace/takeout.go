package trace

import (
	"reflect"
	"slices"
	"strings"
	"time"

	"familiar/internal/context/turn"
)

// takeOut takes a message out of a record and reports whether it was there. Its text is that which was kept, if any.
func takeOut(t *turn.Trace, id, text string) (changed bool) {
	if t.Request.Message.ID == id || slices.Contains(t.Request.Burst, id) {
		if t.Request.Message.Text == deleted {
			return false
		}
		*t = skeleton(t)
		return true
	}
	words := []string{text}
	take := func(m *turn.Message) bool {
		if m == nil || m.ID != id || m.Text == deleted {
			return false
		}
		words, m.Text, m.Mentions, changed = append(words, m.Text), deleted, nil, true
		words = append(words, m.Note)
		for _, q := range m.Quotes {
			words = append(words, q.Text, q.Title)
		}
		m.Files, m.Quotes, m.Note = nil, nil, ""
		return true
	}
	asked := take(t.Request.Parent)
	for i := range t.Request.Chain {
		asked = take(&t.Request.Chain[i]) || asked
	}
	for i := range t.Outcomes {
		for j := range t.Outcomes[i].Contributions {
			c := &t.Outcomes[i].Contributions[j]
			take(c.Message)
			if l := c.Lookup; l != nil && slices.Contains(l.Quoted, id) {
				changed, words = true, append(words, quotes(l)...)
				unquote(t, c)
			}
			if c.Summary != nil && slices.Contains(c.Summary.Sources, id) {
				changed, words = true, append(append(words, c.Text), strings.Split(c.Text, "\n")...)
				c.Text, c.Summary.Sources = deleted, nil
			}
			if slices.ContainsFunc(c.Recalled, func(m turn.Recalled) bool { return slices.Contains(m.Sources, id) }) {
				changed, words = true, append(append(words, c.Text), strings.Split(c.Text, "\n")...)
				c.Text, c.Recalled = deleted, nil
				if c.Web {
					unprompt(t)
				}
			}
			if c.Attached != nil && c.Attached.MessageID == id && c.Text != deleted {
				a := c.Attached
				words, changed = append(words, a.Open+c.Text+a.Close, c.Text, a.Name, labelOf(a)), true
				c.Text, c.Source, c.Attached = deleted, "attachment", &turn.Attached{MessageID: id}
			}
			if asked && c.Lookup != nil {
				words = append(words, madeOf(t, c.Lookup)...)
			}
		}
	}
	if slices.Contains(t.ReplyIDs, id) && t.Reply != "" && t.Reply != deleted {
		words, t.Reply, changed = append(words, t.Reply), deleted, true
	}
	if changed {
		mark(t, words)
	}
	return changed
}

// quotes are the words of a lookup in the server, as a reply may hold them.
func quotes(l *turn.Lookup) (words []string) {
	for _, c := range l.Summary {
		words = append(words, c.Quote, c.Text)
	}
	for _, s := range l.Sources {
		words = append(words, s.Title)
	}
	return words
}

// unquote leaves of a lookup in the server, of whose messages one was deleted, how it went: what it quotes stands close together there.
func unquote(t *turn.Trace, c *turn.Contribution) {
	l := c.Lookup
	c.Lookup = &turn.Lookup{State: l.State, Reason: l.Reason, Failure: l.Failure, Intent: l.Intent, Asked: l.Asked, Stages: l.Stages, Began: l.Began, Took: l.Took}
	if c.Text != "" {
		c.Text = deleted
	}
	unprompt(t)
}

// unprompt takes out of the prompt all that quotes others, in which no words are found: it is sealed.
func unprompt(t *turn.Trace) {
	for i := range t.Prompt {
		if t.Prompt[i].Web {
			t.Prompt[i].Text = deleted
		}
	}
}

// labelOf is what the model was told of a picture.
func labelOf(a *turn.Attached) string {
	if a.Image == nil {
		return ""
	}
	return a.Image.Label
}

// madeOf is what a lookup made of a question and of the messages that it replies to, where that is not the question alone.
func madeOf(t *turn.Trace, l *turn.Lookup) []string {
	if l.Question == "" || l.Question == t.Request.Message.Text {
		return nil
	}
	words := append(strings.Split(l.Query, "\n"), l.Question)
	for _, s := range l.Steps {
		words = append(words, s.Text)
	}
	return slices.DeleteFunc(words, func(w string) bool { return strings.Contains(t.Request.Message.Text, w) })
}

// skeleton is what is left of a record whose question is gone: ids, times, counts and how it went.
func skeleton(t *turn.Trace) turn.Trace {
	r := t.Request
	left := *t
	left.Request = turn.Request{ID: r.ID, Character: r.Character, GuildID: r.GuildID, ChannelID: r.ChannelID, Mode: r.Mode, Persona: r.Persona, Burst: r.Burst,
		Message: turn.Message{ID: r.Message.ID, ChannelID: r.Message.ChannelID, Author: turn.Author{ID: r.Message.Author.ID}, Text: deleted, At: r.Message.At},
		Web:     r.Web, Budget: r.Budget, Deadline: r.Deadline}
	left.Memory = nil
	left.Prompt, left.Dropped, left.Guarded, left.Unborne, left.Verified, left.Processed, left.Err = nil, nil, nil, nil, nil, nil, questionDeleted
	if t.Reply != "" {
		left.Reply = deleted
	}
	left.Outcomes = nil
	for _, o := range t.Outcomes {
		bare := turn.Outcome{Provider: o.Provider, Status: o.Status, Took: o.Took}
		for _, c := range o.Contributions {
			if l := c.Lookup; l != nil {
				bare.Contributions = append(bare.Contributions, turn.Contribution{Layer: c.Layer, Priority: c.Priority, Tokens: c.Tokens, Source: c.Source, Web: c.Web,
					Lookup: &turn.Lookup{State: l.State, Reason: deleted, Failure: l.Failure, Stages: l.Stages, Usage: l.Usage, Began: l.Began, Took: l.Took, Caps: l.Caps}})
			}
		}
		left.Outcomes = append(left.Outcomes, bare)
	}
	return left
}

// longWords is how many bytes must agree for a text to be taken for the message's, wherever it stands.
const longWords = 12

// mark puts the marker in the place of words, wherever they stand in a record. Short words are found only where a message of
// the prompt is nothing else.
func mark(t *turn.Trace, words []string) {
	var long []string
	for _, w := range words {
		w = strings.TrimSpace(w)
		w = strings.TrimSpace(strings.TrimSuffix(w, "…"))
		if w == "" || w == deleted {
			continue
		}
		if len(w) < longWords {
			markShort(t, w)
			continue
		}
		folded := strings.Join(strings.Fields(w), " ")
		long = append(long, w, folded)
		if r := []rune(folded); len(r) > 80 { // as a reply quotes it
			long = append(long, strings.TrimSpace(string(r[:80])))
		}
	}
	if len(long) == 0 {
		return
	}
	slices.SortFunc(long, func(a, b string) int { return len(b) - len(a) })
	pairs := make([]string, 0, 2*len(long))
	for _, w := range slices.Compact(long) {
		pairs = append(pairs, w, deleted)
	}
	r := strings.NewReplacer(pairs...)
	eachString(reflect.ValueOf(t).Elem(), r.Replace)
}

func markShort(t *turn.Trace, w string) {
	for i := range t.Prompt {
		m := &t.Prompt[i]
		if m.Role == "system" || m.Web {
			continue
		}
		if before, ok := strings.CutSuffix(m.Text, w); ok && (before == "" || strings.HasSuffix(before, ": ")) {
			m.Text = before + deleted
		}
	}
}

// eachString replaces every text in v, which is no id.
func eachString(v reflect.Value, replace func(string) string) {
	switch v.Kind() {
	case reflect.String:
		if v.Type() == reflect.TypeFor[string]() {
			v.SetString(replace(v.String()))
		}
	case reflect.Pointer:
		if !v.IsNil() {
			eachString(v.Elem(), replace)
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			eachString(v.Index(i), replace)
		}
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			return
		}
		for i := range v.NumField() {
			name := v.Type().Field(i).Name
			if strings.HasSuffix(name, "ID") || strings.HasSuffix(name, "IDs") || name == "Burst" || name == "ReplyTo" {
				continue
			}
			eachString(v.Field(i), replace)
		}
	}
}
