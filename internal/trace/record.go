package trace

import (
	"database/sql"
	"errors"

	"familiar/internal/context/turn"
	"familiar/internal/store"
)

// partBytes is how much of a record goes into a row, so that four rows fill a page of the file.
const partBytes = 1000

// over reports whether nothing more is expected of a turn.
func over(p turn.Phase) bool { return p != turn.Begun && p != turn.Answering }

const (
	openQuery  = `INSERT INTO open_records (trace_id, body) VALUES (?, ?) ON CONFLICT (trace_id) DO UPDATE SET body = excluded.body`
	closeQuery = `DELETE FROM open_records WHERE trace_id = ?`
	placeQuery = `SELECT part, parts FROM traces WHERE id = ?`
	partQuery  = `INSERT INTO record_parts (body) VALUES (?)`

	// bodyQuery returns a record by the condition that follows it, in parts.
	bodyQuery = `SELECT t.id, coalesce(p.body, o.body, t.record) FROM traces t LEFT JOIN open_records o ON o.trace_id = t.id
		LEFT JOIN record_parts p ON p.id >= t.part AND p.id < t.part + t.parts `
)

// place is where the parts of a record are: n rows from first on.
type place struct{ first, n int64 }

// saveParts writes the parts of a record.
func (p *statements) saveParts(tx *sql.Tx, body []byte) (at place, err error) {
	stmt := tx.Stmt(p.part)
	for ; len(body) > 0; at.n++ {
		size := min(len(body), partBytes)
		r, err := stmt.Exec(body[:size])
		if err != nil {
			return place{}, err
		}
		if at.n == 0 { // the ids that follow are those of the next rows: there is one writer
			if at.first, err = r.LastInsertId(); err != nil {
				return place{}, err
			}
		}
		body = body[size:]
	}
	return at, nil
}

// saveRecord puts a record, and its line in the lists, in place of what is there: its body, if the turn is over, or else the text. Fresh
// says that it has no parts yet.
func (p *statements) saveRecord(tx *sql.Tx, line Summary, guildID, text string, body []byte, fresh bool) error {
	if !fresh {
		if err := dropParts(tx, tx.Stmt(p.place).QueryRow(line.ID)); err != nil && !errors.Is(err, sql.ErrNoRows) {
			return err
		}
	}
	if !over(line.Phase) {
		if err := upsert(tx.Stmt(p.upsert), line, guildID, place{}); err != nil {
			return err
		}
		_, err := tx.Stmt(p.open).Exec(line.ID, text)
		return err
	}
	at, err := p.saveParts(tx, body)
	if err != nil {
		return err
	}
	if err := upsert(tx.Stmt(p.upsert), line, guildID, at); err != nil {
		return err
	}
	_, err = tx.Stmt(p.close).Exec(line.ID)
	return err
}

// dropParts removes the parts of the record at the place that the row of placeQuery names.
func dropParts(tx *sql.Tx, row *sql.Row) error {
	var at place
	if err := row.Scan(&at.first, &at.n); err != nil || at.n == 0 {
		return err
	}
	_, err := tx.Exec(`DELETE FROM record_parts WHERE id >= ? AND id < ?`, at.first, at.first+at.n)
	return err
}

// readBody reads the rows of bodyQuery and joins them. The error is [store.ErrNotFound] if there are none.
func readBody(rows *sql.Rows, err error) (id string, body []byte, _ error) {
	if err != nil {
		return "", nil, err
	}
	defer rows.Close()
	found := false
	for rows.Next() {
		var part []byte
		if err := rows.Scan(&id, &part); err != nil {
			return "", nil, err
		}
		body, found = append(body, part...), true
	}
	if err := rows.Err(); err != nil {
		return "", nil, err
	}
	if !found {
		return "", nil, store.ErrNotFound
	}
	return id, body, nil
}
