package discord

import (
	"fmt"
	"log/slog"
	"sync"
	"testing"

	"familiar/internal/api"
	"familiar/internal/context/turn"
	"familiar/internal/discord/rest"
	"familiar/internal/test/discordtest"
)

// BenchmarkTurn receives and sends one message over real sockets. It includes the work of the test server.
func BenchmarkTurn(b *testing.B) {
	far := discordtest.New(b)
	far.Quiet()
	client := api.Client(api.Service{Origin: far.URL})
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
			for batch := range s.Events() {
				for _, e := range batch {
					if _, err := s.Post(b.Context(), turn.Post{ChannelID: general, ReplyTo: e.Message.ID, Text: "an answer"}); err != nil {
						return
					}
					<-slots
				}
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

// BenchmarkServers measures 2,400 servers of 100 channels each: as they arrive at a start, and again, as after an
// outage. It measures the directory alone, and the gateway's payloads.
func BenchmarkServers(b *testing.B) {
	const servers, channels = 2400, 100
	var announced, all []guildInfo
	var payloads [][]byte
	for n := range servers {
		g := guildInfo{ID: fmt.Sprint(n + 1), Name: "a server"}
		announced = append(announced, guildInfo{ID: g.ID})
		for m := range channels {
			g.Channels = append(g.Channels, channel{ID: fmt.Sprint(1_000_000 + n*channels + m), Name: "general", ParentID: "7"})
		}
		all, payloads = append(all, g), append(payloads, rest.JSON(g))
	}
	b.Run("directory", func(b *testing.B) {
		for b.Loop() {
			var d directory
			d.begin(announced)
			for range 2 {
				for _, g := range all {
					d.addGuild(g)
				}
			}
		}
	})
	b.Run("payloads", func(b *testing.B) {
		s := &Session{guildCame: make(chan struct{}), log: slog.New(slog.DiscardHandler)}
		s.handle = s.handlers()
		for b.Loop() {
			s.names.begin(announced)
			for _, p := range payloads {
				s.dispatch(b.Context(), "GUILD_CREATE", p)
			}
		}
	})
}
