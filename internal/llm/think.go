package llm

import "strings"

// thoughts takes <think>…</think> out of a text that comes in pieces of any size. A tag after a backtick is
// talk about the tag and stays.
type thoughts struct {
	// late is set for models known to close thoughts that they never open (their template opens them, out of
	// our sight): nothing is passed on until the closing tag, or the end, shows what it is.
	late bool

	inside  bool   // after an opening tag
	opened  bool   // an opening tag was seen
	begun   bool   // something other than white space was passed on
	pending string // not decided yet: the beginning of a tag, or everything while late
	seen    int    // bytes of pending that are known to hold no closing tag
	before  byte   // last byte passed on
	passed  int    // bytes passed on so far
	hidden  int    // bytes kept out
}

var (
	openings = []string{"<think>", "<thinking>"}
	closings = []string{"</think>", "</thinking>"}
)

const longestTag = len("</thinking>")

// write takes the next piece and returns what may be shown of the text by now. retract says that all that was
// returned before turned out to be thoughts.
func (t *thoughts) write(piece string) (visible string, retract bool) {
	if t.pending == "" && t.begun && !t.inside && piece != "" && strings.IndexByte(piece, '<') < 0 {
		t.before = piece[len(piece)-1] // nearly every piece of nearly every answer
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
		i := strings.IndexByte(t.pending, '<')
		if i < 0 {
			t.pass(&out, len(t.pending))
			break
		}
		t.pass(&out, i)
		tag, whole := tagAt(t.pending)
		switch {
		case t.before == '`' || tag == "":
			t.pass(&out, 1)
		case !whole:
			return out.String(), retract
		case tag[1] == '/' && !t.opened:
			t.hidden += t.passed
			t.passed, t.begun, t.opened, t.before = 0, false, true, 0
			out.Reset()
			retract = true
			t.drop(len(tag))
		case tag[1] == '/':
			t.drop(len(tag))
		default:
			t.inside, t.opened = true, true
			t.drop(len(tag))
		}
	}
	return out.String(), retract
}

// close ends the text and returns what is left to show. Thoughts that were not closed are thoughts.
func (t *thoughts) close() string {
	if t.inside {
		t.hidden += len(t.pending)
		t.pending = ""
		return ""
	}
	t.late = false
	rest := t.pending
	t.pending = ""
	if !t.begun {
		rest = strings.TrimLeft(rest, " \t\r\n")
	}
	return rest
}

// undecided looks for the tag that tells, while late, whether the text so far was thoughts; false: it was found.
func (t *thoughts) undecided() bool {
	start := strings.TrimLeft(t.pending, " \t\r\n")
	if tag, whole := tagAt(start); whole && tag[1] != '/' {
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

// leave looks for the closing tag and drops the thoughts before it.
func (t *thoughts) leave() bool {
	i, tag := findTag(t.pending, closings, 0)
	if i < 0 {
		if keep := len(t.pending) - longestTag; keep > 0 {
			t.hidden += keep
			t.drop(keep)
		}
		return false
	}
	t.hidden += i
	t.drop(i + len(tag))
	t.inside = false
	return true
}

func (t *thoughts) drop(n int) { t.pending = t.pending[n:] }

// pass moves the first n bytes of pending to out, without white space at the very beginning of the text.
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

// tagAt returns the tag that s begins with, or that it may still become (whole is false then).
func tagAt(s string) (tag string, whole bool) {
	for _, tags := range [][]string{openings, closings} {
		for _, tag := range tags {
			if len(s) >= len(tag) && strings.EqualFold(s[:len(tag)], tag) {
				return tag, true
			}
		}
	}
	for _, tags := range [][]string{openings, closings} {
		for _, tag := range tags {
			if s != "" && len(s) < len(tag) && strings.EqualFold(s, tag[:len(s)]) {
				return tag, false
			}
		}
	}
	return "", false
}

// findTag returns the first of the tags in s, from byte from on, and where it is; -1 if there is none.
func findTag(s string, tags []string, from int) (int, string) {
	for i := from; ; i++ {
		j := strings.IndexByte(s[i:], '<')
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
