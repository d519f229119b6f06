package main

import (
	"context"
	"database/sql"
	"fmt"
	"testing"
	"time"

	"familiar/internal/store"
	"familiar/internal/test/llmtest"
)

// BenchmarkIntake measures how many messages a second come in through the gateway. They come in 100 channels, and the last one must be in
// the store. The far end works on the same processors. No message is for the bot, and none may be lost.
func BenchmarkIntake(b *testing.B) {
	s := newStage(b, 100, func(llmtest.Request) llmtest.Reply { return nil })
	defer s.start()()
	db, err := store.Look(context.Background(), s.place)
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	const most = 4000 // that may wait: the door drops what its queue does not hold
	said, kept := 0, 0
	b.ReportAllocs()
	b.ResetTimer()
	for until := time.Now().Add(patience); kept < b.N; kept = count(b, db) {
		for ; said < min(b.N, kept+most/2); said++ {
			s.discord.Say(s.rooms[said%len(s.rooms)], fmt.Sprint("person", said%500), sentence(said))
		}
		if time.Sleep(5 * time.Millisecond); time.Now().After(until) {
			b.Fatalf("%d of %d messages were kept", kept, said)
		}
	}
	b.StopTimer()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "events/s")
}

// count returns how many messages are kept.
func count(b *testing.B, db *store.DB) (n int) {
	b.Helper()
	err := db.Read().QueryRow(`SELECT count(*) FROM messages`).Scan(&n)
	if err != nil && err != sql.ErrNoRows {
		b.Fatal(err)
	}
	return n
}
