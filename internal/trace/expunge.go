package trace

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/store"
)

// expunger takes what is of one person out of records of others.
type expunger struct {
	person, who string
	names       map[string]bool
	messages    map[string]bool
	memories    map[int64]bool
	words       *strings.Replacer // nil: none
	before      time.Time         // zero: at any time
	since       time.Time
}

func newExpunger(t *store.Trail, who string) *expunger {
	return &expunger{t.Person, who, maps.Clone(t.Names), maps.Clone(t.Messages), maps.Clone(t.Memories), t.Marker(2 * longWords), t.Before, time.Now()}
}

// own reports whether a record is of a turn of theirs.
func (x *expunger) own(t *turn.Trace) bool {
	by := t.Request.Message.Author.ID
	return by == x.person || by == x.who
}

// wrote reports whether a message is theirs.
func (x *expunger) wrote(m *turn.Message) bool {
	return m != nil && (m.Author.ID == x.person || x.messages[m.ID]) && (x.before.IsZero() || !m.At.After(x.before))
}

// takeOut takes them out of a record, and reports whether they were there. What the model was shown goes as a whole then: their name and
// what was made of their words may stand anywhere in it.
func (x *expunger) takeOut(t *turn.Trace) (changed bool) {
	r := &t.Request
	if x.wrote(r.Target) { // the question is their words
		*t = skeleton(t)
		return true
	}
	var words []string
	drop := func(m *turn.Message) bool {
		if !x.wrote(m) {
			return false
		}
		words, changed = append(words, m.Text, m.Note), true
		for _, q := range m.Quotes {
			words = append(words, q.Text, q.Title)
		}
		return true
	}
	asked := drop(r.Parent)
	if asked {
		r.Parent = nil
	}
	r.Chain = slices.DeleteFunc(slices.Clone(r.Chain), func(m turn.Message) bool {
		dropped := drop(&m)
		asked = asked || dropped
		return dropped
	})
	if r.Backdrop != nil && x.names[r.Backdrop.By] && r.Backdrop.By != "" {
		words, changed = append(words, r.Backdrop.Text), true
		r.Backdrop = nil
	}
	for i := range t.Presses {
		if t.Presses[i].ByID == x.person {
			t.Presses[i].ByID, changed = x.who, true
		}
	}
	for i := range t.Outcomes {
		o := &t.Outcomes[i]
		o.Contributions = slices.DeleteFunc(slices.Clone(o.Contributions), func(c turn.Contribution) bool { return drop(c.Message) })
		for j := range o.Contributions {
			words, changed = x.takeOutOf(t, &o.Contributions[j], asked, words, changed)
		}
	}
	if x.words != nil {
		eachString(reflect.ValueOf(t).Elem(), func(text string) string {
			marked := x.words.Replace(text)
			changed = changed || marked != text
			return marked
		})
	}
	if changed {
		x.clear(t)
		mark(t, words)
	}
	return changed
}

// takeOutOf takes them out of what a provider offered.
func (x *expunger) takeOutOf(t *turn.Trace, c *turn.Contribution, asked bool, words []string, changed bool) ([]string, bool) {
	theirs := func(id string) bool { return x.messages[id] }
	if c.Summary != nil && slices.ContainsFunc(c.Summary.Sources, theirs) {
		words, changed = append(append(words, c.Text), strings.Split(c.Text, "\n")...), true
		c.Text, c.Summary = deleted, &turn.Summary{}
	}
	if slices.ContainsFunc(c.Recalled, func(m turn.Recalled) bool { return x.memories[m.ID] || slices.ContainsFunc(m.Sources, theirs) }) {
		words, changed = append(append(words, c.Text), strings.Split(c.Text, "\n")...), true
		c.Text, c.Recalled = deleted, nil
	}
	if l := c.Lookup; l != nil && slices.ContainsFunc(l.Quoted, theirs) {
		words, changed = append(words, quotes(l)...), true
		unquote(t, c)
	}
	if a := c.Attached; a != nil && x.messages[a.MessageID] && a.MessageID != "" {
		words, changed = append(words, a.Open+c.Text+a.Close, c.Text, a.Name, labelOf(a)), true
		c.Text, c.Attached = deleted, &turn.Attached{}
	}
	if asked && c.Lookup != nil {
		words = append(words, madeOf(t, c.Lookup)...)
	}
	return words, changed
}

// clear takes out of a record in which they stood whatever may have been made of that.
func (x *expunger) clear(t *turn.Trace) {
	t.Prompt = nil
	for i := range t.Processed {
		t.Processed[i].Text = ""
	}
	for i := range t.Outcomes {
		for j := range t.Outcomes[i].Contributions {
			c := &t.Outcomes[i].Contributions[j]
			told := c.Layer == turn.HistorySummary || c.Recalled != nil
			if c.Message == nil && !c.Web && c.Text != "" && (told || x.named(c.Text)) {
				c.Text, c.Recalled = deleted, nil
			}
		}
	}
}

// named reports whether a text holds their id or one of their names.
func (x *expunger) named(text string) bool {
	if strings.Contains(text, x.person) {
		return true
	}
	for name := range x.names {
		if len(name) > 2 && strings.Contains(text, name) {
			return true
		}
	}
	return false
}
