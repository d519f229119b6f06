package memory

import (
	"context"
	"database/sql"
	"fmt"

	"familiar/internal/store"
)

// Consent reports whether a person has agreed that the bot learns about them by itself.
func (s *Store) Consent(ctx context.Context, userID string) (agreed bool, err error) {
	err = s.DB.Read().QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM consents WHERE user_id = ?)`, userID).Scan(&agreed)
	if err != nil {
		return false, fmt.Errorf("read consent: %w", s.DB.Explain(err))
	}
	return agreed, nil
}

// SetConsent saves whether a person agrees. If they no longer agree, it deletes everything that the bot learned about them by itself. It
// returns how many statements it deleted.
func (s *Store) SetConsent(ctx context.Context, who store.By, agrees bool) (deleted int, err error) {
	err = s.DB.Write(ctx, func(tx *sql.Tx) (err error) {
		deleted = 0
		var agreed bool
		err = tx.QueryRow(`SELECT EXISTS (SELECT 1 FROM consents WHERE user_id = ?)`, who.ID).Scan(&agreed)
		if err == nil {
			err = s.DB.Changes.RecordIn(tx, store.Change{By: who, Kind: store.ChangeLearning, From: store.OnOff(agreed), To: store.OnOff(agrees)})
		}
		if err != nil {
			return err
		}
		if agrees {
			if err := s.DB.Privacy.Consenting(tx, who.ID, who.At); err != nil {
				return err
			}
			_, err = tx.Exec(`INSERT INTO consents (user_id, at) VALUES (?, ?) ON CONFLICT DO NOTHING`, who.ID, who.At.UnixMicro())
			return err
		}
		if _, err = tx.Exec(`DELETE FROM consents WHERE user_id = ?`, who.ID); err == nil {
			deleted, err = s.dropWhere(tx, `kind = ? AND subject = ? AND by_id = ''`, Person, who.ID)
		}
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("keep consent: %w", err)
	}
	return deleted, nil
}

// agrees is [Store.Consent] in a transaction.
func agrees(tx *sql.Tx, personID string) (agreed bool, err error) {
	err = tx.QueryRow(`SELECT EXISTS (SELECT 1 FROM consents WHERE user_id = ?)`, personID).Scan(&agreed)
	return agreed, err
}
