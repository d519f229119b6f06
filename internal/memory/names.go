package memory

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"familiar/internal/context/turn"
	"familiar/internal/text"
)

// ofThird reports whether a sentence is about somebody who was named before: "she has …".
func (s saying) ofThird() bool {
	return s.Code != "" && text.ContainsAny(s.Words, s.dialect().third) || s.startsThird()
}

// startsThird reports whether a sentence begins with a word for somebody who was named before. In Spanish an accent tells it from the article.
func (s saying) startsThird() bool {
	d := s.dialect()
	if len(s.Words) > 0 {
		w := s.Words[0]
		if article := d.articles[w.Key] && text.ASCII(s.Text[w.Start:w.End]); d.firstThird[w.Key] && !d.own[w.Key] && !article {
			return true
		}
	}
	return text.Unspaced(s.Text) && slices.ContainsFunc(slices.Collect(maps.Keys(d.firstThird)), func(third string) bool { return strings.HasPrefix(s.Text, third) })
}

// reports reports whether a text tells that somebody else says something.
func (s saying) reports() bool {
	d := s.dialect()
	return text.ContainsAny(s.Words, d.reporting) && !text.ContainsAny(s.Words, d.own)
}

// names reports whether a sentence names a person, whatever the case of a letter. A name that is a word of the language, too, counts where
// only a name is possible. It is one in "Will is late", but not in "I will be late".
func (s saying) names(name string) bool {
	wanted := text.Words(name)
	if len(wanted) == 0 || utf8.RuneCountInString(name) < 2 {
		return false
	}
	if text.Unspaced(s.Text) && beside(s.Lower, strings.ToLower(name)) {
		return true
	}
	for i := range s.Words {
		if i+len(wanted) <= len(s.Words) && s.sameName(wanted, s.Words[i:i+len(wanted)]) && (len(wanted) > 1 || !s.ordinary(i)) {
			return true
		}
	}
	return false
}

// sameName reports whether words are a name, or a case of it if they begin with capitals. Stems are compared with stems.
func (s saying) sameName(name, words []text.Word) bool {
	return slices.EqualFunc(name, words, func(a, b text.Word) bool {
		return text.Dotted(a.Key) == text.Dotted(b.Key) || s.Code != "" && b.Upper && text.Stem(a.Key, s.Code) == text.Stem(b.Key, s.Code)
	})
}

// beside reports whether a text in a script without spaces has a name on its own. No letter of the name's script is before or after it.
// Names in such a script have no such limits.
func beside(s, name string) bool {
	for from := 0; ; {
		i := strings.Index(s[from:], name)
		if i < 0 {
			return false
		}
		before, _ := utf8.DecodeLastRuneInString(s[:from+i])
		from += i + len(name)
		after, _ := utf8.DecodeRuneInString(s[from:])
		if text.Unspaced(name) || !spaced(before) && !spaced(after) {
			return true
		}
	}
}

func spaced(r rune) bool { return unicode.IsLetter(r) && !text.Unspaced(string(r)) }

// ordinary reports whether the i-th word is not a name but a word of the language.
func (s saying) ordinary(i int) bool {
	d, w := lexicon().of[cmp.Or(s.Code, "en")], s.Words[i]
	shouted := strings.ToUpper(s.Text) == s.Text
	capital := w.Upper && i > 0 && !shouted && s.Code != "de"
	before := text.Word{}
	if i > 0 {
		before = s.Words[i-1]
	}
	if text.MonthNames()[w.Key] != 0 && (text.Prepositions()[before.Key] || text.Numeric(before.Key)) {
		return true
	}
	if capital {
		return false
	}
	states := i+1 < len(s.Words) && lexicon().of[""].verbs[s.Words[i+1].Key] && !text.Possessive(s.Text[w.Start:w.End])
	return i > 0 && d.determiners[before.Key] || d.small[w.Key] && !(states && !d.own[w.Key])
}

// namesOther reports whether a text names another person than the request's author. It does so by a mention or by a name in the server.
func namesOther(r turn.Request, s saying) bool {
	if strings.Contains(s.Text, "<@") { // a mention in a command
		return true
	}
	other := func(name string) bool { return name != r.Message.Author.Name && !slices.Contains(r.Names, name) }
	for _, mention := range r.Message.Mentions {
		if name, is := strings.CutPrefix(mention, "@"); is && other(name) && strings.Contains(s.Text, mention) {
			return true
		}
	}
	leads := len(s.Words) > 0 && s.Words[0].Upper && insideOf(r.Message.Text, s.Text) // with a capital that only a name has
	return slices.ContainsFunc(r.People, func(name string) bool {
		return other(name) && (s.names(name) || leads && s.sameName(text.Words(name), s.Words[:1]))
	})
}

// greeted returns the length of the courtesies at the beginning of a text that call people by their names. An example is "thanks Ada,".
// They tell nothing of them.
func greeted(head string, people []string) int {
	i := strings.IndexAny(head, ",，!！")
	if i < 0 {
		return 0
	}
	s := newSaying(head[:i])
	courteous := func(w text.Word) bool { return lexicon().of[""].courtesies[w.Key] }
	called := func(w text.Word) bool {
		return slices.ContainsFunc(people, func(name string) bool { return text.ContainsAny([]text.Word{w}, text.Set(text.WordList(name))) })
	}
	if !slices.ContainsFunc(s.Words, courteous) || slices.ContainsFunc(s.Words, func(w text.Word) bool { return !courteous(w) && !called(w) && !lexicon().of[""].small[w.Key] }) {
		return 0
	}
	return i
}
