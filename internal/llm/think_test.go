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
		{"a call", `<tool_call>{"name": "search", "arguments": {"q": "<b>"}}</tool_call>`, "", false},
		{"a call after words", "Let me look. <tool_call>{\"name\": \"search\"}\n</tool_call>", "Let me look. ", false},
		{"words after a call", "<function=search>{}</function> So it is.", "So it is.", false},
		{"an unclosed call", "<|python_tag|>search(\"x\")", "", false},
		{"a call of Mistral", `[TOOL_CALLS][{"name": "search"}]`, "", false},
		{"a call of DeepSeek", "Hm.<｜tool▁calls▁begin｜>search<｜tool▁calls▁end｜>", "Hm.", false},
		{"a closing tag alone", "Yes.</tool_call>", "Yes.", false},
		{"a thought, then a call", "<think>I search</think><tool_call>{}</tool_call>", "", false},
		{"a call without tags", ` {"name": "search", "parameters": {"q": "x"}}`, "", false},
		{"a call with its type", `{"type": "function", "name": "search", "parameters": {}}`, "", false},
		{"JSON", `{"name": "Ada", "born": 1815}`, `{"name": "Ada", "born": 1815}`, false},
		{"long JSON", `{"name": "` + strings.Repeat("Ada ", 100) + `"}`, `{"name": "` + strings.Repeat("Ada ", 100) + `"}`, false},
		{"talk about a call", "Models write `<tool_call>`.", "Models write `<tool_call>`.", false},
		{"a citation", "It is so [1][2] and [TOOL", "It is so [1][2] and [TOOL", false},
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
	parts := []string{"<think>", "</think>", "<", "</", "think", ">", "`", "word ", "\n", "<b>", "é", "</thinking>", "<tool_call>", "</tool_call>", "[TOOL_CALLS]", "[1]", `{"name":`, `"x",`, `"arguments"`}
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
