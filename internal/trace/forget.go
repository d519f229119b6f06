package trace

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/store"
)

const (
	// deleted stands in a record where a message stood.
	deleted = "(deleted)"
	// questionDeleted is the cause given to a turn whose record is no more than its skeleton.
	questionDeleted = "the question was deleted, and what was known of it"

	// skew is how far the clocks of messages and of turns may be apart.
	skew = 10 * time.Minute
	// forgetBatch is how many records are looked up at a time.
	forgetBatch = 100
	// inFlight is how long a turn that has seen a message may still be saved.
	inFlight = time.Hour
)

// errStale says that a record changed, or what is forgotten, while it was being written anew.
var errStale = errors.New("changed meanwhile")

// Forget deletes messages, and takes out of the records what they said. Of a turn that answered one of them the skeleton is
// left: who, where, when, how it went. In other records of the channel, whose prompts may hold it, the message and every place
// where its words stand is marked. It goes on with what an earlier call did not finish, be it of another process.
func (s *Store) Forget(ctx context.Context, messageIDs ...string) error {
	for _, id := range messageIDs {
		if err := s.DB.DeleteMessage(ctx, id); err != nil {
			return err
		}
	}
	s.forgetting.Lock()
	defer s.forgetting.Unlock()
	all, err := s.DB.Forgetting(ctx)
	if err != nil {
		return err
	}
	if len(all) == 0 {
		return nil
	}
	s.unlearn(all)
	if err := s.forget(ctx, all); err != nil {
		return fmt.Errorf("take deleted messages out of the records: %w", err)
	}
	for _, m := range all {
		if err := s.DB.Forgotten(ctx, m.ID); err != nil {
			return err
		}
	}
	return nil
}

// unlearn lets no turn that is going on save the messages anew.
func (s *Store) unlearn(ms []store.Message) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	var all []gone // a new one: others may be reading the old
	for _, m := range ms {
		all = append(all, gone{m.ID, m.Text, now})
	}
	for _, g := range s.gone {
		if now.Sub(g.at) < inFlight {
			all = append(all, g)
		}
	}
	s.gone, s.saved = all, nil
	s.unlearned++
}

// gone is a message that was deleted a short while ago.
type gone struct {
	id, text string
	at       time.Time
}

// goneNow returns what was deleted a short while ago, and a number that changes with it.
func (s *Store) goneNow() ([]gone, int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.gone, s.unlearned
}

// forget goes through the records that may hold messages.
func (s *Store) forget(ctx context.Context, ms []store.Message) error {
	since := map[string]time.Time{} // by channel, when the first of them was written
	for i := range ms {
		m := &ms[i]
		own, err := s.answered(ctx, m)
		if err != nil {
			return err
		}
		for _, id := range own {
			if err := s.rewrite(ctx, id, ms[i:i+1]); err != nil {
				return err
			}
		}
		if at, ok := since[m.ChannelID]; m.ChannelID != "" && (!ok || m.At.Before(at)) {
			since[m.ChannelID] = m.At
		}
	}
	for channel, at := range since {
		in := slices.DeleteFunc(slices.Clone(ms), func(m store.Message) bool { return m.ChannelID != channel })
		if err := s.forgetIn(ctx, channel, at.Add(-skew), in); err != nil {
			return err
		}
	}
	return nil
}

// answered returns the turns that answered a message, wrote it or quoted it. Where the message was not kept it is given the channel and
// the time of the first of them.
func (s *Store) answered(ctx context.Context, m *store.Message) (ids []string, err error) {
	// In the writer's turn: what was saved by those who did not know is there now.
	err = s.DB.Write(ctx, func(tx *sql.Tx) error {
		rows, err := tx.Query(`SELECT trace_id FROM trace_messages WHERE message_id = ? ORDER BY trace_id`, m.ID)
		if err == nil {
			ids, err = strs(rows)
		}
		if err != nil || m.ChannelID != "" || len(ids) == 0 {
			return err
		}
		var began int64
		err = tx.QueryRow(`SELECT channel_id, began FROM traces WHERE id = ?`, ids[0]).Scan(&m.ChannelID, &began)
		m.At = time.UnixMicro(began)
		return err
	})
	if err != nil {
		return nil, err
	}
	rows, err := s.DB.Read().QueryContext(ctx, `SELECT trace_id FROM trace_quotes WHERE message_id = ? ORDER BY trace_id`, m.ID)
	if err != nil {
		return nil, s.DB.Explain(err)
	}
	quoting, err := strs(rows)
	return append(ids, quoting...), s.DB.Explain(err)
}

// forgetIn goes through the records of a channel's turns since some time: the history of any of them may hold the messages.
func (s *Store) forgetIn(ctx context.Context, channel string, since time.Time, ms []store.Message) error {
	began, last := since.UnixMicro(), ""
	for {
		rows, err := s.DB.Read().QueryContext(ctx, `SELECT id, began FROM traces WHERE channel_id = ? AND (began, id) > (?, ?)
			ORDER BY began, id LIMIT ?`, channel, began, last, forgetBatch)
		if err != nil {
			return s.DB.Explain(err)
		}
		var ids []string
		for rows.Next() {
			if err := rows.Scan(&last, &began); err != nil {
				rows.Close()
				return s.DB.Explain(err)
			}
			ids = append(ids, last)
		}
		if err := errors.Join(rows.Err(), rows.Close()); err != nil {
			return s.DB.Explain(err)
		}
		for _, id := range ids {
			if err := s.rewrite(ctx, id, ms); err != nil {
				return err
			}
		}
		if len(ids) < forgetBatch {
			return nil
		}
	}
}

// rewrite writes a record without messages, if it holds any of them.
func (s *Store) rewrite(ctx context.Context, id string, ms []store.Message) error {
	holds := func(text string) bool {
		return slices.ContainsFunc(ms, func(m store.Message) bool { return strings.Contains(text, `"`+m.ID+`"`) })
	}
	return s.amend(ctx, id, holds, func(t *turn.Trace) (changed bool) {
		for _, m := range ms {
			changed = takeOut(t, m.ID, m.Text) || changed
		}
		return changed
	})
}

// Press notes on a turn's record that a button under its reply was pressed; who did so is left out if they have opted out.
func (s *Store) Press(ctx context.Context, id string, p turn.Press) error {
	by, err := s.DB.Standing(ctx, p.ByID)
	if err != nil {
		return err
	}
	if !by.OptedOut.IsZero() {
		p.ByID = ""
	}
	always := func(string) bool { return true }
	return s.amend(ctx, id, always, func(t *turn.Trace) bool {
		t.Presses = append(t.Presses, p)
		return true
	})
}

// amend changes a record, if its text is of interest and change reports that it has changed it. Nothing that is saved meanwhile is
// lost: it begins anew then.
func (s *Store) amend(ctx context.Context, id string, interests func(text string) bool, change func(*turn.Trace) bool) error {
	for range 10 {
		_, body, err := readBody(s.DB.Read().QueryContext(ctx, bodyQuery+`WHERE t.id = ? ORDER BY p.id`, id))
		if errors.Is(err, store.ErrNotFound) {
			return nil // it was pruned
		}
		if err != nil {
			return s.DB.Explain(err)
		}
		text, err := s.packer.unpack(body)
		if err != nil || !interests(text) {
			return nil // what cannot be unpacked nobody reads
		}
		t, err := s.decode(body)
		if err != nil {
			return nil
		}
		if err := s.attach(ctx, t, id); err != nil {
			return s.DB.Explain(err)
		}
		if !change(t) {
			return nil
		}
		err = s.write(ctx, t, func(tx *sql.Tx) error {
			_, now, err := readBody(tx.Query(bodyQuery+`WHERE t.id = ? ORDER BY p.id`, id))
			if err == nil && !slices.Equal(now, body) {
				err = errStale
			}
			return err
		})
		if errors.Is(err, store.ErrNotFound) {
			return nil
		}
		if !errors.Is(err, errStale) {
			return err
		}
	}
	return errStale
}

// withoutGone returns the record without what was deleted while its turn went on: t itself if that is nothing.
func withoutGone(t *turn.Trace, all []gone) (*turn.Trace, error) {
	if len(all) == 0 {
		return t, nil
	}
	text, err := encode(t)
	if err != nil {
		return nil, err
	}
	for _, g := range all {
		if !strings.Contains(text, `"`+g.id+`"`) {
			continue
		}
		if t, err = (&Store{}).decode([]byte(text)); err != nil {
			return nil, err
		}
		takeOut(t, g.id, g.text)
		if text, err = encode(t); err != nil {
			return nil, err
		}
	}
	return t, nil
}
