package discord

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"familiar/internal/context/turn"
	"familiar/internal/discord/rest"
)

// TestOddAttachments holds that an unreadable part of a message does not lose the message.
func TestOddAttachments(t *testing.T) {
	for _, body := range []string{
		`{"id":"1","content":"hello","attachments":"none","embeds":7,"message_snapshots":{"x":[]}}`,
		`{"id":"1","content":"hello","attachments":[{"id":[],"filename":5}],"embeds":[{"title":{},"fields":"x"}],"message_snapshots":[null,{"message":null}]}`,
		`{"id":"1","content":"hello","attachments":[{"id":"5","filename":"a.png","size":"large","width":null}]}`,
		`{"id":1,"content":"hello","attachments":[{"id":5,"filename":"a.png","size":3}]}`,
	} {
		var m message
		if err := rest.Decode([]byte(body), &m); err != nil || m.Content != "hello" || m.ID != "1" {
			t.Errorf("%s: %+v, %v", body, m, err)
		}
		files("1", m.Attachments, 0)
		new(Session).quotes(&m)
	}
}

func TestVoiceMessage(t *testing.T) {
	voice := []sentFile{{ID: 5, Filename: "voice-message.ogg", ContentType: "audio/ogg", Seconds: 6.4, Waveform: "AAAA"}}
	if got := files("1", voice, isVoice)[0]; !got.Voice || got.Seconds != 6.4 {
		t.Errorf("%+v", got)
	}
	if files("1", voice, 0)[0].Voice {
		t.Error("a recording that is attached is not a voice message")
	}
}

func FuzzFileName(f *testing.F) {
	for _, seed := range []string{"cat.png", "../../etc/passwd", `C:\x\y.txt`, "a\nb.txt", "\u202egnp.exe", "...", "", strings.Repeat("long", 100) + ".tar.gz", "\xff.txt"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, name string) {
		got := fileName(name)
		odd := func(r rune) bool {
			return r == '/' || r == '\\' || unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r)
		}
		if got == "" || got == "." || got == ".." || strings.ContainsFunc(got, odd) || !utf8.ValidString(got) || utf8.RuneCountInString(got) > maxName {
			t.Errorf("%q → %q", name, got)
		}
	})
}

func TestQuotes(t *testing.T) {
	m := message{ID: "1", Embeds: []embed{{}, {Title: "News", Provider: embedName{"Site"}, Fields: []embedField{{"Score", "2:1"}}}}, Snapshots: make([]snapshot, 9)}
	m.Snapshots[0].Message.Content = strings.Repeat("x", 5000)
	m.Snapshots[0].Message.Attachments = []sentFile{{ID: 7, Filename: "a.txt"}}
	got := new(Session).quotes(&m)
	if len(got) != maxQuotes || got[0].Kind != turn.Forwarded || len(got[0].Text) != maxQuoted || got[0].Files[0].MessageID != "1" {
		t.Errorf("%+v", got)
	}
	m.Snapshots = nil
	if got := new(Session).quotes(&m); len(got) != 1 || got[0].Text != "Score: 2:1" || got[0].From != "Site" {
		t.Errorf("%+v", got)
	}
}
