package store

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"strings"
)

// Button is what a button under a reply means. It means that as long as there is a record of the turn.
type Button struct {
	TurnID string // of the turn that wrote the reply
	Kind   string
}

// ButtonKey returns the key of a turn's button, always the same. It holds a keyed hash: whoever has not seen the button does not know it.
// There is no colon in it, nor more than 80 characters.
func (db *DB) ButtonKey(b Button) string {
	h := hmac.New(sha256.New, db.key)
	fmt.Fprintf(h, "button\x00%s\x00%s", b.TurnID, b.Kind)
	return b.TurnID + "." + strings.ReplaceAll(b.Kind, ":", "~") + "." + base64.RawURLEncoding.EncodeToString(h.Sum(nil)[:16])
}

// Button returns what the button with a key means, or [ErrNotFound].
func (db *DB) Button(ctx context.Context, key string) (b Button, err error) {
	if turnID, rest, ok := strings.Cut(key, "."); ok {
		kind, _, _ := strings.Cut(rest, ".")
		b = Button{turnID, strings.ReplaceAll(kind, "~", ":")}
		if !hmac.Equal([]byte(db.ButtonKey(b)), []byte(key)) {
			return Button{}, fmt.Errorf("read button: %w", ErrNotFound)
		}
		err = db.readers.QueryRowContext(ctx, `SELECT id FROM traces WHERE id = ?`, turnID).Scan(&b.TurnID)
	} else { // one of before, when they were kept
		err = db.readers.QueryRowContext(ctx, `SELECT turn_id, kind FROM buttons WHERE key = ?`, key).Scan(&b.TurnID, &b.Kind)
	}
	if err != nil {
		return Button{}, fmt.Errorf("read button: %w", db.Explain(err))
	}
	return b, nil
}
