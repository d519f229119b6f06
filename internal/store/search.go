package store

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Query says which messages of a server are looked for. GuildID and Channels are required.
type Query struct {
	GuildID  string
	Channels []string  // that may be searched
	Authors  []string  // ids of people, one of whom wrote it; none: anybody
	Words    string    // all of them stand in it; empty: any
	Language string    // whose forms of the words are found, too; empty: of any
	Begin    bool      // words that begin so are found, too; this takes longer
	From, To time.Time // when it was written; zero: any time
	Limit    int       // messages
}

const (
	// fewChannels is up to how many channels the index itself is asked for.
	fewChannels = 20
	// mostScanned is how many messages that hold the words are looked at, the newest first.
	mostScanned = 2000
	// rowSlack is how far messages may be out of the order of their times.
	rowSlack = time.Hour
)

// Search returns messages of a server, the newest first. Words are found in any case, with or without accents and in any form that they
// have in English or the language of the search; whatever else stands in them is left out.
func (db *DB) Search(ctx context.Context, q Query) ([]Message, error) {
	if q.GuildID == "" || len(q.Channels) == 0 {
		return nil, nil
	}
	parts := []string{anyOf(inGuild, q.GuildID)}
	if len(q.Channels) <= fewChannels {
		parts = append(parts, anyOf(inChannel, q.Channels...))
	}
	if len(q.Authors) > 0 {
		parts = append(parts, anyOf(byAuthor, q.Authors...))
	}
	if found := match(q.Words, q.Language, q.Begin); found != "" {
		parts = append(parts, "words : ("+found+")")
	}
	first, last, err := db.rowsBetween(ctx, q.From, q.To)
	if err != nil {
		return nil, fmt.Errorf("search messages: %w", db.Explain(err))
	}
	until := q.To
	if until.IsZero() {
		until = time.UnixMicro(1<<62 - 1)
	}
	from := int64(-1 << 62)
	if !q.From.IsZero() {
		from = q.From.UnixMicro()
	}
	channels, err := json.Marshal(q.Channels)
	if err != nil {
		return nil, err
	}
	rows, err := db.stmts.search.QueryContext(ctx, strings.Join(parts, " AND "), first, last, mostScanned, q.GuildID, string(channels), from, until.UnixMicro(), max(1, q.Limit))
	found, err := collect(db, "search messages", rows, err, scan)
	if len(q.Authors) == 0 {
		return found, err
	}
	return slices.DeleteFunc(found, func(m Message) bool { return !slices.Contains(q.Authors, m.AuthorID) }), err
}

const searchQuery = `SELECT ` + columns + ` FROM
	(` + messagesWith + `)
	CROSS JOIN messages ON messages.rowid = row
	WHERE guild_id = ? AND channel_id IN (SELECT value FROM json_each(?)) AND at >= ? AND at < ? ORDER BY row DESC LIMIT 0 + ?`

// rowsBetween returns the rows among which are the messages of a time. Messages lie in the file nearly in the order of their times.
func (db *DB) rowsBetween(ctx context.Context, from, to time.Time) (first, last int64, err error) {
	first, last = 0, 1<<62
	if from.IsZero() && to.IsZero() {
		return first, last, nil
	}
	var top int64
	if err := db.readers.QueryRowContext(ctx, `SELECT coalesce(max(rowid), 0) FROM messages`).Scan(&top); err != nil {
		return 0, 0, err
	}
	if !from.IsZero() {
		if first, err = db.firstRow(ctx, top, from.Add(-rowSlack)); err != nil {
			return 0, 0, err
		}
	}
	if !to.IsZero() {
		last, err = db.firstRow(ctx, top, to.Add(rowSlack))
	}
	return first, last, err
}

// firstRowQuery returns the first row whose message is not older than a time, by bisection: the last is given, which is not 0.
const firstRowQuery = `WITH RECURSIVE part (low, high) AS (
		SELECT 0, ?1 + 1
		UNION ALL
		SELECT iif(m.at < ?2, m.rowid + 1, low), iif(m.at < ?2, high, (low + high) / 2) FROM part
			JOIN messages m ON m.rowid = (SELECT rowid FROM messages WHERE rowid >= (low + high) / 2 ORDER BY rowid LIMIT 1) WHERE low < high)
	SELECT max(low) FROM part`

func (db *DB) firstRow(ctx context.Context, top int64, at time.Time) (row int64, err error) {
	if top == 0 {
		return 0, nil
	}
	err = db.stmts.firstRow.QueryRowContext(ctx, top, at.UnixMicro()).Scan(&row)
	return row, err
}

// Around returns the messages of a channel that stand directly before and after one, in their order and with it.
func (db *DB) Around(ctx context.Context, m Message, before, after int) ([]Message, error) {
	rows, err := db.stmts.before.QueryContext(ctx, m.ChannelID, m.At.UnixMicro(), m.ID, before)
	all, err := collect(db, "read what stands before a message", rows, err, scan)
	if err != nil {
		return nil, err
	}
	slices.Reverse(all)
	rows, err = db.stmts.after.QueryContext(ctx, m.ChannelID, m.At.UnixMicro(), m.ID, after)
	behind, err := collect(db, "read what stands after a message", rows, err, scan)
	return slices.Concat(all, []Message{m}, behind), err
}

const aroundQuery = `SELECT ` + columns + ` FROM messages WHERE channel_id = ? AND (at, id) `

// Between returns the last n messages of a channel that were written in a time, oldest first.
func (db *DB) Between(ctx context.Context, channelID string, from, to time.Time, n int) ([]Message, error) {
	rows, err := db.readers.QueryContext(ctx, `SELECT `+columns+` FROM messages WHERE channel_id = ? AND at > ? AND at < ?
		ORDER BY at DESC, id DESC LIMIT 0 + ?`, channelID, from.UnixMicro(), to.UnixMicro(), n)
	all, err := collect(db, "read messages of a time", rows, err, scan)
	slices.Reverse(all)
	return all, err
}

// LastBy returns the last message of a person in a channel before a time, or [ErrNotFound].
func (db *DB) LastBy(ctx context.Context, guildID, channelID, authorID string, before time.Time) (Message, error) {
	found, err := db.Search(ctx, Query{GuildID: guildID, Channels: []string{channelID}, Authors: []string{authorID}, To: before, Limit: 1})
	if err == nil && len(found) == 0 {
		err = ErrNotFound
	}
	if err != nil {
		return Message{}, fmt.Errorf("find a person's last message: %w", err)
	}
	return found[0], nil
}

// Person is somebody who has spoken in a server, under the newest name.
type Person struct{ ID, Name string }

// Authors returns those who have spoken in a server, those who spoke last first.
func (db *DB) Authors(ctx context.Context, guildID string) ([]Person, error) {
	rows, err := db.readers.QueryContext(ctx, `SELECT author_id, name FROM people WHERE guild_id = ? ORDER BY at DESC LIMIT 0 + ?`, guildID, maxPeople)
	return collect(db, "read people", rows, err, func(row scanner) (p Person, err error) {
		err = row.Scan(&p.ID, &p.Name)
		return p, err
	})
}
