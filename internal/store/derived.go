package store

import (
	"database/sql"
	"errors"
)

// derived is what other packages do with what they made of a message, in the transaction that changes or deletes it. Its fields are set
// before the first write.
type derived struct {
	retract  func(tx *sql.Tx, messageID string, statements []int64) error // nil: such messages cannot be changed or deleted
	onVector func(messageID, channelID string)
}

// OnRetract sets what takes a message away from the statements of memory that rest on it, because it is deleted or has another text. Package
// memory sets it before the first write. Without it a message on which statements rest can neither be deleted nor edited.
func (s *Messages) OnRetract(retract func(tx *sql.Tx, messageID string, statements []int64) error) {
	s.db.derived.retract = retract
}

// OnVector sets what is called when the vector of a message moves to another channel, or is deleted, which has no channel. Package
// embedding sets it before the first write.
func (s *Messages) OnVector(moved func(messageID, channelID string)) { s.db.derived.onVector = moved }

var errRestedOn = errors.New("statements rest on the message, and nothing retracts them")

// dropStatements deletes the statements that rest on a message alone, which is gone or says something else now.
func (s *Messages) dropStatements(tx *sql.Tx, id string) error {
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
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err == nil {
		s.db.derived.onVector(id, "")
	}
	return err
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
