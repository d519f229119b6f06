package discord

import (
	"sync"
	"testing"

	"familiar/internal/api"
	"familiar/internal/context/turn"
	"familiar/internal/discordtest"
)

// BenchmarkTurn is one message in and one message out over real sockets, the far end's work included.
func BenchmarkTurn(b *testing.B) {
	far := discordtest.New(b)
	far.Quiet()
	client := api.Client(api.Service{Origin: far.URL, Connections: 32})
	defer client.CloseIdleConnections()
	s, err := New(Config{Token: discordtest.Token, HTTP: client, BaseURL: far.URL, PerSecond: 1 << 20})
	if err != nil {
		b.Fatal(err)
	}
	var running sync.WaitGroup
	running.Go(func() { _ = s.Run(b.Context()) })
	b.Cleanup(running.Wait)
	await(b, "connection", func() bool { return s.Health().Connected })
	general := far.ID("general")
	var workers sync.WaitGroup
	slots := make(chan struct{}, 16) // questions in flight
	b.ReportAllocs()
	b.ResetTimer()
	for range 16 {
		workers.Go(func() {
			for e := range s.Events() {
				if _, err := s.Deliver(b.Context(), turn.Post{ChannelID: general, ReplyTo: e.Message.ID, Text: "an answer"}); err != nil {
					return
				}
				<-slots
			}
		})
	}
	for range b.N {
		slots <- struct{}{}
		far.Say("general", "ada", "a question")
	}
	for range cap(slots) {
		slots <- struct{}{}
	}
	b.StopTimer()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "turns/s")
	if lost := s.Health().Dropped; lost > 0 {
		b.Errorf("%d events were dropped", lost)
	}
	b.Cleanup(workers.Wait)
}
