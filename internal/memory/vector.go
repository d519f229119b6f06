package memory

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"

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
func (s *Vectors) Count(ctx context.Context, model string) (int, error) {
	return s.DB.CountRows(ctx, "message_vectors", `model = @model`, store.Args{"model": model})
}

// Nearest describes a search by meaning. Model and Channels are required. Without GuildID, the one channel is a direct message.
type Nearest struct {
	GuildID  string
	Channels []string // readable ones
	Model    string   // the model that made To
	To       Vector
	Except   []string // ids of messages to leave out, such as the question
	Limit    int
}

// Neighbour is a message near in meaning.
type Neighbour struct {
	store.Message
	// Apart says that the message is nearer than chance explains. It is nearer than the nearest of as many vectors would be. Their cosines are
	// taken to be spread around the mean as the examined ones are. The meaning of a cosine of 0.4 depends on the model; this does not.
	Apart bool
}

// Limits of one search.
const (
	mostNear       = 50_000 // the newest messages of a place
	fewCompared    = 20     // among fewer, no vector is apart
	nearestDefault = 50
)

// Nearest returns the messages nearest in meaning, nearest first. It looks at the newest of their server with a vector of the model.
func (s *Vectors) Nearest(ctx context.Context, q Nearest) (all []Neighbour, err error) {
	place := q.GuildID
	if place == "" && len(q.Channels) == 1 {
		place = q.Channels[0]
	}
	if place == "" || len(q.Channels) == 0 || len(q.To) <= vectorHead {
		return nil, nil
	}
	best := Nearby{Limit: cmp.Or(q.Limit, nearestDefault)}
	if err = s.compare(ctx, vectorKey{place, q.Model, len(q.To)}, q, &best); err == nil {
		all, err = s.readNearby(ctx, q, &best)
	}
	if err != nil {
		return nil, fmt.Errorf("find nearest messages: %w", s.DB.Explain(err))
	}
	return all, nil
}

// readNearby reads the messages that are still in readable channels.
func (s *Vectors) readNearby(ctx context.Context, q Nearest, best *Nearby) (all []Neighbour, err error) {
	apart := best.Apart()
	for _, found := range best.All {
		m, err := s.DB.Messages.Get(ctx, found.ID)
		if errors.Is(err, store.ErrNotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		var there bool // it may have lost its vector meanwhile
		if err := s.DB.QueryRow(ctx, hasVectorQuery, m.ID, q.Model).Scan(&there); err != nil {
			return nil, err
		}
		if there && m.GuildID == q.GuildID && slices.Contains(q.Channels, m.ChannelID) {
			all = append(all, Neighbour{m, found.Cosine > apart})
		}
	}
	return all, nil
}

const hasVectorQuery = `SELECT EXISTS (SELECT 1 FROM message_vectors WHERE message_id = ? AND model = ?)`

// Nearby keeps the nearest of many vectors, nearest first, and the spread of all cosines.
type Nearby struct {
	Limit        int
	All          []Near
	n            int
	sum, squares float64
}

// Near is a vector with its cosine.
type Near struct {
	ID     string
	Cosine float64
}

// Add compares one more vector.
func (b *Nearby) Add(id string, cosine float64) {
	b.n++
	b.sum += cosine
	b.squares += cosine * cosine
	if len(b.All) == b.Limit && cosine <= b.All[len(b.All)-1].Cosine {
		return
	}
	if len(b.All) == b.Limit {
		b.All = b.All[:len(b.All)-1]
	}
	at, _ := slices.BinarySearchFunc(b.All, cosine, func(n Near, cosine float64) int {
		if n.Cosine >= cosine {
			return -1
		}
		return 1
	})
	b.All = slices.Insert(b.All, at, Near{id, cosine})
}

// Apart returns the cosine above which a vector is apart. The largest of n normal deviates is about √(2 ln n) deviations above the mean.
func (b *Nearby) Apart() float64 {
	if b.n < fewCompared {
		return math.Inf(1)
	}
	n := float64(b.n)
	mean := b.sum / n
	return mean + math.Sqrt(2*math.Log(n)*max(0, b.squares/n-mean*mean))
}

// SQLite takes eight times as long to read a vector as it takes to compare it. So the vectors of a place stay in memory after the first
// search. Changes of the file change them here. Results are looked up in the file, because the cache may hold too much for a moment.

const (
	vectorCacheBytes = 32 << 20 // for all cached vectors
	rowsAtOnce       = 1 << 20  // bytes of vectors read by one query
)

// vectorCache holds vectors in memory. The zero value is ready.
type vectorCache struct {
	mu      sync.Mutex
	all     map[vectorKey]*cachedVectors // guarded by mu
	bytes   int                          // of all; guarded by mu
	changes int                          // number of changes so far; guarded by mu
	asks    int                          // number of searches so far; guarded by mu
}

// vectorKey says which vectors can be compared.
type vectorKey struct {
	place, model string
	width        int // bytes of a vector
}

// cachedVectors are the vectors of a place, in no order.
type cachedVectors struct {
	ids      []string
	at       map[string]int // index by id
	channels []string       // parallel to ids
	data     []byte
	last     int // the search that used it last
}

// compare adds the vectors of readable channels to best.
func (s *Vectors) compare(ctx context.Context, key vectorKey, q Nearest, best *Nearby) error {
	ms := &s.cache
	ms.mu.Lock()
	m, changes := ms.all[key], ms.changes
	ms.mu.Unlock()
	if m == nil {
		var err error
		if m, err = s.read(ctx, key); err != nil {
			return err
		}
	}
	ms.mu.Lock()
	defer ms.mu.Unlock()
	if ms.all[key] == nil && changes == ms.changes { // otherwise it may miss a change
		ms.keep(key, m)
	}
	ms.asks++
	m.last = ms.asks
	m.compare(q, best)
	return nil
}

// keep adds vectors to the cache and drops the least recently used ones. The caller holds mu.
func (ms *vectorCache) keep(key vectorKey, m *cachedVectors) {
	if ms.all == nil {
		ms.all = map[vectorKey]*cachedVectors{}
	}
	ms.all[key] = m
	ms.bytes += len(m.data)
	for ms.bytes > vectorCacheBytes && len(ms.all) > 1 {
		oldest := key
		for k, other := range ms.all {
			if k != key && (oldest == key || other.last < ms.all[oldest].last) {
				oldest = k
			}
		}
		ms.drop(oldest)
	}
}

// drop removes vectors from the cache. The caller holds mu.
func (ms *vectorCache) drop(key vectorKey) {
	ms.bytes -= len(ms.all[key].data)
	delete(ms.all, key)
}

// add adds a vector that was saved.
func (ms *vectorCache) add(place, model, channel, id string, v Vector) {
	ms.mu.Lock()
	defer ms.mu.Unlock()
	ms.changes++
	key := vectorKey{place, model, len(v)}
	m := ms.all[key]
	if m == nil {
		return
	}
	m.remove(id)
	m.add(id, channel, v)
	ms.bytes += len(v)
	if len(m.ids) > mostRows(key)*11/10 { // it holds too many; the next search reads it again
		ms.drop(key)
	}
}

// Forget empties the memory, because other processes may have changed the file.
func (s *Vectors) Forget() {
	ms := &s.cache
	ms.mu.Lock()
	defer ms.mu.Unlock()
	ms.all, ms.bytes = nil, 0
	ms.changes++
}

// changed notes that the vector of a message moved to another channel, or is deleted if that is empty.
func (ms *vectorCache) changed(id, channelID string) {
	ms.mu.Lock()
	defer ms.mu.Unlock()
	ms.changes++
	for _, m := range ms.all {
		i, there := m.at[id]
		switch {
		case there && channelID == "":
			ms.bytes -= len(m.data) / len(m.ids)
			m.remove(id)
		case there:
			m.channels[i] = channelID
		}
	}
}

func (m *cachedVectors) add(id, channel string, v Vector) {
	m.at[id] = len(m.ids)
	m.ids, m.channels, m.data = append(m.ids, id), append(m.channels, channel), append(m.data, v...)
}

// remove replaces a vector with the last one.
func (m *cachedVectors) remove(id string) {
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

func (m *cachedVectors) compare(q Nearest, best *Nearby) {
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
			best.Add(id, float64(dot(q.To[vectorHead:], v[vectorHead:]))*scale*v.inverse())
		}
	}
}

// mostRows returns how many vectors of a place are compared.
func mostRows(key vectorKey) int { return min(mostNear, vectorCacheBytes/key.width) }

// vectorsQuery returns many vectors, ids and channels in one row: fetching rows one by one takes longer.
const vectorsQuery = `SELECT count(*), coalesce(min(at), 0), coalesce(group_concat(message_id, char(10)), ''), coalesce(group_concat(channel_id, char(10)), ''),
	CAST(coalesce(group_concat(vector, ''), '') AS BLOB) FROM
	(SELECT at, message_id, channel_id, vector FROM message_vectors WHERE place = ? AND model = ? AND (at, message_id) < (?, ?) AND length(vector) = ?
	ORDER BY at DESC, message_id DESC LIMIT 0 + ?) AS newest`

// read reads the newest vectors of a place.
func (s *Vectors) read(ctx context.Context, key vectorKey) (*cachedVectors, error) {
	m := &cachedVectors{at: map[string]int{}}
	names := map[string]string{} // of channels, one string each
	at, last := int64(math.MaxInt64), ""
	var vectors sql.RawBytes
	for {
		most := min(max(1, rowsAtOnce/key.width), mostRows(key)-len(m.ids))
		rows, err := s.DB.Query(ctx, vectorsQuery, key.place, key.model, at, last, key.width, most)
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
