package text

import (
	"iter"
	"maps"
	"math/bits"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// nameWords are function words that names carry into all languages. Examples are Los Angeles, El Niño, De Niro, Die Hard, La La Land.
var nameWords = LazySet(func() WordList { return AllTables().Grammar.NameWords })

// MostlyLatin reports whether at least half of a text's letters are Latin.
func MostlyLatin(text string) bool {
	latin, others := 0, 0
	for _, r := range text {
		switch {
		case unicode.Is(unicode.Latin, r):
			latin++
		case unicode.IsLetter(r):
			others++
		}
	}
	return latin >= others
}

// MessageLanguage guesses the language of a message's own words: without code, quotations, addresses, mentions and titles. Where [Language]
// is unsure or has one word to go by, all words count that the tables of speech know. It returns "" for a language that is not clear.
func MessageLanguage(s string) string {
	language, _ := messageLanguage(s)
	return language
}

// ClearLanguage is [MessageLanguage] if a message clearly is in that language: by its script, or by its small words. "no problem", "git push"
// and the title of a film are not clear.
func ClearLanguage(s string) string {
	if language, clear := messageLanguage(s); clear {
		return language
	}
	return ""
}

func messageLanguage(s string) (language string, clear bool) {
	own := OwnWords(s)
	if language, clear = wordsLanguage(asking(own)); language == "" {
		return wordsLanguage(own)
	}
	return language, clear
}

// wordsLanguage is messageLanguage for words that all are the writer's. Of two scripts, the one of more letters counts. There are two
// exceptions. In one, only the other asks. In the other, the words in Latin letters are clear and the other word is what they are about.
func wordsLanguage(own string) (language string, clear bool) {
	other, most, asked := "", false, false
	if !ASCII(own) {
		other, most = byScript(own)
	}
	if other != "" {
		one := false
		other, one = askingScript(own, other)
		if most && (!one || !strings.ContainsFunc(own, latin)) {
			return other, true
		}
		if asked = asks(own, other); most && asked {
			return other, true
		}
	}
	language, clear = latinLanguage(own)
	switch {
	case other == "":
	case most && (!clear || strings.IndexFunc(own, InWord) != strings.IndexFunc(own, otherScript) && !asks(own, language)),
		asked && (!clear || strings.LastIndexFunc(own, unicode.IsLetter) == strings.LastIndexFunc(own, otherScript) && !asks(own, language)):
		return other, true
	}
	return language, clear
}

// latinLanguage is wordsLanguage for what is in Latin letters.
func latinLanguage(own string) (language string, clear bool) {
	spoken := spokenIn()
	var worth [maxCandidates]float64
	var known, small [maxCandidates]int
	seen := map[string]bool{}
	words := withoutTitles(own, Words(own))
	for _, w := range words {
		of := spoken[w.Key]
		if of == 0 || seen[w.Key] || partOfName(own, w) {
			continue
		}
		seen[w.Key] = true
		chosen := candidatesOf()[w.Key] // for what they tell, so they count about twice, and less where others say them too
		more := (1/float64(max(1, bits.OnesCount64(chosen))) + 1/float64(bits.OnesCount64(of|chosen))) / 2
		for in := of | chosen; in != 0; in &= in - 1 {
			i := bits.TrailingZeros64(in)
			known[i] += int(of >> i & 1)
			small[i] += int(chosen >> i & 1)
			worth[i] += float64(of>>i&1)/float64(bits.OnesCount64(of)) + float64(chosen>>i&1)*more
		}
	}
	marked := 0.0
	ascii := ASCII(own)
	for i, l := range candidates() {
		if ascii {
			break
		}
		marks := TablesOf(l).Marks
		if marks == "" || !strings.ContainsAny(own, marks) {
			continue
		}
		worth[i] += markWorth
		for _, w := range words {
			if strings.ContainsFunc(own[w.Start:w.End], func(r rune) bool { return marksOf()[r] == l }) && !partOfName(own, w) {
				worth[i]++ // as a word of this language alone
				marked++
			}
		}
	}
	best, second := 0.0, 0.0
	for i, l := range candidates() {
		if worth[i] > best {
			best, second, language = worth[i], best, l
		} else {
			second = max(second, worth[i])
		}
	}
	switch english := worth[slices.Index(candidates(), "en")]; {
	case english >= leastWorth && english >= best*(1+marked)/clearly: // what people write most, and mix in least
		language = "en"
	case best < leastWorth || best < clearly*second:
		return Language(own, words), false
	}
	i := slices.Index(candidates(), language)
	return language, small[i] > 0 && known[i] > 1
}

// clause matches words up to a mark or to another script.
var clause = NewLazyRegexp(`\p{Latin}(?:[\p{Latin}\p{M}\p{N} \t'’"/_()*@]|-[\p{Latin}\p{N}])*|[^\p{Latin}\PL](?:[^\p{Latin}\PL]|[\p{M}\p{N} \t"'()ー])*`)

// colon matches what is between a request or a label and what it introduces.
var colon = NewLazyRegexp(`[ \t]*(?::\s+|：\s*)`)

// asking returns the part of a message's own words that asks. Other languages than its are material. They are what follows a request and a
// colon, or what a machine wrote before the writer did.
func asking(own string) string {
	if !strings.Contains(own, ":") && !strings.Contains(own, "：") {
		return own
	}
	cut := colon.FindStringIndex(own)
	if cut == nil {
		return own
	}
	head, tail := own[:cut[0]], own[cut[1]:]
	first, last, since := "", "", 0 // the languages of the tail's clauses, and where the last begins
	for _, at := range clause.FindAllStringIndex(tail, -1) {
		part := tail[at[0]:at[1]]
		l, clear := wordsLanguage(part)
		switch {
		case l == "" || l == last || first != "" && !clear && !asks(part, l) && said(part, l) <= max(1, said(part, last)):
		case first == "":
			first, last = l, l
		case asks(tail[since:at[0]], last) && !asks(tail[at[0]:], l):
			return own
		default:
			last, since = l, at[0]
		}
	}
	language, clear := wordsLanguage(head)
	switch {
	case since > 0:
		return tail[since:]
	case language != "" && last != "" && language != last && (clear || strings.ContainsAny(head, " ") || strings.ContainsFunc(head, otherScript) != strings.ContainsFunc(tail, otherScript)):
		return head
	}
	return own
}

// said counts the words of a text that are said in a language; its function words count twice.
func said(s, language string) (n int) {
	i := slices.Index(candidates(), language)
	for _, w := range Words(s) {
		if i >= 0 {
			n += int(spokenIn()[w.Key]>>i&1 + candidatesOf()[w.Key]>>i&1)
		}
	}
	return n
}

// askingScript returns the language of the last word that asks in another script than the Latin one. If none asks, it is that of the last
// of all. It also returns whether there is only one. Chinese characters, which others write too, count if they ask. Where all words are in
// the given language, or that has letters of its own, it is that.
func askingScript(text, language string) (asked string, one bool) {
	n, same := 0, true
	for word := range otherWords(text) {
		code, _ := byScript(word)
		n, same = n+1, same && code == language
	}
	if same || TablesOf(language).Letters != "" {
		return language, n == 1
	}
	asked, found := language, false
	for word := range otherWords(text) {
		switch code, _ := byScript(word); {
		case asks(word, code):
			asked, found = code, true
		case !found && code != "zh":
			asked = code
		}
	}
	return asked, false
}

// otherWords yields the words in other scripts than the Latin one. Korean is apart from words that its particles follow.
func otherWords(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for start := strings.IndexFunc(text, otherScript); start >= 0; start = strings.IndexFunc(text, otherScript) {
			text = text[start:]
			first, _ := utf8.DecodeRuneInString(text)
			korean := unicode.Is(unicode.Hangul, first)
			end := strings.IndexFunc(text, func(r rune) bool { return !otherScript(r) || unicode.Is(unicode.Hangul, r) != korean })
			if end < 0 {
				end = len(text)
			}
			if !yield(text[:end]) {
				return
			}
			text = text[end:]
		}
	}
}

func latin(r rune) bool { return unicode.Is(unicode.Latin, r) }

// otherScript reports whether r is a letter of another script than the Latin one.
func otherScript(r rune) bool {
	return r >= utf8.RuneSelf && unicode.IsLetter(r) && !unicode.Is(unicode.Latin, r)
}

// asks reports whether a text has a word that asks in a language.
func asks(s, language string) bool {
	all := askingWords()[language]
	return slices.ContainsFunc(Words(s), func(w Word) bool {
		if all[w.Key] || ASCII(w.Key) {
			return all[w.Key]
		}
		for word := range all {
			if joined(word) && strings.Contains(w.Key, word) {
				return true
			}
		}
		return false
	})
}

// askingWords are the words by language that ask, other than those that languages without spaces share.
var askingWords = sync.OnceValue(func() map[string]map[string]bool {
	all, in := map[string]map[string]bool{}, map[string]int{}
	for _, code := range Languages() {
		all[code] = map[string]bool{}
		for kind, phrases := range TablesOf(code).Speech {
			if !slices.Contains(askingKinds, kind) {
				continue
			}
			for phrase := range strings.SplitSeq(string(phrases), ",") {
				if words := Words(phrase); len(words) == 1 && (kind != "aux" || joined(words[0].Key)) {
					all[code][words[0].Key] = true
				}
			}
		}
		for word := range all[code] {
			in[word]++
		}
	}
	for _, words := range all {
		maps.DeleteFunc(words, func(word string, _ bool) bool { return in[word] > 1 && joined(word) })
	}
	return all
})

var askingKinds = strings.Fields("who what when where which why how many all aux")

// joined reports whether a word's script has no spaces between words, or joins particles to their ends.
func joined(word string) bool {
	first, _ := utf8.DecodeRuneInString(word)
	return joinedRune(first)
}

const (
	leastWorth = 0.5 // a word that two languages have
	markWorth  = 0.3
	clearly    = 1.2 // times as much as for any other language
)

// marksOf maps the letters that one language alone has to it.
var marksOf = sync.OnceValue(func() map[rune]string {
	all := map[rune]string{}
	for _, l := range candidates() {
		for _, r := range TablesOf(l).Marks {
			if _, shared := all[r]; shared {
				all[r] = ""
			} else {
				all[r] = l
			}
		}
	}
	return all
})

// spokenIn maps the words of speech and grammar to their languages, one bit each.
var spokenIn = sync.OnceValue(func() map[string]uint64 {
	all := map[string]uint64{}
	for i, code := range candidates() {
		add := func(s string) {
			for _, w := range Words(strings.ReplaceAll(s, "*", "")) {
				all[w.Key] |= 1 << i
			}
		}
		t := TablesOf(code)
		for _, phrases := range t.Speech {
			add(string(phrases))
		}
		for _, list := range []WordList{t.Grammar.FunctionWords, t.Grammar.Common, t.Grammar.Courtesies, t.Grammar.StopWords, t.Grammar.Negations, t.Grammar.Prepositions, t.Grammar.Articles} {
			add(string(list))
		}
	}
	return all
})

// withoutTitles returns the words without names and titles. Those are capitalised words within a sentence, and up to two small words
// between two of them. A text in capitals keeps its words.
func withoutTitles(s string, words []Word) []Word {
	capital := make([]bool, len(words))
	any := false
	for i, w := range words {
		before := strings.TrimRight(s[:w.Start], " \t\"'(*_")
		opens := before == "" || strings.ContainsAny(before[len(before)-1:], ".!?:\n")
		capital[i] = w.Upper && w.End-w.Start > 1 && (!opens || opensTitle(words[i:]))
		any = any || !w.Upper
	}
	if !any {
		return words
	}
	kept := make([]Word, 0, len(words))
	for i := 0; i < len(words); i++ {
		if !capital[i] {
			kept = append(kept, words[i])
			continue
		}
		for next := i + 1; next < len(words) && next <= i+3; next++ {
			if capital[next] {
				i = next - 1
				break
			}
		}
	}
	return kept
}

// opensTitle reports whether the first of some words begins a title: "The Office", "Lord of the Rings".
func opensTitle(words []Word) bool {
	next := 1
	for next < min(3, len(words)) && !words[next].Upper && titleWords()[words[next].Key] {
		next++
	}
	return next < len(words) && words[next].Upper && (next > 1 || titleWords()[words[0].Key])
}

// titleWords are the small words of English titles, which people use in all languages.
var titleWords = LazySet(func() WordList { return "the of and a in to" })

// foreign matches what says nothing of the language of a message's writer: code, quoted lines, quotations, addresses, mentions, emoji.
var foreign = NewLazyRegexp("```(?s:.*?)(?:```|$)|`[^`\n]*`|(?m:^>>> (?s:.*)|^> .*$)|“[^“”]*”|„[^„“”]*[“”]|«[^«»]*»|「[^「」]*」|『[^『』]*』|\"[^\"\n]{2,}\"" +
	`|https?://\S+|<[@#:a/][^<>\s]*>|[\w.+-]+@[\w-]+(?:\.[\w-]+)+|[@#][\w.]+`)

// handed matches what else was written elsewhere. That is quotations of several words in single quotation marks, and commands up to their
// options.
var handed = NewLazyRegexp(`(?m:(?:^|[\s(])'[^\s'](?:[^'\n]|'\pL)*\s(?:[^'\n]|'\pL)*'(?:[^\pL\n]|$)|^[a-z][\w.-]*(?: [\w.-]+){0,2}(?: --?[A-Za-z][\w-]*)+)`)

// OwnWords returns a message without what says nothing of its writer's language. A message that is only a quotation is returned as it is.
func OwnWords(s string) string {
	own := s
	if strings.ContainsAny(s, "`>\"“„«「『@#<:") {
		own = foreign.ReplaceAllString(s, " ")
	}
	if strings.Contains(own, " '") || strings.HasPrefix(own, "'") || strings.Contains(own, " -") {
		own = handed.ReplaceAllString(own, " ")
	}
	if own != s && !strings.ContainsFunc(own, unicode.IsLetter) && !strings.Contains(s, "://") && !strings.Contains(s, "`") {
		return s
	}
	return own
}

// Language guesses the language of a page or of a sentence of one, not of a message. It returns an ISO 639-1 code, or "" if
// the language is unclear. A script other than the Latin one decides, or its special letters. Otherwise the language with the most distinct
// function words does. A single word that also occurs in names decides nothing.
func Language(text string, words []Word) string {
	var counts [maxCandidates]int
	var sure [maxCandidates]bool
	if !ASCII(text) {
		if l, _ := byScript(text); l != "" {
			return l
		}
	}
	var seen []string // each counts once
	for _, w := range words {
		of := candidatesOf()[w.Key]
		if of == 0 || slices.Contains(seen, w.Key) {
			continue
		}
		seen = append(seen, w.Key)
		for i := range candidates() {
			if of>>i&1 == 1 {
				counts[i]++
				sure[i] = sure[i] || counts[i] > 1 || !nameWords()[w.Key]
			}
		}
	}
	best, most, tied := "", 0, false
	for i, l := range candidates() {
		switch n := counts[i]; {
		case n == 0 || l != "en" && !sure[i] && !(l == "es" && strings.ContainsAny(text, "¿¡")):
		case n > most:
			best, most, tied = l, n, false
		case n == most:
			tied = true
		}
	}
	if tied && best != "en" {
		return ""
	}
	return best
}

// partOfName reports whether a word is joined to others as in an address, a file's name or an identifier.
func partOfName(text string, w Word) bool {
	const joins = "./@\\_="
	if w.Start > 0 && strings.IndexByte(joins, text[w.Start-1]) >= 0 {
		return true
	}
	if w.End+1 >= len(text) || strings.IndexByte(joins, text[w.End]) < 0 {
		return false
	}
	next, _ := utf8.DecodeRuneInString(text[w.End+1:])
	return unicode.IsLetter(next) || unicode.IsDigit(next)
}

// candidates are the languages recognised by function words. English is first and wins a tie.
var candidates = sync.OnceValue(func() []string {
	return slices.DeleteFunc(Languages(), func(code string) bool { return TablesOf(code).Grammar.FunctionWords == "" })
})

// maxCandidates limits their number to the bits of an integer.
const maxCandidates = 64

// candidatesOf maps each function word to its languages, one bit each.
var candidatesOf = sync.OnceValue(func() map[string]uint64 {
	all := map[string]uint64{}
	for i, code := range candidates() {
		for w := range Set(TablesOf(code).Grammar.FunctionWords) {
			all[w] |= 1 << i
		}
	}
	return all
})

// alphabet is a set of letters that identifies a language.
type alphabet struct {
	code string
	rank int // of two that a text has letters of, the higher one counts
	has  func(letter rune) bool
}

// alphabets lists the languages that have a script, or letters of a script, to themselves. Letters come before scripts.
var alphabets = sync.OnceValue(func() []alphabet {
	var byLetters, byScript []alphabet
	for _, code := range Languages() {
		if letters := TablesOf(code).Letters; letters != "" {
			byLetters = append(byLetters, alphabet{code, 2, func(r rune) bool { return strings.ContainsRune(letters, r) }})
		}
		for _, name := range TablesOf(code).Scripts {
			rank := 1
			if name == "Han" { // which occurs in Japanese too
				rank = 0
			}
			byScript = append(byScript, alphabet{code, rank, func(r rune) bool { return unicode.Is(unicode.Scripts[name], r) }})
		}
	}
	return append(byLetters, byScript...)
})

// denseLetters is how many letters of an alphabet count as one of a dense script. Such a script writes a syllable or a word with each.
const denseLetters = 4

// byScript returns the language that a text's letters identify, or "", and whether letters of other scripts outweigh the Latin ones.
func byScript(text string) (language string, most bool) {
	rank := -1
	latin, others := 0, 0
	for _, r := range text {
		switch {
		case unicode.Is(unicode.Latin, r):
			latin++
			continue
		case !unicode.IsLetter(r):
			continue
		case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai):
			others += denseLetters
		default:
			others++
		}
		if i := slices.IndexFunc(alphabets(), func(a alphabet) bool { return a.has(r) }); i >= 0 && alphabets()[i].rank > rank {
			language, rank = alphabets()[i].code, alphabets()[i].rank
		}
	}
	return language, others >= latin
}

// LatinLookalike returns the lower-case Latin letter that r, a lower-case letter of another alphabet or a small
// capital, looks like. If there is none, it returns r. Use it only for comparisons, because other languages write words
// with these letters.
func LatinLookalike(r rune) rune {
	if latin := letters()[r]; latin != 0 {
		return latin
	}
	return r
}

// letters maps letters of other alphabets to the Latin ones that a reader takes them for. It is the part of Unicode's
// confusables (UTS 39, https://www.unicode.org/reports/tr39/) with which keys and delimiters can be written.
var letters = sync.OnceValue(func() map[rune]rune {
	m := map[rune]rune{}
	for latin, others := range map[rune]string{
		'a': "аαɑᴀ", 'b': "ьƅƃʙ", 'c': "сϲᴄ", 'd': "ԁᴅ", 'e': "еεᴇ", 'f': "ғ", 'g': "ɡ", 'h': "һн", 'i': "іιıɪ", 'j': "јϳ", 'k': "кκ", 'l': "ӏʟ", 'm': "мᴍ",
		'n': "ոпɴ", 'o': "оοօᴏ", 'p': "рρᴘ", 'q': "ԛ", 'r': "гʀ", 's': "ѕꜱſ", 't': "тτᴛ", 'u': "υսицᴜ", 'v': "νѵᴠ", 'w': "ԝѡ", 'x': "хχ", 'y': "уγʏ", 'z': "ᴢ",
	} {
		for _, r := range others {
			m[r] = latin
		}
	}
	return m
})
