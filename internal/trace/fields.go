package trace

import (
	"fmt"
	"slices"
	"time"

	"familiar/internal/context/turn"
)

// provenance says what a part of a record was made from. It is empty for what was made from nobody's words.
type provenance struct {
	messages []string  // ids
	person   string    // id of who wrote it or did it
	at       time.Time // when they did
	name     string    // of who wrote it, if no id is known
	memories []int64   // ids of remembered statements
}

// part is a group of fields of a record that go together.
type part struct {
	from  provenance
	words []string         // its texts, which may be repeated elsewhere in the record
	gone  bool             // its words are gone already
	above bool             // it is a message above the question
	drop  func(*Redaction) // takes it out of the record
}

// question returns what a whole record was made from. A command given for somebody else's message asks with that message's words.
func question(t *turn.Trace) provenance {
	r := &t.Request
	from := provenance{messages: append([]string{r.Message.ID}, r.Burst...)}
	if m := r.Target; m != nil {
		from.messages = append(from.messages, m.ID)
		from.person, from.at = m.Author.ID, m.At
	}
	return from
}

// parts lists the parts of a record that hold, quote or retell what people wrote, each with its provenance.
func parts(t *turn.Trace) (all []part) {
	r := &t.Request
	if r.Parent != nil {
		all = append(all, messagePart(r.Parent, true))
	}
	for i := range r.Chain {
		all = append(all, messagePart(&r.Chain[i], true))
	}
	if b := r.Backdrop; b != nil {
		all = append(all, part{from: provenance{name: b.By}, words: []string{b.Text}, drop: func(*Redaction) { r.Backdrop = nil }})
	}
	for i := range t.Presses {
		p := &t.Presses[i]
		all = append(all, part{from: provenance{person: p.ByID}, drop: func(r *Redaction) { p.ByID = r.Person.Pseudonym }})
	}
	for c := range t.Contributions() {
		all = append(all, contributionParts(t, c)...)
	}
	for i := range t.Calls {
		c := &t.Calls[i]
		all = append(all, part{from: provenance{messages: c.Quoted}, gone: c.Quoted == nil, drop: func(*Redaction) { *c = c.Bare() }})
	}
	return append(all, part{from: provenance{messages: t.ReplyIDs}, words: []string{t.Reply}, gone: t.Reply == "" || t.Reply == deleted, drop: func(*Redaction) { t.Reply = deleted }})
}

func provenances(t *turn.Trace) []provenance {
	all := []provenance{question(t)}
	for _, p := range parts(t) {
		all = append(all, p.from)
	}
	return all
}

func messagePart(m *turn.Message, above bool) part {
	words := []string{m.Text, m.Note}
	for _, q := range m.Quotes {
		words = append(words, q.Text, q.Title)
	}
	return part{from: provenance{messages: []string{m.ID}, person: m.Author.ID, at: m.At}, words: words, gone: m.Text == deleted, above: above, drop: func(r *Redaction) {
		if r.Person != nil {
			*m = turn.Message{Text: deleted, At: m.At}
			return
		}
		m.Text, m.Mentions, m.Files, m.Quotes, m.Note = deleted, nil, nil, nil, ""
	}}
}

// contributionParts lists the parts of what a provider offered.
func contributionParts(t *turn.Trace, c *turn.Contribution) (all []part) {
	if c.Message != nil {
		all = append(all, messagePart(c.Message, false))
	}
	if l := c.Lookup; l != nil {
		all = append(all, part{from: provenance{messages: l.Quoted}, words: quotations(l), drop: func(*Redaction) { dropQuotations(t, c) }})
	}
	if s := c.Summary; s != nil {
		all = append(all, part{from: provenance{messages: s.Sources}, words: []string{c.Text}, drop: func(*Redaction) {
			c.Text, s.Sources, s.LastID = deleted, nil, ""
		}})
	}
	if c.Recalled != nil {
		var from provenance
		for _, m := range c.Recalled {
			from.messages, from.memories = append(from.messages, m.Sources...), append(from.memories, m.ID)
		}
		all = append(all, part{from: from, words: []string{c.Text}, drop: func(*Redaction) {
			if c.Text, c.Recalled = deleted, nil; c.Web {
				dropQuoted(t)
			}
		}})
	}
	if f := c.Filter; f != nil { // some of its entries are not ids of messages
		from := provenance{messages: f.Out}
		for _, one := range f.Out {
			var id int64
			if n, _ := fmt.Sscanf(one, "statement %d", &id); n == 1 {
				from.memories = append(from.memories, id)
			}
		}
		all = append(all, part{from: from, drop: func(r *Redaction) {
			f.Out = slices.DeleteFunc(f.Out, func(id string) bool { return r.Messages[id] })
		}})
	}
	if a := c.Attached; a != nil {
		words := []string{a.Open + c.Text + a.Close, c.Text, a.Name}
		if a.Image != nil {
			words = append(words, a.Image.Label)
		}
		all = append(all, part{from: provenance{messages: []string{a.MessageID}}, words: words, drop: func(*Redaction) {
			c.Text, c.Source, c.Attached = deleted, "attachment", &turn.Attached{}
		}})
	}
	return all
}

// quotations returns the words of a lookup in the server, as a reply may repeat them.
func quotations(l *turn.Lookup) (words []string) {
	for _, c := range l.Summary {
		words = append(words, c.Quote, c.Text)
	}
	for _, s := range l.Sources {
		words = append(words, s.Title)
	}
	return words
}

// dropQuotations reduces a lookup in the server to its outcome: its quotations of several people are close together.
func dropQuotations(t *turn.Trace, c *turn.Contribution) {
	l := c.Lookup
	c.Lookup = &turn.Lookup{State: l.State, Reason: l.Reason, Failure: l.Failure, Intent: l.Intent, Asked: l.Asked, Stages: l.Stages, Began: l.Began, Took: l.Took}
	if c.Text != "" {
		c.Text = deleted
	}
	dropQuoted(t)
}

// dropQuoted drops the messages of the prompt that quote others. Their words cannot be looked for: every line of them is marked.
func dropQuoted(t *turn.Trace) {
	for i := range t.Prompt {
		if t.Prompt[i].Web {
			t.Prompt[i].Text = deleted
		}
	}
}

// Lookups returns all lookups of a record.
func Lookups(t *turn.Trace) (all []*turn.Lookup) {
	for c := range t.Contributions() {
		if c.Lookup != nil {
			all = append(all, c.Lookup)
		}
	}
	return all
}

// visitor is called with each text of a record, and may change it.
type visitor func(text *string)

// texts visits every text of a record in which people's words may appear. It includes what models, pages and errors repeat of them. Ids,
// hashes, codes, and names of models and services are not texts. A test compares it with the fields of [turn.Trace].
func texts(t *turn.Trace, visit visitor) {
	r := &t.Request
	visit.message(&r.Message)
	visit.message(r.Target)
	visit.message(r.Parent)
	each(r.Chain, visit.message)
	visit.all(&r.Web.Docs, &r.Web.Site, &t.Reply, &t.Err, &t.Cure)
	if b := r.Backdrop; b != nil {
		visit.all(&b.Text, &b.By)
	}
	each(t.Outcomes, func(o *turn.Outcome) { visit(&o.Err) })
	for c := range t.Contributions() {
		visit.contribution(c)
	}
	each(t.Dropped, func(d *turn.Dropped) { visit(&d.Source) })
	each(t.Prompt, visit.rendered)
	each(t.Guarded, func(g *turn.Guarded) { visit(&g.What) })
	each(t.Unsupported, func(c *turn.Citation) { visit(&c.Text) })
	if t.Verified != nil {
		each(t.Verified.Opinions, func(o *turn.Opinion) { visit.all(&o.Text, &o.Quote, &o.Why) })
	}
	each(t.Processed, func(p *turn.Processed) { visit.all(&p.Text, &p.Err) })
	each(t.Calls, func(c *turn.Call) {
		visit.all(&c.Answer, &c.Err)
		each(c.Prompt, visit.rendered)
	})
	visit.memory(t.Memory)
}

func each[T any](all []T, do func(*T)) {
	for i := range all {
		do(&all[i])
	}
}

func (visit visitor) all(texts ...*string) {
	for _, text := range texts {
		visit(text)
	}
}

func (visit visitor) message(m *turn.Message) {
	if m == nil {
		return
	}
	visit.all(&m.Author.Name, &m.Text, &m.Note)
	each(m.Mentions, visit)
	each(m.Files, visit.file)
	each(m.Quotes, func(q *turn.Quote) {
		visit.all(&q.From, &q.Title, &q.Text)
		each(q.Files, visit.file)
	})
}

func (visit visitor) rendered(m *turn.Rendered) {
	visit.all(&m.Name, &m.Text)
	each(m.Images, func(i *turn.Image) { visit(&i.Label) })
}

func (visit visitor) file(a *turn.Attachment) { visit.all(&a.Name, &a.Type, &a.Alt) }

func (visit visitor) memory(m *turn.MemoryChange) {
	if m != nil {
		visit.all(&m.Text, &m.From, &m.Refused, &m.Zone)
		each(m.Also, visit.memory)
	}
}

func (visit visitor) contribution(c *turn.Contribution) {
	visit.all(&c.Text, &c.Source)
	visit.message(c.Message)
	if l := c.Lore; l != nil {
		entry := func(e *turn.LoreEntry) { visit.all(&e.Book, &e.Entry, &e.Comment, &e.Why) }
		each(l.Fired, entry)
		each(l.Lost, entry)
	}
	if c.Lookup != nil {
		visit.lookup(c.Lookup)
	}
	if a := c.Attached; a != nil {
		visit.all(&a.Name, &a.Open, &a.Close)
		if a.Image != nil {
			visit(&a.Image.Label)
		}
	}
	if c.Summary != nil {
		visit(&c.Summary.Channel)
	}
	each(c.Recalled, func(m *turn.Recalled) {
		visit.all(&m.Text, &m.File, &m.Heading, &m.URL, &m.By)
		each(m.Why, func(g *turn.Gain) { visit(&g.Of) })
	})
	if c.Filter != nil {
		visit(&c.Filter.Err)
	}
}

func (visit visitor) lookup(l *turn.Lookup) {
	visit.all(&l.Reason, &l.Need, &l.Question, &l.Query, &l.Block)
	each(l.Cues, visit)
	each(l.Steps, func(s *turn.Step) { visit(&s.Text) })
	each(l.Asked, func(a *turn.Asked) { visit(&a.Detail) })
	each(l.Hits, func(h *turn.Hit) {
		visit.all(&h.Title, &h.URL, &h.Snippet, &h.Why, &h.Thumbnail, &h.Media)
		each(h.Twins, visit)
	})
	each(l.Pages, func(p *turn.Page) { visit.all(&p.URL, &p.Final, &p.Passed, &p.Title, &p.Site, &p.Text) })
	each(l.Summary, visit.claim)
	each(l.Rejected, visit.claim)
	each(l.Dropped, func(d *turn.DroppedSentence) { visit.all(&d.URL, &d.Text, &d.Why) })
	each(l.Sources, func(s *turn.Source) {
		visit.all(&s.URL, &s.Title, &s.Site)
		each(s.Links, visit)
	})
	each(l.Conflicts, func(c *turn.Conflict) { visit.all(&c.Values[0].Value, &c.Values[1].Value) })
	if v := l.Verdict; v != nil {
		visit(&v.Statement)
		each(v.For, visit.claim)
		each(v.Against, visit.claim)
	}
	if l.Reused != nil {
		visit(&l.Reused.Query)
	}
}

func (visit visitor) claim(c *turn.Claim) {
	f := &c.Framing
	visit.all(&c.Text, &c.Quote, &c.URL, &f.Words, &f.Header, &f.Question, &f.Under)
	each(c.Also, func(b *turn.Backing) { visit(&b.Quote) })
	each(f.Path, visit)
}
