package store

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
)

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
