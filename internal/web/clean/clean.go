// Package clean makes text and addresses from outside safe for a model, an operator or a chat.
//
// Each of the first three functions does more than the one before:
//
//   - Text removes what a model can see and a person cannot: tags, variation selectors, zero-width and bidi controls,
//     encoded data. Words and scripts stay as written. Nothing is transliterated.
//   - Inert also disarms delimiters, chat templates and the labels of speakers, so that the text cannot pass for
//     something else.
//   - [Seal.Line] also marks the line, so that a model can tell quoted words from words addressed to it.
//
// Line is Text for titles and other short texts. Reply is for the bot's own words. It takes the same care, but keeps
// sequences of emoji and the joiners of Persian words. Spoken and Name are for what people in the chat write
// (speaker.go). [Redactor] keeps secrets out of everything that leaves the program (secret.go). ReferenceAt and Unreferenced handle citations such as [1] (reference.go).
//
// Text, Inert and Reply run until their result no longer changes. Otherwise, removing one part could join others into
// something new ("<|im_<|x|>start|>").
//
// Addresses have one form, too (url.go, domains.go). [ParseURL] applies the rules for URLs. It returns the one canonical URL that is then
// checked, logged and dialled. [ResolveURL] does the same for the target of a redirect. [Canonical] is the form in which two URLs are compared,
// [DedupeKey] the form for finding duplicates. [Domains] holds an operator's allow and deny lists, which are matched against the canonical
// host. [Site] restricts a visit to the pages of one host below one path, and finds them by their short names. [TypedURLs] finds the URLs in
// what people write. [Unreadable] recognises files without text by their extensions.
//
// The rules have the project's numbers (T for text, D for delimiters), and a Report counts by them. They work on text.
// Hidden elements of web pages are removed by package visible.
package clean

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Report says how often each rule applied: "T1" to "T10", "D1" to "D4", "image", "script", "lookalike_delims". It is nil
// if nothing changed. The caller owns it.
type Report map[string]int

func (r *Report) add(rule string, n int) {
	if n == 0 {
		return
	}
	if *r == nil {
		*r = Report{}
	}
	(*r)[rule] += n
}

// rounds is how often a text may change before it counts as hostile. Ordinary text needs at most two rounds.
const rounds = 16

// settle applies step until nothing changes. It reports whether at most rounds were needed.
func settle(s string, step func(string) string) (string, bool) {
	for range rounds {
		before := s
		if s = step(s); s == before {
			return s, true
		}
	}
	return s, false
}

// Text cleans text from the web. It removes the colours of emoji and the joiners of Persian words, so it is not for what
// users write. Ordinary text is returned unchanged, without a copy.
func Text(s string) (string, Report) {
	var r Report
	s = cleanText(bounded(s, &r), blockLength, &r)
	return s, r
}

// inputLength is how many bytes are read: many times what is shown, and few enough to read several times.
const inputLength = 1 << 20

func bounded(s string, r *Report) string {
	if len(s) <= inputLength {
		return s
	}
	r.add("T9", 1)
	end := inputLength
	for end > 0 && !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end]
}

func cleanText(s string, most int, r *Report) string {
	s, _ = settle(s, func(s string) string {
		if plain(s, most) {
			return s
		}
		return layout(defuse(compose(fold(s, r, false), r), r), most, r)
	})
	return s
}

// Line cleans a title, a snippet or a name. It applies the rules of Text and replaces white space by single spaces. The
// result has at most max characters (code points); if it was cut, the last one is "…". If max is 0 or negative, the
// result is "".
func Line(s string, max int) string {
	if max <= 0 {
		return ""
	}
	var r Report
	s, _ = settle(bounded(s, &r), func(s string) string {
		return strings.Join(strings.Fields(defuse(compose(fold(s, &r, false), &r), &r)), " ")
	})
	return shorten(s, max)
}

// Inert cleans text as Text does and makes it unable to act. It cannot close our block, open a turn of a chat template, or repeat the
// nonce. Nor can it speak as somebody else at the start of a line. An empty nonce is ignored.
func Inert(s, nonce string) string {
	var r Report
	return inert(s, nonce, blockLength, &r)
}

// Page is Inert for the whole text of a page. The text is not shown as it is, so it may be as long as what is read. The
// report is for the record.
func Page(s string) (string, Report) {
	var r Report
	s = inert(s, "", inputLength, &r)
	r.add("lookalike_delims", lookalikes(s))
	return s, r
}

func inert(s, nonce string, most int, r *Report) string {
	step := func(s string) string { return disarm(cleanText(s, most, r), nonce, r) }
	s, settled := settle(bounded(s, r), step)
	if settled {
		return s
	}
	// Still changing: tokens are nested more deeply than by accident. Without brackets nothing can be nested, so the
	// text settles after a few more rounds.
	s, _ = settle(strings.Map(unbracket, s), step)
	return s
}

// Reply cleans what the bot is about to send. So it cannot carry hidden text to people or other bots. It keeps sequences of emoji, flags,
// keycaps, and the joiners of Arabic and Indic words. It does not limit lengths or remove encoded data.
func Reply(s string) (string, Report) {
	var r Report
	s, _ = settle(s, func(s string) string {
		if plainASCII(s) {
			return s
		}
		return compose(fold(s, &r, true), &r)
	})
	return s, r
}

// marksInARow is how many combining marks may follow each other. No living script needs more, but Zalgo uses more.
const marksInARow = 4

// compose is T8: it composes characters canonically and limits combining marks.
func compose(s string, r *Report) string {
	if strings.IndexFunc(s, func(c rune) bool { return !starts(c) }) < 0 {
		return s
	}
	run := 0
	return strings.Map(func(c rune) rune {
		if run = nextRun(run, c); run > marksInARow {
			r.add("T8", 1)
			return gone
		}
		return c
	}, norm.NFC.String(s))
}

func hasExcessMarks(s string) bool {
	run := 0
	return strings.ContainsFunc(s, func(c rune) bool {
		run = nextRun(run, c)
		return run > marksInARow
	})
}

// nextRun returns the number of consecutive marks after c, if there were run before it.
func nextRun(run int, c rune) int {
	if c < 0x300 || common(c) || !unicode.Is(unicode.M, c) {
		return 0
	}
	return run + 1
}

// Lengths of T9 in characters. They include the mark that shows a cut.
const (
	lineLength  = 2_000
	blockLength = 24_000 // of what is shown
	blankLines  = 2
	cutMark     = "(cut)"
)

// layout is T9. It limits the length of lines, the length of the text (to most characters), and runs of blank lines. A long paragraph is
// broken between sentences without loss. Only a line without sentences is cut.
func layout(s string, most int, r *Report) string {
	var b strings.Builder
	b.Grow(len(s))
	blank, first := 0, true
	for line := range strings.SplitSeq(s, "\n") {
		if strings.TrimSpace(line) == "" {
			if blank++; blank > blankLines && !first {
				r.add("T9", 1)
				continue
			}
		} else {
			blank = 0
		}
		if !first {
			b.WriteByte('\n')
		}
		first = false
		writeLine(&b, line, r)
	}
	s = b.String()
	if utf8.RuneCountInString(s) > most {
		r.add("T9", 1)
		s = s[:cutPoint(s, most-len(cutMark)-1)]
		s = strings.TrimRightFunc(s, unicode.IsSpace) + "\n" + cutMark
	}
	return s
}

func writeLine(b *strings.Builder, line string, r *Report) {
	for utf8.RuneCountInString(line) > lineLength {
		r.add("T9", 1)
		at := sentenceEnd(line[:runes(line, lineLength)])
		if at == 0 {
			line = line[:cutPoint(line, lineLength-len(cutMark)-1)]
			line = strings.TrimRightFunc(line, unicode.IsSpace) + " " + cutMark
			break
		}
		b.WriteString(strings.TrimRight(line[:at], " \t"))
		b.WriteByte('\n')
		line = strings.TrimLeft(line[at:], " \t")
	}
	b.WriteString(line)
}

// cutPoint returns where to cut s so that at most max characters stay. It prefers the end of a sentence, then the end of
// a word, if that keeps at least half. Otherwise it cuts anywhere except before a combining mark.
func cutPoint(s string, max int) int {
	s = s[:runes(s, max)]
	if at := sentenceEnd(s); at > len(s)/2 {
		return at
	}
	if at := strings.LastIndexAny(s, " \t\n"); at > len(s)/2 {
		return at
	}
	return len(s)
}

// sentenceEnd returns the position after the last sentence that ends inside s, or 0 if none does.
func sentenceEnd(s string) int {
	for at := len(s); at > 0; {
		c, size := utf8.DecodeLastRuneInString(s[:at])
		switch c {
		case '。', '！', '？', '।', '۔':
			return at
		case '.', '!', '?', '…', '؟':
			if at < len(s) && (s[at] == ' ' || s[at] == '\n') {
				return at
			}
		}
		at -= size
	}
	return 0
}

// runes returns the length in bytes of the first n characters of s. It excludes marks that belong to the next character.
func runes(s string, n int) int {
	at := 0
	for i := range s {
		if n == 0 {
			return at
		}
		n--
		_, size := utf8.DecodeRuneInString(s[i:])
		at = i + size
	}
	return at
}

// shorten cuts s to max characters. If it cuts, the result ends with "…".
func shorten(s string, max int) string {
	if utf8.RuneCountInString(s) <= max {
		return s
	}
	s = s[:runes(s, max-1)]
	if at := strings.LastIndexByte(s, ' '); at > len(s)/2 {
		s = s[:at]
	}
	return strings.TrimRightFunc(s, unicode.IsSpace) + "…"
}
