package privacy

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"familiar/internal/lookup/utterance"
	"familiar/internal/text"
	"familiar/internal/text/lazyregexp"
)

// Names are the people of a server, and what a message mentions. Neither leaves in a query.
//
// A name is only a word, and a query without a word of its question finds nothing. So a name of several words is
// always taken out, also where it is a public person's whose name a member goes by: nobody can tell which of the two
// is meant, and finding out about members is what the rule forbids. A name of one word is left in where it is no
// member's: as a part of a longer name ("who is Ada Lovelace", with a member called Ada), as a place ("weather in
// Berlin", with a member called Berlin), and as an everyday word, one that the tables of cues know ("will it rain",
// with a member called Will), unless what stands beside it marks a person: "Will's age", "in Ada's garden". Any other
// word that a member has made a name of is lost to queries.
//
// People speak of those who take part in a turn by a part of the name: "is Maria from Spain?" where Maria Lopez was
// answered. Parts of these names are taken out, too, where they are written as names are. Parts of the names of the rest
// of a server stay: among a thousand members there is one for most first names, and a word of "Dark Lord" is not theirs.
type Names struct {
	names    []string        // as they are written, longest first
	parts    []string        // of the names of several words of those who take part
	mentions []string        // as they stand in the text, longest first
	single   map[string]bool // names of one word and parts, folded
}

// remove takes the names of members out of s.
func (k Names) remove(s string) string {
	for _, name := range k.names {
		if text.Unspaced(name) { // with a blank in it or without
			s = strings.ReplaceAll(strings.ReplaceAll(s, name, " "), strings.ReplaceAll(name, " ", ""), " ")
			continue
		}
		s = k.removeName(s, name)
	}
	for _, part := range k.parts {
		s = k.removeName(s, part)
	}
	return s
}

// removeName takes one name out of s, wherever it stands for the member.
func (k Names) removeName(s, name string) string {
	keys := text.PhraseKeys(name)
	if len(keys) == 0 {
		return strings.ReplaceAll(s, name, " ") // a name of signs
	}
	words := text.Words(s)
	var out strings.Builder
	copied := 0
	for i := range words {
		if !text.HasPrefix(words[i:], keys) && !isGenitive(s, words[i:], keys) || len(keys) == 1 && !k.standsForMember(s, words, i, name) {
			continue
		}
		from, to := words[i].Start, words[i+len(keys)-1].End
		if strings.HasSuffix(s[:from], "@") { // "@ada.lovelace": what goes on is the account's
			to += len(accountRest.FindString(s[to:]))
		}
		if from >= copied {
			out.WriteString(s[copied:from] + " ")
			copied = to
		}
	}
	return out.String() + s[copied:]
}

// isGenitive reports whether words of s begin with a name of one word in the German genitive: "Adas Garten".
func isGenitive(s string, words []text.Word, keys []string) bool {
	if len(keys) != 1 || len(words) < 2 || !words[0].Upper || !words[1].Upper || s[words[0].End:words[1].Start] != " " {
		return false
	}
	name, ends := strings.CutSuffix(s[words[0].Start:words[0].End], "s")
	return ends && text.Fold(name) == keys[0]
}

var accountRest = lazyregexp.New(`^[\pL\pN\pM_.\-]+`)

// standsForMember tells a member's name of one word from the same word as something else.
func (k Names) standsForMember(s string, words []text.Word, i int, name string) bool {
	first, _ := utf8.DecodeRuneInString(name)
	w := words[i]
	everyday, marked := utterance.Everyday(w.Key), marksPerson(s, words, i)
	part := slices.Contains(k.parts, name) && !slices.Contains(k.names, name)
	switch {
	case everyday && (!w.Upper || !unicode.IsUpper(first)), part && !w.Upper:
		return false // written as the word that it is
	case (everyday || part) && opensSentence(s, words, i) && !marked:
		return false
	case i > 0 && placePrepositions[words[i-1].Key] && !marked:
		return false
	}
	return isGenitive(s, words[i:], text.PhraseKeys(name)) || !k.besideName(s, words, i)
}

// marksPerson reports whether what stands beside a word makes a person's name of it, even where it opens a sentence or
// follows "in": "Will is how old", "Will, is it late?", "in Ada's garden", "interested in Ada".
func marksPerson(s string, words []text.Word, i int) bool {
	w := words[i]
	switch {
	case text.Possessive(s[w.Start:w.End]):
		return true
	case i > 0 && placePrepositions[words[i-1].Key]:
		return i > 1 && beforeIn[words[i-2].Key]
	case i+1 == len(words):
		return false
	}
	next := words[i+1]
	return personVerbs[next.Key] && !text.SameWord(w, next) || strings.HasPrefix(s[w.End:], ",") && !next.Upper
}

// opensSentence reports whether a word is the first of a sentence, where every word has a capital.
func opensSentence(s string, words []text.Word, i int) bool {
	return i == 0 || strings.ContainsAny(s[words[i-1].End:words[i].Start], ".!?:\"“¿¡")
}

// besideName reports whether a word is a part of a longer name: beside it, with nothing but a space between, stands
// another word with a capital, which begins no sentence and is no member's name. "Is Ada German?" holds no such name:
// what is asked there, of somebody, is the last word.
func (k Names) besideName(s string, words []text.Word, i int) bool {
	partner := func(j int) bool {
		return j >= 0 && j < len(words) && words[j].Upper && !utterance.Everyday(words[j].Key) && !k.single[words[j].Key] &&
			s[min(words[i].End, words[j].End):max(words[i].Start, words[j].Start)] == " "
	}
	if !words[i].Upper || s == strings.ToUpper(s) { // where all is in capitals, they mark no name
		return false
	}
	if partner(i + 1) {
		return !(i == 1 && i+2 == len(words) && auxiliaries[words[0].Key])
	}
	return partner(i-1) && !opensSentence(s, words, i-1)
}
