package trace

import (
	"database/sql"

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
	moveQuery  = `UPDATE traces SET record = '', part = ?, parts = ? WHERE id = ?`

	// bodyQuery returns a record by the condition that follows it, in parts.
	bodyQuery = `SELECT t.id, coalesce(p.body, o.body, t.record) FROM traces t LEFT JOIN open_records o ON o.trace_id = t.id
		LEFT JOIN record_parts p ON p.id >= t.part AND p.id < t.part + t.parts `
)

// saveRecord puts a record where it belongs, in place of what is there.
func (p *statements) saveRecord(tx *sql.Tx, id string, phase turn.Phase, body []byte) error {
	if !over(phase) {
		_, err := tx.Stmt(p.open).Exec(id, body)
		return err
	}
	if _, err := tx.Stmt(p.close).Exec(id); err != nil {
		return err
	}
	if err := dropParts(tx, tx.Stmt(p.place).QueryRow(id)); err != nil {
		return err
	}
	var first, n int64
	for ; len(body) > 0; n++ {
		size := min(len(body), partBytes)
		r, err := tx.Stmt(p.part).Exec(body[:size])
		if err != nil {
			return err
		}
		if n == 0 { // the ids that follow are those of the next rows: there is one writer
			if first, err = r.LastInsertId(); err != nil {
				return err
			}
		}
		body = body[size:]
	}
	_, err := tx.Stmt(p.move).Exec(first, n, id)
	return err
}

// dropParts removes the parts of the record at the place that the row of placeQuery names.
func dropParts(tx *sql.Tx, row *sql.Row) error {
	var first, n int64
	if err := row.Scan(&first, &n); err != nil || n == 0 {
		return err
	}
	_, err := tx.Exec(`DELETE FROM record_parts WHERE id >= ? AND id < ?`, first, first+n)
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
