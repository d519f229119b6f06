package question

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"familiar/internal/lookup/utterance"
	"familiar/internal/text"
	"familiar/internal/text/lang"
	"familiar/internal/web/guard"
)

// OutlineQuestion is what models are shown as the question of somebody who named a page and asked nothing precise.
const OutlineQuestion = "What does the page say? What are its main points?"

var (
	// linkText is what stands before the address of a Markdown link, whose address was taken out: it names the page.
	linkText = regexp.MustCompile(`\[[^\[\]\n]*\]\(<? *>?\)?`)
	// precise are the words that ask for a person, a time, a place, a number or a reason: no outline answers them.
	precise = func() text.Phrases {
		rows := map[string]lang.Phrases{}
		for _, kind := range []string{"person", "time", "place", "number", "reason"} {
			rows[kind] = lang.All().Evidence.AnswerKinds[kind]
		}
		return text.Compile(rows)
	}()
	pageTalk = text.Set(lexicon.PageTalk)
	// unspacedTalk are the words of pageTalk that are written without spaces between them, longest first.
	unspacedTalk = func() []string {
		all := slices.DeleteFunc(lexicon.PageTalk.Fields(), func(s string) bool { return !text.Unspaced(s) })
		slices.SortFunc(all, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
		return all
	}()
	englishStops = text.Set(lang.Of("en").Grammar.StopWords)
)

// asksForOutline reports whether a message, beside the address of a page, asks for no more than what the page says: all its
// words may be said of any page, as in "thoughts on this?", or there are none. spelled reports whether one of them is such
// a word and no mere stop word or small talk.
func asksForOutline(message string, names []string) (outline, spelled bool) {
	u := utterance.Parse(linkText.ReplaceAllString(guard.WithoutURLs(message), " "), names)
	if u.Has(precise) {
		return false, false
	}
	stops := text.StopWords
	if text.Language(u.Text, u.Words) == "en" {
		stops = englishStops // what stops a German search may be all that an English question is about: "die"
	}
	for _, w := range u.Body {
		switch written := u.Text[w.Start:w.End]; {
		case pageTalk[w.Key]:
			spelled = true
		case stops[w.Key], text.Numeric(w.Key) && len(w.Key) < 3: // "in 3 sentences"
		case text.Unspaced(written):
			if withoutTalk(written) != "" {
				return false, false
			}
			spelled = true
		default:
			return false, false
		}
	}
	smallTalk := slices.ContainsFunc(u.Find(utterance.Against), func(f text.Match) bool { return f.Cue == "smalltalk" })
	return true, spelled && !smallTalk
}

// withoutTalk returns what is left of a text without spaces when the words that may be said of any page are taken out.
func withoutTalk(s string) string {
	for _, word := range unspacedTalk {
		s = strings.ReplaceAll(s, word, "")
	}
	return s
}
