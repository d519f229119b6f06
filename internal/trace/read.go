package trace

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/store"
)

// minPrefix is the least length of a prefix that Get accepts, in bytes.
const minPrefix = 4

// Ambiguous is the error if several records have an id that begins with Prefix.
type Ambiguous struct {
	Prefix string
	IDs    []string // the first 10 in order
}

func (e *Ambiguous) Error() string {
	return fmt.Sprintf("several traces begin with %s: %s", e.Prefix, strings.Join(e.IDs, ", "))
}

// Get returns the record with an id, or the only record whose id begins with it. A prefix has at least 4 characters, and case does not
// matter. The error is [store.ErrNotFound] if there is no record and [*Ambiguous] if there are several. The caller owns the record.
func (s *Store) Get(ctx context.Context, id string) (*turn.Trace, error) {
	full, err := s.find(ctx, id)
	if err != nil {
		return nil, fmt.Errorf("read trace %s: %w", id, err)
	}
	return s.read(ctx, full, bodyQuery+`WHERE t.id = ? ORDER BY p.id`)
}

// ByMessage returns the record of the turn whose answer a message shows. Else it is the newest of a turn that answered or wrote it. The
// error is [store.ErrNotFound] if there is none. The caller owns the record.
func (s *Store) ByMessage(ctx context.Context, messageID string) (*turn.Trace, error) {
	return s.read(ctx, messageID, bodyQuery+`WHERE t.id = (SELECT l.id FROM trace_messages m JOIN traces l ON l.id = m.trace_id
		WHERE m.message_id = ?1 ORDER BY l.id = coalesce((SELECT turn_id FROM messages WHERE id = ?1), '') DESC, l.began DESC, l.id DESC LIMIT 1) ORDER BY p.id`)
}

// Answers returns the records of all turns that answered a message, oldest first. The caller owns the records.
func (s *Store) Answers(ctx context.Context, messageID string) (all []*turn.Trace, err error) {
	ids, err := store.List(ctx, s.DB, "read traces of message "+messageID, store.ScanValue[string], `SELECT t.id FROM trace_messages m JOIN traces t ON t.id = m.trace_id
		WHERE m.message_id = ? ORDER BY t.began, t.id`, messageID)
	if err != nil {
		return nil, err
	}
	for _, id := range ids {
		t, err := s.read(ctx, id, bodyQuery+`WHERE t.id = ? ORDER BY p.id`)
		if errors.Is(err, store.ErrNotFound) { // it was pruned meanwhile
			continue
		}
		if err != nil {
			return nil, err
		}
		if t.Request.Message.ID != messageID && !slices.Contains(t.Request.Burst, messageID) { // it wrote the message
			continue
		}
		all = append(all, t)
	}
	return all, nil
}

func (s *Store) find(ctx context.Context, id string) (string, error) {
	for _, prefix := range []string{id, strings.ToUpper(id)} { // people may type a ULID in small letters
		ids, err := s.candidates(ctx, prefix)
		switch {
		case err != nil:
			return "", err
		case len(ids) > 0 && ids[0] == prefix, len(ids) == 1 && len(prefix) >= minPrefix:
			return ids[0], nil
		case len(ids) > 1 && len(prefix) >= minPrefix:
			return "", &Ambiguous{Prefix: prefix, IDs: ids}
		}
	}
	return "", store.ErrNotFound
}

// candidates returns the first ids that begin with a prefix, in order: the prefix itself comes first.
func (s *Store) candidates(ctx context.Context, prefix string) ([]string, error) {
	return store.List(ctx, s.DB, "find ids", store.ScanValue[string], `SELECT id FROM traces WHERE id >= ? AND id < ? ORDER BY id LIMIT 10`,
		prefix, prefix+"\U0010FFFF")
}

// read returns the record that a query finds by its only parameter.
func (s *Store) read(ctx context.Context, key, query string) (*turn.Trace, error) {
	id, record, err := readBody(s.DB.Read().QueryContext(ctx, query, key))
	if err != nil {
		return nil, fmt.Errorf("read trace %s: %w", key, s.DB.Explain(err))
	}
	t, err := s.decode(record)
	if err != nil {
		return nil, fmt.Errorf("read trace %s: %w", id, err)
	}
	if err := s.attach(ctx, t, id); err != nil {
		return nil, fmt.Errorf("read texts of trace %s: %w", id, s.DB.Explain(err))
	}
	return t, nil
}

// decode reads the body of a record. The texts that are kept apart are missing.
func (s *Store) decode(record []byte) (*turn.Trace, error) {
	text, err := s.packer.unpack(record)
	if err != nil {
		return nil, err
	}
	t := new(turn.Trace)
	return t, json.Unmarshal([]byte(text), t)
}

// encode writes a record as JSON. Pages and prompts are full of < and >, which need no escape here.
func encode(t *turn.Trace) (string, error) {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(t)
	return b.String(), err
}

// eachBatch is how many ids are read at a time.
const eachBatch = 100

// Each calls do with the records of all turns that began at a time or later. It does so one after the other, ordered by id. Records that
// cannot be read are left out. An error of do ends it.
func (s *Store) Each(ctx context.Context, since time.Time, do func(*turn.Trace) error) error {
	from := int64(math.MinInt64)
	if !since.IsZero() {
		from = since.UnixMicro()
	}
	for last, more := "", true; more; {
		ids, err := store.List(ctx, s.DB, "list ids", store.ScanValue[string], `SELECT id FROM traces WHERE id > ? AND began >= ? ORDER BY id LIMIT ?`, last, from, eachBatch)
		if err != nil {
			return err
		}
		for _, id := range ids {
			last = id
			t, err := s.read(ctx, id, bodyQuery+`WHERE t.id = ? ORDER BY p.id`)
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if err != nil {
				continue
			}
			if err := do(t); err != nil {
				return err
			}
		}
		more = len(ids) == eachBatch
	}
	return nil
}

// Of returns the records of a person's turns since a time, ordered by id. It also returns when the oldest record of anybody began, or the
// zero time if there is none.
func (s *Store) Of(ctx context.Context, personID string, since time.Time) (all []*turn.Trace, first time.Time, err error) {
	who := s.DB.Privacy.Pseudonym(personID)
	err = s.Each(ctx, time.Time{}, func(t *turn.Trace) error {
		if first.IsZero() || t.Began.Before(first) {
			first = t.Began
		}
		if by := t.Request.Message.Author.ID; (by == personID || by == who) && !t.Began.Before(since) {
			all = append(all, t)
		}
		return nil
	})
	return all, first, err
}
