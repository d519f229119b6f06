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
		{"a call of Kimi", "Hm.<|tool_calls_section_begin|><|tool_call_begin|>functions.search:0<|tool_call_argument_begin|>{}<|tool_call_end|><|tool_calls_section_end|>", "Hm.", false},
		{"a call of LFM", `<|tool_call_start|>[search(q="x")]<|tool_call_end|>So it is.`, "So it is.", false},
		{"a call of Gemma", `<start_function_call>call:search{q:<escape>x<escape>}<end_function_call>`, "", false},
		{"a call of Gemma, newer", `<|tool_call>call:search{q:"x"}<tool_call|>`, "", false},
		{"a call as code", "```tool_code\nprint(search(\"x\"))\n```", "", false},
		{"a call with a maker's name", `<minimax:tool_call><invoke name="search"><parameter name="q">x</parameter></invoke></minimax:tool_call>`, "", false},
		{"a call with a prefix", `<longcat_tool_call>search</longcat_tool_call>`, "", false},
		{"a call of Nemotron", `<TOOLCALL>[{"name": "search"}]</TOOLCALL>`, "", false},
		{"a call of Command R", `<|START_ACTION|>[{"tool_name": "search"}]<|END_ACTION|>`, "", false},
		{"a call without its list", `Hm. <invoke name="search"><parameter name="q">x</parameter></invoke> Yes.`, "Hm.  Yes.", false},
		{"a call with attributes", `<tool_call id="1">{}</tool_call>`, "", false},
		{"a request", `[TOOL_REQUEST]{"name": "search"}[END_TOOL_REQUEST]`, "", false},
		{"a call without tags, in code", "```json\n{\"name\": \"search\", \"arguments\": {}}\n```", "", false},
		{"calls without tags", `[{"name": "search", "arguments": {}}]`, "", false},
		{"a call with other names", `{"action": "search", "action_input": "x"}`, "", false},
		{"calls as in Python", `[search(q="x"), look(at="y")]`, "", false},
		{"code", "```go\nfmt.Println()\n```", "```go\nfmt.Println()\n```", false},
		{"JSON in code", "```json\n{\"name\": \"Ada\"}\n```", "```json\n{\"name\": \"Ada\"}\n```", false},
		{"a list", "[a] and [search](https://example.org/)", "[a] and [search](https://example.org/)", false},
		{"other tags", "A <function> of <b>tools</b>, <end>, and [tool calls](x) <invoke", "A <function> of <b>tools</b>, <end>, and [tool calls](x) <invoke", false},
		{"late, a call alone", `<tool_call>{"name": "search"}</tool_call>`, "", true},
		{"late, a call without tags", `{"name": "search", "arguments": {}}`, "", true},
		{"a closing tag alone", "Yes.</tool_call>", "Yes.", false},
		{"a thought, then a call", "<think>I search</think><tool_call>{}</tool_call>", "", false},
		{"a call without tags", ` {"name": "search", "parameters": {"q": "x"}}`, "", false},
		{"a call with its type", `{"type": "function", "name": "search", "parameters": {}}`, "", false},
		{"JSON", `{"name": "Ada", "born": 1815}`, `{"name": "Ada", "born": 1815}`, false},
		{"long JSON", `{"name": "` + strings.Repeat("Ada ", 100) + `"}`, `{"name": "` + strings.Repeat("Ada ", 100) + `"}`, false},
		{"talk about a call", "Models write `<tool_call>`.", "Models write `<tool_call>`.", false},
		{"a citation", "It is so [1][2] and [TOOL", "It is so [1][2] and [TOOL", false},
		{"channels", "<|channel|>analysis<|message|>plan <b><|end|><|start|>assistant<|channel|>final<|message|>Hello!<|return|>", "Hello!", false},
		{"the final channel alone", "<|channel|>final<|message|>Hello!<|end|>", "Hello!", false},
		{"channels with a call", "<|channel|>analysis<|message|>plan<|end|><|start|>assistant to=functions.search<|channel|>commentary json<|message|>{}<|call|>", "", false},
		{"a channel that is never the final one", "<|channel|>analysis<|message|>plan", "", false},
		{"a channel that the template opened", "plan<|end|><|start|>assistant<|channel|>final<|message|>Hello", "Hello", false},
		{"channels without tags", "analysisWe plan.assistantcommentary to=x{}assistantanalysisMore.assistantfinalHello, final Analysis.", "Hello, final Analysis.", false},
		{"the final channel without tags", "final**Hello**", "**Hello**", false},
		{"a channel without tags and without an end", "analysisWe plan", "", false},
		{"words like those of channels", "analysis of the final match", "analysis of the final match", false},
		{"more such words", "finally, assistants", "finally, assistants", false},
		{"one such word", "final", "final", false},
		{"talk about channels", "gpt-oss writes `<|channel|>analysis` and `<|end|>`, then assistantfinal.", "gpt-oss writes `<|channel|>analysis` and `<|end|>`, then assistantfinal.", false},
		{"late, channels", "<|channel|>analysis<|message|>plan<|end|><|start|>assistant<|channel|>final<|message|>Hello", "Hello", true},
		{"late, channels without tags", "analysisWe plan.assistantfinalHello", "Hello", true},
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
	parts := []string{"<think>", "</think>", "<", "</", "think", ">", "`", "word ", "\n", "<b>", "é", "</thinking>", "<|channel|>", "analysis", "final", "<|end|>", "<|start|>assistant", "assistant", "We", "<tool_call>", "</tool_call>", "[TOOL_CALLS]", "[1]", "<|tool_call", "_end|>", "<invoke name=", "```json\n", `{"name":`, `"x",`, `"arguments"`}
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
