package memory

import (
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strings"

	"familiar/internal/store"
)

// Vector is an embedding. It has the inverse of its length, as a float32 in little-endian order, and a signed byte for each dimension. The
// largest component is 127; rounding turns the vector by about a degree. An empty one says that the text has no embedding.
type Vector []byte

const (
	vectorHead = 4
	// maxDimensions is more than any present model has.
	maxDimensions = 8192
)

// NewVector returns the vector with some components, of any scale. It is empty if there are no components or too many, or if all are zero.
// It is empty if one is not finite, too.
func NewVector(components []float32) Vector {
	largest := 0.0
	for _, x := range components {
		largest = max(largest, math.Abs(float64(x))) // NaN stays NaN
	}
	if len(components) > maxDimensions || !(largest > 0) || math.IsInf(largest, 0) {
		return nil
	}
	v, squares := make(Vector, vectorHead+len(components)), 0.0
	for i, x := range components {
		n := math.Round(float64(x) / largest * 127)
		squares += n * n
		v[vectorHead+i] = byte(int8(n))
	}
	binary.LittleEndian.PutUint32(v, math.Float32bits(float32(1/math.Sqrt(squares))))
	return v
}

// Cosine returns the cosine of the angle between two vectors, or 0 if their dimensions differ.
func (v Vector) Cosine(w Vector) float64 {
	if len(v) <= vectorHead || len(v) != len(w) {
		return 0
	}
	return float64(dot(v[vectorHead:], w[vectorHead:])) * v.inverse() * w.inverse()
}

func (v Vector) inverse() float64 {
	return float64(math.Float32frombits(binary.LittleEndian.Uint32(v)))
}

// dot returns the dot product of signed bytes. b is at least as long as a. Four sums do not wait for each other.
func dot(a, b []byte) int32 {
	var s0, s1, s2, s3 int32
	i, b := 0, b[:len(a)]
	for ; i+8 <= len(a); i += 8 {
		x, y := a[i:i+8:i+8], b[i:i+8:i+8]
		s0 += int32(int8(x[0]))*int32(int8(y[0])) + int32(int8(x[4]))*int32(int8(y[4]))
		s1 += int32(int8(x[1]))*int32(int8(y[1])) + int32(int8(x[5]))*int32(int8(y[5]))
		s2 += int32(int8(x[2]))*int32(int8(y[2])) + int32(int8(x[6]))*int32(int8(y[6]))
		s3 += int32(int8(x[3]))*int32(int8(y[3])) + int32(int8(x[7]))*int32(int8(y[7]))
	}
	for ; i < len(a); i++ {
		s0 += int32(int8(a[i])) * int32(int8(b[i]))
	}
	return s0 + s1 + s2 + s3
}

// Vectors keeps the embeddings of messages and statements, and finds what is near in meaning. Make one with [NewVectors], one for a store.
type Vectors struct {
	DB    *store.DB
	cache vectorCache
}

// NewVectors returns the vectors of a store. It is called before the store is written.
func NewVectors(db *store.DB) *Vectors {
	s := &Vectors{DB: db}
	db.Messages.OnVector(s.cache.changed)
	return s
}

// Unembedded is a message or a statement without a vector of a model.
type Unembedded struct {
	ID   string // of a message
	Memo int64  // of a statement, which has no ID
	Text string
}

// Embedded is a message or a statement with its new vector.
type Embedded struct {
	Unembedded
	Vector Vector // empty: the text has none, and is not tried again
}

// pageSize is how many messages [Vectors.MissingMessages] examines.
const pageSize = 500

// MissingMessages examines some messages before a row, newest first, and returns those without a vector of a model. A before of 0 starts at
// the newest. next is where to go on, or 0 at the end.
func (s *Vectors) MissingMessages(ctx context.Context, model string, before int64) (all []Unembedded, next int64, err error) {
	if before <= 0 {
		before = math.MaxInt64
	}
	rows, err := s.DB.Read().QueryContext(ctx, `SELECT m.rowid, m.id, CASE WHEN EXISTS (SELECT 1 FROM message_vectors v WHERE v.message_id = m.id AND v.model = ?)
		THEN '' ELSE m.text END FROM messages m WHERE m.rowid < ? ORDER BY m.rowid DESC LIMIT 0 + ?`, model, before, pageSize)
	n := 0
	found, err := store.Collect(s.DB, "read messages without a vector", rows, err, func(row store.Scanner) (u Unembedded, err error) {
		n++
		err = row.Scan(&next, &u.ID, &u.Text)
		return u, err
	})
	if err != nil {
		return nil, 0, err
	}
	if n < pageSize {
		next = 0
	}
	for _, u := range found {
		if strings.TrimSpace(u.Text) != "" {
			all = append(all, u)
		}
	}
	return all, next, nil
}

// MissingMemories returns statements without a vector of a model, newest first, without history. They are for the embedding server only,
// never for a prompt or an answer.
func (s *Vectors) MissingMemories(ctx context.Context, model string, limit int) ([]Unembedded, error) {
	return store.List(ctx, s.DB, "read memories without a vector", func(row store.Scanner) (u Unembedded, err error) {
		err = row.Scan(&u.Memo, &u.Text)
		return u, err
	}, `SELECT m.id, m.text FROM memories m WHERE NOT m.superseded
		AND NOT EXISTS (SELECT 1 FROM memory_vectors v WHERE v.memory_id = m.id AND v.model = ?) ORDER BY m.id DESC LIMIT 0 + ?`, model, limit)
}

// Save saves vectors of a model, replaces those of other models, and returns their number. It skips texts that were deleted or changed
// meanwhile.
func (s *Vectors) Save(ctx context.Context, model string, all ...Embedded) (kept int, err error) {
	type row struct {
		place, channel, id string
		of                 Vector
	}
	var rows []row
	err = store.WriteEach(ctx, s.DB, all, func(tx *sql.Tx, e Embedded) error {
		if e.ID == "" {
			n, err := keepMemoryVector(tx, model, e)
			kept += n
			return err
		}
		r := row{of: e.Vector}
		err := keepVector(tx, model, e).Scan(&r.place, &r.channel, &r.id)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		kept, rows = kept+1, append(rows, r)
		return err
	})
	for _, r := range rows { // also after an error, which leaves what earlier steps saved
		s.cache.add(r.place, model, r.channel, r.id, r.of)
	}
	if err != nil {
		return 0, fmt.Errorf("save vectors: %w", err)
	}
	return kept, nil
}

func keepMemoryVector(tx *sql.Tx, model string, e Embedded) (int, error) {
	r, err := tx.Exec(`INSERT INTO memory_vectors (memory_id, model, vector) SELECT id, ?, ? FROM memories WHERE id = ? AND text = ?
		ON CONFLICT (memory_id) DO UPDATE SET model = excluded.model, vector = excluded.vector`, model, append([]byte{}, e.Vector...), e.Memo, e.Text)
	if err != nil {
		return 0, err
	}
	n, err := r.RowsAffected()
	return int(n), err
}

// keepVector saves the vector of a message whose text has not changed, and returns its place, channel and id.
func keepVector(tx *sql.Tx, model string, e Embedded) *sql.Row {
	return tx.QueryRow(`INSERT INTO message_vectors (place, model, at, message_id, channel_id, vector)
		SELECT CASE guild_id WHEN '' THEN channel_id ELSE guild_id END, ?, at, id, channel_id, ? FROM messages WHERE id = ? AND text = ?
		ON CONFLICT (message_id) DO UPDATE SET place = excluded.place, model = excluded.model, at = excluded.at, channel_id = excluded.channel_id, vector = excluded.vector
		RETURNING place, channel_id, message_id`, model, append([]byte{}, e.Vector...), e.ID, e.Text)
}

// DeleteOthers deletes the vectors of all models except one, or of all if it is "".
func (s *Vectors) DeleteOthers(ctx context.Context, except string) (dropped int, err error) {
	_, err = s.DB.ChangeRows(ctx, "memory_vectors", "memory_id", `model <> @model`, "", store.Args{"model": except})
	if err != nil {
		return 0, err
	}
	return s.DB.ChangeRows(ctx, "message_vectors", "place, model, at, message_id", `model <> @model`, "", store.Args{"model": except})
}

// Count returns how many messages have a vector of a model, which may be an empty one.
func (s *Vectors) Count(ctx context.Context, model string) (n int, err error) {
	err = s.DB.Read().QueryRowContext(ctx, `SELECT count(*) FROM message_vectors WHERE model = ?`, model).Scan(&n)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return 0, fmt.Errorf("count vectors: %w", s.DB.Explain(err))
	}
	return n, nil
}
