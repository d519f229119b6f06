package trace

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"slices"

	"familiar/internal/context/turn"
)

// ref says which text the nth page of a record has.
type ref struct {
	n   int    // among all pages of the record, from 0
	sum string // SHA-256 of the text, in hex
}

// detached are the texts that a record is kept without.
type detached struct {
	refs  []ref             // by n
	texts map[string]string // by sum
}

// detach returns a copy of t whose pages have no texts, and the texts. It shares with t all that it leaves
// as it is.
func detach(t *turn.Trace) (turn.Trace, detached) {
	bare, d, n := *t, detached{texts: map[string]string{}}, 0
	bare.Outcomes = slices.Clone(t.Outcomes)
	for i := range bare.Outcomes {
		o := &bare.Outcomes[i]
		o.Contributions = slices.Clone(o.Contributions)
		for j := range o.Contributions {
			c := &o.Contributions[j]
			if c.Lookup == nil {
				continue
			}
			l := *c.Lookup
			l.Pages = slices.Clone(l.Pages)
			for k := range l.Pages {
				d.take(n, &l.Pages[k])
				n++
			}
			c.Lookup = &l
		}
	}
	return bare, d
}

func (d *detached) take(n int, p *turn.Page) {
	if p.Text == "" {
		return
	}
	h := sha256.Sum256([]byte(p.Text))
	sum := hex.EncodeToString(h[:])
	d.refs = append(d.refs, ref{n, sum})
	d.texts[sum] = p.Text
	p.Text = ""
}

// savePages keeps the texts and which record has them. All saves of a turn but one find nothing to do.
func savePages(tx *sql.Tx, stmt *sql.Stmt, id string, d detached) error {
	old, err := refs(stmt.Query(id))
	if err != nil || slices.Equal(old, d.refs) {
		return err
	}
	if _, err := tx.Exec(`DELETE FROM trace_pages WHERE trace_id = ?`, id); err != nil {
		return err
	}
	for sum, text := range d.texts {
		if _, err := tx.Exec(`INSERT INTO pages (sha256, text) VALUES (?, ?) ON CONFLICT DO NOTHING`, sum, text); err != nil {
			return err
		}
	}
	for _, r := range d.refs {
		if _, err := tx.Exec(`INSERT INTO trace_pages (trace_id, n, sha256) VALUES (?, ?, ?)`, id, r.n, r.sum); err != nil {
			return err
		}
	}
	return sweep(tx, old)
}

const refsQuery = `SELECT n, sha256 FROM trace_pages WHERE trace_id = ? ORDER BY n`

// refs reads the rows of refsQuery.
func refs(rows *sql.Rows, err error) ([]ref, error) {
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var all []ref
	for rows.Next() {
		var r ref
		if err := rows.Scan(&r.n, &r.sum); err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	return all, rows.Err()
}

// sweep removes those of the texts that no record has any more.
func sweep(tx *sql.Tx, gone []ref) error {
	for _, r := range gone {
		_, err := tx.Exec(`DELETE FROM pages WHERE sha256 = ? AND NOT EXISTS
			(SELECT 1 FROM trace_pages WHERE trace_pages.sha256 = pages.sha256)`, r.sum)
		if err != nil {
			return err
		}
	}
	return nil
}

// attach puts the texts back into the pages of a record.
func (s *Store) attach(ctx context.Context, t *turn.Trace, id string) error {
	rows, err := s.DB.Read().QueryContext(ctx, `SELECT r.n, p.text FROM trace_pages r JOIN pages p ON p.sha256 = r.sha256
		WHERE r.trace_id = ?`, id)
	if err != nil {
		return err
	}
	defer rows.Close()
	all := pages(t)
	for rows.Next() {
		var n int
		var text string
		if err := rows.Scan(&n, &text); err != nil {
			return err
		}
		if n < len(all) { // a newer save may have come between the two queries
			all[n].Text = text
		}
	}
	return rows.Err()
}

// pages returns all pages of a record, in the order in which refs count them.
func pages(t *turn.Trace) []*turn.Page {
	var all []*turn.Page
	for i := range t.Outcomes {
		for j := range t.Outcomes[i].Contributions {
			if l := t.Outcomes[i].Contributions[j].Lookup; l != nil {
				for k := range l.Pages {
					all = append(all, &l.Pages[k])
				}
			}
		}
	}
	return all
}
