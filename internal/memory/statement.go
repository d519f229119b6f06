package memory

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"

	"familiar/internal/memory/order"
	"familiar/internal/store"
	"familiar/internal/text"
)

// Kind says what a statement is about.
type Kind string

// The kinds of memory.
const (
	Session Kind = "session" // what happened in a part of a conversation
	Topic   Kind = "topic"   // what holds on
	Person  Kind = "person"  // about a person
	Note    Kind = "note"    // what somebody asked the bot to remember
)

// Kinds returns all kinds.
func Kinds() []Kind {
	return []Kind{Person, Note, Topic, Session}
}

// Statement is something that the bot remembers, for all of its characters.
type Statement struct {
	ID         int64
	Kind       Kind
	Scope      Scope
	Subject    string    // a person's id, the name of a topic in older statements, or empty
	Text       string    // a sentence in the words of its author
	Author     string    // id of the person whose words these are; empty: a model worded them, as long ago
	Sources    []string  // ids of messages, or a [CommandSource]; only imported statements may have none
	TraceID    string    // the turn in which it was learned, or empty
	By         string    // id of the person who asked for it; empty: the bot learned it by itself
	SaidAt     time.Time // to the microsecond, in UTC
	LearnedAt  time.Time // the same
	Supersedes int64     // the statement that it replaced, which is kept as history, or 0
	Superseded bool      // it is history
	Pinned     bool
}

const (
	// MaxText is the largest length of a statement in bytes.
	MaxText = 16 << 10
	// MostRemembered is the largest number of statements that one person may ask for.
	MostRemembered = 500

	commandSource = "command:"
)

// Why a statement is not kept.
var (
	// ErrNoSource says that a statement has no source left in its scope.
	ErrNoSource = errors.New("no message of that place says so")
	// ErrNoConsent says that a person has not agreed that the bot learns about them by itself.
	ErrNoConsent = errors.New("the person has not agreed")
)

// CommandSource returns the source of a statement that came with a command instead of a message.
func CommandSource(id string) string { return commandSource + id }

// Save keeps a statement and returns its id. If the same person said the same before, that statement gets the new sources. | Supersedes
// names the statement that this one replaces. It must be of the same scope, otherwise Save returns [store.ErrNotFound]. If it is history,
// its newest replacement is replaced. Sources that are not messages of the scope any more are left out; without any, Save returns
// [ErrNoSource]. | What the bot learned by itself about a person needs their consent, otherwise Save returns [ErrNoConsent]. It returns
// [store.ErrTooMany] for a person with [MostRemembered] statements. It returns [store.ErrOptedOut] if nothing is kept about the subject or
// the author.
func (s *Store) Save(ctx context.Context, m Statement) (id int64, err error) {
	err = s.DB.Write(ctx, func(tx *sql.Tx) (err error) {
		id, err = s.saveIn(tx, m)
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("remember: %w", err)
	}
	return id, nil
}

// Correct is Save of a statement that supersedes another. It records the change if by does not own the old statement.
func (s *Store) Correct(ctx context.Context, m Statement, by store.By) (id int64, err error) {
	err = s.DB.Write(ctx, func(tx *sql.Tx) error {
		old, err := latestOf(tx, m.Supersedes)
		if err == nil {
			id, err = s.saveIn(tx, m)
		}
		if err == nil {
			err = s.record(tx, old, store.Change{By: by, Kind: store.ChangeMemory, From: old.number(), To: strconv.FormatInt(id, 10)})
		}
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("correct memory: %w", err)
	}
	return id, nil
}

// saveIn is Save in a transaction of the caller.
func (s *Store) saveIn(tx *sql.Tx, m Statement) (int64, error) {
	m.Text = strings.TrimSpace(m.Text)
	if err := m.Check(); err != nil {
		return 0, err
	}
	for _, person := range m.people() {
		if err := s.DB.Privacy.Consenting(tx, person, m.SaidAt); err != nil {
			return 0, err
		}
	}
	if err := permitted(tx, &m); err != nil {
		return 0, err
	}
	if m.Supersedes != 0 {
		latest, err := latestOf(tx, m.Supersedes)
		if err == nil && (latest.Scope != m.Scope || latest.Kind == Person && latest.Subject != m.Subject) {
			err = store.ErrNotFound
		}
		if err != nil {
			return 0, err
		}
		m.Supersedes, m.Pinned = latest.ID, m.Pinned || latest.Pinned
	}
	same, err := sameAs(tx, m)
	if err == nil && m.Supersedes == 0 {
		m.Supersedes, err = s.outdated(tx, m)
	}
	switch {
	case err != nil:
		return 0, err
	case same.ID != 0:
		return same.ID, s.confirm(tx, same, m)
	}
	if err := few(tx, m); err != nil {
		return 0, err
	}
	return s.insert(tx, m)
}

// people returns the subject of a statement and the person who asked for it.
func (m Statement) people() (all []string) {
	if m.By != "" {
		all = append(all, m.By)
	}
	if m.Kind == Person && m.Subject != m.By {
		all = append(all, m.Subject)
	}
	return all
}

// Check returns an error for an invalid statement: without a scope, a kind or a text, or too long.
func (m Statement) Check() error {
	if err := m.Scope.check(); err != nil {
		return err
	}
	switch {
	case !slices.Contains(Kinds(), m.Kind):
		return fmt.Errorf("kind of memory %q: there is none", m.Kind)
	case m.Text == "":
		return errors.New("memory without a text")
	case len(m.Text) > MaxText:
		return fmt.Errorf("memory of %d bytes: there may be %d", len(m.Text), MaxText)
	case m.Kind == Person && m.Subject == "":
		return errors.New("memory of a person without their id")
	}
	return nil
}

// permitted keeps those sources of m that are there, and checks the consent. It runs in the transaction that writes, so that nothing is
// kept that was deleted or withdrawn a moment ago.
func permitted(tx *sql.Tx, m *Statement) error {
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
	if m.Kind != Person || m.By != "" {
		return nil
	}
	agreed, err := agrees(tx, m.Subject)
	if err == nil && !agreed {
		err = ErrNoConsent
	}
	return err
}

// holds reports whether a message of a channel can be a source in the scope. Statements for a whole server or for everywhere need a
// command.
func (s Scope) holds(channelID, guildID string) bool {
	return (s.Kind == ScopeDM || s.Kind == ScopeChannel) && channelID == s.ID && guildID == s.GuildID
}

// latestOf returns a statement, or its newest replacement.
func latestOf(tx *sql.Tx, id int64) (Statement, error) {
	m, err := statementIn(tx, id)
	for err == nil && m.Superseded {
		m, err = scanStatement(tx.QueryRow(selectStatement+`WHERE m.supersedes = ?`, m.ID))
	}
	if errors.Is(err, sql.ErrNoRows) {
		err = store.ErrNotFound
	}
	return m, err
}

// sameAs returns the statement that says the same, or none. Both must be of the same person, unless nobody asked for one of them.
func sameAs(tx *sql.Tx, m Statement) (Statement, error) {
	same, err := scanStatement(tx.QueryRow(selectStatement+`WHERE m.scope = ? AND m.scope_id = ? AND m.kind = ? AND m.subject = ? AND m.folded = ? AND m.author_id IN (?, '')
		AND NOT m.superseded AND (? = '' OR m.by_id IN (?, '')) ORDER BY m.by_id = ? DESC LIMIT 1`,
		m.Scope.Kind, m.Scope.ID, m.Kind, m.Subject, folded(m.Text), m.Author, m.By, m.By, m.By))
	if errors.Is(err, sql.ErrNoRows) {
		return Statement{}, nil
	}
	return same, err
}

// confirm adds to a statement what m, which says the same, has in addition.
func (s *Store) confirm(tx *sql.Tx, same, m Statement) error {
	by, said := same.By, same.SaidAt
	if by == "" {
		by = m.By
	}
	if m.SaidAt.After(said) {
		said = m.SaidAt
	}
	if _, err := tx.Exec(`UPDATE memories SET author_id = ?, by_id = ?, said_at = ?, pinned = ? WHERE id = ?`, cmp.Or(same.Author, m.Author), by, said.UnixMicro(), same.Pinned || m.Pinned, same.ID); err != nil {
		return err
	}
	if err := addSources(tx, same.ID, m); err != nil {
		return err
	}
	if m.Supersedes == 0 || m.Supersedes == same.ID {
		return nil
	}
	if same.Supersedes == 0 {
		return s.supersede(tx, m.Supersedes, same.ID)
	}
	return s.drop(tx, m.Supersedes) // same has a history of its own
}

// few returns ErrTooMany if a person has the largest number of statements. A replacement does not count.
func few(tx *sql.Tx, m Statement) error {
	if m.By == "" || m.Supersedes != 0 {
		return nil
	}
	var n int
	err := tx.QueryRow(`SELECT count(*) FROM memories WHERE by_id = ? AND NOT superseded`, m.By).Scan(&n)
	if err == nil && n >= MostRemembered {
		err = store.ErrTooMany
	}
	return err
}

// insert writes a new statement, under its id if it has one.
func (s *Store) insert(tx *sql.Tx, m Statement) (int64, error) {
	var id any
	if m.ID != 0 {
		id = m.ID
	}
	if m.Supersedes != 0 && !m.Superseded {
		if err := s.supersede(tx, m.Supersedes, 0); err != nil {
			return 0, err
		}
	}
	s.places.add(m.Scope.GuildID)
	err := tx.QueryRow(`INSERT INTO memories (id, kind, scope, scope_id, guild_id, subject, text, folded, author_id, trace_id, by_id, said_at, learned_at, supersedes, superseded, pinned)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id`, id, m.Kind, m.Scope.Kind, m.Scope.ID, m.Scope.GuildID, m.Subject, m.Text, folded(m.Text),
		m.Author, m.TraceID, m.By, m.SaidAt.UnixMicro(), m.LearnedAt.UnixMicro(), m.Supersedes, m.Superseded, m.Pinned).Scan(&m.ID)
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

// supersede turns a statement into history, of the statement by unless that is 0.
func (s *Store) supersede(tx *sql.Tx, id, by int64) error {
	old, err := statementIn(tx, id)
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

// addSources adds the sources of m to a statement, with their authors.
func addSources(tx *sql.Tx, id int64, m Statement) error {
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

// indexed returns the words under which a statement is found.
func (m Statement) indexed() string {
	if m.Kind == Topic {
		return text.IndexedWords(m.Subject + " " + m.Text)
	}
	return text.IndexedWords(m.Text)
}

// folded returns a text as it is compared with others: case, spaces and the last full stop do not count.
func folded(s string) string {
	return strings.TrimRight(strings.ToLower(strings.Join(strings.Fields(s), " ")), " .!。！")
}

const (
	statementColumns = `m.id, m.kind, m.scope, m.scope_id, m.guild_id, m.subject, m.text, m.author_id, m.trace_id, m.by_id, m.said_at, m.learned_at, m.supersedes, m.superseded, m.pinned,
	(SELECT string_agg(s.message_id, ' ') FROM memory_sources s WHERE s.memory_id = m.id)`
	// selectMemory is for transactions, which change what they read. Other reads have a ScopeFilter.
	selectStatement = `SELECT ` + statementColumns + ` FROM memories m `
)

// statementIn returns a statement in a transaction, or [store.ErrNotFound].
func statementIn(tx *sql.Tx, id int64) (Statement, error) {
	m, err := scanStatement(tx.QueryRow(selectStatement+`WHERE m.id = ?`, id))
	if errors.Is(err, sql.ErrNoRows) {
		err = store.ErrNotFound
	}
	return m, err
}

func scanStatement(row store.Scanner) (m Statement, err error) {
	var sources sql.NullString
	err = row.Scan(&m.ID, &m.Kind, &m.Scope.Kind, &m.Scope.ID, &m.Scope.GuildID, &m.Subject, &m.Text, &m.Author, &m.TraceID, &m.By, store.Micros(&m.SaidAt), store.Micros(&m.LearnedAt),
		&m.Supersedes, &m.Superseded, &m.Pinned, &sources)
	if sources.Valid {
		m.Sources = strings.Fields(sources.String)
		slices.Sort(m.Sources)
	}
	return m, err
}

// Statements of SQLite's full-text index (FTS5).
const (
	indexMemory   = `INSERT INTO memory_words (rowid, words) VALUES (?, ?)`
	unindexMemory = `INSERT INTO memory_words (memory_words, rowid, words) VALUES ('delete', ?, ?)`
	emptyMemory   = `INSERT INTO memory_words (memory_words) VALUES ('delete-all')`

	// memoriesWith returns the ids of statements for a query of [store.AnyWord], with their scores. The lowest score is the best.
	memoriesWith = `SELECT rowid AS id, rank AS score FROM memory_words WHERE memory_words MATCH ?`
)

// BornOn reports whether a person's statement says that a day is their birthday. One of 29 February is on the 28th in other years.
func BornOn(m Statement, today time.Time) bool {
	born := birthday(m.Text, m.SaidAt.In(today.Location()))
	at := time.Date(today.Year(), time.Month(born.Month), born.Day, 0, 0, 0, 0, today.Location())
	if int(at.Month()) != born.Month {
		at = at.AddDate(0, 0, -1)
	}
	return born.Day > 0 && at.Month() == today.Month() && at.Day() == today.Day()
}

// birthday returns the birthday that a person's statement gives, as in "my birthday is on 3 May". Its day is 0 if there is none. said is when
// they wrote it, for "tomorrow".
func birthday(statement string, said time.Time) (day text.Date) {
	if matter, code := matterOf(statement); matter == birthdays {
		day, _, _ = order.DayOf(statement, code, said)
	}
	return day
}

const birthdays = "birthday"

// maxHead is how many words may name what a statement gives: "my favourite game of all".
const maxHead = 6

// matterOf returns what a plain statement gives if it has one value at a time, or "". An example is where its author lives. Of two
// statements of one person on the same matter the newer holds. "I used to live in Porto" is not plain. The words say which language it is,
// code: it may be too short to tell otherwise.
func matterOf(statement string) (matter, code string) {
	s := newSaying(statement)
	for _, code = range text.Languages() {
		d := lexicon().of[code]
		said := s
		if matter, said = d.birthdayIn(s, code); matter == "" {
			matter, said = d.matter(s), s
		}
		if matter != "" {
			if said.Has(d.qualifiers) || asks(s) || text.ContainsAny(said.Words, d.negations) {
				break
			}
			return matter, code
		}
	}
	return "", ""
}

// birthdayIn returns [birthdays] if a statement in a language gives one, and what else it says. Alone, "I was" and "né" mean something else.
func (d *dialect) birthdayIn(s saying, code string) (matter string, rest saying) {
	day, without, weekday := order.DayOf(s.Text, code, time.Time{})
	if day.Day == 0 {
		return "", s
	}
	in, from, to := text.NewSaying(anyNumber.ReplaceAllString(without, "0")).Find(d.birthday)
	if from < 0 || weekday && (newSaying(in[from:to]).Has(d.qualifiers) || !order.Around(in[:from]+" "+in[to:], code)) { // a day of the week is also of the past
		return "", s
	}
	return birthdays, newSaying(in[:from] + " " + in[to:])
}

var anyNumber = text.NewLazyRegexp(`\d+`)

func (d *dialect) matter(s saying) string {
	for _, what := range slices.Sorted(maps.Keys(d.single)) {
		if s.Has(d.single[what]) {
			return what
		}
	}
	if len(s.Words) == 0 || !d.own[s.Words[0].Key] {
		return ""
	}
	for i, w := range s.Words[:min(len(s.Words), maxHead)] {
		if i > 1 && d.verbs[w.Key] {
			if head := newSaying(s.Text[:w.Start]); head.Has(d.attributes) {
				return strings.TrimSpace(head.Flat)
			}
			return ""
		}
	}
	return ""
}

// outdated returns the id of the statement that m, which is new, makes history. It is one by the same person on the same matter. It is 0 if
// there is none. What is pinned stays.
func (s *Store) outdated(tx *sql.Tx, m Statement) (int64, error) {
	matter := ""
	if m.Kind == Person {
		matter, _ = matterOf(m.Text)
	}
	if matter == "" {
		return 0, nil
	}
	rows, err := tx.Query(selectStatement+`WHERE m.scope = ? AND m.scope_id = ? AND m.kind = ? AND m.subject = ? AND m.author_id = ?
		AND NOT m.superseded AND NOT m.pinned AND m.said_at < ? AND m.folded <> ? ORDER BY m.said_at DESC, m.id DESC`,
		m.Scope.Kind, m.Scope.ID, m.Kind, m.Subject, m.Author, m.SaidAt.UnixMicro(), folded(m.Text))
	all, err := store.Collect(s.DB, "read memories", rows, err, scanStatement)
	if i := slices.IndexFunc(all, func(old Statement) bool { of, _ := matterOf(old.Text); return of == matter }); i >= 0 {
		return all[i].ID, err
	}
	return 0, err
}

// Outdated returns the ids of those of a person's statements that newer ones on the same matter make history. It does not matter where they
// were made.
func Outdated(all []Statement) (ids []int64) {
	newest := map[string]Statement{}
	all = slices.Clone(all)
	sort.Slice(all, func(i, j int) bool { return all[i].SaidAt.Before(all[j].SaidAt) })
	for _, m := range all {
		matter, _ := matterOf(m.Text)
		if old := newest[matter]; matter != "" && old.ID != 0 && !old.Pinned {
			ids = append(ids, old.ID)
		}
		newest[matter] = m
	}
	return ids
}
