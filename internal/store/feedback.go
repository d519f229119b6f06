package store

import (
	"context"
	"database/sql"
	"fmt"
	"time"
)

// Feedback is what one person said of a source that a character used. The newest word of a person about a domain is
// the one that counts in a server, or in direct messages.
type Feedback struct {
	Character string
	Domain    string // registrable
	Verdict   string // "outdated" or "wrong"
	By        string // the person's id
	GuildID   string // where it was said; empty: in a direct message, "?": before servers were kept
	URL       string // the page it was about, or empty
	At        time.Time
}

// SetFeedback saves a person's word about a domain in place of an earlier one in the same server. [ErrOptedOut] comes if nothing is kept
// of them.
func (db *DB) SetFeedback(ctx context.Context, f Feedback) error {
	err := db.Write(ctx, func(tx *sql.Tx) error {
		if err := db.consenting(tx, f.By, f.At); err != nil {
			return err
		}
		_, err := tx.Exec(`INSERT INTO feedback (character, domain, verdict, by_id, guild_id, url, at) VALUES (?, ?, ?, ?, ?, ?, ?)
			ON CONFLICT (character, guild_id, domain, by_id) DO UPDATE SET verdict = excluded.verdict, url = excluded.url, at = excluded.at`,
			f.Character, f.Domain, f.Verdict, f.By, f.GuildID, f.URL, f.At.UnixMicro())
		return err
	})
	if err != nil {
		return fmt.Errorf("save feedback: %w", err)
	}
	return nil
}

// ForgetFeedback forgets what was said of a domain, everywhere if guildID is empty and by everybody if by is, and returns
// how much that was.
func (db *DB) ForgetFeedback(ctx context.Context, character, domain, guildID, by string) (int, error) {
	return db.exec(ctx, "forget feedback", `DELETE FROM feedback WHERE character = ? AND domain = ? AND (? = '' OR guild_id = ?) AND (? = '' OR by_id = ?)`,
		character, domain, guildID, guildID, by, by)
}

// Feedback returns what was said of the sources of a character, by domain and then by time.
func (db *DB) Feedback(ctx context.Context, character string) ([]Feedback, error) {
	return db.feedback(ctx, `WHERE character = ? ORDER BY domain, at, by_id`, character)
}

// FeedbackIn returns what of that counts in a server or, where guildID is empty, in the direct messages of a person.
func (db *DB) FeedbackIn(ctx context.Context, character, guildID, personID string) ([]Feedback, error) {
	return db.feedback(ctx, `WHERE character = ? AND guild_id = ? AND (guild_id <> '' OR by_id = ?) ORDER BY domain, at, by_id`, character, guildID, personID)
}

// AllFeedback returns what was said of the sources of all characters, by character, domain and then by time.
func (db *DB) AllFeedback(ctx context.Context) ([]Feedback, error) {
	return db.feedback(ctx, `ORDER BY character, domain, at, by_id`)
}

func (db *DB) feedback(ctx context.Context, where string, args ...any) ([]Feedback, error) {
	rows, err := db.readers.QueryContext(ctx, `SELECT character, domain, verdict, by_id, guild_id, url, at FROM feedback `+where, args...)
	return collect(db, "read feedback", rows, err, func(row scanner) (f Feedback, err error) {
		var at int64
		err = row.Scan(&f.Character, &f.Domain, &f.Verdict, &f.By, &f.GuildID, &f.URL, &at)
		f.At = time.UnixMicro(at).UTC()
		return f, err
	})
}
