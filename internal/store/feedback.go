package store

import (
	"context"
	"database/sql"
	"fmt"
	"time"
)

// Feedback is what one person said of a source that a character used. The newest word of a person about a domain is
// the one that counts.
type Feedback struct {
	Character string
	Domain    string // registrable
	Verdict   string // "outdated" or "wrong"
	By        string // the person's id
	GuildID   string // where it was said; empty: in a direct message, "?": before servers were kept
	URL       string // the page it was about, or empty
	At        time.Time
}

// SetFeedback saves a person's word about a domain in place of an earlier one.
func (db *DB) SetFeedback(ctx context.Context, f Feedback) error {
	err := db.Write(ctx, func(tx *sql.Tx) error {
		_, err := tx.Exec(`INSERT INTO feedback (character, domain, verdict, by_id, guild_id, url, at) VALUES (?, ?, ?, ?, ?, ?, ?)
			ON CONFLICT (character, domain, by_id) DO UPDATE SET verdict = excluded.verdict, guild_id = excluded.guild_id, url = excluded.url, at = excluded.at`,
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
	var n int64
	err := db.Write(ctx, func(tx *sql.Tx) error {
		r, err := tx.Exec(`DELETE FROM feedback WHERE character = ? AND domain = ? AND (? = '' OR guild_id = ?) AND (? = '' OR by_id = ?)`,
			character, domain, guildID, guildID, by, by)
		if err == nil {
			n, err = r.RowsAffected()
		}
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("forget feedback: %w", err)
	}
	return int(n), nil
}

// Feedback returns what was said of the sources of a character, by domain and then by time.
func (db *DB) Feedback(ctx context.Context, character string) ([]Feedback, error) {
	rows, err := db.readers.QueryContext(ctx, `SELECT character, domain, verdict, by_id, guild_id, url, at FROM feedback
		WHERE character = ? ORDER BY domain, at, by_id`, character)
	if err != nil {
		return nil, fmt.Errorf("read feedback: %w", db.Explain(err))
	}
	defer rows.Close()
	var all []Feedback
	for rows.Next() {
		var f Feedback
		var at int64
		if err := rows.Scan(&f.Character, &f.Domain, &f.Verdict, &f.By, &f.GuildID, &f.URL, &at); err != nil {
			return nil, fmt.Errorf("read feedback: %w", db.Explain(err))
		}
		f.At = time.UnixMicro(at).UTC()
		all = append(all, f)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("read feedback: %w", db.Explain(err))
	}
	return all, nil
}
