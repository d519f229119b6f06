package order

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"familiar/internal/text"
)

// voice is what a message says in its author's own voice. Quotations, code and material that is only shown to the bot give no orders.
type voice struct {
	sentences []string
	quotes    []string // what each placeholder in the sentences stands for
}

// A quotation within a sentence is replaced by one of these runes, so that no word in it is read.
const (
	firstQuote = '\uE000'
	lastQuote  = '\uF8FF'
)

// mostSentences is the most sentences of a message that gives orders. A longer one has been pasted.
const mostSentences = 7

// ownVoice returns the sentences of a message that may be orders. There are none if the message is a letter, is pasted, or asks to
// work on a text.
func ownVoice(message string, called [][]string) (own voice) {
	var lines, written []string // written has the items of lists, too
	fenced, lists := false, false
	message = struck.ReplaceAllString(message, " ")
	for line := range strings.Lines(message) {
		trimmed := strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(trimmed, "```"):
			fenced = !fenced
		case strings.HasPrefix(trimmed, ">>>"): // quotes everything after it
			message = ""
		case fenced || strings.HasPrefix(trimmed, ">") || strings.Contains(trimmed, "```"):
		case isLetter(trimmed):
			return voice{}
		case isItem(trimmed):
			written = append(written, line)
			if lists {
				lines = append(lines, line)
			}
		default:
			head, colon := BeforeColon(trimmed)
			written = append(written, line)
			lists = colon && head != "" && opens(head, called)
			lines = append(lines, line)
		}
		if message == "" {
			break
		}
	}
	if signed(written, called) || copied(lines, called) {
		return voice{}
	}
	said := own.masked(strings.Join(lines, ""))
	for _, sentence := range whole(text.MessageSentences(said)) {
		if utf8.RuneCountInString(sentence) > maxSentence || worksOnText(sentence, called) || len(own.sentences) == mostSentences {
			return voice{}
		}
		own.sentences = append(own.sentences, sentence)
		if shows(sentence, called) {
			break
		}
	}
	return own
}

// item matches the mark of a line of a list. Such a line is pasted, unless the list follows an order: "remember:".
var item = text.NewLazyRegexp(`^(?:[-–—•·‣◦▪]|[*+]\s|\(?(?:\d{1,3}|[a-zA-Z]|[ivxIVX]{1,4})[.)]\s|\d{1,3}[.)、．）]|\d\x{FE0F}?\x{20E3}|[①-⑳])`)

func isItem(line string) bool {
	mark := item.FindString(line)
	next, _ := utf8.DecodeRuneInString(line[len(mark):])
	return mark != "" && !unicode.IsDigit(next) // a number, a time
}

// struck matches what is struck out. Nobody says it any more.
var struck = text.NewLazyRegexp(`~~[^~]+~~`)

// whole joins sentences that a date divides: "am 12. Juni".
func whole(sentences []string) (all []string) {
	for _, s := range sentences {
		if n := len(all) - 1; n >= 0 {
			before := strings.TrimSuffix(all[n], ".")
			if before != all[n] && unicode.IsDigit(lastRune(before)) && beginsWithMonth(s) {
				all[n] += " " + s
				continue
			}
		}
		all = append(all, s)
	}
	return all
}

func beginsWithMonth(s string) bool {
	words := tokens(s)
	return len(words) > 0 && slices.ContainsFunc(vocabularies(), func(v *vocabulary) bool { return v.months.has(words[0].key) })
}

// marks are the pairs of quotation marks, and of marks around code.
var marks = map[rune]string{'"': `"`, '“': "”“", '„': "“”", '«': "»", '»': "«", '‹': "›", '「': "」", '『': "』", '《': "》", '‘': "’", '\'': "'", '`': "`", '”': "”"}

// masked replaces each quotation in a text, with its marks, by a placeholder.
func (own *voice) masked(s string) string {
	var b strings.Builder
	before := ' '
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		ends, opens := marks[r]
		if opens && !((r == '\'' || r == '‘' || r == '”') && (unicode.IsLetter(before) || unicode.IsDigit(before))) {
			if n := closing(s[i+size:], ends); n > 0 {
				b.WriteRune(firstQuote + rune(min(len(own.quotes), lastQuote-firstQuote)))
				own.quotes = append(own.quotes, s[i:i+size+n])
				i, before = i+size+n, ' '
				continue
			}
			if r == '"' || r == '“' || r == '„' || r == '「' || r == '`' {
				return b.String() // it is never closed: what follows may all be quoted
			}
		}
		b.WriteString(s[i : i+size])
		i, before = i+size, r
	}
	return b.String()
}

// closing returns the length in bytes up to and with the mark that closes a quotation, or 0.
func closing(s, ends string) int {
	for i, r := range s {
		if !strings.ContainsRune(ends, r) {
			continue
		}
		n := i + utf8.RuneLen(r)
		if next, _ := utf8.DecodeRuneInString(s[n:]); (r == '\'' || r == '’') && unicode.IsLetter(next) {
			continue
		}
		return n
	}
	return 0
}

// written returns words of a sentence as they were written, with its quotations.
func (own *voice) written(s string) string {
	if !strings.ContainsFunc(s, isQuote) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if i := int(r - firstQuote); isQuote(r) && i < len(own.quotes) {
			b.WriteString(own.quotes[i])
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

func isQuote(r rune) bool { return firstQuote <= r && r <= lastQuote }

// isLetter reports whether a line begins or ends a letter: "Dear Ben,", "Kind regards,".
func isLetter(line string) bool {
	words := tokens(line)
	if len(words) == 0 || len(words) > 5 {
		return false
	}
	last, _ := utf8.DecodeLastRuneInString(line)
	alone := strings.ContainsRune(",，:：!", last)
	for _, v := range vocabularies() {
		for _, p := range v.letters {
			if n := p.begins(line, words); n > 0 && (alone || n == len(line)) {
				return true
			}
		}
	}
	return false
}

// signed reports whether a message has the form of a letter. It has a first line that calls somebody else, or a name below everything.
func signed(lines []string, called [][]string) bool {
	var all []string
	for _, line := range lines {
		if line = strings.TrimSpace(line); line != "" {
			all = append(all, line)
		}
	}
	if len(all) < 2 {
		return false
	}
	head, last, above := all[0], all[len(all)-1], all[len(all)-2]
	if words := tokens(head); strings.ContainsRune(",，", lastRune(head)) && len(words) > 1 && len(words) <= 3 && !slices.ContainsFunc(called, func(name []string) bool {
		return prefix(words[len(words)-min(len(name), len(words)):], name) > 0
	}) {
		return true
	}
	first, _ := utf8.DecodeRuneInString(last)
	return len(tokens(last)) <= 3 && (strings.ContainsRune("-–—", first) || unicode.IsUpper(first) && len(tokens(above)) <= 4 && lastRune(above) == ',')
}

// speaker matches the beginning of a line that a chat shows: "[12:03] Ada", "<Ada>", "Ada — Today at 12:03".
var speaker = text.NewLazyRegexp(`^(?:\[[^\]]*\d:\d\d[^\]]*\]|<\pL[^>]*>|\pL.{0,40} — .{0,12}\d:\d\d(?: ?[AP]M)?$)`)

// copied reports whether lines are of a chat or a mail: each says who speaks, or two have a heading.
func copied(lines []string, called [][]string) bool {
	heads := 0
	for i, line := range lines {
		line = strings.TrimSpace(line)
		if said := speaker.FindString(line); said != "" && (said != line || i+1 < len(lines)) {
			return true
		}
		head, colon := BeforeColon(line)
		first, _ := utf8.DecodeRuneInString(head)
		if colon && unicode.IsUpper(first) && len(tokens(head)) <= 2 && shows(line, called) {
			heads++
		}
	}
	return heads > 1
}

func lastRune(s string) rune {
	r, _ := utf8.DecodeLastRuneInString(s)
	return r
}

// worksOnText reports whether a sentence asks the bot to work on a text. The text may then be anywhere in the message: "translate this".
func worksOnText(sentence string, called [][]string) bool {
	all := tokens(sentence)
	for _, v := range vocabularies() {
		words := all
		if v.mentionsText(sentence, words) {
			return true
		}
		if v.unspaced {
			for _, p := range v.works {
				if strings.Contains(sentence, p.text) {
					return true
				}
			}
			continue
		}
		for rest := sentence; rest != ""; {
			for _, p := range v.works {
				if p.begins(rest, words) > 0 || v.verbLast && p.ends(v.bare(rest)) > 0 {
					return true
				}
			}
			n, _ := v.lead(rest, words, called)
			if n == 0 {
				break
			}
			rest = strings.TrimLeft(rest[n:], " ,:;!.")
			words = tokens(rest)
		}
	}
	return false
}

// mentionsText reports whether a sentence is about a text of the message, and no order itself. An example is "what this sentence means".
func (v *vocabulary) mentionsText(sentence string, words []token) bool {
	return slices.ContainsFunc(v.material, func(p phrase) bool { return p.in(sentence, words) }) && len(v.beginning(sentence, words)) == 0
}

// shows reports whether a sentence shows the bot what follows, as in "look at this:". Then what follows is not said to it.
func shows(sentence string, called [][]string) bool {
	if strings.HasPrefix(sentence, "[") { // "[Chorus]", "[12:03] Tom"
		return true
	}
	head, colon := BeforeColon(sentence)
	if !colon {
		return false
	}
	for _, v := range vocabularies() {
		rest := head
		for rest != "" {
			if v.introduces(rest) {
				return false
			}
			n, _ := v.lead(rest, tokens(rest), called)
			if n == 0 {
				break
			}
			rest = strings.TrimLeft(rest[n:], " ,;!.、，")
		}
		if rest == "" {
			return false
		}
	}
	return true
}

// introduces reports whether what is before a colon is an order, or calls something wrong.
func (v *vocabulary) introduces(s string) bool {
	words := tokens(s)
	if longestIn(v.no, s, words) == len(s) || slices.ContainsFunc(v.wrong, func(w slot) bool { return w.begins(s, words) > 0 }) {
		return true
	}
	return slices.ContainsFunc(append(v.beginning(s, tokens(s)), v.ending(s, true)...), func(f found) bool {
		return v.only(v.bare(f.rest), append(v.scaffold(true), v.own)...)
	})
}

// BeforeColon returns the part of a sentence before a colon that introduces something. A colon within a time or an address does not.
func BeforeColon(s string) (head string, colon bool) {
	for i, r := range s {
		next, _ := utf8.DecodeRuneInString(s[i+utf8.RuneLen(r):])
		if r == '：' || r == ':' && (unicode.IsSpace(next) || next == utf8.RuneError || isQuote(next)) {
			return strings.TrimSpace(s[:i]), true
		}
	}
	return "", false
}

// Spoken returns the sentences that a message says in its author's own voice, each on one line.
func Spoken(message string, names []string) (all []string) {
	for _, s := range ownVoice(message, calledBy(names)).sentences {
		all = append(all, text.OneLine(s))
	}
	return all
}

// Quotes reports whether one of these sentences quotes something.
func Quotes(sentence string) bool { return strings.ContainsFunc(sentence, isQuote) }
