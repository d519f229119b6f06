package privacy

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"familiar/internal/context/turn"
	"familiar/internal/text"
)

// NamesIn gathers the names of a turn that are in its messages. own are the bot's names, which are not private.
func NamesIn(req turn.Request, own []string) Names {
	c := collector{own: own, words: queryWords(req), isServer: req.GuildID != "" || req.Target != nil}
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
	slices.SortFunc(k.names, longest)
	k.names = slices.Compact(k.names)
	slices.SortFunc(k.mentions, longest)
	k.single = map[string]bool{}
	for _, name := range slices.Concat(k.names, k.parts) {
		if keys := text.PhraseKeys(name); len(keys) == 1 {
			k.single[keys[0]] = true
		}
	}
	return k
}

// collector collects names for NamesIn.
type collector struct {
	Names
	own      []string
	words    string // all that a query can be made of
	isServer bool   // and not a direct message, where nobody is a member; or the words are of somebody who is elsewhere
}

// addMessage adds the author of a message and those it mentions.
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

// addParticipant adds the name of somebody who takes part, and its parts.
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

// addName adds a name if it may be in a query. One with a sign that people put beside their names, as in "Ada | away", is
// several.
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

// queryWords returns all that a query can be made of, folded. Most names of a server are not in it.
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

// firstKey returns the first word of a name in the form in which words are compared.
func firstKey(name string) string {
	for word := range strings.FieldsFuncSeq(name, func(r rune) bool { return !text.InWord(r) }) {
		return text.Fold(word)
	}
	return name // of signs
}

// isName reports whether a part of a name is written as a name is: with a capital, and small letters behind it, or in capitals
// alone as the whole name.
func isName(part string, capitals bool) bool {
	first, size := utf8.DecodeRuneInString(part)
	rest := part[size:]
	return unicode.IsUpper(first) && rest != "" && (rest == strings.ToLower(rest) || capitals && len(part) > 2) && !text.Unspaced(part) && !text.StopWords[text.Fold(part)] && len(text.Words(part)) == 1
}
