package main

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"familiar/internal/context/turn"
	"familiar/internal/store"
	"familiar/internal/test/wait"
	"familiar/internal/trace"
)

// TestDataLimit checks a database that is too large. The oldest records go first, then the oldest messages, and no more than must.
func TestDataLimit(t *testing.T) {
	t.Parallel()
	for _, limit := range []struct {
		megabytes         int
		records, messages func(n int) bool
	}{
		{8, func(n int) bool { return n > 0 && n < 300 }, func(n int) bool { return n == 60 }},
		{4, func(n int) bool { return n == 0 }, func(n int) bool { return n > 0 && n < 60 }},
	} {
		c := newConversation(t, txtar.Parse([]byte("-- model --\nsay Hello.\n")))
		c.env["FAMILIAR_DATA_MB"] = fmt.Sprint(limit.megabytes)
		data := filepath.Join(c.dir, "data")
		db, err := store.Open(t.Context(), data)
		c.must(err)
		traces, random := &trace.Store{DB: db}, rand.NewChaCha8([32]byte{})
		for i := range 300 {
			b := make([]byte, 7000)
			random.Read(b)
			c.must(traces.Save(t.Context(), &turn.Trace{Phase: turn.Answered, Began: time.Now().Add(time.Duration(i-600) * time.Hour), Reply: fmt.Sprintf("%x", b),
				Request: turn.Request{ID: fmt.Sprintf("T%03d", i), ChannelID: "7"}}))
		}
		for i := range 60 {
			c.must(db.Messages.Save(t.Context(), store.Message{ID: fmt.Sprint(i), ChannelID: "7", Text: "long" + strings.Repeat(".", 100_000), At: time.Now().Add(time.Duration(i-300) * time.Hour)}))
		}
		c.must(db.Close())
		c.process()
		db, err = store.Look(t.Context(), data)
		c.must(err)
		defer db.Close()
		traces = &trace.Store{DB: db}
		var records []trace.Summary
		var messages []store.Message
		if !wait.Until(func() bool {
			records, err = traces.Recent(t.Context(), "7", 1000)
			c.must(err)
			messages, err = db.Messages.Recent(t.Context(), "7", 100)
			c.must(err)
			return limit.records(len(records)) && limit.messages(len(messages))
		}) {
			t.Errorf("%d MB: %d records and %d messages are left", limit.megabytes, len(records), len(messages))
		}
		if len(records) > 0 && records[0].ID != "T299" || messages[len(messages)-1].ID != "59" {
			t.Errorf("%d MB: the newest are gone", limit.megabytes)
		}
	}
}
