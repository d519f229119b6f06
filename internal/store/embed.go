package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"strings"
)

// Unembedded is a message or a statement that has no vector of a model.
type Unembedded struct {
	ID   string // of a message
	Memo int64  // of a statement of memory, which has no ID
	Text string
}

// Embedded is one that has its vector now.
type Embedded struct {
	Unembedded
	Vector Vector // empty: the text has none, and is not to be tried again
}

// EmbedPage is how many messages [DB.UnembeddedMessages] looks at.
const EmbedPage = 500

// UnembeddedMessages looks at some messages, the newest first, beginning before a row, and returns those without a vector of a model. Next is the row
// before which it goes on, 0 at the end; 0 as before begins.
func (db *DB) UnembeddedMessages(ctx context.Context, model string, before int64) (all []Unembedded, next int64, err error) {
	if before <= 0 {
		before = math.MaxInt64
	}
	rows, err := db.readers.QueryContext(ctx, `SELECT m.rowid, m.id, CASE WHEN EXISTS (SELECT 1 FROM message_vectors v WHERE v.message_id = m.id AND v.model = ?)
		THEN '' ELSE m.text END FROM messages m WHERE m.rowid < ? ORDER BY m.rowid DESC LIMIT 0 + ?`, model, before, EmbedPage)
	n := 0
	found, err := collect(db, "read messages without a vector", rows, err, func(row scanner) (u Unembedded, err error) {
		n++
		err = row.Scan(&next, &u.ID, &u.Text)
		return u, err
	})
	if err != nil {
		return nil, 0, err
	}
	if n < EmbedPage {
		next = 0
	}
	for _, u := range found {
		if strings.TrimSpace(u.Text) != "" {
			all = append(all, u)
		}
	}
	return all, next, nil
}

// UnembeddedMemories returns statements that are no history and have no vector of a model, the newest first. They are for the server that makes vectors
// and for nothing else: no prompt and no answer may be made of them.
func (db *DB) UnembeddedMemories(ctx context.Context, model string, limit int) ([]Unembedded, error) {
	rows, err := db.readers.QueryContext(ctx, `SELECT m.id, m.text FROM memories m WHERE NOT m.superseded
		AND NOT EXISTS (SELECT 1 FROM memory_vectors v WHERE v.memory_id = m.id AND v.model = ?) ORDER BY m.id DESC LIMIT 0 + ?`, model, limit)
	return collect(db, "read memories without a vector", rows, err, func(row scanner) (u Unembedded, err error) {
		err = row.Scan(&u.Memo, &u.Text)
		return u, err
	})
}

// KeepVectors keeps vectors of a model, in place of those of another, and returns how many: what was deleted or changed meanwhile has none.
func (db *DB) KeepVectors(ctx context.Context, model string, all ...Embedded) (kept int, err error) {
	type row struct{ place, channel, id string }
	var rows []row
	var of []Vector
	err = db.Write(ctx, func(tx *sql.Tx) error {
		kept, rows, of = 0, nil, nil
		for _, e := range all {
			if e.ID == "" {
				n, err := keepMemoryVector(tx, model, e)
				if err != nil {
					return err
				}
				kept += n
				continue
			}
			var r row
			err := keepVector(tx, model, e).Scan(&r.place, &r.channel, &r.id)
			if errors.Is(err, sql.ErrNoRows) {
				continue
			}
			if err != nil {
				return err
			}
			kept, rows, of = kept+1, append(rows, r), append(of, e.Vector)
		}
		return nil
	})
	if err != nil {
		return 0, fmt.Errorf("keep vectors: %w", err)
	}
	for i, r := range rows {
		db.vectors.add(r.place, model, r.channel, r.id, of[i])
	}
	return kept, nil
}

func keepMemoryVector(tx *sql.Tx, model string, e Embedded) (int, error) {
	r, err := tx.Exec(`INSERT INTO memory_vectors (memory_id, model, vector) SELECT id, ?, ? FROM memories WHERE id = ? AND text = ?
		ON CONFLICT (memory_id) DO UPDATE SET model = excluded.model, vector = excluded.vector`, model, append([]byte{}, e.Vector...), e.Memo, e.Text)
	if err != nil {
		return 0, err
	}
	n, err := r.RowsAffected()
	return int(n), err
}

// keepVector keeps the vector of a message that says what it said, and returns its place, channel and id.
func keepVector(tx *sql.Tx, model string, e Embedded) *sql.Row {
	return tx.QueryRow(`INSERT INTO message_vectors (place, model, at, message_id, channel_id, vector)
		SELECT CASE guild_id WHEN '' THEN channel_id ELSE guild_id END, ?, at, id, channel_id, ? FROM messages WHERE id = ? AND text = ?
		ON CONFLICT (message_id) DO UPDATE SET place = excluded.place, model = excluded.model, at = excluded.at, channel_id = excluded.channel_id, vector = excluded.vector
		RETURNING place, channel_id, message_id`, model, append([]byte{}, e.Vector...), e.ID, e.Text)
}

// unembed deletes the vector of a message, whose row this is.
func (db *DB) unembed(tx *sql.Tx, row int64) error {
	var id string
	err := tx.Stmt(db.stmts.unembed).QueryRow(row).Scan(&id)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err == nil {
		db.vectors.remove(id)
	}
	return err
}

// unembedBatch is how many vectors of other models are deleted in one transaction.
const unembedBatch = 500

// DropVectors deletes the vectors of other models than this one: of "", all.
func (db *DB) DropVectors(ctx context.Context, except string) (dropped int, err error) {
	_, err = db.exec(ctx, "delete vectors", `DELETE FROM memory_vectors WHERE model <> ?`, except)
	for n := unembedBatch; err == nil && n == unembedBatch; dropped += n {
		n, err = db.exec(ctx, "delete vectors", `DELETE FROM message_vectors WHERE message_id IN
			(SELECT message_id FROM message_vectors WHERE model <> ? LIMIT 0 + ?)`, except, unembedBatch)
	}
	return dropped, err
}

// Embedded returns how many messages have a vector of a model, which may be empty.
func (db *DB) Embedded(ctx context.Context, model string) (n int, err error) {
	err = db.readers.QueryRowContext(ctx, `SELECT count(*) FROM message_vectors WHERE model = ?`, model).Scan(&n)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return 0, fmt.Errorf("count vectors: %w", db.Explain(err))
	}
	return n, nil
}
