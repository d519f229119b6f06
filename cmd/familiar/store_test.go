package main

import (
	"database/sql"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

// TestStoreOutOfOrder takes the store away from a running bot. It does not answer without a record, says so, and
// answers again when the store is back.
func TestStoreOutOfOrder(t *testing.T) {
	t.Parallel()
	c := newConversation(t, txtar.Parse([]byte("-- model --\nsay Hello.\n")))
	c.do("before", "start")
	c.do("before", "say general ana @familiar hello")
	c.do("before", "heard general")

	release := c.holdStore()
	c.do("without", "say general ana @familiar can you hear me?")
	m, ok := c.discord.WaitReply("general", patience) // SQLite waits five seconds for each write in line
	if !ok || m.Text != outOfOrderSentence {
		t.Errorf("said %q, %v", m.Text, ok)
	}
	release()

	c.do("after", "say general ana @familiar and now?")
	c.do("after", "heard general")
	c.do("after", "has Hello.")
	c.stop()
}

// holdStore keeps everybody else from writing to the store, until release.
func (c *conversation) holdStore() (release func()) {
	db, err := sql.Open("sqlite", filepath.Join(c.dir, "data", "familiar.db")+"?_pragma=busy_timeout(5000)")
	c.must(err)
	held, err := db.Conn(c.Context())
	c.must(err)
	_, err = held.ExecContext(c.Context(), "BEGIN EXCLUSIVE")
	c.must(err)
	return func() {
		held.Close()
		db.Close()
	}
}

// breakStore makes every write of a message fail at once, and for good.
func (c *conversation) breakStore() {
	db, err := sql.Open("sqlite", filepath.Join(c.dir, "data", "familiar.db")+"?_pragma=busy_timeout(5000)")
	c.must(err)
	defer db.Close()
	_, err = db.ExecContext(c.Context(), "ALTER TABLE messages RENAME TO lost")
	c.must(err)
}

const outOfOrderSentence = "I can't write my records at the moment, and I don't answer without them. Whoever runs me will find the reason in my log."
