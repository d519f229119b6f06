package question

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"familiar/internal/context/turn"
	"familiar/internal/text"
)

// Names are the people of a server and the mentions of a message. Neither leaves in a query.
//
// A name is also a word, and a query without a word of its question finds nothing. Three rules decide:
//
// A name of several words is always removed, even if a public person has it too. Nobody can tell which of the two is
// meant, and finding out about members is what the rule forbids.
//
// A name of one word stays where it is not the member's. It may be in a longer name ("who is Ada Lovelace"), or be a place ("weather in
// Berlin"). It may be a common word, too ("will it rain"). It does not stay if a neighbour marks a person: "Will's age", "in Ada's garden".
// Queries lose any other word that is also a member's name.
//
// People often use a part of a name: "is Maria from Spain?" after Maria Lopez was answered. So the parts of the
// participants' names are removed, too, if they are written like names. Parts of other members' names stay: among a
// thousand members somebody has most first names.
type Names struct {
	names    []string        // as written, longest first
	parts    []string        // of participants' names of several words
	mentions []string        // as in the text, longest first
	single   map[string]bool // names of one word and parts, folded
}

// remove removes the names of members from s.
func (k Names) remove(s string) string {
	for _, name := range k.names {
		if text.Unspaced(name) { // with or without a space
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

// removeName removes one name from s wherever it means the member.
func (k Names) removeName(s, name string) string {
	keys := text.PhraseKeys(name)
	if len(keys) == 0 {
		return strings.ReplaceAll(s, name, " ") // a name without letters
	}
	words := text.Words(s)
	var out strings.Builder
	copied := 0
	for i := range words {
		if !text.HasPrefix(words[i:], keys) && !isGenitive(s, words[i:], keys) || len(keys) == 1 && !k.standsForMember(s, words, i, name) {
			continue
		}
		from, to := words[i].Start, words[i+len(keys)-1].End
		if strings.HasSuffix(s[:from], "@") { // "@ada.lovelace": the rest belongs to the account
			to += len(accountRest.FindString(s[to:]))
		}
		if from >= copied {
			out.WriteString(s[copied:from] + " ")
			copied = to
		}
	}
	return out.String() + s[copied:]
}

// isGenitive reports whether words begin with a name of one word in the German genitive: "Adas Garten".
func isGenitive(s string, words []text.Word, keys []string) bool {
	if len(keys) != 1 || len(words) < 2 || !words[0].Upper || !words[1].Upper || s[words[0].End:words[1].Start] != " " {
		return false
	}
	name, ends := strings.CutSuffix(s[words[0].Start:words[0].End], "s")
	return ends && text.Fold(name) == keys[0]
}

var accountRest = text.NewLazyRegexp(`^[\pL\pN\pM_.\-]+`)

// standsForMember tells a member's name of one word from the same word with another meaning.
func (k Names) standsForMember(s string, words []text.Word, i int, name string) bool {
	first, _ := utf8.DecodeRuneInString(name)
	w := words[i]
	common, marked := IsCommonWord(w.Key), marksPerson(s, words, i)
	part := slices.Contains(k.parts, name) && !slices.Contains(k.names, name)
	switch {
	case common && (!w.Upper || !unicode.IsUpper(first)), part && !w.Upper:
		return false // written like a common word
	case (common || part) && opensSentence(s, words, i) && !marked:
		return false
	case i > 0 && placePrepositions()[words[i-1].Key] && !marked:
		return false
	}
	return isGenitive(s, words[i:], text.PhraseKeys(name)) || !k.besideName(s, words, i)
}

// marksPerson reports whether the neighbours of a word make it a person's name. The word may be at the start of a sentence or after "in".
// Examples are "Will is how old", "Will, is it late?", "in Ada's garden" and "interested in Ada".
func marksPerson(s string, words []text.Word, i int) bool {
	w := words[i]
	switch {
	case text.Possessive(s[w.Start:w.End]):
		return true
	case i > 0 && placePrepositions()[words[i-1].Key]:
		return i > 1 && beforeIn()[words[i-2].Key]
	case i+1 == len(words):
		return false
	}
	next := words[i+1]
	return personVerbs()[next.Key] && !text.SameWord(w, next) || strings.HasPrefix(s[w.End:], ",") && !next.Upper
}

// opensSentence reports whether a word is the first of a sentence, where every word has a capital.
func opensSentence(s string, words []text.Word, i int) bool {
	return i == 0 || strings.ContainsAny(s[words[i-1].End:words[i].Start], ".!?:\"“¿¡")
}

// besideName reports whether a word is part of a longer name. A capitalised word must be next to it that begins no
// sentence and is not a member's name. "Is Ada German?" has no such name: it asks about Ada.
func (k Names) besideName(s string, words []text.Word, i int) bool {
	partner := func(j int) bool {
		return j >= 0 && j < len(words) && words[j].Upper && !IsCommonWord(words[j].Key) && !k.single[words[j].Key] &&
			s[min(words[i].End, words[j].End):max(words[i].Start, words[j].Start)] == " "
	}
	if !words[i].Upper || s == strings.ToUpper(s) { // in all capitals, nothing marks a name
		return false
	}
	if partner(i + 1) {
		return !(i == 1 && i+2 == len(words) && questionAuxiliaries()[words[0].Key])
	}
	return partner(i-1) && !opensSentence(s, words, i-1)
}

// NamesIn gathers the names that appear in a turn's messages. own are the bot's names, which are not private.
func NamesIn(req turn.Request, own []string) Names {
	c := collector{own: own, words: queryWords(req), isServer: req.GuildID != "" || req.Target != nil || len(req.People) > 0}
	c.addMessage(req.Message)
	if req.Target != nil {
		c.addMessage(*req.Target)
	}
	if req.Parent != nil {
		c.addMessage(*req.Parent)
	}
	for _, m := range req.Chain {
		c.addMessage(m)
	}
	if c.isServer {
		for _, name := range req.People {
			c.addName(name)
		}
	}
	k := c.Names
	longest := func(a, b string) int { return cmp.Or(cmp.Compare(len(b), len(a)), strings.Compare(a, b)) }
	slices.SortStableFunc(k.names, longest)
	k.names = slices.Compact(k.names)
	slices.SortStableFunc(k.mentions, longest)
	k.single = map[string]bool{}
	for _, name := range slices.Concat(k.names, k.parts) {
		if keys := text.PhraseKeys(name); len(keys) == 1 {
			k.single[keys[0]] = true
		}
	}
	return k
}

// collector collects names for [NamesIn].
type collector struct {
	Names
	own      []string
	words    string // every text that a query can be made of
	isServer bool   // false in a direct message whose author shares no server with the bot, unless the words come from somebody elsewhere
}

// addMessage adds the author of a message and the people it mentions.
func (c *collector) addMessage(m turn.Message) {
	for _, mention := range m.Mentions {
		mention = strings.TrimSpace(normalize(mention))
		if len(mention) <= 1 {
			continue
		}
		c.mentions = text.AddOnce(c.mentions, mention)
		if name, ok := strings.CutPrefix(mention, "@"); ok {
			c.addParticipant(name)
		}
	}
	if !m.Own {
		c.addParticipant(m.Author.Name)
	}
}

// addParticipant adds the name of a participant and its parts.
func (c *collector) addParticipant(name string) {
	if !c.isServer {
		return
	}
	c.addName(name)
	parts := strings.Fields(normalize(name))
	if len(parts) < 2 || c.isOwn(name) {
		return
	}
	for _, part := range parts {
		if part = strings.TrimFunc(part, func(r rune) bool { return !text.InWord(r) }); isName(part, name == strings.ToUpper(name)) {
			c.parts = text.AddOnce(c.parts, part)
		}
	}
}

// addName adds a name if it can appear in a query. A name with separators, as in "Ada | away", is several.
func (c *collector) addName(name string) {
	if !text.ASCII(name) {
		name = normalize(name)
	}
	if !strings.Contains(c.words, firstKey(name)) {
		return
	}
	isSign := func(r rune) bool { return strings.ContainsRune("|()[]{}/\\•·~,–—", r) }
	for part := range strings.FieldsFuncSeq(strings.ReplaceAll(name, " - ", "|"), isSign) {
		if part = strings.TrimSpace(part); utf8.RuneCountInString(part) > 1 && !c.isOwn(part) {
			c.names = append(c.names, part)
		}
	}
}

func (c *collector) isOwn(name string) bool {
	return slices.ContainsFunc(c.own, func(own string) bool { return strings.EqualFold(own, name) })
}

// queryWords returns every text that a query can be made of, folded. Most names of a server are not in it.
func queryWords(req turn.Request) string {
	texts := []string{req.Message.Text}
	for _, m := range Earlier(req) {
		texts = append(texts, m.Text)
	}
	all := strings.Join(texts, "\n")
	if text.ASCII(all) {
		return strings.ToLower(all)
	}
	return text.Unaccented(strings.ToLower(normalize(all)))
}

// firstKey returns the key of a name's first word.
func firstKey(name string) string {
	for word := range strings.FieldsFuncSeq(name, func(r rune) bool { return !text.InWord(r) }) {
		return text.Fold(word)
	}
	return name // it has no letters
}

// isName reports whether a part of a name is written like a name. It is capitalised, or in capitals if the whole name is.
func isName(part string, capitals bool) bool {
	first, size := utf8.DecodeRuneInString(part)
	rest := part[size:]
	return unicode.IsUpper(first) && rest != "" && (rest == strings.ToLower(rest) || capitals && len(part) > 2) && !text.Unspaced(part) && !text.StopWords()[text.Fold(part)] && len(text.Words(part)) == 1
}
