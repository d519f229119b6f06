package privacy

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"familiar/internal/context/turn"
	"familiar/internal/lookup/need"
	"familiar/internal/text"
	"familiar/internal/text/lang"
)

// Names are the people of a server, and what a message mentions. Neither leaves in a query (P10).
//
// A name is only a word, and a query without a word of its question finds nothing. So a name of several words is
// always taken out, also where it is a public person's whose name a member goes by: nobody can tell which of the two
// is meant, and finding out about members is what the rule forbids. A name of one word is left in where it is no
// member's: as a part of a longer name ("who is Ada Lovelace", with a member called Ada), as a place ("weather in
// Berlin", with a member called Berlin), and as an everyday word, one that the tables of cues know ("will it rain",
// with a member called Will), unless what stands beside it marks a person: "Will's age", "in Ada's garden". Any other
// word that a member has made a name of is lost to queries.
//
// Who takes part in a turn is spoken of by a part of the name: "is Maria from Spain?" where Maria Lopez was answered.
// Of these the parts go, too, where they are written as names are. Of the rest of a server they stay: among a thousand
// members there is one for most first names, and a word of "Dark Lord" is not theirs.
type Names struct {
	names    []string        // as they are written, longest first
	parts    []string        // of the names of several words of those who take part
	mentions []string        // as they stand in the text, longest first
	single   map[string]bool // names of one word and parts, folded
}

// NamesIn gathers who is known in a turn. own are the bot's names, which are nobody's.
// A name with a sign in it that people put beside their names, as in "Ada | away", is several.
func NamesIn(req turn.Request, own []string) Names {
	var k Names
	heard := hearing(req)
	add := func(name string) {
		if !text.ASCII(name) {
			if !couldBeIn(heard, name) {
				return
			}
			name = settled(name)
		}
		if !strings.Contains(heard, firstKey(name)) {
			return
		}
		for part := range strings.FieldsFuncSeq(strings.ReplaceAll(name, " - ", "|"), func(r rune) bool { return strings.ContainsRune("|()[]{}/\\•·~,–—", r) }) {
			if part = strings.TrimSpace(part); utf8.RuneCountInString(part) > 1 && !slices.ContainsFunc(own, func(o string) bool { return strings.EqualFold(o, part) }) {
				k.names = append(k.names, part)
			}
		}
	}
	present := func(name string) {
		add(name)
		if all := strings.Fields(settled(name)); len(all) > 1 && !slices.ContainsFunc(own, func(o string) bool { return strings.EqualFold(o, name) }) {
			for _, part := range all {
				if part = strings.TrimFunc(part, func(r rune) bool { return !text.InWord(r) }); isName(part) {
					k.parts = text.AddOnce(k.parts, part)
				}
			}
		}
	}
	named := func(m turn.Message) {
		for _, s := range m.Mentions {
			if s = strings.TrimSpace(settled(s)); len(s) > 1 {
				k.mentions = text.AddOnce(k.mentions, s)
				if name, person := strings.CutPrefix(s, "@"); person && req.GuildID != "" {
					present(name)
				}
			}
		}
		if req.GuildID != "" && !m.Own {
			present(m.Author.Name)
		}
	}
	named(req.Message)
	if req.Parent != nil {
		named(*req.Parent)
	}
	for _, m := range req.Chain {
		named(m)
	}
	if req.GuildID != "" {
		for _, name := range req.People {
			add(name)
		}
	}
	longest := func(a, b string) int { return cmp.Or(cmp.Compare(len(b), len(a)), strings.Compare(a, b)) }
	slices.SortFunc(k.names, longest)
	k.names = slices.Compact(k.names)
	slices.SortFunc(k.mentions, longest)
	k.single = map[string]bool{}
	for _, name := range slices.Concat(k.names, k.parts) {
		if keys := text.Words(name); len(keys) == 1 {
			k.single[keys[0].Key] = true
		}
	}
	return k
}

// hearing is all that a query can be made of, folded, for a quick look for names: most of a server are in no message.
func hearing(req turn.Request) string {
	texts := []string{req.Message.Text}
	for _, m := range Earlier(req) {
		texts = append(texts, m.Text)
	}
	all := strings.Join(texts, "\n")
	if text.ASCII(all) {
		return strings.ToLower(all)
	}
	return text.Unaccented(strings.ToLower(settled(all)))
}

// couldBeIn looks for the first letters of a name at the beginning of the words heard, without settling the name where
// it is written as it will be.
func couldBeIn(heard, name string) bool {
	from := strings.IndexFunc(name, text.InWord)
	if from < 0 || norm.NFKC.QuickSpanString(name) < len(name) {
		return true
	}
	to := from
	for to < len(name) && name[to] < utf8.RuneSelf && text.InWord(rune(name[to])) {
		to++
	}
	first := strings.ToLower(name[from:to])
	if to == from {
		r, _ := utf8.DecodeRuneInString(name[from:])
		first = text.Unaccented(string(unicode.ToLower(r)))
	}
	for at := 0; ; {
		i := strings.Index(heard[at:], first)
		if i < 0 {
			return false
		}
		before, _ := utf8.DecodeLastRuneInString(heard[:at+i])
		if at+i == 0 || !text.InWord(before) || text.Unspaced(first) {
			return true
		}
		at += i + len(first)
	}
}

// firstKey is the first word of an ASCII name as it is looked for.
func firstKey(name string) string {
	from := strings.IndexFunc(name, text.InWord)
	if from < 0 {
		return name
	}
	first := name[from:]
	if end := strings.IndexFunc(first, func(r rune) bool { return !text.InWord(r) }); end > 0 {
		first = first[:end]
	}
	return text.Fold(first)
}

// Remove takes the names of members out of s.
func (k Names) Remove(s string) string {
	for _, name := range k.names {
		if text.Unspaced(name) { // with a blank in it or without
			s = strings.ReplaceAll(strings.ReplaceAll(s, name, " "), strings.ReplaceAll(name, " ", ""), " ")
			continue
		}
		keys := text.Words(name)
		if len(keys) == 0 {
			s = strings.ReplaceAll(s, name, " ") // a name of signs
			continue
		}
		s = k.without(s, name, keys)
	}
	for _, part := range k.parts {
		s = k.without(s, part, text.Words(part))
	}
	return s
}

// isName reports whether a part of a name is written as a name is: with a capital, and small letters behind it.
func isName(part string) bool {
	first, size := utf8.DecodeRuneInString(part)
	rest := part[size:]
	return unicode.IsUpper(first) && rest != "" && rest == strings.ToLower(rest) && !text.Unspaced(part) && !text.StopWords[text.Fold(part)] && len(text.Words(part)) == 1
}

// without takes one name out of s, wherever it stands for the member.
func (k Names) without(s, name string, keys []text.Word) string {
	words := text.Words(s)
	var out strings.Builder
	last := 0
	for i := 0; i+len(keys) <= len(words); i++ {
		if !spells(words[i:], keys) || len(keys) == 1 && !k.standsForMember(s, words, i, name) {
			continue
		}
		from, to := words[i].Start, words[i+len(keys)-1].End
		if strings.HasSuffix(s[:from], "@") { // "@ada.lovelace": what goes on is the account's
			to += len(accountRest.FindString(s[to:]))
		}
		if from < last {
			continue
		}
		out.WriteString(s[last:from] + " ")
		last = to
		i += len(keys) - 1
	}
	return out.String() + s[last:]
}

var accountRest = regexp.MustCompile(`^[\pL\pN\pM_.\-]+`)

func spells(words, keys []text.Word) bool {
	for i, k := range keys {
		if words[i].Key != k.Key {
			return false
		}
	}
	return true
}

// standsForMember tells a member's name of one word from the same word as something else.
func (k Names) standsForMember(s string, words []text.Word, i int, name string) bool {
	first, _ := utf8.DecodeRuneInString(name)
	w := words[i]
	marked := marksPerson(s, words, i)
	part := slices.Contains(k.parts, name) && !slices.Contains(k.names, name)
	switch {
	case need.Everyday(w.Key) && (!w.Upper || !unicode.IsUpper(first)), part && !w.Upper:
		return false // written as the word that it is
	case (need.Everyday(w.Key) || part) && opensSentence(s, words, i) && !marked:
		return false
	case i > 0 && placing[words[i-1].Key] && !marked:
		return false
	}
	return !k.besideName(s, words, i)
}

// placing are the prepositions behind which a name is a place's.
var placing = text.Set(lang.All().Privacy.PlacePrepositions)

// marksPerson reports whether what stands beside a word makes a person's name of it, even where it opens a sentence or
// follows "in": "Will is how old", "Will, is it late?", "in Ada's garden", "interested in Ada".
func marksPerson(s string, words []text.Word, i int) bool {
	w := words[i]
	owner := strings.HasSuffix(s[w.Start:w.End], "'s") || strings.HasSuffix(s[w.Start:w.End], "’s")
	if i > 0 && placing[words[i-1].Key] {
		return owner || i > 1 && trusting[words[i-2].Key]
	}
	if i+1 == len(words) {
		return owner
	}
	next := words[i+1]
	return owner || doing[next.Key] && !text.SameWord(w, next) || strings.HasPrefix(s[w.End:], ",") && !next.Upper
}

// trusting are the words that are followed by "in" and a person, and doing those that follow who does or is something.
var (
	trusting = text.Set(lang.All().Privacy.BeforeIn)
	doing    = text.Set(lang.All().Privacy.PersonVerbs)
)

// opensSentence reports whether the word is the first of a sentence, where every word has a capital.
func opensSentence(s string, words []text.Word, i int) bool {
	return i == 0 || strings.ContainsAny(s[words[i-1].End:words[i].Start], ".!?:\"“¿¡")
}

// besideName reports whether the word is a part of a longer name: beside it, with nothing but a space between, stands
// another word with a capital, which begins no sentence and is no member's name. "Is Ada German?" holds no such name:
// what is asked there, of somebody, is the last word.
func (k Names) besideName(s string, words []text.Word, i int) bool {
	partner := func(j int) bool {
		return j >= 0 && j < len(words) && words[j].Upper && !need.Everyday(words[j].Key) && !k.single[words[j].Key] &&
			s[min(words[i].End, words[j].End):max(words[i].Start, words[j].Start)] == " "
	}
	if !words[i].Upper {
		return false
	}
	if partner(i + 1) {
		return !(i == 1 && i+2 == len(words) && asks[words[0].Key])
	}
	return partner(i-1) && !opensSentence(s, words, i-1)
}

// asks are the verbs with which a question begins that is answered with yes or no.
var asks = text.Set(lang.All().Privacy.Auxiliaries)
