package past

import (
	"os"
	"strings"
	"testing"
	"time"

	"familiar/internal/context/turn"
)

func messagesOf(t *testing.T, file string) (all []string) {
	t.Helper()
	data, err := os.ReadFile("testdata/" + file)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		if line = strings.TrimSpace(line); !strings.HasPrefix(line, "# ") {
			all = append(all, line)
		}
	}
	return all
}

// What people ask of themselves is never for the web.
func TestOfAsker(t *testing.T) {
	for _, message := range messagesOf(t, "self.txt") {
		if !AboutAsker(message, nil) && !AboutOwn(message, nil) {
			t.Errorf("%q is not understood", message)
		}
	}
}

// What people ask of others' messages in a direct message is for the servers that they share with the bot.
func TestOfSharedServers(t *testing.T) {
	for _, message := range messagesOf(t, "direct.txt") {
		r := turn.Request{ChannelID: "d", Names: []string{"familiar"}, People: []string{"ada", "ben", "mo", "User 05"}, Servers: []string{"1"}, Message: turn.Message{Author: turn.Author{ID: "2", Name: "ana"}, Text: message}}
		q := Read(r, time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC))
		if !q.Asks() {
			t.Errorf("%q is not understood", message)
		} else if q.Maybe {
			t.Errorf("%q may be for the web", message)
		}
	}
}
