package store

import (
	"context"
	"crypto/rand"
	"database/sql"
	"fmt"
)

// Button is what a button under a reply means. It is kept as long as the record of the turn.
type Button struct {
	TurnID string // of the turn that wrote the reply
	Kind   string
}

// Buttons returns the keys of buttons of a turn, which has a record, by their kinds, and makes those that are missing. A key is random: whoever has
// not seen the button does not know it.
func (db *DB) Buttons(ctx context.Context, turnID string, kinds ...string) (keys map[string]string, err error) {
	keys = make(map[string]string, len(kinds))
	err = db.Write(ctx, func(tx *sql.Tx) error {
		button := tx.Stmt(db.stmts.button)
		for _, kind := range kinds {
			var key string
			if err := button.QueryRow(rand.Text(), turnID, kind).Scan(&key); err != nil {
				return err
			}
			keys[kind] = key
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("keep buttons: %w", err)
	}
	return keys, nil
}

// Button returns what the button with a key means, or [ErrNotFound].
func (db *DB) Button(ctx context.Context, key string) (b Button, err error) {
	err = db.readers.QueryRowContext(ctx, `SELECT turn_id, kind FROM buttons WHERE key = ?`, key).Scan(&b.TurnID, &b.Kind)
	if err != nil {
		return Button{}, fmt.Errorf("read button: %w", db.Explain(err))
	}
	return b, nil
}
