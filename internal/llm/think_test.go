package llm

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// read passes a text to the splitter in pieces and returns the visible part.
func read(t *thoughts, pieces ...string) string {
	text := ""
	for _, p := range pieces {
		visible, retract := t.write(p)
		if retract {
			text = ""
		}
		text += visible
	}
	return text + t.close()
}

func TestThoughts(t *testing.T) {
	tests := []struct {
		name, in, want string
		late           bool
	}{
		{"none", "Hello <b>you</b> & 3 < 4", "Hello <b>you</b> & 3 < 4", false},
		{"leading", "<think>plan</think>\n\nHello", "Hello", false},
		{"other name and case", "<Thinking>plan</THINKING> Hello", "Hello", false},
		{"in the middle", "Hello <think>plan</think>you", "Hello you", false},
		{"two", "<think>a</think>b<think>c</think>d", "bd", false},
		{"unclosed", "<think>plan", "", false},
		{"unclosed in the middle", "Hello <think>plan", "Hello ", false},
		{"unopened", "plan</think>Hello", "Hello", false},
		{"closed twice", "<think>a</think>b</think>c", "bc", false},
		{"talk about the tag", "Use `<think>` and `</think>`.", "Use `<think>` and `</think>`.", false},
		{"half a tag at the end", "Hello <thi", "Hello <thi", false},
		{"nested", "<think>a<think>b</think>c", "c", false},
		{"late, unopened", "plan</think>Hello", "Hello", true},
		{"late, opened after all", "<think>plan</think>Hello", "Hello", true},
		{"late, no thoughts", "Hello", "Hello", true},
		{"late, white space", " \n", "", true},
	}
	for _, tt := range tests {
		whole := &thoughts{late: tt.late}
		if got := read(whole, tt.in); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
		bytewise := &thoughts{late: tt.late}
		if got := read(bytewise, strings.Split(tt.in, "")...); got != tt.want {
			t.Errorf("%s, byte by byte: %q, want %q", tt.name, got, tt.want)
		}
		if whole.hidden != bytewise.hidden {
			t.Errorf("%s: %d bytes hidden, byte by byte %d", tt.name, whole.hidden, bytewise.hidden)
		}
	}
}

// The visible part does not depend on how a text is cut into pieces.
func TestThoughtsDoNotDependOnPieces(t *testing.T) {
	parts := []string{"<think>", "</think>", "<", "</", "think", ">", "`", "word ", "\n", "<b>", "é", "</thinking>"}
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(parts), 0, 20).Draw(t, "parts"), "")
		late := rapid.Bool().Draw(t, "late")
		want := read(&thoughts{late: late}, text)
		var pieces []string
		for rest := text; rest != ""; {
			n := rapid.IntRange(1, min(len(rest), 9)).Draw(t, "piece")
			pieces = append(pieces, rest[:n])
			rest = rest[n:]
		}
		if got := read(&thoughts{late: late}, pieces...); got != want {
			t.Fatalf("%q in pieces %q: %q, in one %q", text, pieces, got, want)
		}
	})
}
