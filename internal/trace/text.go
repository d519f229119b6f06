package trace

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"sync"

	"familiar/internal/context/turn"
	"familiar/internal/store"
)

// The texts of pages are kept apart from their record, each by itself. So a page that several turns read is kept once. So are the texts of
// the prompt that most turns share, all of them as one: the shared text. Old records have no shared text.

// pageTexts returns where the texts of pages belong in a record, in the order in which refs number them.
func pageTexts(t *turn.Trace) (all []*string) {
	for _, l := range Lookups(t) {
		for i := range l.Pages {
			all = append(all, &l.Pages[i].Text)
		}
	}
	return all
}

// sharedTexts returns where the parts of the shared text belong. They are the system messages of the prompt, and what was offered. Messages
// and what is from the web are not among them.
func sharedTexts(t *turn.Trace) (all []*string) {
	for c := range t.Contributions() {
		if c.Message == nil && !c.Web {
			all = append(all, &c.Text)
		}
	}
	for i := range t.Prompt {
		if m := &t.Prompt[i]; m.Role == "system" && !m.Web {
			all = append(all, &m.Text)
		}
	}
	return all
}

// sharedN is the number of the shared text in refs.
const sharedN = -1

// between separates the parts of the shared text. If a part contains it, all parts stay in their record.
const between = "\x00"

// takeShared removes the parts of the shared text from a record and returns them; nil if they stay.
func takeShared(t *turn.Trace) []string {
	all := sharedTexts(t)
	texts, size := make([]string, len(all)), 0
	for i, at := range all {
		if texts[i] = *at; strings.Contains(*at, between) {
			return nil
		}
		size += len(*at) + len(between)
	}
	if size-len(between) < sharedLeast {
		return nil
	}
	for _, at := range all {
		*at = ""
	}
	return texts
}

// sharedLeast is the least length of a shared text in bytes: a shorter one costs less in its record.
const sharedLeast = 256

// putShared puts the parts of the shared text back into a record.
func putShared(t *turn.Trace, shared string) {
	all, texts := sharedTexts(t), strings.Split(shared, between)
	if len(all) != len(texts) { // a newer save may have come between the queries
		return
	}
	for i, at := range all {
		*at = texts[i]
	}
}

// ref names a text that is kept apart from its record.
type ref struct {
	n   int // the page's number, or sharedN
	sum sum // of the text as it is kept
}

// sum is the SHA-256 of a text.
type sum = [sha256.Size]byte

// detached is what was taken out of a record to be kept apart.
type detached struct {
	refs   []ref
	bodies map[sum]func() []byte // what is kept, by hash; made on the first call
	shared [2]sum                // hashes of the shared text, before redaction and as it is kept; zero if there is none
	late   bool                  // the shared text is kept already, so that its body is hardly ever needed
}

// pack makes the bodies that will be needed.
func (d *detached) pack() {
	for sum, body := range d.bodies {
		if sum != d.shared[1] || !d.late {
			body()
		}
	}
}

// detach returns a copy of t without the texts that are kept apart, and these texts. The copy shares everything else with t.
func (s *Store) detach(t *turn.Trace) (turn.Trace, *detached) {
	bare := clone(t)
	d := &detached{bodies: map[sum]func() []byte{}}
	if texts := takeShared(&bare); texts != nil {
		s.packer.with(func(buf []byte) []byte {
			for i, text := range texts {
				if i > 0 {
					buf = append(buf, between...)
				}
				buf = append(buf, text...)
			}
			d.shared[0] = sha256.Sum256(buf)
			return buf
		})
		d.shared[1], d.late = s.repeated.get(d.shared[0])
		redacted := sync.OnceValue(func() string { return s.redact(strings.Join(texts, between)) })
		if !d.late {
			d.shared[1] = sha256.Sum256([]byte(redacted()))
		}
		d.bodies[d.shared[1]] = sync.OnceValue(func() []byte { return s.packer.pack(redacted()) })
		d.refs = append(d.refs, ref{sharedN, d.shared[1]})
	}
	for n, at := range pageTexts(&bare) {
		if *at == "" {
			continue
		}
		text := *at
		sum := sha256.Sum256([]byte(text))
		d.bodies[sum] = sync.OnceValue(func() []byte { return s.packer.pack(text) })
		d.refs, *at = append(d.refs, ref{n, sum}), ""
	}
	return bare, d
}

// redact takes secrets out of what is kept.
func (s *Store) redact(text string) string {
	if s.Redact == nil {
		return text
	}
	return s.Redact(text)
}

// clone copies a record as far as detach changes it.
func clone(t *turn.Trace) turn.Trace {
	c := *t
	c.Prompt, c.Outcomes = slices.Clone(t.Prompt), slices.Clone(t.Outcomes)
	for i := range c.Outcomes {
		o := &c.Outcomes[i]
		o.Contributions = slices.Clone(o.Contributions)
	}
	for one := range c.Contributions() {
		if l := one.Lookup; l != nil {
			copied := *l
			copied.Pages = slices.Clone(l.Pages)
			one.Lookup = &copied
		}
	}
	return c
}

// saveTexts keeps the texts of a record, and that the record has them.
func (p *statements) saveTexts(tx *sql.Tx, id string, d *detached) error {
	old, err := readRefs(tx.Stmt(p.refs).Query(id))
	if err != nil || slices.Equal(old, d.refs) {
		return err
	}
	if len(old) > 0 {
		if _, err := tx.Exec(`DELETE FROM trace_texts WHERE trace_id = ?`, id); err != nil {
			return err
		}
	}
	for _, r := range d.refs {
		if err := p.saveText(tx, id, r, d.bodies[r.sum]); err != nil {
			return err
		}
	}
	return sweep(tx, old)
}

// saveText notes that a record has a text, which usually is kept already.
func (p *statements) saveText(tx *sql.Tx, id string, r ref, body func() []byte) error {
	for range 2 {
		result, err := tx.Stmt(p.refer).Exec(id, r.n, r.sum[:])
		if err != nil {
			return err
		}
		if n, err := result.RowsAffected(); err != nil || n > 0 {
			return err
		}
		if _, err := tx.Stmt(p.text).Exec(r.sum[:], body()); err != nil {
			return err
		}
	}
	return fmt.Errorf("text %x is not there", r.sum)
}

const (
	refsQuery  = `SELECT r.n, t.sum FROM trace_texts r JOIN texts t ON t.id = r.text_id WHERE r.trace_id = ? ORDER BY r.n`
	referQuery = `INSERT INTO trace_texts (trace_id, n, text_id) SELECT ?, ?, id FROM texts WHERE sum = ?`
	textQuery  = `INSERT INTO texts (sum, body) VALUES (?, ?)`
)

func readRefs(rows *sql.Rows, err error) ([]ref, error) {
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var all []ref
	for rows.Next() {
		var r ref
		var sum []byte
		if err := rows.Scan(&r.n, &sum); err != nil {
			return nil, err
		}
		copy(r.sum[:], sum)
		all = append(all, r)
	}
	return all, rows.Err()
}

// sweep removes the given texts as far as no record has them any more.
func sweep(tx *sql.Tx, gone []ref) error {
	for _, r := range gone {
		_, err := tx.Exec(`DELETE FROM texts WHERE sum = ? AND NOT EXISTS
			(SELECT 1 FROM trace_texts WHERE trace_texts.text_id = texts.id)`, r.sum[:])
		if err != nil {
			return err
		}
	}
	return nil
}

// attach puts the texts that are kept apart back into a record.
func (s *Store) attach(ctx context.Context, t *turn.Trace, id string) error {
	all := pageTexts(t)
	return s.DB.Each(ctx, `SELECT r.n, t.body FROM trace_texts r JOIN texts t ON t.id = r.text_id WHERE r.trace_id = @id`, store.Args{"id": id}, func(scan func(...any) error) error {
		var n int
		var body []byte
		if err := scan(&n, &body); err != nil {
			return err
		}
		text, err := s.packer.unpack(body)
		if err != nil {
			return err
		}
		switch {
		case n == sharedN:
			putShared(t, text)
		case n < len(all): // a newer save may have come between the queries
			*all[n] = text
		}
		return nil
	})
}
