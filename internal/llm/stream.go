package llm

import (
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"familiar/internal/context/turn"
)

// chunk is one event of a stream in the form of any server. It may be a whole answer that was not streamed. go-openai's own type drops
// "reasoning" and most errors, and fails if content is a list.
type chunk struct {
	Choices []choice        `json:"choices"`
	Usage   json.RawMessage `json:"usage"`
	XGroq   struct {
		Usage json.RawMessage `json:"usage"`
	} `json:"x_groq"`

	// Errors come in many shapes; see problemIn.
	Object  string          `json:"object"`
	Error   json.RawMessage `json:"error"`
	Message json.RawMessage `json:"message"`
	Detail  json.RawMessage `json:"detail"`
}

type choice struct {
	Index        int    `json:"index"`
	Delta        words  `json:"delta"`
	Message      words  `json:"message"` // if the answer was not streamed
	FinishReason string `json:"finish_reason"`
}

// words is a delta or a message.
type words struct {
	Content          content `json:"content"`
	Reasoning        content `json:"reasoning"`
	ReasoningContent content `json:"reasoning_content"`
	Refusal          content `json:"refusal"`
}

// thought returns the bytes of reasoning in separate fields. Servers that send both fields send the same in both.
func (w *words) thought() int {
	return max(len(w.Reasoning.Text)+len(w.Reasoning.Thought), len(w.ReasoningContent.Text)+len(w.ReasoningContent.Thought)) +
		len(w.Content.Thought)
}

// content is a string, null, or a list of parts, which may include thoughts (Mistral).
type content struct{ Text, Thought string }

func (c *content) UnmarshalJSON(b []byte) error {
	*c = content{}
	switch {
	case len(b) > 0 && b[0] == '"':
		return json.Unmarshal(b, &c.Text)
	case len(b) > 0 && b[0] == '[':
		var parts []struct {
			Type     string  `json:"type"`
			Text     string  `json:"text"`
			Thinking content `json:"thinking"`
		}
		if err := json.Unmarshal(b, &parts); err != nil {
			return nil // parts of an unknown kind hold no text
		}
		for _, p := range parts {
			if p.Type == "" || p.Type == "text" {
				c.Text += p.Text
			} else {
				c.Thought += p.Thinking.Text + p.Text
			}
		}
	}
	return nil
}

// spent returns the usage in a chunk; ok is false if there is none.
func (c *chunk) spent() (u turn.Usage, ok bool) {
	for _, raw := range []json.RawMessage{c.Usage, c.XGroq.Usage} {
		var w struct {
			Prompt     int     `json:"prompt_tokens"`
			Completion int     `json:"completion_tokens"`
			Cost       float64 `json:"cost"`
			Details    struct {
				Reasoning int `json:"reasoning_tokens"`
			} `json:"completion_tokens_details"`
			// Cached prompt tokens, in the field of OpenAI and most others, of DeepSeek, and of proxies for Anthropic.
			Known struct {
				Cached int `json:"cached_tokens"`
			} `json:"prompt_tokens_details"`
			CacheHit  int `json:"prompt_cache_hit_tokens"`
			CacheRead int `json:"cache_read_input_tokens"`
		}
		if len(raw) == 0 || raw[0] != '{' {
			continue
		}
		// A field of another type loses only that field.
		_ = json.Unmarshal(raw, &w)
		return turn.Usage{Prompt: w.Prompt, Completion: w.Completion, Cached: max(w.Known.Cached, w.CacheHit, w.CacheRead), Reasoning: w.Details.Reasoning, Cost: w.Cost}, true
	}
	return turn.Usage{}, false
}

// problem is the content of an error body of any shape.
type problem struct {
	Message, Code, Type, Param string
	Window                     string // llama.cpp: tokens of the context
}

// status returns the code if it is an HTTP status, else 0.
func (p problem) status() int {
	if n, err := strconv.Atoi(p.Code); err == nil && n >= 400 && n < 600 {
		return n
	}
	return 0
}

// problem returns the error in a chunk.
func (c *chunk) problem(raw []byte) (problem, bool) {
	bare := len(c.Choices) == 0 && (len(c.Message) > 0 || len(c.Detail) > 0)
	if !given(c.Error) && c.Object != "error" && !bare {
		return problem{}, false
	}
	return problemIn(raw), true
}

// given reports whether a JSON value exists and is not empty.
func given(raw json.RawMessage) bool {
	switch string(raw) {
	case "", "null", `""`, "{}", "false", "[]":
		return false
	}
	return true
}

// problemIn reads an error body. It knows {"error":{…}} with a code that is a string, a number or null. It knows {"error":"text"}, and the
// same in a list (Gemini). Other servers have the fields at the top level (Mistral, old vLLM). "detail" is a string or a list of places
// (FastAPI). OpenRouter has the cause in metadata.raw. For other bodies it returns an empty problem.
func problemIn(raw []byte) problem {
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) == nil && len(list) > 0 {
		raw = list[0]
	}
	var top struct {
		Error  json.RawMessage `json:"error"`
		Detail json.RawMessage `json:"detail"`
	}
	_ = json.Unmarshal(raw, &top)
	switch {
	case given(top.Error) && top.Error[0] == '{':
		return fields(top.Error)
	case given(top.Error):
		return problem{Message: textOf(top.Error)}
	case given(top.Detail):
		return details(top.Detail)
	}
	return fields(raw)
}

func fields(raw json.RawMessage) problem {
	var f map[string]json.RawMessage
	if json.Unmarshal(raw, &f) != nil {
		return problem{}
	}
	var meta struct {
		Raw     json.RawMessage `json:"raw"`
		Reasons json.RawMessage `json:"reasons"`
	}
	_ = json.Unmarshal(f["metadata"], &meta)
	p := problem{Message: textOf(f["message"]), Code: textOf(f["code"]), Type: textOf(f["type"]), Param: textOf(f["param"]), Window: textOf(f["n_ctx"])}
	if given(f["status"]) { // Gemini's name for the code
		p.Type = strings.TrimSpace(p.Type + " " + textOf(f["status"]))
	}
	if p.Code == "" {
		p.Code = textOf(f["raw_status_code"])
	}
	for _, more := range []json.RawMessage{meta.Raw, meta.Reasons} {
		if given(more) {
			p.Message += ": " + textOf(more)
		}
	}
	return p
}

// details reads the places and reasons in a FastAPI "detail". The rest of the list may quote the whole request.
func details(raw json.RawMessage) problem {
	var places []struct {
		Loc []any  `json:"loc"`
		Msg string `json:"msg"`
	}
	if json.Unmarshal(raw, &places) != nil {
		return problem{Message: textOf(raw)}
	}
	var p problem
	for i, place := range places {
		if i > 0 {
			p.Message += "; "
		}
		p.Message += place.Msg
		if n := len(place.Loc); n > 0 {
			if last, ok := place.Loc[n-1].(string); ok && p.Param == "" {
				p.Param = last
			}
		}
	}
	return p
}

// textOf returns the content of a JSON string, or the JSON of any other value.
func textOf(raw json.RawMessage) string {
	if !given(raw) {
		return ""
	}
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	return string(raw)
}

// thoughts removes what a model writes for itself or for a program. The text arrives in pieces of any size. That is <think>…</think>, and
// calls of tools, which small models write as text. Of the channels of gpt-oss only the final one stays. It keeps a tag after a backtick,
// which is about the tag.
type thoughts struct {
	// late is set for models that close thoughts without opening them, because their template opens them. Nothing is
	// passed on until the closing tag or the end decides.
	late bool

	inside  bool   // after an opening tag
	call    bool   // … of a call
	bare    bool   // … of a channel whose tags a server removed
	opened  bool   // an opening tag was seen, or a closing tag without one
	begun   bool   // something other than white space was passed on
	pending string // undecided: the beginning of a tag, or everything while late is set
	seen    int    // bytes of pending that hold no closing tag
	before  byte   // last byte passed on
	passed  int    // bytes passed on so far
	hidden  int    // bytes removed
}

var (
	openings = []string{"<think>", "<thinking>", "<|channel|>analysis", "<|channel|>commentary", nextMessage}
	closings = []string{"</think>", "</thinking>", "<|channel|>final"}
	between  = []string{"<|message|>", "<|end|>", "<|return|>", "<|call|>"} // channels

	// callNames are the letters of the tags around a call of a tool, or its result. Templates add signs, makers' names and more letters.
	callNames = []string{
		"toolcall", "tooluse", "toolcode", "toolrequest", "toolresponse", "toolresult", "functioncall", "functionresponse", "functionresult", "pythontag",
		"startaction", "actionstart", "endaction", "actionend",
	}
)

// nextMessage begins another message, so what was before was none of the final channel.
const nextMessage = "<|start|>assistant"

const longestTag = 48

// callTag reads the tag of a call at the start of s. length is 0 if there is none. The opening tag ends with its name, so its attributes are
// a part of the call. whole is false if more text may make it a tag.
func callTag(s string) (length int, closing, whole bool) {
	var letters strings.Builder
	for i := 1; i < len(s) && i <= longestTag; {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == '/' || strings.ContainsRune("_-:|｜▁", r):
		case unicode.IsLetter(r) && r < utf8.RuneSelf:
			letters.WriteRune(unicode.ToLower(r))
		case !utf8.FullRuneInString(s[i:]):
			return 0, false, false
		default:
			name, sign := letters.String(), s[1:i]
			closing = strings.Contains(sign, "/") || strings.HasPrefix(name, "end") || strings.HasSuffix(name, "end") || strings.HasSuffix(sign, "|") && sign[0] != '|'
			named := closing && r == '>' || r == '=' || r == ' '
			if !slices.ContainsFunc(callNames, func(part string) bool { return strings.Contains(name, part) }) && !(named && (name == "function" || name == "invoke")) {
				return 0, false, true
			}
			if r == '>' || r == ']' {
				i += size
			}
			return i, closing, true
		}
		i += size
	}
	return 0, false, len(s) > longestTag
}

// write takes the next piece and returns the text that is now known to be visible. retract says that everything
// returned before was thoughts.
func (t *thoughts) write(piece string) (visible string, retract bool) {
	if t.pending == "" && t.begun && !t.inside && piece != "" && !strings.ContainsAny(piece, "<[") {
		t.before = piece[len(piece)-1] // the common case
		t.passed += len(piece)
		return piece, false
	}
	t.pending += piece
	var out strings.Builder
	for t.pending != "" {
		if t.late && !t.undecided() {
			continue
		}
		if t.late {
			break
		}
		if t.inside {
			if !t.leave() {
				break
			}
			continue
		}
		if !t.begun && (t.mayBeChannel() || !t.inside && t.mayBeCall()) {
			break
		}
		if t.inside {
			continue
		}
		i := strings.IndexAny(t.pending, "<[")
		if i < 0 {
			t.pass(&out, len(t.pending))
			break
		}
		t.pass(&out, i)
		tag, whole := tagAt(t.pending, openings, closings, between)
		call, closing, decided := callTag(t.pending)
		switch {
		case t.before == '`' || tag == "" && call == 0 && decided:
			t.pass(&out, 1)
		case !whole && (tag != "" || !decided):
			return out.String(), retract
		case call > 0:
			t.hidden += call
			t.drop(call)
			t.inside, t.call = !closing, !closing
		case !t.opened && (tag == nextMessage || slices.Contains(closings, tag)):
			t.hidden += t.passed
			t.inside = tag == nextMessage
			t.passed, t.begun, t.opened, t.before = 0, false, true, 0
			out.Reset()
			retract = true
			t.drop(len(tag))
		case !slices.Contains(openings, tag):
			t.drop(len(tag))
		default:
			t.inside, t.opened = true, true
			t.drop(len(tag))
		}
	}
	return out.String(), retract
}

// close ends the text and returns what is left to show. What was not closed is not shown.
func (t *thoughts) close() string {
	visible := ""
	if t.late {
		t.late = false
		visible, _ = t.write("")
	}
	rest := t.pending
	t.pending = ""
	if t.inside {
		t.hidden += len(rest)
		return visible
	}
	if !t.begun {
		rest = strings.TrimLeft(rest, " \t\r\n")
	}
	return visible + rest
}

// undecided looks for the tag that decides whether the text so far was thoughts. It returns false once it has found the
// tag.
func (t *thoughts) undecided() bool {
	start := strings.TrimLeft(t.pending, " \t\r\n")
	if tag, whole := tagAt(start, openings, closings); whole && slices.Contains(openings, tag) {
		t.late = false
		return false
	}
	if i, tag := findTag(t.pending, closings, t.seen); i >= 0 {
		t.hidden += i
		t.drop(i + len(tag))
		t.late, t.opened = false, true
		return false
	}
	t.seen = max(0, len(t.pending)-longestTag)
	return true
}

// bareCall matches a call without tags that is the whole answer. It is JSON, as Llama writes it, or calls as in Python, perhaps as a block of
// code.
var bareCall = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile("^(?:" + bareFence + `)?(?:\[?\s*\{\s*"(?:type"\s*:\s*"function"\s*,\s*")?(?:name|tool|tool_name|function|action)"\s*:\s*(?:\{\s*"name"\s*:\s*)?"[^"]*"\s*,\s*"(?:arguments|parameters|args|action_input|tool_input)"` +
		`|\[?\s*\{\s*"(?:tool_calls|arguments)"\s*:\s*[\[{]|\[\s*[A-Za-z_][\w.]*\((?:\)\]|\w+\s*=))` + "|^```tool_(?:call|code)\\b")
})

// bareFence matches the beginning of a block that may be a call.
const bareFence = "```(?:json)?\\s*"

// mayBegin matches the beginning of a text that may become a call without tags.
var mayBegin = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile("^(?:`{1,2}$|```(?:[a-z_]{0,9}$|json\\s*$|\\s+$)|(?:" + bareFence + `)?(?:\{|\[\s*(?:$|\{|[A-Za-z_][\w.]*(?:$|\())))`)
})

// longestCallStart limits how much of an answer that begins as a call is held back, in bytes.
const longestCallStart = 300

// bareChannels are what is left of the tags of channels if a server removes them. The next word follows at once.
var bareChannels = []string{"analysis", "commentary", "commentary to=", "final", "assistantanalysis", "assistantcommentary", bareFinal}

const bareFinal = "assistantfinal"

// mayBeChannel reports whether the text may turn out to begin with such a rest of tags. If it does, it is read as the tags would be.
func (t *thoughts) mayBeChannel() bool {
	start := strings.TrimLeft(t.pending, " \t\r\n")
	for _, name := range bareChannels {
		rest, named := strings.CutPrefix(start, name)
		next, _ := utf8.DecodeRuneInString(rest)
		switch {
		case start != "" && strings.HasPrefix(name, start) || named && !utf8.FullRuneInString(rest):
			return true
		case named && (unicode.IsUpper(next) || strings.ContainsRune("\"“*#", next) || strings.HasSuffix(name, "=")):
			t.pending, t.opened = rest, true
			t.bare = !strings.HasSuffix(name, "final")
			t.inside = t.bare
			t.hidden += len(name)
			return false
		}
	}
	return false
}

// mayBeCall reports whether the text may turn out to be a call without tags. If it is one, the rest is dropped.
func (t *thoughts) mayBeCall() bool {
	start := strings.TrimLeft(t.pending, " \t\r\n")
	if start == "" || !mayBegin().MatchString(start) && !bareCall().MatchString(start) {
		return false
	}
	t.pending = start
	if bareCall().MatchString(start) {
		t.inside, t.call = true, true
		return false
	}
	return len(start) < longestCallStart
}

// leave looks for the closing tag and drops the thoughts before it. It reports whether it found the tag.
func (t *thoughts) leave() bool {
	i, length := findClosing(t.pending, t.call)
	if j := strings.Index(t.pending, bareFinal); t.bare && j >= 0 && (i < 0 || j < i) {
		i, length = j, len(bareFinal)
	}
	if i < 0 {
		if keep := len(t.pending) - longestTag; keep > 0 {
			t.hidden += keep
			t.drop(keep)
		}
		return false
	}
	t.hidden += i
	t.drop(i + length)
	t.inside, t.call, t.bare = false, false, false
	return true
}

func (t *thoughts) drop(n int) { t.pending = t.pending[n:] }

// pass moves the first n bytes of pending to out, without white space at the beginning of the text.
func (t *thoughts) pass(out *strings.Builder, n int) {
	s := t.pending[:n]
	t.drop(n)
	if !t.begun {
		s = strings.TrimLeft(s, " \t\r\n")
	}
	if s == "" {
		return
	}
	t.begun, t.before = true, s[len(s)-1]
	t.passed += len(s)
	out.WriteString(s)
}

// tagAt returns the tag of some lists at the start of s. whole is false if s is only a prefix of it.
func tagAt(s string, lists ...[]string) (tag string, whole bool) {
	for _, tags := range lists {
		for _, tag := range tags {
			if len(s) >= len(tag) && strings.EqualFold(s[:len(tag)], tag) {
				return tag, true
			}
		}
	}
	for _, tags := range lists {
		for _, tag := range tags {
			if s != "" && len(s) < len(tag) && strings.EqualFold(s, tag[:len(s)]) {
				return tag, false
			}
		}
	}
	return "", false
}

// findClosing returns the index and the length of the first closing tag, of a call or of thoughts. The index is -1 if there is none.
func findClosing(s string, call bool) (at, length int) {
	if !call {
		at, tag := findTag(s, closings, 0)
		return at, len(tag)
	}
	for i := range len(s) {
		if s[i] == '<' || s[i] == '[' {
			if n, closing, _ := callTag(s[i:]); n > 0 && closing {
				return i, n
			}
		}
	}
	return -1, 0
}

// findTag returns the index of the first of the tags in s at or after from, and the tag. The index is -1 if there is
// none.
func findTag(s string, tags []string, from int) (int, string) {
	for i := from; ; i++ {
		j := strings.IndexAny(s[i:], "<[")
		if j < 0 {
			return -1, ""
		}
		i += j
		for _, tag := range tags {
			if len(s)-i >= len(tag) && strings.EqualFold(s[i:i+len(tag)], tag) {
				return i, tag
			}
		}
	}
}
