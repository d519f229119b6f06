package trace

import (
	"context"
	"crypto/hmac"
	"encoding/base64"
	"fmt"
	"strings"

	"familiar/internal/store"
)

// Button is the meaning of a button under a reply. It is valid as long as there is a record of the turn.
type Button struct {
	TurnID string // the turn that wrote the reply
	Kind   string
}

// ButtonKey returns the key of a button, which never changes. It contains a keyed hash, so nobody can guess it. It has no colon and at most 80
// characters.
func (s *Store) ButtonKey(b Button) string {
	mac := s.DB.MAC("button\x00" + b.TurnID + "\x00" + b.Kind)
	return b.TurnID + "." + strings.ReplaceAll(b.Kind, ":", "~") + "." + base64.RawURLEncoding.EncodeToString(mac)
}

// Button returns the meaning of the button with a key, or [store.ErrNotFound].
func (s *Store) Button(ctx context.Context, key string) (b Button, err error) {
	if turnID, rest, ok := strings.Cut(key, "."); ok {
		kind, _, _ := strings.Cut(rest, ".")
		b = Button{turnID, strings.ReplaceAll(kind, "~", ":")}
		if !hmac.Equal([]byte(s.ButtonKey(b)), []byte(key)) {
			return Button{}, fmt.Errorf("read button: %w", store.ErrNotFound)
		}
		err = s.DB.Read().QueryRowContext(ctx, `SELECT id FROM traces WHERE id = ?`, turnID).Scan(&b.TurnID)
	} else { // an old button, when they were kept
		err = s.DB.Read().QueryRowContext(ctx, `SELECT turn_id, kind FROM buttons WHERE key = ?`, key).Scan(&b.TurnID, &b.Kind)
	}
	if err != nil {
		return Button{}, fmt.Errorf("read button: %w", s.DB.Explain(err))
	}
	return b, nil
}
