package past

import (
	"os"
	"slices"
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

// People who share no server with the bot get no answer from one. Their questions about one are not for the web either. A few that only a member's
// name makes clear still are.
func TestOfNoServer(t *testing.T) {
	unclear := []string{"User 05 say about the zanzibar deploy"}
	for _, message := range messagesOf(t, "direct.txt") {
		r := turn.Request{ChannelID: "d", Names: []string{"familiar"}, Message: turn.Message{Author: turn.Author{ID: "2", Name: "ana"}, Text: message}}
		if q := Read(r, time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)); q.Sure() == slices.Contains(unclear, message) {
			t.Errorf("%q: %+v", message, q)
		}
	}
}

// What everybody may know is for the web in a direct message, too.
func TestOfTheWorld(t *testing.T) {
	for _, message := range []string{
		"who wrote a song about May?", "what did Ada Lovelace say about the engine?", "who said \"I have a dream\"?", "who wrote Hamlet?", "what did the president say yesterday?",
		"what did Einstein say about God?", "what happened in May 1968?", "find the lyrics of Yesterday", "what do people say about the new iPhone?",
		"what did Apple announce today?", "who won the cup?", "was sagte der Kanzler gestern?", "qu'a dit le président hier ?", "¿qué dijo el Papa ayer?", "cosa ha detto il papa ieri?", "o que disse o presidente ontem?",
		"wat zei de koning gisteren?", "co powiedział papież?", "что сказал президент вчера?", "cumhurbaşkanı dün ne dedi?", "首相は昨日何と言った？", "总统昨天说了什么？", "대통령이 어제 뭐라고 했어?",
	} {
		r := turn.Request{ChannelID: "d", Names: []string{"familiar"}, Message: turn.Message{Author: turn.Author{ID: "2", Name: "ana"}, Text: message}}
		if q := Read(r, time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)); q.Sure() {
			t.Errorf("%q is not for the web: %s", message, q.Why)
		}
	}
}
