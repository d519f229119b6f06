// Package memory decides what the bot remembers and which memories a turn may use.
//
//   - store.go has the [Store], which keeps statements with their sources in tables of [store.DB]. statement.go saves them, and says which
//     makes which other one history. read.go finds them, and saves what the writer learned. drop.go deletes them with their sources, and
//     import.go takes them from an archive.
//   - scope.go has the [ScopeFilter], which every read needs. That of a turn admits only what everyone who sees the answer may read at that
//     moment.
//   - keeper.go carries out what a message orders, such as "remember that I'm vegetarian", which package order reads. proposed.go asks a side
//     model where that is in doubt. undo.go takes it back.
//   - writer.go reads channels in the background. It is the only way in which the bot learns by itself.
//   - sentence.go cuts messages into sentences. judge.go says which of them may be remembered. names.go says whom they name, and has the
//     words by which they do so.
//   - proposal.go has the side model choose among these sentences by number.
//   - embedding.go has texts made into vectors, and indexer.go does so with messages and statements in the background. vector.go keeps the
//     vectors, and finds those that are near to a question.
package memory

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"familiar/internal/store"
	"familiar/internal/text"
)

// Store keeps the statements that the bot remembers, in tables of [store.DB]. It also keeps how far the [Writer] has read in each channel.
// Every read needs a [ScopeFilter], except those for the operator. Make one with [New], one for a store.
type Store struct {
	DB     *store.DB
	places places
}

// New returns the memory in a store. It is called before the store is written, which then deletes statements with their sources.
func New(db *store.DB) *Store {
	s := &Store{DB: db}
	db.Messages.OnRetract(s.retract)
	return s
}

// Start prepares the memory in a store that this process owns.
func (s *Store) Start(ctx context.Context) error {
	return errors.Join(s.renewIndex(ctx), s.Refresh(ctx))
}

// renewIndex builds the index at once if the program makes other words now. It is small.
func (s *Store) renewIndex(ctx context.Context) error {
	made, err := s.DB.Notes.Get(ctx, store.MemoryWordsNote)
	if err != nil && !errors.Is(err, store.ErrNotFound) || made == text.IndexForm {
		return err
	}
	if err := s.DB.Write(ctx, s.reindex); err != nil {
		return fmt.Errorf("renew the index of memory: %w", err)
	}
	return s.DB.Notes.Set(ctx, store.MemoryWordsNote, text.IndexForm)
}

// places is the set of servers with statements. A server is added in the transaction that saves a statement there, and never removed.
// So a server in the set may have no statements, but a server outside it has none.
type places struct {
	mu     sync.RWMutex
	guilds map[string]bool // guarded by mu; the empty id is for direct messages and public statements
	last   int64           // guarded by mu: id of the newest statement when guilds was read
	known  bool            // guarded by mu: guilds was read
}

func (r *places) add(guildID string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.guilds == nil {
		r.guilds = map[string]bool{}
	}
	r.guilds[guildID] = true
}

// Refresh adds the servers of statements that another process has written beside this one.
func (s *Store) Refresh(ctx context.Context) error {
	r := &s.places
	r.mu.RLock()
	last := r.last
	r.mu.RUnlock()
	_, err := store.List(ctx, s.DB, "read servers with memories", func(row store.Scanner) (none struct{}, err error) {
		var guild string
		var id int64
		if err = row.Scan(&guild, &id); err == nil {
			r.add(guild)
			last = max(last, id)
		}
		return none, err
	}, `SELECT guild_id, max(id) FROM memories WHERE id > ? GROUP BY guild_id`, last)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.last, r.known = max(r.last, last), r.known || err == nil
	return err
}

// MayHoldAny reports whether there may be statements for a turn in a server. For a direct message, without an id, it reports whether there are
// any at all. It reads nothing, so most turns of most bots need no query.
func (s *Store) MayHoldAny(guildID string) bool {
	r := &s.places
	r.mu.RLock()
	defer r.mu.RUnlock()
	if !r.known { // another process, which owns the store, may write some at any time
		return true
	}
	if guildID == "" {
		return len(r.guilds) > 0
	}
	return r.guilds[guildID] || r.guilds[""]
}
