package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"
)

// Incoming is a message from Discord, with its claim if it asks for a turn.
type Incoming struct {
	Message Message
	Claim   string // id of the event that asks for a turn, or empty
	Event   string // what a restart needs to go on with it, or empty
}

// OpenClaim is a claimed event without an answer.
type OpenClaim struct {
	Claim  string
	At     time.Time // when it was claimed
	Event  string    // as given to SaveIncoming
	TurnID string    // the turn that answers it, or empty
	Posts  []Post    // of that turn, in order
}

// Post is a message that a turn posted.
type Post struct{ ID, Text string }

// SaveIncoming saves messages and claims the events of those that ask for a turn, in one transaction. For each message it reports whether
// it is new. It is not new if its event was claimed before, or, without a claim, if the message is there already. Nor is it if another process
// must answer it. Then nothing is saved, because an old event may come again after an edit. The names of authors are kept, see [People.Names]. For people who opted out only the
// claim is kept. What people wrote before they were forgotten is never new.
func (s *Messages) SaveIncoming(ctx context.Context, all ...Incoming) (first []bool, err error) {
	met := false
	err = s.db.Write(ctx, func(tx *sql.Tx) error {
		first, met = make([]bool, len(all)), false
		for i, a := range all {
			var someone bool
			var err error
			if first[i], someone, err = s.saveIncoming(tx, a); err != nil {
				return err
			}
			met = met || someone
		}
		return nil
	})
	if met {
		s.db.names.changed()
	}
	if err != nil {
		return nil, fmt.Errorf("save arriving messages: %w", err)
	}
	return first, nil
}

// saveIncoming saves one message. met reports whether it noted a name of the author.
func (s *Messages) saveIncoming(tx *sql.Tx, a Incoming) (first, met bool, err error) {
	if a.Event, err = s.db.Privacy.keptEvent(tx, a.Event); err != nil {
		return false, false, err
	}
	kept, err := s.keeps(tx, a.Message)
	if err != nil {
		return false, false, err
	}
	if !kept && !a.Message.Own {
		standing, err := s.db.Privacy.StandingIn(tx, a.Message.AuthorID)
		if err != nil || !standing.Forgotten.IsZero() && !a.Message.At.After(standing.Forgotten) {
			return false, false, err
		}
	}
	if a.Claim != "" {
		if err := s.db.Leases.check(tx, a.Message.GuildID, true); err != nil {
			if errors.Is(err, ErrLost) {
				err = nil
			}
			return false, false, err
		}
		state := "waiting" // after a loss of power Discord has the message again, and nothing of an answer is visible before Begin
		if a.Event == "" {
			state = "done"
			s.db.mustLast()
		}
		r, err := s.db.stmt(tx, claimEvent).Exec(a.Claim, s.db.Now().UnixMicro(), state, a.Event)
		if err != nil {
			return false, false, err
		}
		if first, err = changed(r); err != nil || !first {
			return false, false, err
		}
	}
	m := a.Message
	if !kept {
		return true, false, nil
	}
	row, err := s.insert(tx, m)
	if err != nil {
		return false, false, err
	}
	isNew := row > 0
	if a.Claim == "" {
		if first = isNew; !first {
			return false, false, nil
		}
	}
	if isNew {
		if err := s.index(tx, row, m); err != nil {
			return false, false, err
		}
	}
	if m.GuildID != "" && s.db.left.Load() {
		if _, err := s.db.stmt(tx, returnGuild).Exec(m.GuildID); err != nil {
			return first, false, err
		}
	}
	if m.Own || m.GuildID == "" || m.AuthorID == "" || m.AuthorName == "" {
		return first, false, nil
	}
	r, err := s.db.stmt(tx, metQuery).Exec(m.GuildID, m.AuthorID, m.AuthorName, m.At.UnixMicro(), metAgain.Microseconds())
	if err != nil {
		return first, false, err
	}
	met, err = changed(r)
	return first, met, err
}

// Replace saves messages that take the place of an original, deletes the original, and reports whether it had been claimed. If not, it is
// claimed now, and nothing else changes.
func (s *Messages) Replace(ctx context.Context, original string, all ...Incoming) (claimed bool, err error) {
	first, err := s.db.Claims.Claim(ctx, original)
	if err != nil || first {
		return false, err
	}
	_, err = s.SaveIncoming(ctx, all...)
	return true, errors.Join(err, s.Delete(ctx, original))
}

// Claim claims an event that asks for no turn, and reports whether it is new. An event without an id is always new.
func (s *Claims) Claim(ctx context.Context, event string) (first bool, err error) {
	if event == "" {
		return true, nil
	}
	err = s.db.Change(ctx, "claim event", func(tx *sql.Tx) (err error) {
		first, err = s.claim(tx, event)
		return err
	})
	return first && err == nil, err
}

// ClaimIn is Claim for what the bot does of itself in a server. The error is [ErrLost] if another process acts for the server.
func (s *Claims) ClaimIn(ctx context.Context, guildID, event string) (first bool, err error) {
	err = s.db.Leases.change(ctx, "claim event", guildID, true, func(tx *sql.Tx) (err error) {
		first, err = s.claim(tx, event)
		return err
	})
	return first && err == nil, err
}

func (s *Claims) claim(tx *sql.Tx, event string) (first bool, err error) {
	s.db.mustLast()
	r, err := s.db.stmt(tx, claimEvent).Exec(event, s.db.Now().UnixMicro(), "done", "")
	if err != nil {
		return false, err
	}
	return changed(r)
}

// Taken reports whether an event was claimed before.
func (s *Claims) Taken(ctx context.Context, event string) (bool, error) {
	return One(s.db, "read a claim", s.db.QueryRow(ctx, `SELECT EXISTS (SELECT 1 FROM claims WHERE event_id = ?)`, event), ScanValue[bool])
}

// Begin notes, in a transaction of [DB.Write], that a turn answers these events. It claims those that are not claimed yet.
func (s *Claims) Begin(tx *sql.Tx, turnID string, events ...string) error {
	for _, e := range events {
		if e == "" {
			continue
		}
		r, err := s.db.stmt(tx, beginClaim).Exec(e, s.db.Now().UnixMicro(), turnID)
		if err != nil {
			return err
		}
		if begun, err := changed(r); err != nil {
			return err
		} else if begun { // its posts may be visible soon, and a restart must know that the turn is its own
			s.db.mustLast()
		}
	}
	return nil
}

// End notes, in a transaction of [DB.Write], that a turn is over, and deletes its posts.
func (s *Claims) End(tx *sql.Tx, turnID string) error {
	s.db.mustLast()
	if _, err := s.db.stmt(tx, endClaims).Exec(turnID); err != nil {
		return err
	}
	_, err := s.db.stmt(tx, deletePosts).Exec(turnID)
	return err
}

// Close notes that these events of a server need no answer any more, because somebody was told so. The error is [ErrLost] if another process
// acts for the server.
func (s *Claims) Close(ctx context.Context, guildID string, events ...string) error {
	return s.db.Leases.change(ctx, "close claims", guildID, false, func(tx *sql.Tx) error { return s.CloseIn(tx, events...) })
}

// CloseIn is [Claims.Close] in a transaction of [DB.Write] that has checked who acts for the server.
func (s *Claims) CloseIn(tx *sql.Tx, events ...string) error {
	s.db.mustLast()
	for _, e := range events {
		if _, err := tx.Exec(`UPDATE claims SET state = 'done', event = '' WHERE event_id = ?`, e); err != nil {
			return err
		}
	}
	return nil
}

// Reopen notes that a turn answers an event again, in the posts of the first answer or in its own. A restart goes on with it. The error is
// [ErrLost] if another process acts for the server.
func (s *Claims) Reopen(ctx context.Context, guildID, claim, turnID, event string, posts ...Post) error {
	return s.db.Leases.change(ctx, "reopen claim", guildID, false, func(tx *sql.Tx) error { return s.ReopenIn(tx, claim, turnID, event, posts...) })
}

// ReopenIn is [Claims.Reopen] in a transaction of [DB.Write].
func (s *Claims) ReopenIn(tx *sql.Tx, claim, turnID, event string, posts ...Post) error {
	s.db.mustLast()
	event, err := s.db.Privacy.keptEvent(tx, event)
	if err != nil || event == "" {
		return err
	}
	_, err = tx.Exec(`INSERT INTO claims (event_id, at, state, turn_id, event) VALUES (?, ?, 'begun', ?, ?)
			ON CONFLICT (event_id) DO UPDATE SET at = excluded.at, state = 'begun', turn_id = excluded.turn_id, event = excluded.event`,
		claim, s.db.Now().UnixMicro(), turnID, event)
	if err == nil {
		err = s.movePosts(tx, turnID, posts)
	}
	return err
}

// MovePosts notes that posts of a server are about to hold the reply of another turn, which is over. The error is [ErrLost] if another process
// acts for the server.
func (s *Claims) MovePosts(ctx context.Context, guildID, turnID string, posts ...Post) error {
	return s.db.Leases.change(ctx, "move posts", guildID, true, func(tx *sql.Tx) error {
		s.db.mustLast()
		return s.movePosts(tx, turnID, posts)
	})
}

func (s *Claims) movePosts(tx *sql.Tx, turnID string, posts []Post) (err error) {
	for n, p := range posts {
		if err == nil { // from now on they are this turn's
			_, err = tx.Exec(`DELETE FROM posts WHERE message_id = ? AND turn_id <> ?`, p.ID, turnID)
		}
		if err == nil {
			_, err = s.db.stmt(tx, savePost).Exec(turnID, n, p.ID, p.Text)
		}
	}
	return err
}

// SavePost saves the nth post of a turn until the turn is over. It leaves out the text if the words of the turn are not kept.
// The error is [ErrLost] if another process acts for the server.
func (s *Claims) SavePost(ctx context.Context, guildID, turnID string, n int, p Post) error {
	return s.db.Leases.change(ctx, "save post", guildID, false, func(tx *sql.Tx) error { return s.SavePostIn(tx, turnID, n, p) })
}

// SavePostIn is [Claims.SavePost] in a transaction of [DB.Write].
func (s *Claims) SavePostIn(tx *sql.Tx, turnID string, n int, p Post) error {
	unkept, err := s.db.Privacy.unkept(tx, turnID)
	if err != nil {
		return err
	}
	if unkept {
		p.Text = ""
	}
	s.db.mustLast()
	_, err = s.db.stmt(tx, savePost).Exec(turnID, n, p.ID, p.Text)
	return err
}

// DropPosts deletes the posts of a turn that is over.
func (s *Claims) DropPosts(ctx context.Context, turnID string) error {
	_, err := s.db.Exec(ctx, "delete posts", deletePosts, turnID)
	return err
}

// Open returns the claimed events without an answer, in the order in which they came.
func (s *Claims) Open(ctx context.Context) ([]OpenClaim, error) {
	all, err := List(ctx, s.db, "read open claims", func(row Scanner) (o OpenClaim, err error) {
		err = row.Scan(&o.Claim, micros{&o.At}, &o.Event, &o.TurnID)
		return o, err
	}, `SELECT event_id, at, event, turn_id FROM claims WHERE state <> 'done' ORDER BY at, event_id`)
	for i := range all {
		if err != nil {
			return nil, err
		}
		all[i].Posts, err = s.Posts(ctx, all[i].TurnID)
	}
	return all, err
}

// Left returns the turns with posts and no open claim. Nobody asked for those, or a post may not hold the last words. No
// turn may be under way.
func (s *Claims) Left(ctx context.Context) (turnIDs []string, err error) {
	return List(ctx, s.db, "read turns that were left", ScanValue[string],
		`SELECT DISTINCT turn_id FROM posts WHERE turn_id NOT IN (SELECT turn_id FROM claims WHERE state <> 'done') ORDER BY turn_id`)
}

// Posts returns the posts of a turn that is not over, in order.
func (s *Claims) Posts(ctx context.Context, turnID string) ([]Post, error) {
	return List(ctx, s.db, "read posts", func(row Scanner) (p Post, err error) {
		err = row.Scan(&p.ID, &p.Text)
		return p, err
	}, `SELECT message_id, text FROM posts WHERE turn_id = ? ORDER BY n`, turnID)
}

// Posted reports whether a message is kept, or is a post of a turn that is not over. A reply in a record counts, too.
func (s *Claims) Posted(ctx context.Context, messageID string) (bool, error) {
	return One(s.db, "look for a post", s.db.readers.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM messages WHERE id = ?)
		OR EXISTS (SELECT 1 FROM posts WHERE message_id = ?) OR EXISTS (SELECT 1 FROM trace_messages WHERE message_id = ?)`, messageID, messageID, messageID), ScanValue[bool])
}

// TurnOf returns the turn that wrote a message, even while it is being taken; "" for a person's message. The error is [ErrNotFound] if the
// message is unknown.
func (s *Messages) TurnOf(ctx context.Context, id string) (turnID string, err error) {
	m, err := s.Get(ctx, id)
	if errors.Is(err, ErrNotFound) {
		err = s.db.Explain(s.db.readers.QueryRowContext(ctx, `SELECT turn_id FROM posts WHERE message_id = ?`, id).Scan(&m.TurnID))
	}
	return m.TurnID, err
}

const (
	claimEvent = `INSERT INTO claims (event_id, at, state, event) VALUES (?, ?, ?, ?) ON CONFLICT (event_id) DO NOTHING`
	beginClaim = `INSERT INTO claims (event_id, at, state, turn_id) VALUES (?, ?, 'begun', ?)
		ON CONFLICT (event_id) DO UPDATE SET state = 'begun', turn_id = excluded.turn_id WHERE claims.state = 'waiting'`
	endClaims   = `UPDATE claims SET state = 'done', event = '' WHERE turn_id = ? AND state = 'begun'`
	returnGuild = `DELETE FROM left_guilds WHERE guild_id = ?`
	deletePosts = `DELETE FROM posts WHERE turn_id = ?`
	savePost    = `INSERT INTO posts (turn_id, n, message_id, text) VALUES (?, ?, ?, ?)
		ON CONFLICT (turn_id, n) DO UPDATE SET message_id = excluded.message_id, text = excluded.text`
)

func changed(r sql.Result) (bool, error) {
	n, err := r.RowsAffected()
	return n > 0, err
}
