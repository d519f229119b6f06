package evidence

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"familiar/internal/context/turn"
	"familiar/internal/text"
	"familiar/internal/web/clean"
)

// Why a statement about messages is refused, besides the checks of quotes and statements.
const (
	noSource       = "source"  // it names no message, or one that was not shown
	checkSpeaker   = "speaker" // it does not name the writer
	checkAddressee = "to whom" // it addresses somebody
	checkLine      = "line"    // it is not one line of plain text
)

// Writer returns the name of a message's writer as models are shown it.
func Writer(m turn.Message) string { return cmp.Or(clean.Name(m.Author.Name, 64), m.Author.ID) }

// OwnWords returns the writer's own words in a message: without quotations, code and addresses, at most so many
// characters.
func OwnWords(s string, most int) string {
	s = fenced.ReplaceAllString(s, " ")
	var kept []string
	for line := range strings.Lines(s) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, ">>>") { // the rest is quoted
			break
		}
		if !strings.HasPrefix(line, ">") {
			kept = append(kept, line)
		}
	}
	s = webAddress.ReplaceAllString(strings.Join(kept, "\n"), "(link)")
	return text.Truncate(clean.Spoken(strings.TrimSpace(s), nil), most)
}

var (
	fenced     = text.NewLazyRegexp("(?s)```.*?(?:```|$)")
	webAddress = text.NewLazyRegexp(`(?i)<?\b(?:https?|ftp)://\S+|\bwww\.\S+`)
)

// FindSupport returns the messages that support a statement, or the check that failed. One person's messages alone must support it, and it
// must name that person. So nobody is given the words of another. Two true messages do not make a third thing that nobody said. In doubt it
// refuses: what it lets pass outlives the messages.
func FindSupport(statement string, sources []turn.Message) (by []turn.Message, refused string) {
	switch {
	case len(sources) == 0:
		return nil, noSource
	case statement != clean.Line(statement, utf8.RuneCountInString(statement)):
		return nil, checkLine
	}
	if _, failed := CheckQuote(statement, statement); failed != "" {
		return nil, failed
	}
	if speaksTo(statement) {
		return nil, checkAddressee
	}
	refused = checkSpeaker
	for _, own := range byWriter(sources) {
		name := Writer(own[0])
		if !mentions(statement, name) {
			continue
		}
		for _, m := range own {
			if refused = unsupported(statement, name, m); refused == "" {
				return []turn.Message{m}, ""
			}
		}
		if len(own) > 1 {
			if refused = unsupported(statement, name, own...); refused == "" {
				return own, ""
			}
		}
	}
	return nil, refused
}

// OfWriter reports whether a sentence may be about its writer. In languages that need no word for that, any may.
func OfWriter(sentence string) bool {
	words := text.Words(sentence)
	firstPerson, _ := persons()
	own := firstPerson[text.MessageLanguage(sentence)]
	return len(own) == 0 || text.ContainsAny(words, own)
}

// byWriter groups messages by writer, in order.
func byWriter(all []turn.Message) (groups [][]turn.Message) {
	for _, m := range all {
		i := slices.IndexFunc(groups, func(g []turn.Message) bool { return g[0].Author.ID == m.Author.ID })
		if i < 0 {
			groups, i = append(groups, nil), len(groups)
		}
		groups[i] = append(groups[i], m)
	}
	return groups
}

// unsupported returns the check by which one person's messages do not support a statement, or "".
func unsupported(statement, name string, own ...turn.Message) string {
	var texts []string
	for _, m := range own {
		texts = append(texts, m.Text)
	}
	return checkStatement(statement, NewPage(texts...), name)
}

// mentions reports whether a text has a name as whole words.
func mentions(s, name string) bool {
	wanted, all := text.Words(name), text.Words(s)
	if len(wanted) == 0 {
		return strings.Contains(s, name)
	}
	for i := range all {
		if i+len(wanted) <= len(all) && slices.EqualFunc(wanted, all[i:i+len(wanted)], func(a, b text.Word) bool { return a.Key == b.Key }) {
			return true
		}
	}
	return text.Unspaced(s) && strings.Contains(s, name)
}

// persons returns the words for the speaker and the addressee, by language. The key "" has those of all
// languages.
var persons = sync.OnceValues(func() (by, to map[string]map[string]bool) {
	by, to = map[string]map[string]bool{"": {}}, map[string]map[string]bool{"": {}}
	for _, code := range text.Languages() {
		by[code], to[code] = text.Set(text.TablesOf(code).Grammar.FirstPerson), text.Set(text.TablesOf(code).Grammar.SecondPerson)
		maps.Copy(by[""], by[code])
		maps.Copy(to[""], to[code])
	}
	return by, to
})

// speaksTo reports whether a text addresses somebody: a later reader is not that person.
func speaksTo(s string) bool {
	words := text.Words(s)
	_, secondPerson := persons()
	return text.ContainsAny(words, secondPerson[text.MessageLanguage(s)])
}

// Salience returns how important each message of a channel is to the reader called name. Replies to it, a mention of the
// reader, questions, answers and rare words raise it. name may be empty.
func Salience(all []turn.Message, name string) []float64 {
	replies, in := map[string]int{}, map[string]int{}
	terms := make([][]string, len(all))
	for i, m := range all {
		replies[m.ReplyTo]++
		terms[i] = text.Unique(text.Terms(m.Text, ""))
		for _, t := range terms[i] {
			in[t]++
		}
	}
	mention := "@" + strings.ToLower(name)
	scores := make([]float64, len(all))
	for i, m := range all {
		score := 0.0
		for _, t := range terms[i] {
			score += text.IDF(in[t], len(all))
		}
		score = min(score, 40) / 10
		score += 1.5 * float64(min(replies[m.ID], 4))
		if strings.ContainsAny(m.Text, "?？؟") && replies[m.ID] > 0 {
			score++
		}
		if m.ReplyTo != "" {
			score += 0.5
		}
		if name != "" && strings.Contains(strings.ToLower(m.Text), mention) {
			score += 4
		}
		if len(PostedLinks(m)) > 0 {
			score += 0.5
		}
		if m.Own {
			score /= 3
		}
		scores[i] = score
	}
	return scores
}

var postedLink = text.NewLazyRegexp(`https?://[^\s<>"]+[^\s<>"'.,:;!?)\]}*_~|]`)

// PostedLinks returns the links in a person's message, at most five.
func PostedLinks(m turn.Message) []string {
	if !m.ByPerson() {
		return nil
	}
	return postedLink.FindAllString(m.Text, 5)
}
