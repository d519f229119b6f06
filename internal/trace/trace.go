// Package trace keeps the record of each turn, over the tables of [store.DB].
//
// A record is the whole [turn.Trace] as compressed JSON (pack.go), saved anew at each phase of the turn (trace.go, record.go). The
// texts of pages, and those of the prompt that are the same in most turns, are kept apart, once for each text (text.go);
// reading a record puts them back. Beside the record stand the few columns that lists of turns show as a [Summary]
// (list.go), and the words by which turns are found (find.go, said.go). At start-up, turns that the last process left unfinished are marked as that, and records too
// old are pruned (upkeep.go). Messages that people delete are taken out of the records (forget.go), and so are people who want to be
// forgotten, with all else that is kept of them (erase.go), also when a backup brings them back (again.go).
package trace

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"familiar/internal/context/turn"
	"familiar/internal/store"
)

// Store is where the records are. Its methods may be called from many goroutines; their errors are those of
// [store.DB]. It must not be copied after the first Save.
type Store struct {
	DB *store.DB
	// Redact takes secrets out of what is kept, as JSON; nil takes nothing. A person may have written one in a channel.
	Redact func(string) string

	packer   packer
	repeated repeated

	forgetting sync.Mutex // held by Forget
	erasing    sync.Mutex // held by Erase, which locks forgetting

	mu        sync.Mutex
	gone      []gone           // guarded by mu; no slice is ever changed
	expungers []*expunger      // guarded by mu; no slice is ever changed
	unlearned int              // guarded by mu: how often gone or expungers have changed
	stmts     *statements      // guarded by mu; nil before the first Save
	saved     map[string]saved // guarded by mu; by the turn's id
}

// Save keeps the record of a turn, in place of the one it had under the same id, and with it how far the turn has come with
// the messages that it answers. It returns once that would survive the death of the process. It does not change t, nor keep it. Of somebody
// who opted out no more is kept than how it went, and nothing of somebody who was forgotten after the turn began.
func (s *Store) Save(ctx context.Context, t *turn.Trace) error {
	if t.Request.ID == "" {
		return errors.New("save trace: the turn has no id")
	}
	for {
		gone, known := s.goneNow()
		left, err := withoutGone(t, gone)
		var standing map[string]store.Standing
		if err == nil {
			left, standing, err = s.permitted(ctx, left)
		}
		if err == nil && left == nil {
			return s.drop(ctx, t)
		}
		if err == nil {
			err = s.write(ctx, left, func(tx *sql.Tx) error {
				if _, now := s.goneNow(); now != known {
					return errStale
				}
				if !standing[t.Request.Message.Author.ID].OptedOut.IsZero() {
					if err := s.DB.LeaveUnkept(tx, t.Request.ID); err != nil {
						return err
					}
				}
				if err := s.unchangedStanding(tx, standing); err != nil {
					return err
				}
				return s.saveClaims(tx, left)
			})
		}
		if !errors.Is(err, errStale) {
			return err
		}
	}
}

// write writes a record, unless check, which runs in the transaction, returns an error.
func (s *Store) write(ctx context.Context, t *turn.Trace, check func(*sql.Tx) error) error {
	bare, texts := s.detach(t)
	record, err := encode(&bare)
	if err != nil {
		return fmt.Errorf("save trace %s: %w", t.Request.ID, err)
	}
	asked := s.redact(t.Request.Message.Text)
	line := summarise(t, asked)
	record, line.Err = s.redact(record), s.redact(line.Err)
	if over(t.Phase) {
		line.said = s.said(t)
	}
	prepared, err := s.prepare(ctx)
	if err != nil {
		return fmt.Errorf("save trace %s: %w", t.Request.ID, err)
	}
	known := s.known(t.Request.ID)
	var body []byte // of a turn that is over; the others are written again soon
	if over(t.Phase) {
		body = s.packer.pack(record)
	}
	there := known.messages != nil && slices.Equal(known.refs, texts.refs)
	if !there {
		texts.pack() // here, and not where others wait for the transaction
	}
	err = s.DB.Write(ctx, func(tx *sql.Tx) error {
		if err := check(tx); err != nil {
			return err
		}
		if err := prepared.saveRecord(tx, line, t.Request.GuildID, record, body, known.open); err != nil {
			return err
		}
		if err := saveMessages(tx.Stmt(prepared.message), t, known.messages); err != nil {
			return err
		}
		if err := saveQuotes(tx.Stmt(prepared.quote), t); err != nil {
			return err
		}
		if there {
			return nil
		}
		return prepared.saveTexts(tx, t.Request.ID, texts)
	})
	if err != nil {
		return fmt.Errorf("save trace %s: %w", t.Request.ID, err)
	}
	s.remember(t.Request.ID, saved{texts.refs, messagesOf(t), !over(t.Phase)})
	if texts.frame != [2]sum{} && !texts.late {
		s.repeated.add(texts.frame[0], texts.frame[1])
	}
	return nil
}

// saved is what is known of the record of a turn.
type saved struct {
	refs     []ref
	messages []string // by which it is found; nil: nothing is known
	open     bool
}

func (s *Store) known(id string) saved {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.saved[id]
}

// maxSaved is how many turns are remembered: more than are answered at the same time.
const maxSaved = 512

// remember keeps in mind what a record has: each is saved three times.
func (s *Store) remember(id string, of saved) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.saved == nil || len(s.saved) >= maxSaved {
		s.saved = make(map[string]saved, maxSaved)
	}
	s.saved[id] = of
}

// unremember is for what removes texts.
func (s *Store) unremember() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.saved = nil
}

// statements are those that every Save runs.
type statements struct {
	upsert, message, quote   *sql.Stmt
	refs, refer, text        *sql.Stmt
	open, close, place, part *sql.Stmt // of records
}

func (s *Store) prepare(ctx context.Context) (*statements, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stmts != nil {
		return s.stmts, nil
	}
	var all statements
	for into, query := range map[**sql.Stmt]string{
		&all.upsert: upsertQuery, &all.message: messageQuery, &all.quote: quoteQuery, &all.refs: refsQuery, &all.refer: referQuery, &all.text: textQuery,
		&all.open: openQuery, &all.close: closeQuery, &all.place: placeQuery, &all.part: partQuery,
	} {
		var err error
		if *into, err = s.DB.Prepare(ctx, query); err != nil {
			return nil, err
		}
	}
	s.stmts = &all
	return s.stmts, nil
}

const (
	upsertQuery = `INSERT INTO traces (` + summaryColumns + `, guild_id, part, parts, said, record) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, '')
		ON CONFLICT (id) DO UPDATE SET took = excluded.took, phase = excluded.phase, lookup = excluded.lookup,
		author = excluded.author, question = excluded.question, model = excluded.model, err = excluded.err, part = excluded.part, parts = excluded.parts, said = excluded.said, record = ''`
	messageQuery = `INSERT INTO trace_messages (message_id, trace_id) VALUES (?, ?) ON CONFLICT DO NOTHING`
	quoteQuery   = `INSERT INTO trace_quotes (message_id, trace_id) VALUES (?, ?) ON CONFLICT DO NOTHING`
)

func upsert(stmt *sql.Stmt, s Summary, guildID string, at place) error {
	_, err := stmt.Exec(s.ID, s.Began.UnixMicro(), s.Took.Microseconds(), s.ChannelID, s.Author, s.Question, s.Phase, s.Lookup,
		s.Model, s.Err, guildID, at.first, at.n, s.said)
	return err
}

// messagesOf are the ids of the question, which may be a burst of messages, and of the replies.
func messagesOf(t *turn.Trace) []string {
	all := slices.Concat([]string{t.Request.Message.ID}, t.Request.Burst, t.ReplyIDs)
	return slices.DeleteFunc(all, func(id string) bool { return id == "" })
}

// saveMessages lets the record be found by its messages, apart from those by which it is found already.
func saveMessages(stmt *sql.Stmt, t *turn.Trace, known []string) error {
	for _, id := range messagesOf(t) {
		if slices.Contains(known, id) {
			continue
		}
		if _, err := stmt.Exec(id, t.Request.ID); err != nil {
			return err
		}
	}
	return nil
}

// saveQuotes lets the record be found by the messages that its lookups quote, and its summaries and memories rest on, when one of them is deleted.
func saveQuotes(stmt *sql.Stmt, t *turn.Trace) error {
	for _, o := range t.Outcomes {
		for _, c := range o.Contributions {
			for _, id := range quoted(c) {
				if _, err := stmt.Exec(id, t.Request.ID); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// quoted are the messages of elsewhere that a contribution quotes or rests on. Those of its own channel are looked for there.
func quoted(c turn.Contribution) (ids []string) {
	if c.Lookup != nil {
		ids = c.Lookup.Quoted
	}
	if c.Summary != nil && c.Summary.Channel != "" {
		ids = slices.Concat(ids, c.Summary.Sources)
	}
	for _, m := range c.Recalled {
		ids = slices.Concat(ids, m.Sources)
	}
	return ids
}

// saveClaims notes that the turn answers its messages or, at its end, that it has: no restart goes on with it.
func (s *Store) saveClaims(tx *sql.Tx, t *turn.Trace) error {
	err := s.DB.ClaimsBegin(tx, t.Request.ID, claims(t)...)
	if err == nil && over(t.Phase) {
		err = s.DB.ClaimsEnd(tx, t.Request.ID)
	}
	return err
}

// claims are the ids under which the store knows what asked for a turn.
func claims(t *turn.Trace) []string {
	return append([]string{cmp.Or(t.Request.Claim, t.Request.Message.ID)}, t.Request.Burst...)
}

// minPrefix is how much of an id Get must be given.
const minPrefix = 4

// Ambiguous says that several records have an id that begins with Prefix.
type Ambiguous struct {
	Prefix string
	IDs    []string // the first 10 in order
}

func (e *Ambiguous) Error() string {
	return fmt.Sprintf("several traces begin with %s: %s", e.Prefix, strings.Join(e.IDs, ", "))
}

// Get returns the record with that id, or the only one whose id begins with it, which takes at least 4
// characters, in capitals or not. The error is [store.ErrNotFound] if there is none and [*Ambiguous] if
// there are several. The caller owns the record.
func (s *Store) Get(ctx context.Context, id string) (*turn.Trace, error) {
	full, err := s.find(ctx, id)
	if err != nil {
		return nil, fmt.Errorf("read trace %s: %w", id, err)
	}
	return s.read(ctx, full, bodyQuery+`WHERE t.id = ? ORDER BY p.id`)
}

// ByMessage returns the newest record of the turn that answered the message or that wrote it, or
// [store.ErrNotFound]. The caller owns the record.
func (s *Store) ByMessage(ctx context.Context, messageID string) (*turn.Trace, error) {
	return s.read(ctx, messageID, bodyQuery+`WHERE t.id = (SELECT l.id FROM trace_messages m JOIN traces l ON l.id = m.trace_id
		WHERE m.message_id = ? ORDER BY l.began DESC, l.id DESC LIMIT 1) ORDER BY p.id`)
}

// Answers returns the records of all turns that answered a message, the oldest first. The caller owns the records.
func (s *Store) Answers(ctx context.Context, messageID string) (all []*turn.Trace, err error) {
	rows, err := s.DB.Read().QueryContext(ctx, `SELECT t.id FROM trace_messages m JOIN traces t ON t.id = m.trace_id
		WHERE m.message_id = ? ORDER BY t.began, t.id`, messageID)
	var ids []string
	if err == nil {
		ids, err = strs(rows)
	}
	if err != nil {
		return nil, fmt.Errorf("read traces of message %s: %w", messageID, s.DB.Explain(err))
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

// candidates returns the first ids that begin with prefix, in order, so the prefix itself comes first.
func (s *Store) candidates(ctx context.Context, prefix string) ([]string, error) {
	rows, err := s.DB.Read().QueryContext(ctx, `SELECT id FROM traces WHERE id >= ? AND id < ? ORDER BY id LIMIT 10`,
		prefix, prefix+"\U0010FFFF")
	if err != nil {
		return nil, s.DB.Explain(err)
	}
	ids, err := strs(rows)
	return ids, s.DB.Explain(err)
}

// read returns the record that the query finds by its one key.
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

// decode reads a record as it is kept: without its texts.
func (s *Store) decode(record []byte) (*turn.Trace, error) {
	text, err := s.packer.unpack(record)
	if err != nil {
		return nil, err
	}
	t := new(turn.Trace)
	return t, json.Unmarshal([]byte(text), t)
}

// encode writes a record. Pages and prompts are full of < and >, which need no escape here.
func encode(t *turn.Trace) (string, error) {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(t)
	return b.String(), err
}

// strs reads rows of one string and closes them.
func strs(rows *sql.Rows) ([]string, error) {
	defer rows.Close()
	var all []string
	for rows.Next() {
		var s string
		if err := rows.Scan(&s); err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	return all, rows.Err()
}
