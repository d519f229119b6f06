package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// MemoryKind says what a statement is about.
type MemoryKind string

// The kinds of memory.
const (
	MemorySession MemoryKind = "session" // what happened in a stretch of a conversation
	MemoryTopic   MemoryKind = "topic"   // what is known of a topic
	MemoryPerson  MemoryKind = "person"  // what is known of a person
	MemoryNote    MemoryKind = "note"    // whatever somebody asked to be remembered
)

// MemoryKinds are all of them.
func MemoryKinds() []MemoryKind {
	return []MemoryKind{MemoryPerson, MemoryNote, MemoryTopic, MemorySession}
}

// Memory is one thing that the bot learned, whichever of its characters was told.
type Memory struct {
	ID         int64
	Kind       MemoryKind
	Scope      Scope
	Subject    string    // the person's id, the topic's name, empty else
	Text       string    // one statement, or a session's summary
	Sources    []string  // the messages it rests on, or [CommandSource]; never empty but for what an operator imported
	TraceID    string    // the turn in which it was learned, or empty
	By         string    // id of who asked that it be remembered; empty where the bot learned it by itself
	SaidAt     time.Time // to the microsecond; read back in UTC
	LearnedAt  time.Time // the same
	Supersedes int64     // the statement that it replaced, which stays as history, or 0
	Superseded bool      // it is history
	Pinned     bool
}

const (
	// MaxMemoryText is how many bytes a statement may have.
	MaxMemoryText = 16 << 10
	// MostRemembered is how many statements one person may have remembered.
	MostRemembered = 500

	commandSource = "command:"
)

// Why something is not remembered.
var (
	// ErrNoSource says that nothing is left of what a statement rests on, or that it was never said in its scope.
	ErrNoSource = errors.New("no message of that place says so")
	// ErrNoConsent says that a person has not agreed that the bot learns about them by itself.
	ErrNoConsent = errors.New("the person has not agreed")
)

// CommandSource is the source of a statement that came with a command, which is no message.
func CommandSource(id string) string { return commandSource + id }

// Remember keeps a statement and returns its id. What is known already, of the same person, gets the new sources. Supersedes names the
// statement that this one replaces, which must be of the same scope, or [ErrNotFound] comes; what is history already is replaced by way of
// the statement that replaced it. Sources that are no messages of the scope any more are left out; without any comes [ErrNoSource]. What
// the bot learned by itself of a person needs their consent, or [ErrNoConsent] comes. [ErrTooMany] comes for the 501st of a person, and
// [ErrOptedOut] for what is about or by somebody of whom nothing is kept.
func (db *DB) Remember(ctx context.Context, m Memory) (id int64, err error) {
	err = db.Write(ctx, func(tx *sql.Tx) (err error) {
		id, err = db.RememberIn(tx, m)
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("remember: %w", err)
	}
	return id, nil
}

// CorrectMemory is Remember of a statement that supersedes another, by somebody. That it was not theirs goes on record.
func (db *DB) CorrectMemory(ctx context.Context, m Memory, by By) (id int64, err error) {
	err = db.Write(ctx, func(tx *sql.Tx) error {
		old, err := latestOf(tx, m.Supersedes)
		if err == nil {
			id, err = db.RememberIn(tx, m)
		}
		if err == nil {
			err = db.recordMemory(tx, old, Change{By: by, Kind: ChangeMemory, From: old.number(), To: strconv.FormatInt(id, 10)})
		}
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("correct memory: %w", err)
	}
	return id, nil
}

// RememberIn is Remember in a transaction of the caller's, whose other writes hold if and only if this one does.
func (db *DB) RememberIn(tx *sql.Tx, m Memory) (int64, error) {
	m.Text = strings.TrimSpace(m.Text)
	if err := m.Check(); err != nil {
		return 0, err
	}
	for _, person := range m.people() {
		if err := db.consenting(tx, person, m.SaidAt); err != nil {
			return 0, err
		}
	}
	if err := permitted(tx, &m); err != nil {
		return 0, err
	}
	if m.Supersedes != 0 {
		latest, err := latestOf(tx, m.Supersedes)
		if err == nil && (latest.Scope != m.Scope || latest.Kind == MemoryPerson && latest.Subject != m.Subject) {
			err = ErrNotFound
		}
		if err != nil {
			return 0, err
		}
		m.Supersedes, m.Pinned = latest.ID, m.Pinned || latest.Pinned
	}
	same, err := sameAs(tx, m)
	switch {
	case err != nil:
		return 0, err
	case same.ID != 0:
		return same.ID, db.confirm(tx, same, m)
	}
	if err := few(tx, m); err != nil {
		return 0, err
	}
	return db.insertMemory(tx, m)
}

// people are those whom a statement is about or who asked for it.
func (m Memory) people() (all []string) {
	if m.By != "" {
		all = append(all, m.By)
	}
	if m.Kind == MemoryPerson && m.Subject != m.By {
		all = append(all, m.Subject)
	}
	return all
}

// Check returns an error for what is no memory at all: without a scope, a kind or a text, or too long.
func (m Memory) Check() error {
	if err := m.Scope.check(); err != nil {
		return err
	}
	switch {
	case !slices.Contains(MemoryKinds(), m.Kind):
		return fmt.Errorf("kind of memory %q: there is none", m.Kind)
	case m.Text == "":
		return errors.New("memory without a text")
	case len(m.Text) > MaxMemoryText:
		return fmt.Errorf("memory of %d bytes: there may be %d", len(m.Text), MaxMemoryText)
	case m.Kind == MemoryPerson && m.Subject == "":
		return errors.New("memory of a person without their id")
	}
	return nil
}

// permitted leaves in m the sources that are there, and looks for consent where that is needed. Both are looked at in the transaction that
// writes: what was deleted or withdrawn a moment ago is not remembered.
func permitted(tx *sql.Tx, m *Memory) error {
	var there []string
	for _, id := range m.Sources {
		ok := strings.HasPrefix(id, commandSource)
		if !ok {
			var channelID, guildID string
			err := tx.QueryRow(`SELECT channel_id, guild_id FROM messages WHERE id = ?`, id).Scan(&channelID, &guildID)
			if err != nil && !errors.Is(err, sql.ErrNoRows) {
				return err
			}
			ok = err == nil && m.Scope.holds(channelID, guildID)
		}
		if ok && !slices.Contains(there, id) {
			there = append(there, id)
		}
	}
	if m.Sources = there; len(there) == 0 {
		return ErrNoSource
	}
	if m.Kind != MemoryPerson || m.By != "" {
		return nil
	}
	agreed, err := agrees(tx, m.Subject)
	if err == nil && !agreed {
		err = ErrNoConsent
	}
	return err
}

// agrees is Consent within a transaction.
func agrees(tx *sql.Tx, personID string) (agreed bool, err error) {
	err = tx.QueryRow(`SELECT EXISTS (SELECT 1 FROM consents WHERE user_id = ?)`, personID).Scan(&agreed)
	return agreed, err
}

// holds reports whether what was said in a channel may be a statement of the scope. What holds in a whole server or everywhere nobody says
// in passing: a command does.
func (s Scope) holds(channelID, guildID string) bool {
	return (s.Kind == ScopeDM || s.Kind == ScopeChannel) && channelID == s.ID && guildID == s.GuildID
}

// latestOf returns the statement, or the one that replaced it.
func latestOf(tx *sql.Tx, id int64) (Memory, error) {
	m, err := memoryIn(tx, id)
	for err == nil && m.Superseded {
		m, err = scanMemory(tx.QueryRow(selectMemory+`WHERE m.supersedes = ?`, m.ID))
	}
	if errors.Is(err, sql.ErrNoRows) {
		err = ErrNotFound
	}
	return m, err
}

// sameAs returns the statement that says the same already, or none: of the same person, or where one of the two was asked for by nobody.
func sameAs(tx *sql.Tx, m Memory) (Memory, error) {
	same, err := scanMemory(tx.QueryRow(selectMemory+`WHERE m.scope = ? AND m.scope_id = ? AND m.kind = ? AND m.subject = ? AND m.folded = ?
		AND NOT m.superseded AND (? = '' OR m.by_id IN (?, '')) ORDER BY m.by_id = ? DESC LIMIT 1`,
		m.Scope.Kind, m.Scope.ID, m.Kind, m.Subject, folded(m.Text), m.By, m.By, m.By))
	if errors.Is(err, sql.ErrNoRows) {
		return Memory{}, nil
	}
	return same, err
}

// confirm adds to a statement what m, which says the same, has beyond it.
func (db *DB) confirm(tx *sql.Tx, same, m Memory) error {
	by, said := same.By, same.SaidAt
	if by == "" {
		by = m.By
	}
	if m.SaidAt.After(said) {
		said = m.SaidAt
	}
	if _, err := tx.Exec(`UPDATE memories SET by_id = ?, said_at = ?, pinned = ? WHERE id = ?`, by, said.UnixMicro(), same.Pinned || m.Pinned, same.ID); err != nil {
		return err
	}
	if err := addSources(tx, same.ID, m); err != nil {
		return err
	}
	if m.Supersedes == 0 || m.Supersedes == same.ID {
		return nil
	}
	if same.Supersedes == 0 {
		return db.supersede(tx, m.Supersedes, same.ID)
	}
	return db.dropMemory(tx, m.Supersedes) // it has a history of its own already
}

// few returns ErrTooMany where a person has as many statements remembered as one may. One that replaces another is none more.
func few(tx *sql.Tx, m Memory) error {
	if m.By == "" || m.Supersedes != 0 {
		return nil
	}
	var n int
	err := tx.QueryRow(`SELECT count(*) FROM memories WHERE by_id = ? AND NOT superseded`, m.By).Scan(&n)
	if err == nil && n >= MostRemembered {
		err = ErrTooMany
	}
	return err
}

// insertMemory writes a statement that is new, under its id if it has one.
func (db *DB) insertMemory(tx *sql.Tx, m Memory) (int64, error) {
	var id any
	if m.ID != 0 {
		id = m.ID
	}
	if m.Supersedes != 0 && !m.Superseded {
		if err := db.supersede(tx, m.Supersedes, 0); err != nil {
			return 0, err
		}
	}
	db.remembering.add(m.Scope.GuildID)
	err := tx.QueryRow(`INSERT INTO memories (id, kind, scope, scope_id, guild_id, subject, text, folded, trace_id, by_id, said_at, learned_at, supersedes, superseded, pinned)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id`, id, m.Kind, m.Scope.Kind, m.Scope.ID, m.Scope.GuildID, m.Subject, m.Text, folded(m.Text),
		m.TraceID, m.By, m.SaidAt.UnixMicro(), m.LearnedAt.UnixMicro(), m.Supersedes, m.Superseded, m.Pinned).Scan(&m.ID)
	if err != nil {
		return 0, err
	}
	if !m.Superseded {
		if _, err := tx.Exec(indexMemory, m.ID, m.indexed()); err != nil {
			return 0, err
		}
	}
	return m.ID, addSources(tx, m.ID, m)
}

// supersede makes a statement history, of the one with the id by if that is there already.
func (db *DB) supersede(tx *sql.Tx, id, by int64) error {
	old, err := memoryIn(tx, id)
	if err == nil && !old.Superseded {
		_, err = tx.Exec(unindexMemory, old.ID, old.indexed())
	}
	if err == nil {
		_, err = tx.Exec(`UPDATE memories SET superseded = TRUE, pinned = FALSE WHERE id = ?`, id)
	}
	if err == nil && by != 0 {
		_, err = tx.Exec(`UPDATE memories SET supersedes = ? WHERE id = ?`, id, by)
	}
	return err
}

// addSources adds those of m to a statement, with their authors.
func addSources(tx *sql.Tx, id int64, m Memory) error {
	for _, source := range m.Sources {
		by := ""
		if strings.HasPrefix(source, commandSource) {
			by = m.By
		}
		_, err := tx.Exec(`INSERT INTO memory_sources (memory_id, message_id, author_id) VALUES (?, ?, coalesce((SELECT author_id FROM messages WHERE id = ?), ?))
			ON CONFLICT DO NOTHING`, id, source, source, by)
		if err != nil {
			return err
		}
	}
	return nil
}

// indexed are the words that a statement is found by.
func (m Memory) indexed() string {
	if m.Kind == MemoryTopic {
		return words(m.Subject + " " + m.Text)
	}
	return words(m.Text)
}

// folded is a text as it is compared with others: what differs in case, spaces or the last full stop says the same.
func folded(s string) string {
	return strings.TrimRight(strings.ToLower(strings.Join(strings.Fields(s), " ")), " .!。！")
}

const (
	memoryColumns = `m.id, m.kind, m.scope, m.scope_id, m.guild_id, m.subject, m.text, m.trace_id, m.by_id, m.said_at, m.learned_at, m.supersedes, m.superseded, m.pinned,
	(SELECT string_agg(s.message_id, ' ') FROM memory_sources s WHERE s.memory_id = m.id)`
	// selectMemory is for transactions, which change what they read; who reads has a Within.
	selectMemory = `SELECT ` + memoryColumns + ` FROM memories m `
)

// memoryIn returns a statement within a transaction, or [ErrNotFound].
func memoryIn(tx *sql.Tx, id int64) (Memory, error) {
	m, err := scanMemory(tx.QueryRow(selectMemory+`WHERE m.id = ?`, id))
	if errors.Is(err, sql.ErrNoRows) {
		err = ErrNotFound
	}
	return m, err
}

func scanMemory(row scanner) (m Memory, err error) {
	var said, learned int64
	var sources sql.NullString
	err = row.Scan(&m.ID, &m.Kind, &m.Scope.Kind, &m.Scope.ID, &m.Scope.GuildID, &m.Subject, &m.Text, &m.TraceID, &m.By, &said, &learned,
		&m.Supersedes, &m.Superseded, &m.Pinned, &sources)
	m.SaidAt, m.LearnedAt = time.UnixMicro(said).UTC(), time.UnixMicro(learned).UTC()
	if sources.Valid {
		m.Sources = strings.Fields(sources.String)
		slices.Sort(m.Sources)
	}
	return m, err
}
