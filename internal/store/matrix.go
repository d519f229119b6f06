package store

import (
	"context"
	"database/sql"
	"errors"
	"math"
	"slices"
	"strings"
	"sync"
)

// SQLite takes eight times as long to read a vector as it takes to compare it. So those of a place are kept in memory from the first
// question on, and what changes in the file changes here. What is found is looked up in the file: this may hold too much, for a moment.

const (
	matrixBytes = 32 << 20 // of all vectors that are in memory
	rowsAtOnce  = 1 << 20  // bytes of vectors that are read in one query
)

// matrices are the vectors that are in memory. The zero value is ready.
type matrices struct {
	mu      sync.Mutex
	all     map[matrixKey]*matrix // guarded by mu
	bytes   int                   // of all; guarded by mu
	changes int                   // so far; guarded by mu
	asks    int                   // so far; guarded by mu
}

// matrixKey is what vectors must have in common to be compared.
type matrixKey struct {
	place, model string
	width        int // bytes of a vector
}

// matrix are the vectors of a place, in no order.
type matrix struct {
	ids      []string
	at       map[string]int // where the vector of an id is
	channels []string       // by id
	data     []byte
	last     int // when it was used
}

// compare adds the vectors of the channels that may be read to best.
func (ms *matrices) compare(ctx context.Context, db *DB, key matrixKey, q Nearest, best *nearby) error {
	ms.mu.Lock()
	m, changes := ms.all[key], ms.changes
	ms.mu.Unlock()
	if m == nil {
		var err error
		if m, err = db.readMatrix(ctx, key); err != nil {
			return err
		}
	}
	ms.mu.Lock()
	defer ms.mu.Unlock()
	if ms.all[key] == nil && changes == ms.changes { // else it may lack something
		ms.keep(key, m)
	}
	ms.asks++
	m.last = ms.asks
	m.compare(q, best)
	return nil
}

// keep keeps a matrix, in place of those that were not used for longest. The caller holds mu.
func (ms *matrices) keep(key matrixKey, m *matrix) {
	if ms.all == nil {
		ms.all = map[matrixKey]*matrix{}
	}
	ms.all[key] = m
	ms.bytes += len(m.data)
	for ms.bytes > matrixBytes && len(ms.all) > 1 {
		oldest := key
		for k, other := range ms.all {
			if k != key && (oldest == key || other.last < ms.all[oldest].last) {
				oldest = k
			}
		}
		ms.drop(oldest)
	}
}

// drop frees a matrix. The caller holds mu.
func (ms *matrices) drop(key matrixKey) {
	ms.bytes -= len(ms.all[key].data)
	delete(ms.all, key)
}

// add adds a vector that is in the file now.
func (ms *matrices) add(place, model, channel, id string, v Vector) {
	ms.mu.Lock()
	defer ms.mu.Unlock()
	ms.changes++
	key := matrixKey{place, model, len(v)}
	m := ms.all[key]
	if m == nil {
		return
	}
	m.remove(id)
	m.add(id, channel, v)
	ms.bytes += len(v)
	if len(m.ids) > mostRows(key)*11/10 { // the oldest are to go: it is read anew
		ms.drop(key)
	}
}

// remove removes the vectors of a message.
func (ms *matrices) remove(id string) {
	ms.mu.Lock()
	defer ms.mu.Unlock()
	ms.changes++
	for _, m := range ms.all {
		before := len(m.data)
		m.remove(id)
		ms.bytes -= before - len(m.data)
	}
}

// move makes the vectors of a message those of another channel.
func (ms *matrices) move(id, channel string) {
	ms.mu.Lock()
	defer ms.mu.Unlock()
	ms.changes++
	for _, m := range ms.all {
		if i, there := m.at[id]; there {
			m.channels[i] = channel
		}
	}
}

func (m *matrix) add(id, channel string, v Vector) {
	m.at[id] = len(m.ids)
	m.ids, m.channels, m.data = append(m.ids, id), append(m.channels, channel), append(m.data, v...)
}

// remove moves the last vector to the place of one.
func (m *matrix) remove(id string) {
	i, there := m.at[id]
	if !there {
		return
	}
	last := len(m.ids) - 1
	width := len(m.data) / len(m.ids)
	m.ids[i], m.channels[i] = m.ids[last], m.channels[last]
	copy(m.data[i*width:(i+1)*width], m.data[last*width:])
	clear(m.data[last*width:])
	m.at[m.ids[i]] = i
	m.ids, m.channels, m.data = m.ids[:last], m.channels[:last], m.data[:last*width]
	delete(m.at, id)
}

func (m *matrix) compare(q Nearest, best *nearby) {
	may := make(map[string]bool, len(q.Channels))
	for _, c := range q.Channels {
		may[c] = true
	}
	width, scale := len(q.To), q.To.inverse()
	channel, read := "", false
	for i, id := range m.ids {
		if m.channels[i] != channel {
			channel = m.channels[i]
			read = may[channel]
		}
		if read && !slices.Contains(q.Except, id) {
			v := Vector(m.data[i*width : (i+1)*width])
			best.add(id, float64(dot(q.To[vectorHead:], v[vectorHead:]))*scale*v.inverse())
		}
	}
}

// mostRows is how many vectors of a place are compared.
func mostRows(key matrixKey) int { return min(mostCompared, matrixBytes/key.width) }

// matrixQuery returns vectors one after the other, and the ids and channels they are of: fetching each by itself takes longer.
const matrixQuery = `SELECT count(*), coalesce(min(at), 0), coalesce(group_concat(message_id, char(10)), ''), coalesce(group_concat(channel_id, char(10)), ''),
	CAST(coalesce(group_concat(vector, ''), '') AS BLOB) FROM
	(SELECT at, message_id, channel_id, vector FROM message_vectors WHERE place = ? AND model = ? AND (at, message_id) < (?, ?) AND length(vector) = ?
	ORDER BY at DESC, message_id DESC LIMIT 0 + ?)`

// readMatrix reads the newest vectors of a place.
func (db *DB) readMatrix(ctx context.Context, key matrixKey) (*matrix, error) {
	m := &matrix{at: map[string]int{}}
	names := map[string]string{} // of channels, once each
	at, last := int64(math.MaxInt64), ""
	var vectors sql.RawBytes
	for {
		most := min(max(1, rowsAtOnce/key.width), mostRows(key)-len(m.ids))
		rows, err := db.stmts.matrix.QueryContext(ctx, key.place, key.model, at, last, key.width, most)
		if err != nil {
			return nil, err
		}
		n := 0
		for rows.Next() && err == nil {
			var ids, channels string
			if err = rows.Scan(&n, &at, &ids, &channels, &vectors); err == nil && len(vectors) != n*key.width {
				err = errors.New("vectors are of another length than they were")
			}
			for i := range n {
				var id, channel string
				id, ids, _ = strings.Cut(ids, "\n")
				channel, channels, _ = strings.Cut(channels, "\n")
				if names[channel] == "" {
					names[channel] = strings.Clone(channel)
				}
				last = strings.Clone(id)
				if err == nil {
					m.add(last, names[channel], Vector(vectors[i*key.width:(i+1)*key.width]))
				}
			}
		}
		if err = errors.Join(err, rows.Err(), rows.Close()); err != nil {
			return nil, err
		}
		if n < most || len(m.ids) >= mostRows(key) {
			return m, nil
		}
	}
}
