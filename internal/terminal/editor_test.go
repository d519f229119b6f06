package terminal

import (
	"io"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
)

func TestKeys(t *testing.T) {
	for name, tt := range map[string]struct {
		typed string
		want  string
	}{
		"lines":                    {"one\rtwo\r", "one\rtwo\r"},
		"a paste is one line":      {"a\x1b[200~b\rc\nd\r\ne\x1b[201~f\r", "a\x1b[200~b⏎c⏎d⏎e\x1b[201~f\r"},
		"Ctrl-C clears the line":   {"ab\x03cd\r", "ab\x05\x15cd\r"},
		"Ctrl-C during an answer":  {"ab\x03cd\x03\r", "ab\x05\x15cd\r"},
		"Ctrl-C in pasted text":    {"\x1b[200~a\x03b\x1b[201~\r", "\x1b[200~a\x03b\x1b[201~\r"},
		"an arrow is no paste":     {"\x1b[Aa\r", "\x1b[Aa\r"},
		"other scripts and emojis": {"日本語 🦉\r", "日本語 🦉\r"},
	} {
		for _, from := range []io.Reader{strings.NewReader(tt.typed), iotest.OneByteReader(strings.NewReader(tt.typed))} {
			stops := 0
			got, err := io.ReadAll(&keys{from: from, interrupted: func() bool { stops++; return stops == 1 }})
			if string(got) != tt.want || err != nil {
				t.Errorf("%s: %q, %v, want %q", name, got, err, tt.want)
			}
		}
	}
}

func TestCompleted(t *testing.T) {
	help, history := [2]string{"/help", "lists"}, [2]string{"/history", "tells"}
	for _, tt := range []struct {
		line          string
		all           [][2]string
		longer, shown string
	}{
		{"/x", nil, "/x", ""},
		{"/he", [][2]string{help}, "/help ", ""},
		{"/", [][2]string{help, history}, "/h", ""},
		{"/h", [][2]string{help, history}, "/h", "/help  lists\n/history  tells\n"},
		{"/lookup we", [][2]string{{"web:", "of the web"}}, "/lookup web:", ""},
	} {
		if longer, shown := completed(tt.line, tt.all); longer != tt.longer || shown != tt.shown {
			t.Errorf("%q: %q, %q", tt.line, longer, shown)
		}
	}
}

func TestHistoryIsKept(t *testing.T) {
	path := filepath.Join(t.TempDir(), "chat.history")
	h, err := openHistory(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range append(make([]string, keptLines), "one", "two", "two", " ") {
		h.Add(line)
	}
	for range keptLines {
		h.Add("three")
		h.Add("four")
	}
	if h, err = openHistory(path); err != nil {
		t.Fatal(err)
	}
	if h.Len() != keptLines || h.At(0) != "four" || h.At(1) != "three" {
		t.Errorf("%d lines: %q, %q", h.Len(), h.At(0), h.At(1))
	}
}
