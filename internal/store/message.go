package store

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"time"

	"familiar/internal/context/turn"
)

// Message is one message of a channel.
type Message struct {
	ID         string // unique in all channels
	ChannelID  string
	GuildID    string // empty in a direct message
	AuthorID   string // for the bot's own messages: the id of the character, if known
	AuthorName string
	Text       string
	Note       string    // names the attachments: "[image: cat.png]"
	ReplyTo    string    // id of the message that it replies to, or empty
	TurnID     string    // the turn that it began or that wrote it, or empty
	At         time.Time // to the microsecond, in UTC
	Own        bool      // written by this bot
}

// OfAnother reports whether another of the bot's characters wrote the message.
func (m Message) OfAnother(character string) bool {
	return m.Own && m.AuthorID != "" && m.AuthorID != character
}

// SeenBy returns the message as a character sees it: another character's message is not its own.
func (m Message) SeenBy(character string) turn.Message {
	other := m.OfAnother(character)
	return turn.Message{
		ID: m.ID, ChannelID: m.ChannelID, Author: turn.Author{ID: m.AuthorID, Name: m.AuthorName, Machine: other},
		Text: m.Text, Note: m.Note, At: m.At, ReplyTo: m.ReplyTo, Own: m.Own && !other,
	}
}

// Seen returns messages as a character sees them.
func Seen(ms []Message, character string) []turn.Message {
	all := make([]turn.Message, 0, len(ms))
	for _, m := range ms {
		all = append(all, m.SeenBy(character))
	}
	return all
}

// Save saves messages, all or none, and replaces those with the same ids. It leaves out messages of people about whom nothing is kept.
func (s *Messages) Save(ctx context.Context, ms ...Message) error {
	return s.db.Change(ctx, "save messages", func(tx *sql.Tx) error { return s.SaveIn(tx, ms...) })
}

// SaveIn is [Messages.Save] in a transaction of [DB.Write].
func (s *Messages) SaveIn(tx *sql.Tx, ms ...Message) error {
	for _, m := range ms {
		if err := s.save(tx, m); err != nil {
			return err
		}
	}
	return nil
}

// save saves a message and replaces the one with its id.
func (s *Messages) save(tx *sql.Tx, m Message) error {
	if kept, err := s.keeps(tx, m); err != nil || !kept {
		return err
	}
	row, err := s.insert(tx, m)
	if err != nil {
		return err
	}
	if row > 0 {
		return s.index(tx, row, m)
	}
	row, before, err := s.rowOf(tx, m.ID)
	if err == nil {
		err = s.unindex(tx, row, before)
	}
	if err == nil && before.Text != m.Text {
		err = s.dropSummary(tx, row)
	}
	if err == nil {
		_, err = s.db.stmt(tx, saveMessage).Exec(m.values()...)
	}
	if err != nil {
		return err
	}
	return s.index(tx, row, m)
}

// insert saves a message that is new and returns its row, or returns row 0 if the message is there.
func (s *Messages) insert(tx *sql.Tx, m Message) (row int64, err error) {
	r, err := s.db.stmt(tx, insertMessage).Exec(m.values()...)
	if err != nil {
		return 0, err
	}
	if isNew, err := changed(r); err != nil || !isNew {
		return 0, err
	}
	return r.LastInsertId()
}

// keeps reports whether a message may be kept. Its author decides, or, for the bot's own, the person whom it answers.
func (s *Messages) keeps(tx *sql.Tx, m Message) (bool, error) {
	if m.Own {
		unkept, err := s.db.Privacy.unkept(tx, m.TurnID)
		return !unkept, err
	}
	standing, err := s.db.Privacy.StandingIn(tx, m.AuthorID)
	return standing.Keeps(m.At), err
}

// Edit gives a message a new text, and deletes the statements that rest on the old text alone. edited is false if there is no such message,
// or if it had that text already.
func (s *Messages) Edit(ctx context.Context, id, text string) (edited bool, err error) {
	err = s.db.Change(ctx, "edit message", func(tx *sql.Tx) error {
		row, m, err := s.rowOf(tx, id)
		if edited = err == nil && row > 0 && m.Text != text; !edited {
			return err
		}
		if err := s.unindex(tx, row, m); err != nil {
			return err
		}
		if err := s.dropSummary(tx, row); err != nil {
			return err
		}
		if _, err := tx.Exec(`UPDATE messages SET text = ? WHERE rowid = ?`, text, row); err != nil {
			return err
		}
		m.Text = text
		if err := s.index(tx, row, m); err != nil {
			return err
		}
		return s.dropStatements(tx, id)
	})
	return edited && err == nil, err
}

// SetTranscript gives a voice message its words and a new note. A missing message is not an error.
func (s *Messages) SetTranscript(ctx context.Context, id, text, note string) error {
	return s.db.Change(ctx, "save transcript", func(tx *sql.Tx) error {
		row, m, err := s.rowOf(tx, id)
		if err != nil || row == 0 {
			return err
		}
		if err := s.unindex(tx, row, m); err != nil {
			return err
		}
		if _, err := tx.Exec(`UPDATE messages SET text = ?, note = ? WHERE rowid = ?`, text, note, row); err != nil {
			return err
		}
		m.Text = text
		return s.index(tx, row, m)
	})
}

// Delete deletes a message and the statements that rest on it alone. It also notes that records may still quote it, see
// [Messages.PendingDeletions]. A missing message is not an error.
func (s *Messages) Delete(ctx context.Context, id string) error {
	return s.db.Change(ctx, "delete message", func(tx *sql.Tx) error {
		_, err := tx.Exec(`INSERT INTO forgetting (message_id, channel_id, at, text) VALUES (?, '', 0, '') ON CONFLICT DO NOTHING`, id)
		if err != nil {
			return err
		}
		_, err = tx.Exec(`UPDATE forgetting SET (channel_id, at, text) = (SELECT channel_id, at, text FROM messages WHERE id = ?)
			WHERE message_id = ? AND EXISTS (SELECT 1 FROM messages WHERE id = ?)`, id, id, id)
		if err != nil {
			return err
		}
		if err := s.dropStatements(tx, id); err != nil {
			return err
		}
		row, m, err := s.rowOf(tx, id)
		if err != nil || row == 0 {
			return err
		}
		return s.deleteRow(tx, row, m)
	})
}

// deleteRow deletes a message and the statements that rest on it alone.
func (s *Messages) deleteRow(tx *sql.Tx, row int64, m Message) error {
	id, err := s.dropRow(tx, row, m)
	if err != nil {
		return err
	}
	return s.dropStatements(tx, id)
}

// dropRow deletes a message from the table, the index and the summary that covers it. Statements that rest on it stay.
func (s *Messages) dropRow(tx *sql.Tx, row int64, m Message) (id string, err error) {
	if err := s.unindex(tx, row, m); err != nil {
		return "", err
	}
	if err := s.dropSummary(tx, row); err != nil {
		return "", err
	}
	err = tx.QueryRow(`DELETE FROM messages WHERE rowid = ? RETURNING id`, row).Scan(&id)
	return id, err
}

// PendingDeletions returns the deleted messages that records may still quote. They have a channel, a time and a text if they were kept.
func (s *Messages) PendingDeletions(ctx context.Context) ([]Message, error) {
	return List(ctx, s.db, "read deleted messages", func(row Scanner) (m Message, err error) {
		err = row.Scan(&m.ID, &m.ChannelID, micros{&m.At}, &m.Text)
		return m, err
	}, `SELECT message_id, channel_id, at, text FROM forgetting ORDER BY at`)
}

// FinishDeletion notes that no record quotes a deleted message any more.
func (s *Messages) FinishDeletion(ctx context.Context, id string) error {
	_, err := s.db.Exec(ctx, "forget message", `DELETE FROM forgetting WHERE message_id = ?`, id)
	return err
}

// Get returns the message with that id, or [ErrNotFound].
func (s *Messages) Get(ctx context.Context, id string) (Message, error) {
	return One(s.db, "read message", s.db.QueryRow(ctx, `SELECT `+columns+` FROM messages WHERE id = ?`, id), scan)
}

// HasReply reports whether a person has replied to one of some messages of a channel.
func (s *Messages) HasReply(ctx context.Context, channelID string, ids ...string) (bool, error) {
	for _, id := range ids {
		var found bool
		err := s.db.readers.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM messages WHERE channel_id = ? AND reply_to = ? AND NOT own)`, channelID, id).Scan(&found)
		if err != nil || found {
			return found, s.db.Explain(err)
		}
	}
	return false, nil
}

// Recent returns the last n messages of a channel, oldest first.
func (s *Messages) Recent(ctx context.Context, channelID string, n int) ([]Message, error) {
	ms, err := ListOften(ctx, s.db, "read recent messages", scan, `SELECT `+columns+` FROM messages WHERE channel_id = ? ORDER BY at DESC, id DESC LIMIT 0 + ?`, channelID, n)
	slices.Reverse(ms)
	return ms, err
}

// Firsts returns when people first wrote in a channel on each day of a span on which they did. A day has 24 hours, and the first begins with
// the span.
func (s *Messages) Firsts(ctx context.Context, channelID string, from, to time.Time) ([]time.Time, error) {
	return List(ctx, s.db, "read when people write", ScanTime, `SELECT min(at) FROM messages WHERE channel_id = ? AND NOT own AND at >= ? AND at < ? GROUP BY (at - ?) / ? ORDER BY 1`,
		channelID, from.UnixMicro(), to.UnixMicro(), from.UnixMicro(), (24 * time.Hour).Microseconds())
}

// Latest returns the last n messages of a turn's channel as its character sees them, oldest first. It reads them if the request has fewer.
func (s *Messages) Latest(ctx context.Context, r turn.Request, n int) ([]turn.Message, error) {
	if n <= r.RecentOf {
		return r.Recent[max(0, len(r.Recent)-n):], nil
	}
	ms, err := s.Recent(ctx, r.ChannelID, n)
	return Seen(ms, r.Character), err
}

// Chain returns the message that this one replies to, the one that that one replies to, and so on. It returns at most n, nearest first. It
// ends at an unknown message, and at one of another channel, whose readers may differ.
func (s *Messages) Chain(ctx context.Context, id string, n int) ([]Message, error) {
	m, err := s.Get(ctx, id)
	if err != nil {
		return nil, err
	}
	var chain []Message
	for len(chain) < n && m.ReplyTo != "" {
		parent, err := s.Get(ctx, m.ReplyTo)
		if errors.Is(err, ErrNotFound) || err == nil && parent.ChannelID != m.ChannelID {
			break
		}
		if err != nil {
			return nil, err
		}
		chain = append(chain, parent)
		m = parent
	}
	return chain, nil
}

// columns are in the order of scan and values.
const columns = `id, channel_id, guild_id, author_id, author_name, text, reply_to, turn_id, at, own, note`

func scan(row Scanner) (m Message, err error) {
	err = row.Scan(&m.ID, &m.ChannelID, &m.GuildID, &m.AuthorID, &m.AuthorName, &m.Text, &m.ReplyTo, &m.TurnID, micros{&m.At}, &m.Own, &m.Note)
	return m, err
}

const (
	insertOr      = `INSERT INTO messages (` + columns + `) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO `
	insertMessage = insertOr + `NOTHING`
	saveMessage   = insertOr + `UPDATE SET channel_id = excluded.channel_id, guild_id = excluded.guild_id,
		author_id = excluded.author_id, author_name = excluded.author_name, text = excluded.text,
		reply_to = excluded.reply_to, turn_id = excluded.turn_id, at = excluded.at, own = excluded.own, note = excluded.note`
)

// values are in the order of columns.
func (m Message) values() []any {
	return []any{m.ID, m.ChannelID, m.GuildID, m.AuthorID, m.AuthorName, m.Text, m.ReplyTo, m.TurnID, m.At.UnixMicro(), m.Own, m.Note}
}

// move moves a message to another channel of its server, also in the index.
func (s *Messages) move(tx *sql.Tx, id, channelID string) error {
	row, m, err := s.rowOf(tx, id)
	if err != nil || row == 0 || m.ChannelID == channelID {
		return err
	}
	if err := s.indexed(tx, unindexMessage, row, m); err != nil {
		return err
	}
	if err := s.dropSummary(tx, row); err != nil {
		return err
	}
	if _, err := tx.Exec(`UPDATE messages SET channel_id = ? WHERE rowid = ?`, channelID, row); err != nil {
		return err
	}
	if _, err := tx.Exec(`UPDATE message_vectors SET channel_id = ? WHERE message_id = ?`, channelID, id); err != nil {
		return err
	}
	s.db.derived.onVector(id, channelID)
	m.ChannelID = channelID
	return s.indexed(tx, indexMessage, row, m)
}

// derived is what other packages do with what they made of a message. It runs in the transaction that changes or deletes the message. Its
// fields are set before the first write.
type derived struct {
	retract  func(tx *sql.Tx, messageID string, statements []int64) error // nil: such messages cannot be changed or deleted
	onVector func(messageID, channelID string)
}

// OnRetract sets what takes a message away from the statements of memory that rest on it. The message is deleted or has another text.
// Package memory sets it before the first write. Without it a message on which statements rest can neither be deleted nor edited.
func (s *Messages) OnRetract(retract func(tx *sql.Tx, messageID string, statements []int64) error) {
	s.db.derived.retract = retract
}

// OnVector sets what is called when the vector of a message moves to another channel. A deleted vector has no channel. Package embedding
// sets it before the first write.
func (s *Messages) OnVector(moved func(messageID, channelID string)) { s.db.derived.onVector = moved }

var errRestedOn = errors.New("statements rest on the message, and nothing retracts them")

// dropStatements deletes the statements that rest on a message alone, which is gone or says something else now. So it does with reminders.
func (s *Messages) dropStatements(tx *sql.Tx, id string) error {
	if err := s.db.Reminders.retractIn(tx, id); err != nil {
		return err
	}
	rows, err := s.db.stmt(tx, restingOn).Query(id)
	resting, err := Collect(s.db, "read statements of a message", rows, err, ScanValue[int64])
	if err != nil || len(resting) == 0 {
		return err
	}
	if s.db.derived.retract == nil {
		return errRestedOn
	}
	return s.db.derived.retract(tx, id, resting)
}

// restingOn finds the statements that rest on a message.
const restingOn = `SELECT memory_id FROM memory_sources WHERE message_id = ? ORDER BY memory_id`

// dropSummary deletes the summary that covers the message in a row.
func (s *Messages) dropSummary(tx *sql.Tx, row int64) error {
	_, err := s.db.stmt(tx, unsummariseQuery).Exec(row, row)
	return err
}

const unsummariseQuery = `DELETE FROM summaries WHERE channel_id = (SELECT channel_id FROM messages WHERE rowid = ?)

	AND (SELECT at FROM messages WHERE rowid = ?) BETWEEN first_at AND last_at`

// dropVector deletes the vector of the message in a row.
func (s *Messages) dropVector(tx *sql.Tx, row int64) error {
	var id string
	err := s.db.stmt(tx, deleteVector).QueryRow(row).Scan(&id)
	if err == nil {
		s.db.derived.onVector(id, "")
	}
	return unlessMissing(err)
}

const deleteVector = `DELETE FROM message_vectors WHERE message_id = (SELECT id FROM messages WHERE rowid = ?) RETURNING message_id`

// ErrChanged says that the basis of a write has changed since it was read.
var ErrChanged = errors.New("changed meanwhile")

// Unchanged returns, in a transaction, [ErrChanged] if a message is gone or has another text now.
func (s *Messages) Unchanged(tx *sql.Tx, read []Message) error {
	for _, m := range read {
		row, now, err := s.rowOf(tx, m.ID)
		if err != nil {
			return err
		}
		if row == 0 || now.Text != m.Text {
			return ErrChanged
		}
	}
	return nil
}
