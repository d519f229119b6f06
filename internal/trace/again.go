package trace

import (
	"context"
	"fmt"

	"familiar/internal/context/turn"
	"familiar/internal/store"
)

// ForgetAgain forgets whom another store, the one that was used until now, was asked to forget after this one, a copy of it, was made. It
// returns how many people those are.
func (s *Store) ForgetAgain(ctx context.Context, said store.Said) (n int, err error) {
	ids, err := s.DB.Persons(ctx)
	if err == nil {
		err = s.each(ctx, func(t *turn.Trace) error {
			ids = append(ids, t.Request.Message.Author.ID)
			return nil
		})
	}
	seen := map[string]bool{"": true}
	for _, id := range ids {
		if err != nil || seen[id] {
			continue
		}
		seen[id] = true
		var now store.Standing
		if now, err = s.DB.Standing(ctx, id); err == nil && said.Of(id).Forgotten.After(now.Forgotten) {
			n++
			_, err = s.Erase(ctx, id, true, said.Of(id).Forgotten)
		}
	}
	if err == nil { // after it: what is adopted would be known already
		err = s.DB.Adopt(ctx, said)
	}
	if err != nil {
		return n, fmt.Errorf("forget again: %w", err)
	}
	return n, nil
}
