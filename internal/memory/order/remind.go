package order

import (
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"familiar/internal/text"
)

// Remind is the kind of an order to remind its author.
const Remind Deed = "remind"

// Why says why no reminder is set. The set is closed.
type Why string

// The reasons.
const (
	NoTime Why = "it does not say when"
	Past   Why = "the time is over"
	Again  Why = "it is to come again and again"
	Near   Why = "it is less than a minute away"
	Far    Why = "it is more than a year away"
)

// A reminder is between these far away.
const (
	nearest  = time.Minute
	farthest = 366 * 24 * time.Hour
)

// Reminder is an order to remind its author of something. The zero value is none.
type Reminder struct {
	Text string // in the author's words; may be empty
	At   time.Time
	Wall bool   // At is of a clock and not of a span: another time zone changes it
	Why  Why    // no reminder is set
	Zone string // instead of all this, the author tells their time zone
}

// Reminders returns the orders to remind in a message, at most one for each sentence. names are the bot's. now is when the message was
// written, in its author's time zone. As [Parse] does, it reads only what is in the author's own voice.
func Reminders(message string, names []string, now time.Time) (all []Reminder) {
	if !mayRemind(message) {
		return nil
	}
	own, called := heard(message, names)
	for _, sentence := range undivided(own.sentences) {
		for _, v := range vocabularies() {
			w := timeWordsOf()[v.code]
			if w == nil {
				continue
			}
			if r := v.reminder(w, sentence, called, now); r != (Reminder{}) {
				r.Text = own.written(r.Text)
				all = append(all, r)
				break
			}
		}
	}
	return all
}

// undivided joins sentences that the dot of a date divides: "am 24.12. um neun". It does so where an order ends with a mark: "RemindMe! 3 days".
func undivided(sentences []string) (all []string) {
	for _, s := range sentences {
		first, _ := utf8.DecodeRuneInString(s)
		if n := len(all) - 1; n >= 0 && (unicode.IsLower(first) && unicode.IsDigit(last(strings.TrimSuffix(all[n], "."))) || isCall(all[n])) {
			all[n] += " " + s
			continue
		}
		all = append(all, s)
	}
	return all
}

// isCall reports whether a sentence is nothing but an order before a time: "RemindMe!"
func isCall(sentence string) bool {
	f := fold(strings.Trim(sentence, between))
	for _, w := range timeWordsOf() {
		if end, cue := w.cue(f.s, 0, "timer"); cue != "" && end == len(f.s) {
			return true
		}
	}
	return false
}

// mayRemind is a cheap check: does a message have the words of such an order in any language?
func mayRemind(message string) bool {
	s := fold(message).s
	for _, w := range timeWordsOf() {
		if slices.ContainsFunc(w.orders, func(words string) bool { return strings.Contains(s, words) }) {
			return true
		}
	}
	return false
}

// reminder returns the order in a sentence of one language.
func (v *vocabulary) reminder(w *timeWords, sentence string, called [][]string, now time.Time) Reminder {
	f := fold(sentence)
	for i := range f.s {
		end, cue := w.cue(f.s, i, orderCues...)
		switch {
		case cue == "zone" && v.unled(w, sentence[:f.at[i]], called) == "":
			return Reminder{Zone: strings.Trim(sentence[f.at[end]:], between+"'\"“”=?はです")}
		case cue != "" && cue != "zone":
			s := split{w: w, f: f, from: i, to: end, cue: cue}
			s.read()
			if r, is := v.ordered(&s, sentence, called, now); is {
				return r
			}
			if !w.unspaced && cue == "begin" {
				return Reminder{}
			}
		}
	}
	return Reminder{}
}

// split is a sentence that is cut into an order, times and the rest.
type split struct {
	w        *timeWords
	f        folded
	from, to int    // the order
	cue      string // its first one
	parts    parts
	before   []text.Span // the rest before and after the order
	behind   []text.Span
}

// read finds the times around the order. Once a time of the day is known, a word such as "to" ends them.
func (s *split) read() {
	s.before = s.cut(0, s.from)
	if s.cue == "timer" { // "RemindMe! 3 days check the oven", "set a timer for 15 minutes"
		i := s.to + len(s.f.s[s.to:]) - len(strings.TrimLeft(s.f.s[s.to:], between))
		i = s.w.behindOn(s.f.s, i)
		if end := s.w.amounts(s.f.s, i, &s.parts, false); end > i {
			s.behind = append([]text.Span{{From: s.to, To: s.to}}, s.cut(end, len(s.f.s))...)
			return
		}
	}
	s.behind = s.cut(s.to, len(s.f.s))
}

// beside reports whether a time stands beside the order.
func (s *split) beside(sentence, head string) bool {
	return len(s.before) > 1 && head == "" || len(s.behind) > 1 && s.written(sentence, s.behind[:1]) == ""
}

func (s *split) cut(from, to int) (rest []text.Span) {
	start := from
	for i := from; i < to; {
		p := s.parts
		if end := s.w.read(s.f.s[:to], i, &p); end > i && (s.w.unspaced || i == from || !unicode.IsLetter(last(s.f.s[:i])) && !text.IsDigit(s.f.s[i-1])) {
			s.parts = p
			rest = append(rest, text.Span{From: start, To: i})
			i, start = end, end
			continue
		}
		if _, cue := s.w.cue(s.f.s, i, "link"); cue != "" && from == s.to && !s.w.unspaced && (s.parts.clocked || s.parts.spanned) {
			break
		}
		_, n := utf8.DecodeRuneInString(s.f.s[i:])
		i += n
	}
	return append(rest, text.Span{From: start, To: to})
}

func last(s string) rune {
	r, _ := utf8.DecodeLastRuneInString(s)
	return r
}

// written returns parts of the sentence as they were written, joined by spaces.
func (s *split) written(sentence string, spans []text.Span) string {
	var all []string
	for _, one := range spans {
		if said := strings.Trim(sentence[s.f.at[one.From]:s.f.at[one.To]], between+"?？"); said != "" {
			all = append(all, said)
		}
	}
	return strings.Join(all, map[bool]string{false: " "}[s.w.unspaced && text.Unspaced(strings.Join(all, ""))])
}

// ordered returns the reminder that a split sentence orders. is reports whether it orders one. Only polite words and times may
// be before an order that begins a sentence, or after one that ends it.
func (v *vocabulary) ordered(s *split, sentence string, called [][]string, now time.Time) (r Reminder, is bool) {
	before, behind := s.written(sentence, s.before), s.written(sentence, s.behind)
	_, ends := s.w.cue(s.f.s, s.from, "end")
	_, begins := s.w.cue(s.f.s, s.from, append(weakCues, "begin")...)
	head := v.unled(s.w, before, called)
	switch {
	case begins != "" && head == "":
		r.Text = behind
	case ends != "" && head == "" && behind != "" && s.led(before):
		r.Text = behind
	case ends != "" && v.trailed(s.w, behind) == "" && (v.verbLast || s.led(before)):
		r.Text = s.stripped(head, "strip")
	default:
		return Reminder{}, false
	}
	asks := slices.Contains(s.w.asks, strings.ToLower(firstWord(r.Text)))
	if words := tokens(r.Text); len(words) > 0 && v.negations[words[0].key] {
		return Reminder{}, false
	}
	beside, linked := s.beside(sentence, head), v.linked(s.w, r.Text)
	free := linked == r.Text // no word joins the text to the order
	s.parts.bare = s.parts.bare && s.cue != "wake"
	if r.At, r.Why = s.parts.at(now); asks && (r.Why == NoTime || r.Why == Past || !beside && free) || r.Why == NoTime && (ends != "" && begins == "" || r.Text == "") {
		return Reminder{}, false
	}
	if slices.Contains(weakCues, s.cue) && (asks || s.w.asksIn(r.Text) || r.Why != "" || s.loose(beside, free && r.Text != "", linked)) {
		return Reminder{}, false
	}
	r.Wall = !s.parts.spanned || s.parts.clocked || s.parts.parted
	r.Text = linked
	switch {
	case r.Why != "":
		r.At = time.Time{}
	case r.At.Before(now.Add(nearest)):
		r.At, r.Why = time.Time{}, Near
	case r.At.After(now.Add(farthest)):
		r.At, r.Why = time.Time{}, Far
	}
	return r, true
}

// asksIn reports whether a text has a word that asks, or makes a condition: "if it rains".
func (w *timeWords) asksIn(said string) bool {
	return slices.ContainsFunc(strings.Fields(strings.ToLower(said)), func(word string) bool {
		_, link := w.cue(fold(word).s, 0, "link")
		return link == "" && slices.Contains(w.asks, word)
	})
}

// loose reports whether a time is too far from words that only with a time are an order. free says that no word joins the text to them, which is
// linked without such a word.
func (s *split) loose(beside, free bool, linked string) bool {
	switch s.cue {
	case "keep":
		return false
	case "tell":
		return !beside || free || linked == ""
	case "timer":
		return !beside
	}
	return free && (!beside || s.w.unspaced && !s.parts.spanned && !s.parts.clocked)
}

func firstWord(s string) string {
	if words := strings.Fields(s); len(words) > 0 {
		return words[0]
	}
	return ""
}

// unled returns a text without polite words, names and leads at its beginning.
func (v *vocabulary) unled(w *timeWords, s string, called [][]string) string {
	for s = strings.Trim(s, between+"¿¡"); s != ""; {
		n, _ := v.lead(s, tokens(s), called)
		f := fold(s)
		if end, cue := w.cue(f.s, 0, "lead", "on"); cue != "" {
			n = max(n, f.at[end])
		}
		if n == 0 {
			return s
		}
		s = strings.TrimLeft(s[n:], between)
	}
	return ""
}

// led reports whether a text has a lead of its language: "kannst du mich".
func (s *split) led(before string) bool {
	f := fold(before)
	for i := range f.s {
		if _, cue := s.w.cue(f.s, i, "lead"); cue != "" {
			return true
		}
	}
	return false
}

// trailed returns a text without polite words at its beginning.
func (v *vocabulary) trailed(w *timeWords, s string) string {
	for s = strings.TrimFunc(Trim(s), decoration); s != ""; {
		n := longest(v.leads, s)
		n = max(n, longest(v.asks, s))
		f := fold(s)
		if end, cue := w.cue(f.s, 0, "tail"); cue != "" {
			n = max(n, f.at[end])
		}
		if n == 0 {
			return s
		}
		s = strings.TrimLeft(s[n:], between)
	}
	return ""
}

// linked returns a text without the words that join it to an order.
func (v *vocabulary) linked(w *timeWords, s string) string {
	for s = strings.Trim(s, between+"?？"); s != ""; {
		f := fold(s)
		end, cue := w.cue(f.s, 0, "link")
		if cue == "" {
			break
		}
		s = strings.TrimLeft(s[f.at[end]:], between)
	}
	return (&split{w: w}).stripped(s, "strip", "tail")
}

// stripped returns a text without some words at its end.
func (s *split) stripped(said string, cues ...string) string {
	if !s.w.unspaced && len(cues) == 1 {
		return said
	}
	for f := fold(said); ; f = fold(said) {
		from := len(f.s)
		for i := range f.s { // the longest first
			if end, cue := s.w.cue(f.s, i, cues...); cue != "" && end == len(f.s) && i > 0 {
				from = i
				break
			}
		}
		if from == len(f.s) {
			return said
		}
		said = strings.TrimRight(said[:f.at[from]], between)
	}
}
