package order

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"familiar/internal/text"
)

// corrected returns the order of a sentence that does not begin with one. Its last clause points back, or it says what is right and what is
// not.
func (v *vocabulary) corrected(p *passage, s string, opened bool) Order {
	if o := v.behind(p, s); o != (Order{}) {
		return o
	}
	return v.contrast(s, opened)
}

// turned returns the correction that ends with the order to correct something.
func (v *vocabulary) turned(s string) Order {
	for _, f := range v.ending(s, true) {
		if f.cue == "change" {
			return v.contrast(f.rest, true)
		}
	}
	return Order{}
}

// changes returns the correction that an order to correct introduces, or that is before it.
func (v *vocabulary) changes(p *passage, f found) (o Order) {
	switch {
	case f.colon:
		o = v.correction(v.bare(f.rest))
	case p.before != "" && v.only(v.bare(f.rest), v.this, v.memory, v.about, v.known):
		o = v.correction(v.statement(p.before))
	}
	o.Plain = o != (Order{})
	return o
}

// denial returns the correction after words that call something wrong.
func (v *vocabulary) denial(p *passage, s string) Order {
	n, words := 0, tokens(s)
	for _, w := range v.wrong {
		n = max(n, w.begins(s, words))
	}
	if n == 0 || isQuestion(p.s) {
		return Order{}
	}
	right := v.bare(s[n:])
	if right == "" {
		if right = v.bare(p.next); isQuestion(p.next) {
			return Order{}
		}
		p.both = right != ""
	} else if !punctuated(strings.TrimLeft(s[n:], " ")) {
		return Order{}
	}
	return v.correction(right)
}

// correction returns the order to correct something by what is right.
func (v *vocabulary) correction(right string) Order {
	if o := v.contrast(right, true); o != (Order{}) {
		return o
	}
	if right == "" || utf8.RuneCountInString(right) > MaxText {
		return Order{}
	}
	return Order{Deed: Correct, Text: right}
}

// Retort returns the correction that a short message makes of what was said before it: "no, it's 5 May". names are the bot's.
func Retort(message string, names []string) Order {
	own, called := heard(message, names)
	if len(own.sentences) != 1 || isQuestion(own.sentences[0]) {
		return Order{}
	}
	for _, v := range vocabularies() {
		for rest := own.sentences[0]; rest != ""; {
			if n := longest(v.no, rest); n > 0 {
				right := v.bare(rest[n:])
				if said, leans := v.leaning(right); leans && len(tokens(said)) > 0 && len(tokens(said)) <= maxRetort {
					return own.quoted(Order{Deed: Correct, Text: right})
				}
			}
			n, _ := v.lead(rest, tokens(rest), called)
			if n == 0 {
				break
			}
			rest = strings.TrimLeft(rest[n:], between)
		}
	}
	return Order{}
}

const maxRetort = 4 // words of what is right

// contrast returns the correction of a text that says what is right and what is not: "it's Porto, not Lisbon". opened says that the text
// follows a "no". Otherwise it must be about the speaker, or tell names, numbers or days.
func (v *vocabulary) contrast(s string, opened bool) Order {
	o, n := v.opposed(s, opened), longest(v.no, s)
	if o == (Order{}) && n > 0 && n < len(s) {
		o = v.opposed(strings.TrimLeft(s[n:], between), true)
	}
	return o
}

func (v *vocabulary) opposed(s string, opened bool) Order {
	if _, colon := BeforeColon(s); colon {
		return Order{}
	}
	said := v.bare(s)
	if i := strings.LastIndexAny(said, ",，"); i > 0 && strings.ContainsAny(said[:i], ",，") {
		if o := v.opposed(said[:i], opened); o != (Order{}) { // what follows is not part of it
			return o
		}
	}
	for _, c := range v.contrasts {
		right, wrong, separate := c.split(said)
		if right == "" || wrong == "" {
			continue
		}
		words := tokens(right)
		if len(tokens(wrong)) > 5 || len(words) > 15 {
			continue
		}
		rest, leans := v.leaning(right)
		values := v.value(wrong) && v.value(lastWord(right))
		switch {
		case leans && strings.TrimSpace(rest) == "":
		case !separate && !(opened && (leans && rest != "" || c.joined || values)):
		case opened, leans && values, v.aboutSpeaker(s, tokens(s)) && (values || v.says(words)), c.turned && (values || v.unspaced) && len(words) <= 3 && utf8.RuneCountInString(right) <= longestField:
			return Order{Deed: Correct, Text: right, Wrong: strings.Trim(wrong, between)}
		}
	}
	return Order{}
}

// value reports whether a text is a name, a number, a day or a month.
func (v *vocabulary) value(s string) bool {
	words := tokens(s)
	return len(words) > 0 && len(words) <= 3 && !slices.ContainsFunc(words, func(w token) bool {
		first, _ := utf8.DecodeRuneInString(s[w.from:])
		return !(unicode.IsUpper(first) || unicode.IsDigit(first) || v.days[w.key])
	})
}

func lastWord(s string) string {
	words := tokens(s)
	if len(words) == 0 {
		return ""
	}
	last := words[len(words)-1]
	return s[last.from:last.to]
}

// leaning reports whether a text begins with "it is", or ends so where the verb comes last. It returns the rest, with its leading space.
func (v *vocabulary) leaning(s string) (rest string, leans bool) {
	if n := longest(v.it, s); n > 0 {
		return s[n:], true
	}
	if n := suffix(v.it, s); n > 0 && v.unspaced {
		return s[:len(s)-n], true
	}
	return s, false
}

// ApplyCorrection returns the statement that replaces an old one. A correction with its own subject is the new statement: "I'm vegan". A
// correction that leans on the old one takes its subject. "my birthday is 3 May" and "it's 4 May" give "my birthday is 4 May". Where it
// says what is wrong, that is replaced.
func ApplyCorrection(old, right, wrong string) string {
	own, _ := About(right)
	if at, n := heldBy(old, wrong); n > 0 {
		if rest, leans := WithoutSubject(right); leans {
			return old[:at] + rest + old[at+n:]
		}
		if !own && !shares(old[:at]+" "+old[at+n:], right) { // else it has a subject of its own
			return old[:at] + right + old[at+n:]
		}
		return right
	}
	for _, v := range vocabularies() {
		rest, leans := v.leaning(right)
		if words := tokens(right); v.unspaced || len(words) < 2 || !leans {
			continue
		}
		before := tokens(old)
		if i := slices.IndexFunc(before, func(w token) bool { return v.is.has(w.key) }); i > 0 {
			return old[:before[i].to] + rest
		}
	}
	if own {
		return right
	}
	return right + " (≠ " + strings.TrimRight(old, ".") + ")"
}

// shares reports whether two texts have a word in common.
func shares(a, b string) bool {
	words := tokens(b)
	return slices.ContainsFunc(tokens(a), func(w token) bool {
		return slices.ContainsFunc(words, func(one token) bool { return one.key == w.key })
	})
}

// heldBy returns where an old statement has what is wrong, or the end of that.
func heldBy(old, wrong string) (at, n int) {
	unspaced, least := text.Unspaced(old), 3
	if unspaced {
		least = 2
	}
	if small := strings.ToLower(old); len(small) == len(old) {
		old, wrong = small, strings.ToLower(wrong)
	}
	for i, r := range wrong {
		part := wrong[i:]
		if i > 0 && utf8.RuneCountInString(part) < least {
			break
		}
		before, _ := utf8.DecodeLastRuneInString(wrong[:i])
		if !text.InWord(r) || i > 0 && text.InWord(before) && !unspaced {
			continue
		}
		if at := strings.Index(old, part); at >= 0 && (unspaced || separateIn(old, at, len(part))) {
			return at, len(part)
		}
	}
	return 0, 0
}

// HasWrong reports whether an old statement has what is wrong.
func HasWrong(old, wrong string) bool {
	_, n := heldBy(old, wrong)
	return n > 0
}

// separateIn reports whether a part of a text is made of whole words.
func separateIn(s string, at, n int) bool {
	before, _ := utf8.DecodeLastRuneInString(s[:at])
	after, _ := utf8.DecodeRuneInString(s[at+n:])
	return (at == 0 || !text.InWord(before)) && (at+n == len(s) || !text.InWord(after))
}

// WithoutSubject returns what a correction that leans on the old statement puts in its place: "Porto" of "it's Porto". leans is false for any
// other correction.
func WithoutSubject(right string) (rest string, leans bool) {
	for _, v := range vocabularies() {
		if rest, leans := v.leaning(right); leans && strings.TrimSpace(rest) != "" {
			return strings.Trim(rest, between), true
		}
	}
	return right, false
}
