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
)

// A record is kept without the texts of its pages, each by itself, and without those of its prompt that are the same in most
// turns, all of them as one, the frame. Old records have no frame.

// slots are where the texts of pages belong, in the order by which refs count them.
func slots(t *turn.Trace) (all []*string) {
	for i := range t.Outcomes {
		for j := range t.Outcomes[i].Contributions {
			if l := t.Outcomes[i].Contributions[j].Lookup; l != nil {
				for k := range l.Pages {
					all = append(all, &l.Pages[k].Text)
				}
			}
		}
	}
	return all
}

// frameSlots are where the texts of the frame belong: what is offered and is neither a message nor from the web, and what the
// model is told as the system.
func frameSlots(t *turn.Trace) (all []*string) {
	for i := range t.Outcomes {
		for j := range t.Outcomes[i].Contributions {
			if c := &t.Outcomes[i].Contributions[j]; c.Message == nil && !c.Web {
				all = append(all, &c.Text)
			}
		}
	}
	for i := range t.Prompt {
		if m := &t.Prompt[i]; m.Role == "system" && !m.Web {
			all = append(all, &m.Text)
		}
	}
	return all
}

// frameN is what refs count a frame as.
const frameN = -1

// between stands between the texts of a frame. Texts that hold it stay in their record.
const between = "\x00"

// takeFrame empties the slots of the frame and returns what was in them, nil if they stay as they are.
func takeFrame(t *turn.Trace) []string {
	all := frameSlots(t)
	texts, size := make([]string, len(all)), 0
	for i, at := range all {
		if texts[i] = *at; strings.Contains(*at, between) {
			return nil
		}
		size += len(*at) + len(between)
	}
	if size-len(between) < frameLeast {
		return nil
	}
	for _, at := range all {
		*at = ""
	}
	return texts
}

// frameLeast is how long a frame must be to be kept apart, in bytes: a shorter one costs less where it stands.
const frameLeast = 256

// putFrame fills the slots of the frame.
func putFrame(t *turn.Trace, frame string) {
	all, texts := frameSlots(t), strings.Split(frame, between)
	if len(all) != len(texts) { // a newer save may have come between two queries
		return
	}
	for i, at := range all {
		*at = texts[i]
	}
}

// ref says which text a record is missing.
type ref struct {
	n   int // among the slots, or frameN
	sum sum // of the text as it is kept
}

// sum is a text's SHA-256.
type sum = [sha256.Size]byte

// detached is what was in the slots of a record.
type detached struct {
	refs   []ref
	bodies map[sum]func() []byte // what is kept of the texts, by the hashes of those; made when first asked for
	frame  [2]sum                // of the frame: as it was, and as it is kept; zero if there is none
	late   bool                  // the frame is kept already: most likely nobody asks for its body
}

// pack makes the bodies that will be asked for.
func (d *detached) pack() {
	for sum, body := range d.bodies {
		if sum != d.frame[1] || !d.late {
			body()
		}
	}
}

// detach returns a copy of t whose slots are empty, and what was in them. It shares with t all that it leaves as it is.
func (s *Store) detach(t *turn.Trace) (turn.Trace, *detached) {
	bare := clone(t)
	d := &detached{bodies: map[sum]func() []byte{}}
	if texts := takeFrame(&bare); texts != nil {
		s.packer.with(func(buf []byte) []byte {
			for i, text := range texts {
				if i > 0 {
					buf = append(buf, between...)
				}
				buf = append(buf, text...)
			}
			d.frame[0] = sha256.Sum256(buf)
			return buf
		})
		d.frame[1], d.late = s.repeated.get(d.frame[0])
		redacted := sync.OnceValue(func() string { return s.redact(strings.Join(texts, between)) })
		if !d.late {
			d.frame[1] = sha256.Sum256([]byte(redacted()))
		}
		d.bodies[d.frame[1]] = sync.OnceValue(func() []byte { return s.packer.pack(redacted()) })
		d.refs = append(d.refs, ref{frameN, d.frame[1]})
	}
	for n, at := range slots(&bare) {
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

// clone copies a record as far as its slots go.
func clone(t *turn.Trace) turn.Trace {
	c := *t
	c.Prompt, c.Outcomes = slices.Clone(t.Prompt), slices.Clone(t.Outcomes)
	for i := range c.Outcomes {
		o := &c.Outcomes[i]
		o.Contributions = slices.Clone(o.Contributions)
		for j := range o.Contributions {
			if l := o.Contributions[j].Lookup; l != nil {
				copied := *l
				copied.Pages = slices.Clone(l.Pages)
				o.Contributions[j].Lookup = &copied
			}
		}
	}
	return c
}

// saveTexts keeps the texts and which record has them.
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

// saveText refers to a text, which most likely is there already.
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

// readRefs reads the rows of refsQuery.
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

// sweep removes those of the texts that no record has any more.
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

// attach puts the texts back into a record.
func (s *Store) attach(ctx context.Context, t *turn.Trace, id string) error {
	rows, err := s.DB.Read().QueryContext(ctx, `SELECT r.n, t.body FROM trace_texts r JOIN texts t ON t.id = r.text_id
		WHERE r.trace_id = ?`, id)
	if err != nil {
		return err
	}
	defer rows.Close()
	all := slots(t)
	for rows.Next() {
		var n int
		var body []byte
		if err := rows.Scan(&n, &body); err != nil {
			return err
		}
		text, err := s.packer.unpack(body)
		if err != nil {
			return err
		}
		switch {
		case n == frameN:
			putFrame(t, text)
		case n < len(all): // a newer save may have come between the two queries
			*all[n] = text
		}
	}
	return rows.Err()
}
