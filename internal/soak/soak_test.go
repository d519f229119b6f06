package main

import (
	"bytes"
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"familiar/internal/discordtest"
)

// TestScenarios plays three scenarios in small, so that the driver cannot rot.
func TestScenarios(t *testing.T) {
	if underRace {
		t.Skip("the program that it starts is built without the race detector")
	}
	binary := filepath.Join(t.TempDir(), "familiar")
	if err := build(t.Context(), binary); err != nil {
		t.Fatal(err)
	}
	for name, flags := range map[string]string{"kill": "-n 2 -rate 3 -channels 4", "storm": "-n 30 -channels 10 -people 6", "first": "-n 1 -tls"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
			defer cancel()
			var out bytes.Buffer
			args := append([]string{name, "-seed", "1", "-program", binary}, strings.Fields(flags)...)
			if code := run(ctx, args, &out); code != exitOK {
				t.Errorf("exit code %d", code)
			}
			t.Log(out.String())
		})
	}
}

// The accounting must see what is wrong.
func TestJudge(t *testing.T) {
	at := time.Now()
	post := func(id, replyTo, text string) discordtest.Message {
		return discordtest.Message{ID: id, ReplyTo: replyTo, Text: text, Own: true, At: at.Add(5 * time.Second)}
	}
	full := answerTo([]string{"q0"}, 7)
	for _, c := range []struct {
		name  string
		posts []discordtest.Message
		want  string
	}{
		{"answered", []discordtest.Message{post("2", "1", full)}, ""},
		{"answered with another", []discordtest.Message{post("2", "9", answerTo([]string{"q0", "q1"}, 7))}, ""},
		{"nothing", nil, everyone},
		{"answer to another", []discordtest.Message{post("2", "1", answerTo([]string{"q1"}, 7))}, everyone},
		{"twice", []discordtest.Message{post("2", "1", full), post("3", "1", full)}, once},
		{"half", []discordtest.Message{post("2", "1", full[:40])}, whole},
		{"half and marked", []discordtest.Message{post("2", "1", full[:40]+"\n\n-# interrupted: I was restarted here")}, ""},
		{"told", []discordtest.Message{post("2", "1", "Too much at once.")}, ""},
		{"told by name", []discordtest.Message{post("2", "", "Too much for person001 and person002.")}, ""},
		{"another told", []discordtest.Message{post("2", "9", "Too much."), post("3", "", "Too much for person002.")}, everyone},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := &stage{opt: options{gap: true}}
			m := mention{tag: "q0", id: "1", channel: "7", author: "person001", at: at}
			for _, o := range weigh([]mention{m}, map[string][]discordtest.Message{"7": c.posts}) {
				s.judge(o)
			}
			got := ""
			if len(s.findings) > 0 {
				got = s.findings[0].promise
			}
			if got != c.want || len(s.findings) > 1 {
				t.Errorf("%q: %v", got, s.findings)
			}
		})
	}
}
