package store

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"familiar/internal/text"
)

// The full-text index of messages. Code that writes, changes or deletes a message does the same here, in the same transaction. The index
// keeps no text, so a removal must repeat what was added. Direct messages are not indexed.

// indexBatch is the largest number of messages that are indexed in one transaction.
const indexBatch = 1000

// index adds a message to the index.
func (s *Messages) index(tx *sql.Tx, row int64, m Message) error {
	return s.indexed(tx, indexMessage, row, m)
}

// unindex removes a message, as index added it, and its vector.
func (s *Messages) unindex(tx *sql.Tx, row int64, m Message) error {
	if err := s.dropVector(tx, row); err != nil {
		return err
	}
	return s.indexed(tx, unindexMessage, row, m)
}

// indexed adds or removes a message, unless it is due to be indexed later.
func (s *Messages) indexed(tx *sql.Tx, query string, row int64, m Message) error {
	if m.GuildID == "" {
		return nil
	}
	_, err := s.db.stmt(tx, query).Exec(row, text.IndexedWords(m.Text), tag(inGuild, m.GuildID)+" "+tag(inChannel, m.ChannelID)+" "+tag(byAuthor, m.AuthorID))
	return err
}

// rowOf returns a message with its row, or row 0 if there is none.
func (s *Messages) rowOf(tx *sql.Tx, id string) (row int64, m Message, err error) {
	row, m, err = scanRow(s.db.stmt(tx, rowQuery).QueryRow(id))
	return row, m, unlessMissing(err)
}

// scanRow scans the indexed columns of a message.
func scanRow(s Scanner) (row int64, m Message, err error) {
	err = s.Scan(&row, &m.GuildID, &m.ChannelID, &m.AuthorID, &m.Text)
	return row, m, err
}

const (
	rowColumns = `rowid, guild_id, channel_id, author_id, text`
	rowQuery   = `SELECT ` + rowColumns + ` FROM messages WHERE id = ?`
)

// renewIndex starts to build the index of messages again if the program makes other words now.
func (s *Messages) renewIndex(ctx context.Context) error {
	var made string
	if err := s.db.readers.QueryRowContext(ctx, `SELECT made FROM message_words_progress`).Scan(&made); err != nil {
		return err
	}
	if made == text.IndexForm {
		return nil
	}
	return s.db.Change(ctx, "renew the index", emptyIndex)
}

// emptyIndex empties the index of messages, so that indexOld builds it again.
func emptyIndex(tx *sql.Tx) error {
	if _, err := tx.Exec(emptyMessages); err != nil {
		return err
	}
	_, err := tx.Exec(`UPDATE message_words_progress SET due = (SELECT coalesce(max(rowid), 0) FROM messages), made = ?`, text.IndexForm)
	return err
}

// indexOld builds the index of the messages that are due, newest first. The next start goes on if it is stopped.
func (s *Messages) indexOld(ctx context.Context) {
	if err := s.indexDue(ctx); err != nil && ctx.Err() == nil {
		s.db.notify("older messages are not found by their words until the next start: %v", s.db.Explain(err))
	}
}

// indexDue indexes all messages that are due.
func (s *Messages) indexDue(ctx context.Context) error {
	var due int64
	if err := s.db.readers.QueryRowContext(ctx, `SELECT due FROM message_words_progress`).Scan(&due); err != nil || due == 0 {
		return err
	}
	if err := s.db.WriteSteps(ctx, indexBatch, s.indexSome); err != nil {
		return fmt.Errorf("index messages: %w", err)
	}
	return s.TidyIndex(ctx)
}

// indexSome indexes the n newest messages that are due. It reports whether more are.
func (s *Messages) indexSome(tx *sql.Tx, n int) (more bool, err error) {
	type found struct {
		row int64
		Message
	}
	rows, err := tx.Query(dueMessages, n)
	some, err := Collect(s.db, "read messages", rows, err, func(row Scanner) (f found, err error) {
		f.row, f.Message, err = scanRow(row)
		return f, err
	})
	if err != nil {
		return false, err
	}
	due := int64(0)
	if more = len(some) == n; more {
		due = some[n-1].row - 1
	}
	if _, err := tx.Exec(`UPDATE message_words_progress SET due = ?`, due); err != nil {
		return false, err
	}
	for _, f := range slices.Backward(some) { // FTS5 writes a segment of its own for each row that follows a later one
		if err := s.index(tx, f.row, f.Message); err != nil {
			return false, err
		}
	}
	return more, nil
}

const dueMessages = `SELECT ` + rowColumns + ` FROM messages WHERE rowid <= (SELECT due FROM message_words_progress) ORDER BY rowid DESC LIMIT ?`

// TidyIndex merges the segments of the index, whose number grows with the messages. A search looks into all of them.
func (s *Messages) TidyIndex(ctx context.Context) error {
	return s.db.keepUp("tidy the index", s.db.engine.Tidy(ctx, "message_words", s.db.WriteSteps))
}

// match returns an FTS5 query for the messages that hold all words of s. It finds them in any form that they have in a language. With
// begin, words that start with them match, too. The query is empty if s has no word. Every word is quoted and consists of letters, digits
// and marks, so that no text is an operator.
func match(s, language string, begin bool) string {
	var all []string
	for _, run := range text.Runs(s) {
		switch w := run.Words(); {
		case run.Unspaced && len(run.Letters) == 1, begin && !run.Unspaced && len(run.Letters) >= shortestBeginning:
			all = append(all, `"`+w[0]+`"*`)
		case run.Unspaced:
			all = append(all, `"`+strings.Join(w, " ")+`"`)
		default:
			all = append(all, anyOfThese(append(w, run.Forms(language)...)))
		}
	}
	return strings.Join(all, " AND ")
}

// anyOfThese returns a query for any of some words.
func anyOfThese(words []string) string {
	if len(words) == 1 {
		return `"` + words[0] + `"`
	}
	return `("` + strings.Join(words, `" OR "`) + `")`
}

// AnyWord returns an FTS5 query for texts with any word of s in any form. The query is empty if s has no word.
func AnyWord(s string) string {
	var all []string
	for _, run := range text.Runs(s) {
		begin := ""
		if run.Unspaced && len(run.Letters) == 1 {
			begin = "*"
		}
		for _, w := range append(run.Words(), run.Forms("")...) {
			all = append(all, `"`+w+`"`+begin)
		}
	}
	return strings.Join(all, " OR ")
}

// shortestBeginning is the number of letters from which on the start of a word is searched for. FTS5 collects all words with that start
// before it returns the first.
const shortestBeginning = 4

// tag names a place or a person in the index. It leaves out characters that are neither letter nor digit: a search checks the messages
// themselves, too.
func tag(kind byte, id string) string {
	return string(kind) + strings.Map(func(r rune) rune {
		if r < 0x80 && (unicode.IsLetter(r) || unicode.IsDigit(r)) {
			return unicode.ToLower(r)
		}
		return -1
	}, id)
}

// The kinds of tags.
const (
	inGuild   = 'g'
	inChannel = 'c'
	byAuthor  = 'a'
)

// anyOf returns an FTS5 query for messages with any of some tags.
func anyOf(kind byte, ids ...string) string {
	var all []string
	for _, id := range ids {
		all = append(all, `"`+tag(kind, id)+`"`)
	}
	return "tags : (" + strings.Join(all, " OR ") + ")"
}

// Query describes a search for messages of a server. GuildID and Channels are required.
type Query struct {
	GuildID  string
	Channels []string  // readable ones
	Authors  []string  // ids of people; none: anybody
	Words    string    // all must occur; empty: any message
	Language string    // its word forms match, too; empty: those of all languages
	Begin    bool      // also find words that start with these; takes longer
	From, To time.Time // when it was written; zero: any time
	Limit    int       // number of messages
}

const (
	// fewChannels is the largest number of channels in a query of the index.
	fewChannels = 20
	// mostScanned is how many messages with the words are examined, newest first.
	mostScanned = 2000
	// rowSlack is how far messages may be out of the order of their times.
	rowSlack = time.Hour
)

// Search returns messages of a server, newest first. It finds words in any case, with or without accents. It also finds their forms in
// English or the language of the search. It ignores all other characters.
func (s *Messages) Search(ctx context.Context, q Query) ([]Message, error) {
	if q.GuildID == "" || len(q.Channels) == 0 {
		return nil, nil
	}
	parts := []string{within(q.GuildID, q.Channels)}
	if len(q.Authors) > 0 {
		parts = append(parts, anyOf(byAuthor, q.Authors...))
	}
	if found := match(q.Words, q.Language, q.Begin); found != "" {
		parts = append(parts, "words : ("+found+")")
	}
	first, last, err := s.rowsBetween(ctx, q.From, q.To)
	if err != nil {
		return nil, fmt.Errorf("search messages: %w", s.db.Explain(err))
	}
	until := q.To
	if until.IsZero() {
		until = time.UnixMicro(1<<62 - 1)
	}
	from := int64(-1 << 62)
	if !q.From.IsZero() {
		from = q.From.UnixMicro()
	}
	found, err := ListOften(ctx, s.db, "search messages", scan, searchQuery, strings.Join(parts, " AND "), first, last, mostScanned, q.GuildID, Listed(q.Channels), from, until.UnixMicro(), max(1, q.Limit))
	if len(q.Authors) == 0 {
		return found, err
	}
	return slices.DeleteFunc(found, func(m Message) bool { return !slices.Contains(q.Authors, m.AuthorID) }), err
}

// within returns a query of the index for channels of a server. If they are many it is for the whole server.
func within(guildID string, channels []string) string {
	if len(channels) <= fewChannels {
		return anyOf(inChannel, channels...)
	}
	return anyOf(inGuild, guildID)
}

const searchQuery = `SELECT ` + columns + ` FROM
	(` + messagesWith + `) AS newest
	CROSS JOIN messages ON messages.rowid = at_row
	WHERE guild_id = ? AND channel_id ` + AmongThese + ` AND at >= ? AND at < ? ORDER BY at_row DESC LIMIT 0 + ?`

// rowsBetween returns the first and last row of messages of a time. Rows are nearly in the order of their times.
func (s *Messages) rowsBetween(ctx context.Context, from, to time.Time) (first, last int64, err error) {
	first, last = 0, 1<<62
	if from.IsZero() && to.IsZero() {
		return first, last, nil
	}
	var top int64
	if err := s.db.readers.QueryRowContext(ctx, `SELECT coalesce(max(rowid), 0) FROM messages`).Scan(&top); err != nil {
		return 0, 0, err
	}
	if !from.IsZero() {
		if first, err = s.firstRow(ctx, top, from.Add(-rowSlack)); err != nil {
			return 0, 0, err
		}
	}
	if !to.IsZero() {
		last, err = s.firstRow(ctx, top, to.Add(rowSlack))
	}
	return first, last, err
}

// firstRowQuery returns the first row with a message that is not older than a time. It goes by bisection up to a last row, which is not 0.
const firstRowQuery = `WITH RECURSIVE part (low, high) AS (
		SELECT CAST(0 AS BIGINT), CAST(?1 AS BIGINT) + 1
		UNION ALL
		SELECT CASE WHEN m.at < ?2 THEN m.rowid + 1 ELSE low END, CASE WHEN m.at < ?2 THEN high ELSE (low + high) / 2 END FROM part
			JOIN messages m ON m.rowid = (SELECT rowid FROM messages WHERE rowid >= (low + high) / 2 ORDER BY rowid LIMIT 1) WHERE low < high)
	SELECT max(low) FROM part`

func (s *Messages) firstRow(ctx context.Context, top int64, at time.Time) (row int64, err error) {
	if top == 0 {
		return 0, nil
	}
	err = s.db.QueryRow(ctx, firstRowQuery, top, at.UnixMicro()).Scan(&row)
	return row, err
}

// Around returns a message with the messages directly before and after it in its channel, oldest first.
func (s *Messages) Around(ctx context.Context, m Message, before, after int) ([]Message, error) {
	all, err := ListOften(ctx, s.db, "read messages before a message", scan, aroundQuery+`< (?, ?) ORDER BY at DESC, id DESC LIMIT 0 + ?`, m.ChannelID, m.At.UnixMicro(), m.ID, before)
	if err != nil {
		return nil, err
	}
	slices.Reverse(all)
	behind, err := ListOften(ctx, s.db, "read messages after a message", scan, aroundQuery+`> (?, ?) ORDER BY at, id LIMIT 0 + ?`, m.ChannelID, m.At.UnixMicro(), m.ID, after)
	return slices.Concat(all, []Message{m}, behind), err
}

const aroundQuery = `SELECT ` + columns + ` FROM messages WHERE channel_id = ? AND (at, id) `

// Between returns the last n messages of a channel within a time, oldest first.
func (s *Messages) Between(ctx context.Context, channelID string, from, to time.Time, n int) ([]Message, error) {
	all, err := List(ctx, s.db, "read messages of a period", scan, `SELECT `+columns+` FROM messages WHERE channel_id = ? AND at > ? AND at < ?
		ORDER BY at DESC, id DESC LIMIT 0 + ?`, channelID, from.UnixMicro(), to.UnixMicro(), n)
	slices.Reverse(all)
	return all, err
}

// After returns the first n messages of a channel after a time, oldest first. Of that time itself it returns those after an id.
func (s *Messages) After(ctx context.Context, channelID string, at time.Time, id string, n int) ([]Message, error) {
	return List(ctx, s.db, "read messages after a message", scan, aroundQuery+`> (?, ?) ORDER BY at, id LIMIT 0 + ?`, channelID, at.UnixMicro(), id, n)
}

// LastBy returns a person's last message in some channels of a server before a time, or [ErrNotFound].
func (s *Messages) LastBy(ctx context.Context, guildID, authorID string, before time.Time, channels ...string) (Message, error) {
	found, err := s.Search(ctx, Query{GuildID: guildID, Channels: channels, Authors: []string{authorID}, To: before, Limit: 1})
	if err == nil && len(found) == 0 {
		err = ErrNotFound
	}
	if err != nil {
		return Message{}, fmt.Errorf("find a person's last message: %w", err)
	}
	return found[0], nil
}
