package store

import (
	"context"
	"database/sql"
	"fmt"
	"time"
)

// Opinion is what one person thinks of a reply. It is kept as long as the record of the turn.
type Opinion struct {
	TurnID  string
	By      string // the person's id
	GuildID string // empty in a direct message
	Verdict string // "good" or "bad"
	At      time.Time
}

// SetOpinion keeps a person's opinion, if anything is kept of them. That there is no record of the turn is no error: then it is not kept.
func (db *DB) SetOpinion(ctx context.Context, o Opinion) error {
	err := db.Write(ctx, func(tx *sql.Tx) error {
		if s, err := db.StandingIn(tx, o.By); err != nil || !s.Keeps(o.At) {
			return err
		}
		_, err := tx.Exec(`INSERT INTO opinions (turn_id, by_id, guild_id, verdict, at)
			SELECT id, ?, ?, ?, ? FROM traces WHERE id = ? ON CONFLICT DO NOTHING`, o.By, o.GuildID, o.Verdict, o.At.UnixMicro(), o.TurnID)
		return err
	})
	if err != nil {
		return fmt.Errorf("keep an opinion: %w", err)
	}
	return nil
}

// DropOpinion forgets a person's opinion of a reply.
func (db *DB) DropOpinion(ctx context.Context, turnID, by, verdict string) error {
	_, err := db.exec(ctx, "drop an opinion", `DELETE FROM opinions WHERE turn_id = ? AND by_id = ? AND verdict = ?`, turnID, by, verdict)
	return err
}

// Opinions returns what people think of replies, or of one where turnID is not empty, the newest last.
func (db *DB) Opinions(ctx context.Context, turnID string) ([]Opinion, error) {
	rows, err := db.readers.QueryContext(ctx, `SELECT turn_id, by_id, guild_id, verdict, at FROM opinions WHERE ? = '' OR turn_id = ? ORDER BY at, by_id`, turnID, turnID)
	return collect(db, "read opinions", rows, err, func(row scanner) (o Opinion, err error) {
		var at int64
		err = row.Scan(&o.TurnID, &o.By, &o.GuildID, &o.Verdict, &at)
		o.At = time.UnixMicro(at).UTC()
		return o, err
	})
}

// PostedBy returns the turn that posted a message and is not over, or [ErrNotFound].
func (db *DB) PostedBy(ctx context.Context, messageID string) (turnID string, err error) {
	err = db.readers.QueryRowContext(ctx, `SELECT turn_id FROM posts WHERE message_id = ?`, messageID).Scan(&turnID)
	return turnID, db.Explain(err)
}
