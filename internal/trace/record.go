package trace

import (
	"bytes"
	"context"
	"crypto/hmac"
	"database/sql"
	_ "embed" // the dictionary
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/klauspost/compress/zstd"

	"familiar/internal/store"
)

// partBytes is the most bytes of a record in one row: four rows fill a page of the file.
const partBytes = 1000

const (
	openQuery  = `INSERT INTO open_records (trace_id, body) VALUES (?, ?) ON CONFLICT (trace_id) DO UPDATE SET body = excluded.body`
	closeQuery = `DELETE FROM open_records WHERE trace_id = ?`
	placeQuery = `SELECT part, parts FROM traces WHERE id = ?`
	partQuery  = `INSERT INTO record_parts (body) VALUES (?)`

	// bodyQuery returns the parts of a record. The condition is appended.
	bodyQuery = `SELECT t.id, coalesce(p.body, o.body, t.record) FROM traces t LEFT JOIN open_records o ON o.trace_id = t.id
		LEFT JOIN record_parts p ON p.id >= t.part AND p.id < t.part + t.parts `
)

// place says which rows hold the parts of a record: n rows, beginning with first.
type place struct{ first, n int64 }

func (p *statements) saveParts(tx *sql.Tx, body []byte) (at place, err error) {
	stmt := tx.Stmt(p.part)
	for ; len(body) > 0; at.n++ {
		size := min(len(body), partBytes)
		r, err := stmt.Exec(body[:size])
		if err != nil {
			return place{}, err
		}
		if at.n == 0 { // the next rows have the next ids, because there is one writer
			if at.first, err = r.LastInsertId(); err != nil {
				return place{}, err
			}
		}
		body = body[size:]
	}
	return at, nil
}

// saveRecord replaces a record and its line in lists. It keeps the body if the turn is over, otherwise the text. Fresh says that the record
// has no parts yet.
func (p *statements) saveRecord(tx *sql.Tx, line Summary, guildID, text string, body []byte, fresh bool) error {
	if !fresh {
		if err := dropParts(tx, tx.Stmt(p.place).QueryRow(line.ID)); err != nil && !errors.Is(err, sql.ErrNoRows) {
			return err
		}
	}
	if !line.Phase.Over() {
		if err := upsert(tx.Stmt(p.upsert), line, guildID, place{}); err != nil {
			return err
		}
		_, err := tx.Stmt(p.open).Exec(line.ID, []byte(text))
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

// dropParts removes the parts of a record. The row is the result of placeQuery.
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

// packer compresses what is kept. Its zero value is ready for use, from many goroutines.
type packer struct {
	once sync.Once
	dec  *zstd.Decoder
	err  error
	mu   sync.Mutex // held while an encoder works: each takes 0.8 MB, so that one a processor is enough
	encs sync.Pool  // of *zstd.Encoder; none is kept while there are no turns
	bufs sync.Pool  // of *[]byte
}

const (
	// window is how far back the encoder looks, in bytes. Nearly all records are smaller, and its memory grows with it.
	window = 64 << 10
	// largeBuffer is the capacity in bytes above which a buffer is not reused: most records are far smaller.
	largeBuffer = 64 << 10
	// maxUnpacked bounds the memory that a damaged record can ask for, in bytes.
	maxUnpacked = 64 << 20
)

// dictionary holds what records have in common, the most frequent last. Without it, half of a short record is the names of its fields.
// Whatever was compressed with it can only be read with exactly these bytes. A better dictionary is added beside it, with the next number.
//
//go:embed record1.dict
var dictionary []byte

const dictionaryID = 1

// frameMagic is the beginning of every zstd frame (RFC 8878, 3.1.1). No text begins so: the second byte is not valid UTF-8 there.
var frameMagic = []byte{0x28, 0xb5, 0x2f, 0xfd}

func (p *packer) open() error {
	p.once.Do(func() {
		p.dec, p.err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(2), zstd.WithDecoderLowmem(true),
			zstd.WithDecoderMaxMemory(maxUnpacked), zstd.WithDecoderDictRaw(dictionaryID, dictionary))
	})
	return p.err
}

// encoder lends an encoder, which the caller puts back into p.encs. mu is held.
func (p *packer) encoder() (*zstd.Encoder, error) {
	if e, ok := p.encs.Get().(*zstd.Encoder); ok {
		return e, nil
	}
	return zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1),
		zstd.WithWindowSize(window), zstd.WithLowerEncoderMem(true), zstd.WithEncoderDictRaw(dictionaryID, dictionary))
}

// pack compresses a text. If that is impossible, which only wrong options could cause, it returns the text.
func (p *packer) pack(text string) []byte {
	p.mu.Lock()
	defer p.mu.Unlock()
	enc, err := p.encoder()
	if err != nil {
		return []byte(text)
	}
	defer p.encs.Put(enc)
	var body []byte
	p.with(func(buf []byte) []byte {
		buf = append(buf, text...)
		body = enc.EncodeAll(buf, make([]byte, 0, len(text)/4+64))
		return buf
	})
	return body
}

// with lends an empty buffer to f, which returns it and must not keep it.
func (p *packer) with(f func(buf []byte) []byte) {
	buf, _ := p.bufs.Get().(*[]byte)
	if buf == nil {
		buf = new([]byte)
	}
	if *buf = f((*buf)[:0]); cap(*buf) <= largeBuffer {
		p.bufs.Put(buf)
	}
}

// unpack returns the text of a body. Old records were not compressed.
func (p *packer) unpack(body []byte) (string, error) {
	if !bytes.HasPrefix(body, frameMagic) {
		return string(body), nil
	}
	if err := p.open(); err != nil {
		return "", err
	}
	text, err := p.dec.DecodeAll(body, nil)
	if err != nil {
		return "", fmt.Errorf("unpack: %w", err)
	}
	return string(text), nil
}

// maxRepeated is how many shared texts are remembered. Those of one character differ by mode, by asker, and by what was said before.
const maxRepeated = 1024

// repeated remembers which shared texts are kept, so that they are not redacted and compressed in every turn.
type repeated struct {
	mu   sync.Mutex
	kept map[sum]sum // guarded by mu: the hash of each text as it is kept, by its hash before redaction
}

// empty forgets all texts.
func (r *repeated) empty() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.kept = nil
}

// get returns the hash of a text as it is kept by its hash before redaction. It reports whether it is kept.
func (r *repeated) get(raw sum) (kept sum, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	kept, ok = r.kept[raw]
	return kept, ok
}

// add notes that a text is kept.
func (r *repeated) add(raw, kept sum) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.kept == nil || len(r.kept) >= maxRepeated {
		r.kept = map[sum]sum{}
	}
	r.kept[raw] = kept
}

// Button is the meaning of a button under a reply. It is valid as long as there is a record of the turn.
type Button struct {
	TurnID string // the turn that wrote the reply
	Kind   string
}

// ButtonKey returns the key of a button, which never changes. It contains a keyed hash, so nobody can guess it. It has no colon and at most 80
// characters.
func (s *Store) ButtonKey(b Button) string {
	mac := s.DB.MAC("button\x00" + b.TurnID + "\x00" + b.Kind)
	return b.TurnID + "." + strings.ReplaceAll(b.Kind, ":", "~") + "." + base64.RawURLEncoding.EncodeToString(mac)
}

// Button returns the meaning of the button with a key, or [store.ErrNotFound].
func (s *Store) Button(ctx context.Context, key string) (b Button, err error) {
	if turnID, rest, ok := strings.Cut(key, "."); ok {
		kind, _, _ := strings.Cut(rest, ".")
		b = Button{turnID, strings.ReplaceAll(kind, "~", ":")}
		if !hmac.Equal([]byte(s.ButtonKey(b)), []byte(key)) {
			return Button{}, fmt.Errorf("read button: %w", store.ErrNotFound)
		}
		err = s.DB.Read().QueryRowContext(ctx, `SELECT id FROM traces WHERE id = ?`, turnID).Scan(&b.TurnID)
	} else { // an old button, when they were kept
		err = s.DB.Read().QueryRowContext(ctx, `SELECT turn_id, kind FROM buttons WHERE key = ?`, key).Scan(&b.TurnID, &b.Kind)
	}
	if err != nil {
		return Button{}, fmt.Errorf("read button: %w", s.DB.Explain(err))
	}
	return b, nil
}
