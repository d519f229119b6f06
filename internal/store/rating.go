package store

import (
	"context"
	"database/sql"
	"time"
)

// Feedback is what one person thinks of a source that a character used. In each server, and in direct messages, the newest verdict of a
// person about a domain counts.
type Feedback struct {
	Character string
	Domain    string // registrable
	Verdict   string // "outdated" or "wrong"
	By        string // the person's id
	GuildID   string // empty: a direct message; "?": unknown
	URL       string // of the page, or empty
	At        time.Time
}

// SaveFeedback saves a person's verdict and replaces an earlier one in the same server. It returns [ErrOptedOut] if nothing is kept about
// the person.
func (s *Ratings) SaveFeedback(ctx context.Context, f Feedback) error {
	return s.db.Change(ctx, "save feedback", func(tx *sql.Tx) error {
		if err := s.db.Privacy.Consenting(tx, f.By, f.At); err != nil {
			return err
		}
		_, err := tx.Exec(`INSERT INTO feedback (character, domain, verdict, by_id, guild_id, url, at) VALUES (?, ?, ?, ?, ?, ?, ?)
			ON CONFLICT (character, guild_id, domain, by_id) DO UPDATE SET verdict = excluded.verdict, url = excluded.url, at = excluded.at`,
			f.Character, f.Domain, f.Verdict, f.By, f.GuildID, f.URL, f.At.UnixMicro())
		return err
	})
}

// ForgetFeedback deletes verdicts about a domain and returns their number. An empty guildID means all servers, and an empty by everybody.
func (s *Ratings) ForgetFeedback(ctx context.Context, character, domain, guildID, by string) (int, error) {
	return s.db.Exec(ctx, "forget feedback", `DELETE FROM feedback WHERE character = ? AND domain = ? AND (? = '' OR guild_id = ?) AND (? = '' OR by_id = ?)`,
		character, domain, guildID, guildID, by, by)
}

// Feedback returns the verdicts about the sources of a character, by domain and time.
func (s *Ratings) Feedback(ctx context.Context, character string) ([]Feedback, error) {
	return s.feedback(ctx, `WHERE character = ? ORDER BY domain, at, by_id`, character)
}

// FeedbackIn returns the verdicts that count in a server. If guildID is empty, they are those that count in the direct messages of a
// person.
func (s *Ratings) FeedbackIn(ctx context.Context, character, guildID, personID string) ([]Feedback, error) {
	return s.feedback(ctx, `WHERE character = ? AND guild_id = ? AND (guild_id <> '' OR by_id = ?) ORDER BY domain, at, by_id`, character, guildID, personID)
}

// AllFeedback returns the verdicts for all characters, by character, domain and time.
func (s *Ratings) AllFeedback(ctx context.Context) ([]Feedback, error) {
	return s.feedback(ctx, `ORDER BY character, domain, at, by_id`)
}

func (s *Ratings) feedback(ctx context.Context, where string, args ...any) ([]Feedback, error) {
	return List(ctx, s.db, "read feedback", func(row Scanner) (f Feedback, err error) {
		err = row.Scan(&f.Character, &f.Domain, &f.Verdict, &f.By, &f.GuildID, &f.URL, micros{&f.At})
		return f, err
	}, `SELECT character, domain, verdict, by_id, guild_id, url, at FROM feedback `+where, args...)
}

// Opinion is what one person thinks of a reply. It is kept as long as the record of the turn.
type Opinion struct {
	TurnID  string
	By      string // the person's id
	GuildID string // empty in a direct message
	Verdict string // "good" or "bad"
	At      time.Time
}

// SaveOpinion saves an opinion, unless nothing is kept about the person. Without a record of the turn it saves nothing and returns no
// error.
func (s *Ratings) SaveOpinion(ctx context.Context, o Opinion) error {
	return s.db.Change(ctx, "save opinion", func(tx *sql.Tx) error {
		if standing, err := s.db.Privacy.StandingIn(tx, o.By); err != nil || !standing.Keeps(o.At) {
			return err
		}
		_, err := tx.Exec(`INSERT INTO opinions (turn_id, by_id, guild_id, verdict, at)
			SELECT id, ?, ?, ?, ? FROM traces WHERE id = ? ON CONFLICT DO NOTHING`, o.By, o.GuildID, o.Verdict, o.At.UnixMicro(), o.TurnID)
		return err
	})
}

// DropOpinion deletes a person's opinion of a reply.
func (s *Ratings) DropOpinion(ctx context.Context, turnID, by, verdict string) error {
	_, err := s.db.Exec(ctx, "delete opinion", `DELETE FROM opinions WHERE turn_id = ? AND by_id = ? AND verdict = ?`, turnID, by, verdict)
	return err
}

// Opinions returns the opinions of some turns, or of all turns if none is named, newest last.
func (s *Ratings) Opinions(ctx context.Context, turnIDs ...string) ([]Opinion, error) {
	if len(turnIDs) == 0 {
		return s.opinions(ctx, `ORDER BY at, by_id`)
	}
	return s.opinions(ctx, `WHERE turn_id `+AmongThese+` ORDER BY at, by_id`, Listed(turnIDs))
}

// LatestOpinions returns the last n opinions, newest first.
func (s *Ratings) LatestOpinions(ctx context.Context, n int) ([]Opinion, error) {
	return s.opinions(ctx, `ORDER BY at DESC, by_id LIMIT 0 + ?`, n)
}

// OpinionsOf returns how many opinions of each verdict a person has.
func (s *Ratings) OpinionsOf(ctx context.Context, personID string) (map[string]int, error) {
	counts := map[string]int{}
	all, err := s.opinions(ctx, `WHERE by_id = ?`, personID)
	for _, o := range all {
		counts[o.Verdict]++
	}
	return counts, err
}

func (s *Ratings) opinions(ctx context.Context, where string, args ...any) ([]Opinion, error) {
	return List(ctx, s.db, "read opinions", func(row Scanner) (o Opinion, err error) {
		err = row.Scan(&o.TurnID, &o.By, &o.GuildID, &o.Verdict, micros{&o.At})
		return o, err
	}, `SELECT turn_id, by_id, guild_id, verdict, at FROM opinions `+where, args...)
}

// Add adds to the counts, by name, of kept and refused statements of models.
func (s *Tallies) Add(ctx context.Context, counts map[string]int) error {
	return s.db.Change(ctx, "count statements", func(tx *sql.Tx) error { return s.AddIn(tx, counts) })
}

// AddIn is Add in a transaction of [DB.Write].
func (s *Tallies) AddIn(tx *sql.Tx, counts map[string]int) error {
	for name, n := range counts {
		if _, err := tx.Exec(`INSERT INTO tallies (name, n) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET n = tallies.n + excluded.n`, name, n); err != nil {
			return err
		}
	}
	return nil
}

// All returns the counts by name.
func (s *Tallies) All(ctx context.Context) (map[string]int, error) {
	rows, err := s.db.readers.QueryContext(ctx, `SELECT name, n FROM tallies`)
	return Mapped[string, int](s.db, "read counts", rows, err)
}
