package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
)

// Nearest says to what the messages nearest in meaning are looked for. Model and Channels are required: with no GuildID, the one channel is
// that of a direct message.
type Nearest struct {
	GuildID  string
	Channels []string // that may be read
	Model    string   // that made To
	To       Vector
	Except   []string // ids of messages that do not count, such as the one that asks
	Limit    int
}

// Neighbour is a message that is near.
type Neighbour struct {
	Message
	Cosine float64
	// Apart is whether it is nearer than the nearest of as many vectors would be by chance, where their cosines are spread around the mean
	// as those that were looked at are. What a cosine of 0.4 means depends on the model; this does not.
	Apart bool
}

// Bounds of one search for neighbours.
const (
	mostCompared   = 50_000 // the newest messages of a place
	fewCompared    = 20     // among fewer, none stands apart
	mostStatements = 5_000  // of memory that are compared
	nearestDefault = 50
)

// Nearest returns the messages that are nearest in meaning, the nearest first: of the newest of their server that have a vector of the model.
func (db *DB) Nearest(ctx context.Context, q Nearest) (all []Neighbour, err error) {
	place := q.GuildID
	if place == "" && len(q.Channels) == 1 {
		place = q.Channels[0]
	}
	if place == "" || len(q.Channels) == 0 || len(q.To) <= vectorHead {
		return nil, nil
	}
	best := nearby{limit: cmp.Or(q.Limit, nearestDefault)}
	if err = db.vectors.compare(ctx, db, matrixKey{place, q.Model, len(q.To)}, q, &best); err == nil {
		all, err = db.readNearby(ctx, q, &best)
	}
	if err != nil {
		return nil, fmt.Errorf("find what is near: %w", db.Explain(err))
	}
	return all, nil
}

// readNearby reads the messages, as far as they are still where they may be read.
func (db *DB) readNearby(ctx context.Context, q Nearest, best *nearby) (all []Neighbour, err error) {
	apart := best.apart()
	for _, found := range best.all {
		m, err := db.Message(ctx, found.id)
		if errors.Is(err, ErrNotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		var there bool // it may have lost its vector since
		if err := db.stmts.hasVector.QueryRowContext(ctx, m.ID, q.Model).Scan(&there); err != nil {
			return nil, err
		}
		if there && m.GuildID == q.GuildID && slices.Contains(q.Channels, m.ChannelID) {
			all = append(all, Neighbour{m, found.cosine, found.cosine > apart})
		}
	}
	return all, nil
}

// nearby keeps the nearest of many vectors, the nearest first, and what their cosines are like.
type nearby struct {
	limit        int
	all          []near
	n            int
	sum, squares float64
}

type near struct {
	id     string
	cosine float64
}

func (b *nearby) add(id string, cosine float64) {
	b.n++
	b.sum += cosine
	b.squares += cosine * cosine
	if len(b.all) == b.limit && cosine <= b.all[len(b.all)-1].cosine {
		return
	}
	if len(b.all) == b.limit {
		b.all = b.all[:len(b.all)-1]
	}
	at, _ := slices.BinarySearchFunc(b.all, cosine, func(n near, cosine float64) int {
		if n.cosine >= cosine {
			return -1
		}
		return 1
	})
	b.all = slices.Insert(b.all, at, near{id, cosine})
}

// apart is the cosine above which a vector stands apart: of n normal deviates the largest is about √(2 ln n) deviations above the mean.
func (b *nearby) apart() float64 {
	if b.n < fewCompared {
		return math.Inf(1)
	}
	n := float64(b.n)
	mean := b.sum / n
	return mean + math.Sqrt(2*math.Log(n)*max(0, b.squares/n-mean*mean))
}

// NearestMemories returns the statements that may be read, are no history, and stand apart as the nearest in meaning, the nearest first.
func (db *DB) NearestMemories(ctx context.Context, w Within, model string, to Vector, limit int) (all []Memory, err error) {
	if len(to) <= vectorHead {
		return nil, nil
	}
	rows, err := db.readers.QueryContext(ctx, `SELECT m.id, v.vector FROM memories m JOIN memory_vectors v ON v.memory_id = m.id
		WHERE NOT m.superseded AND `+scoped+` AND v.model = ? AND length(v.vector) = ? ORDER BY m.said_at DESC LIMIT 0 + ?`,
		append(w.args(), model, len(to), mostStatements)...)
	type statement struct {
		id     int64
		vector Vector
	}
	found, err := collect(db, "compare memories", rows, err, func(row scanner) (s statement, err error) {
		err = row.Scan(&s.id, &s.vector)
		return s, err
	})
	if err != nil {
		return nil, err
	}
	best := nearby{limit: limit}
	for i, s := range found {
		best.add(fmt.Sprint(i), to.Cosine(s.vector))
	}
	for _, n := range best.all {
		if n.cosine <= best.apart() {
			break
		}
		var i int
		if _, err := fmt.Sscan(n.id, &i); err != nil {
			return nil, err
		}
		m, err := db.Memory(ctx, w, found[i].id)
		if errors.Is(err, ErrNotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		all = append(all, m)
	}
	return all, nil
}
