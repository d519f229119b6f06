package memory

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"familiar/internal/store"
)

// List says which of the readable statements are listed. The zero value lists all.
type List struct {
	Kinds   []Kind // none: all
	Subject string // a person's id or a topic; empty: any
	By      string // the person who asked for it; empty: anybody
	Mine    string // id of the person who is the subject, wrote it or asked for it; empty: anybody
	Limit   int    // 0: all
}

// About returns the readable statements about people and topics, of some kinds or of all. Pinned ones are first, then the newest.
func (s *Store) About(ctx context.Context, w ScopeFilter, subjects []string, kinds ...Kind) ([]Statement, error) {
	if len(subjects) == 0 {
		return nil, nil
	}
	args := append(w.args(), store.Listed(subjects), len(kinds) == 0, store.Listed(kinds))
	return store.ListOften(ctx, s.DB, "read memories of a subject", scanStatement, `SELECT `+statementColumns+` FROM memories m WHERE NOT m.superseded AND `+scoped+`
		AND m.subject `+store.AmongThese+` AND (? OR m.kind `+store.AmongThese+`)`+latestFirst, args...)
}

// latestFirst is the order of all reads but searches.
const latestFirst = ` ORDER BY m.pinned DESC, m.said_at DESC, m.id DESC`

// List returns readable statements. Pinned ones are first, then the newest.
func (s *Store) List(ctx context.Context, w ScopeFilter, l List) ([]Statement, error) {
	limit := l.Limit
	if limit <= 0 {
		limit = 1 << 30
	}
	args := append(w.args(), len(l.Kinds) == 0, store.Listed(l.Kinds), l.Subject, l.Subject, l.By, l.By, l.Mine, l.Mine, l.Mine, l.Mine, Person, limit)
	return store.List(ctx, s.DB, "list memories", scanStatement, `SELECT `+statementColumns+` FROM memories m WHERE NOT m.superseded AND `+scoped+`
		AND (? OR m.kind `+store.AmongThese+`) AND (? = '' OR m.subject = ?) AND (? = '' OR m.by_id = ?)
		AND (? = '' OR m.by_id = ? OR m.author_id = ? OR m.subject = ? AND m.kind = ?)`+latestFirst+` LIMIT 0 + ?`, args...)
}

// Search returns readable statements with words of a text, best first: more words, and rarer ones, are better. It finds words as
// [store.Messages.Search] does.
func (s *Store) Search(ctx context.Context, w ScopeFilter, text string, limit int) ([]Statement, error) {
	query := store.AnyWord(text)
	if query == "" {
		return nil, nil
	}
	args := append(append([]any{query}, w.args()...), max(1, limit))
	return store.ListOften(ctx, s.DB, "search memories", scanStatement, `SELECT `+statementColumns+` FROM (`+memoriesWith+`) f JOIN memories m ON m.id = f.id
		WHERE NOT m.superseded AND `+scoped+` ORDER BY f.score, m.said_at DESC, m.id DESC LIMIT 0 + ?`, args...)
}

// mostCompared is how many statements one search compares.
const mostCompared = 5_000

// Nearest returns the readable statements that are apart as the nearest in meaning, nearest first, without history.
func (s *Store) Nearest(ctx context.Context, w ScopeFilter, model string, to Vector, limit int) (all []Statement, err error) {
	if len(to) == 0 {
		return nil, nil
	}
	rows, err := s.DB.Read().QueryContext(ctx, `SELECT m.id, v.vector FROM memories m JOIN memory_vectors v ON v.memory_id = m.id
		WHERE NOT m.superseded AND `+scoped+` AND v.model = ? AND length(v.vector) = ? ORDER BY m.said_at DESC LIMIT 0 + ?`,
		append(w.args(), model, len(to), mostCompared)...)
	type statement struct {
		id     int64
		vector Vector
	}
	found, err := store.Collect(s.DB, "compare memories", rows, err, func(row store.Scanner) (found statement, err error) {
		err = row.Scan(&found.id, &found.vector)
		return found, err
	})
	if err != nil {
		return nil, err
	}
	best := Nearby{Limit: limit}
	for _, one := range found {
		best.Add(strconv.FormatInt(one.id, 10), to.Cosine(one.vector))
	}
	for _, n := range best.All {
		if n.Cosine <= best.Apart() {
			break
		}
		id, err := strconv.ParseInt(n.ID, 10, 64)
		if err != nil {
			return nil, err
		}
		m, err := s.Get(ctx, w, id)
		if errors.Is(err, store.ErrNotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		all = append(all, m)
	}
	return all, nil
}

// Get returns a readable statement, which may be history, or [store.ErrNotFound].
func (s *Store) Get(ctx context.Context, w ScopeFilter, id int64) (Statement, error) {
	m, err := scanStatement(s.DB.Read().QueryRowContext(ctx, `SELECT `+statementColumns+` FROM memories m WHERE m.id = ? AND `+scoped, append([]any{id}, w.args()...)...))
	if err != nil {
		return Statement{}, fmt.Errorf("read memory: %w", s.DB.Explain(err))
	}
	return m, nil
}

// History returns the statements that a statement replaced, newest first.
func (s *Store) History(ctx context.Context, w ScopeFilter, id int64) (all []Statement, err error) {
	m, err := s.Get(ctx, w, id)
	for err == nil && m.Supersedes != 0 {
		if m, err = s.Get(ctx, w, m.Supersedes); err == nil {
			all = append(all, m)
		}
	}
	return all, err
}

// FromMessage returns the readable statements with a message as a source, oldest first.
func (s *Store) FromMessage(ctx context.Context, w ScopeFilter, messageID string) ([]Statement, error) {
	args := append(w.args(), messageID)
	return store.List(ctx, s.DB, "read memories of a message", scanStatement, `SELECT `+statementColumns+` FROM memories m WHERE NOT m.superseded AND `+scoped+`
		AND m.id IN (SELECT memory_id FROM memory_sources WHERE message_id = ?) ORDER BY m.id`, args...)
}

// People returns the people with readable memories, newest memory first, with their server nicknames.
func (s *Store) People(ctx context.Context, w ScopeFilter, most int) ([]store.Person, error) {
	return store.List(ctx, s.DB, "read people with memories", func(row store.Scanner) (p store.Person, err error) {
		err = row.Scan(&p.ID, &p.Name)
		return p, err
	}, `SELECT m.subject, p.name FROM memories m JOIN people p ON p.guild_id = m.guild_id AND p.author_id = m.subject
		WHERE NOT m.superseded AND m.kind = 'person' AND `+scoped+` GROUP BY m.subject, p.name ORDER BY max(m.said_at) DESC LIMIT 0 + ?`, append(w.args(), most)...)
}

// Export returns all statements with their history, in the order in which they were learned. It is for the operator alone, never for a
// prompt or an answer.
func (s *Store) Export(ctx context.Context) ([]Statement, error) {
	all, err := store.List(ctx, s.DB, "export memories", scanStatement, `SELECT `+statementColumns+` FROM memories m ORDER BY m.id`)
	return slices.Clip(all), err
}

// Browse says which statements an operator looks at.
type Browse struct {
	ID      int64     // of one statement; 0: any
	Person  string    // about them, in their words or at their request; empty: any
	Scope   ScopeKind // empty: any
	ScopeID string    // empty: any
	Kind    Kind
	Text    string // part of the statement, or its subject
	Before  int64  // the last id of the previous page; 0: the first page
	Limit   int
}

// Browse returns statements, newest first. It returns history only by its id. It is for the operator alone, never for a prompt or an
// answer.
func (s *Store) Browse(ctx context.Context, b Browse) ([]Statement, error) {
	return store.List(ctx, s.DB, "browse memories", scanStatement, `SELECT `+statementColumns+` FROM memories m WHERE (? = m.id OR ? = 0 AND NOT m.superseded)
		AND (? = '' OR m.by_id = ? OR m.author_id = ? OR m.kind = 'person' AND m.subject = ?) AND (? = '' OR m.scope = ?) AND (? = '' OR m.scope_id = ?) AND (? = '' OR m.kind = ?) AND (? = 0 OR m.id < ?)
		AND (? = '' OR instr(lower(m.text), lower(?)) > 0 OR lower(m.subject) = lower(?)) ORDER BY m.id DESC LIMIT 0 + ?`,
		b.ID, b.ID, b.Person, b.Person, b.Person, b.Person, b.Scope, b.Scope, b.ScopeID, b.ScopeID, b.Kind, b.Kind, b.Before, b.Before, b.Text, b.Text, b.Text, max(1, b.Limit))
}

// ScopeCount is the number of statements in a scope.
type ScopeCount struct {
	Scope Scope
	N     int
}

// CountByScope returns the scopes with statements, the largest first. It is for the operator alone.
func (s *Store) CountByScope(ctx context.Context, most int) ([]ScopeCount, error) {
	return store.List(ctx, s.DB, "count memories", func(row store.Scanner) (p ScopeCount, err error) {
		err = row.Scan(&p.Scope.Kind, &p.Scope.ID, &p.Scope.GuildID, &p.N)
		return p, err
	}, `SELECT scope, scope_id, guild_id, count(*) FROM memories WHERE NOT superseded
		GROUP BY scope, scope_id, guild_id ORDER BY count(*) DESC, scope_id LIMIT 0 + ?`, most)
}

// SourcesOf returns the ids of a person's messages that memories rest on although the messages are not kept any more.
func (s *Store) SourcesOf(ctx context.Context, personID string) ([]string, error) {
	return store.List(ctx, s.DB, "read sources of memories", store.ScanValue[string], `SELECT DISTINCT message_id FROM memory_sources s WHERE author_id = ?
		AND substr(message_id, 1, length(?)) <> ? AND NOT EXISTS (SELECT 1 FROM messages WHERE id = s.message_id)`, personID, commandSource, commandSource)
}

// Watermark says how far the writer of memory has read in a channel.
type Watermark struct {
	ChannelID, GuildID string // GuildID is empty in direct messages
	At                 time.Time
	MessageID          string    // of the last message that was read, or empty
	Turns              int       // of the bot since then
	Active             time.Time // when the last of them was
	Failures           int       // in a row
	Retry              time.Time // no reading before this time
}

// lookBack is how long before the first turn in a channel reading begins.
const lookBack = time.Hour

// NoteTurnIn counts a turn of a channel, for the writer of memory, in a transaction of [store.DB.Write].
func (s *Store) NoteTurnIn(tx *sql.Tx, channelID, guildID string, at time.Time) error {
	_, err := tx.Exec(noteTurnQuery, channelID, guildID, at.Add(-lookBack).UnixMicro(), at.UnixMicro())
	return err
}

const noteTurnQuery = `INSERT INTO watermarks (channel_id, guild_id, at, message_id, turns, active) VALUES (?, ?, ?, '', 1, ?)
	ON CONFLICT (channel_id) DO UPDATE SET guild_id = excluded.guild_id, turns = watermarks.turns + 1, active = max(watermarks.active, excluded.active)`

// Watermarks returns the watermarks of the channels with new turns, the longest waiting first.
func (s *Store) Watermarks(ctx context.Context) ([]Watermark, error) {
	return store.List(ctx, s.DB, "read watermarks", scanWatermark, `SELECT `+watermarkColumns+` FROM watermarks WHERE turns > 0 ORDER BY active, channel_id`)
}

const watermarkColumns = `channel_id, guild_id, at, message_id, turns, active, failures, retry`

func scanWatermark(row store.Scanner) (w Watermark, err error) {
	err = row.Scan(&w.ChannelID, &w.GuildID, store.Micros(&w.At), &w.MessageID, &w.Turns, store.Micros(&w.Active), &w.Failures, store.Micros(&w.Retry))
	return w, err
}

// Unread returns the first n messages of a channel after a watermark, oldest first.
func (s *Store) Unread(ctx context.Context, w Watermark, n int) ([]store.Message, error) {
	return s.DB.Messages.After(ctx, w.ChannelID, w.At, w.MessageID, n)
}

// Lesson is a learned statement with its source, as the source was read.
type Lesson struct {
	Memory Statement
	Of     store.Message
}

// Learn saves what was learned from the messages of a channel. It moves the watermark to last, the last message that was read. more says
// that others follow. A statement is left out, and counted as refused, if its source changed meanwhile or the consent was withdrawn. If the
// watermark has moved, Learn changes nothing and returns [store.ErrChanged].
func (s *Store) Learn(ctx context.Context, w Watermark, last store.Message, more bool, all []Lesson, counts map[string]int) error {
	return s.DB.Change(ctx, "learn", func(tx *sql.Tx) error {
		now, err := scanWatermark(tx.QueryRow(`SELECT `+watermarkColumns+` FROM watermarks WHERE channel_id = ?`, w.ChannelID))
		if errors.Is(err, sql.ErrNoRows) || err == nil && (!now.At.Equal(w.At) || now.MessageID != w.MessageID) {
			err = store.ErrChanged
		}
		if err != nil {
			return err
		}
		outcome := map[string]int{}
		for name, n := range counts {
			outcome[name] = n
		}
		for _, l := range all {
			what, err := s.saveLesson(tx, l)
			if err != nil {
				return err
			}
			outcome[what]++
		}
		left := max(0, now.Turns-w.Turns)
		if more {
			left = max(left, 1)
		}
		if _, err := tx.Exec(`UPDATE watermarks SET at = ?, message_id = ?, turns = ?, failures = 0, retry = 0 WHERE channel_id = ?`,
			last.At.UnixMicro(), last.ID, left, w.ChannelID); err != nil {
			return err
		}
		return s.DB.Tallies.AddIn(tx, outcome)
	})
}

// saveLesson saves a statement, and returns the name under which the result is counted.
func (s *Store) saveLesson(tx *sql.Tx, l Lesson) (counted string, err error) {
	if err = s.DB.Messages.Unchanged(tx, []store.Message{l.Of}); err == nil {
		_, err = s.saveIn(tx, l.Memory)
	}
	if l.Memory.Supersedes != 0 && errors.Is(err, store.ErrNotFound) { // the statement that it should replace is gone
		l.Memory.Supersedes = 0
		_, err = s.saveIn(tx, l.Memory)
	}
	switch {
	case err == nil:
		return "memory kept: " + string(l.Memory.Kind), nil
	case errors.Is(err, store.ErrChanged), errors.Is(err, ErrNoSource):
		return "memory refused: changed", nil
	case errors.Is(err, ErrNoConsent):
		return "memory refused: consent", nil
	}
	return "", err
}

// PutOff notes that reading after a watermark failed, and when it may be tried again.
func (s *Store) PutOff(ctx context.Context, w Watermark, retry time.Time) error {
	_, err := s.DB.Exec(ctx, "put off reading", `UPDATE watermarks SET failures = failures + 1, retry = ? WHERE channel_id = ?`, retry.UnixMicro(), w.ChannelID)
	return err
}

// MarkRead notes that nothing follows a watermark.
func (s *Store) MarkRead(ctx context.Context, w Watermark) error {
	_, err := s.DB.Exec(ctx, "mark as read", `UPDATE watermarks SET turns = max(0, turns - ?) WHERE channel_id = ?`, w.Turns, w.ChannelID)
	return err
}
