package question

import (
	"cmp"
	"slices"
	"strings"

	"familiar/internal/text"
)

// maxBare is how many words of content a question may have. A pronoun in it stands for the whole question before.
const maxBare = 3

// replacePronoun replaces a pronoun by its antecedent. If the question before has none, the whole question is appended.
func replacePronoun(u Utterance, p prior) (string, bool) {
	at := pronounAt(u)
	pronoun, kind, next := u.Words[at], text.Pronouns()[u.Words[at].Key], at+1
	if kind == "there" {
		return replaceThere(u, at, p)
	}
	if pronoun.Key == "it" && next < len(u.Words) && u.Words[next].Key == "take" { // the time that something takes depends on the whole question
		return withQuestion(u.Text, p.raw), true
	}
	name := p.antecedent(strings.HasPrefix(kind, "he"))
	if name == "" && !personPronouns()[pronoun.Key] {
		name = p.antecedent(false)
	}
	if name == "" {
		return withQuestion(u.Text, p.raw), len(text.ContentWords(u.Text)) <= maxBare && Assess(p.raw, nil).Score >= Threshold
	}
	if at > 0 && text.SameWord(u.Words[at-1], pronoun) { // "he's" is one written word
		return "", false
	}
	if strings.HasSuffix(kind, "s") && next < len(u.Words) && !text.Prepositions()[u.Words[next].Key] {
		name += "'s"
	}
	end := pronoun.End
	if next < len(u.Words) && u.Words[next].Key == "is" && u.Words[next].Start < end+2 {
		name, end = name+" is", u.Words[next].End
	}
	return u.Text[:pronoun.Start] + name + u.Text[end:], true
}

// replaceThere replaces "there" by the place of the question before.
func replaceThere(u Utterance, at int, p prior) (string, bool) {
	from, to := lastName(p.Words, p.inTime)
	for i := len(p.Words) - 2; from == to && i > 0; i-- {
		if swappablePrepositions()[p.Words[i].Key] && timeAt(p.Words, i+1) == 0 { // "weather in oslo"
			from, to = i+1, p.slotEnd(i+1)
		}
	}
	if from >= to {
		return "", false
	}
	there := u.Words[at]
	in := cmp.Or(placeLinks()[there.Key], text.TablesOf("en").FollowUp.PlaceLink)
	return u.Text[:there.Start] + in + " " + p.span(from, to) + u.Text[there.End:], true
}

func hasPronoun(u Utterance) bool { return pronounAt(u) >= 0 }

// namesBefore reports whether the words before a pronoun are a statement of their own, and have what it means. An example is "does aspirin
// expire or is that a myth?".
func namesBefore(words []text.Word) bool {
	content := 0
	for _, w := range words {
		switch {
		case otherStatement()[w.Key]:
			return content > 1
		case text.Pronouns()[w.Key] != "":
			return false
		case text.Meaningful(w.Key) && !adverbs()[w.Key]:
			content++
		}
	}
	return false
}

// otherStatement are words that begin another statement within a message.
var otherStatement = text.LazySet(func() text.WordList { return text.AllTables().Claim.Conjunctions })

// pronounAt returns the index of the pronoun in a question that names nobody, or -1.
func pronounAt(u Utterance) int {
	if !u.Asks() {
		return -1
	}
	at := -1
	from, to := timeIn(u.Words)
	for i, w := range u.Words {
		if from <= i && i < to {
			continue // "this year"
		}
		if i > 0 && w.Upper && w.Key != "i" {
			if at >= 0 && strings.HasPrefix(text.Pronouns()[u.Words[at].Key], "he") { // "did he win an Oscar?"
				return at
			}
			return -1
		}
		if w.Key == "it" && slices.ContainsFunc(u.find(topicPhrases()), func(f text.Match) bool { return f.Cue == "weather" }) {
			continue // "will it snow there?"
		}
		if kind := text.Pronouns()[w.Key]; at < 0 && kind != "" && !namesBefore(u.Words[:i]) && !(kind == "there" && (i == 0 || existentials()[u.Words[i-1].Key])) {
			at = i
		}
	}
	return at
}

// inversion matches the pronoun after a French verb. impersonal matches a verb whose pronoun refers to nothing.
var (
	inversion  = text.LazyRegexpOf(func() string { return `(?i)(?:` + tables().FollowUp.InvertedPronouns.String() + `)\b` })
	impersonal = text.LazyRegexpOf(func() string { return tables().FollowUp.ImpersonalVerbs.String() })
)

func hasInvertedPronoun(u Utterance) bool { return inversion.MatchString(u.Text) }

// replaceInvertedPronoun replaces the pronoun after a French verb: "quel âge a-t-il ?".
func replaceInvertedPronoun(u Utterance, p prior) (string, bool) {
	at, all := inversion.FindStringIndex(u.Text), Parse(u.Text, nil)
	named := slices.ContainsFunc(all.Words[1:], func(w text.Word) bool { return w.Upper })
	if named || all.has(topicPhrases()) && impersonal.MatchString(text.Fold(u.Text)) {
		return "", false
	}
	name := cmp.Or(p.antecedent(true), p.antecedent(false)) // "il" may be a thing
	if name == "" {
		return "", false
	}
	return text.OneLine(u.Text[:at[0]] + " " + name + " " + u.Text[at[1]:]), true
}

// antecedent returns the person or thing that a pronoun refers to. A question with a pronoun of its own has none.
func (p prior) antecedent(isPerson bool) string {
	name, content := p.topic(isPerson), false
	for _, w := range text.Words(name) {
		if text.Pronouns()[w.Key] != "" && !w.Upper {
			return ""
		}
		content = content || !text.StopWords()[w.Key] || w.Upper
	}
	if !content {
		return ""
	}
	return name
}

// topic returns the topic of a question. It is the first name for a person, and the last for a thing. Otherwise it is the words after "who
// is", "tell me about" and so on.
func (p prior) topic(isPerson bool) string {
	if len(p.Body) == 0 {
		return ""
	}
	if quoted := quotation.FindString(p.Text); quoted != "" && !isPerson {
		return quoted
	}
	at, asksOf := p.behindTopicOpening()
	end, first := len(p.Words), p.Body[0].Key
	described := at > 0 && !p.Words[at].Upper // "who is the mayor of Rome?"
	switch {
	case isPerson && asksOf == "" && answerWho()[first]:
		return "" // "who won the prize?": the answer is the person, and not a name in the question
	case described && isPerson, described && asksOf == "about" && !who()[first] && end-at <= 8:
		return p.span(at, end)
	}
	from, to := firstName(p.Words)
	if !isPerson {
		from, to = p.thingName()
	}
	switch {
	case to > from:
		return p.span(p.withHead(from, to))
	case at > 0:
		return p.span(at, p.slotEnd(at))
	case !isPerson:
		return p.longestRun()
	}
	return ""
}

// longestRun returns the longest run of words that no table has. It is usually the topic in a question without capitals.
func (p prior) longestRun() (topic string) {
	all, _ := tokens(p.Text, "")
	most := 0
	for from, to := 0, 0; from < len(all); from = to + 1 {
		for to = from; to < len(all) && (all[to].role == roleNew || all[to].role == roleName || to > from && all[to].role == roleNumber); {
			to++
		}
		if to-from > most {
			most, topic = to-from, p.Text[all[from].start:all[to-1].end]
		}
	}
	return topic
}

// behindTopicOpening returns the index of the word after an opening such as "who is" or "how old is", or 0. It also returns the opening's
// key in topicOpenings.
func (p prior) behindTopicOpening() (at int, asksOf string) {
	n, asksOf := topicOpenings().Prefix(p.Body)
	if n == 0 || n == len(p.Body) {
		return 0, asksOf
	}
	return len(p.Words) - len(p.Body) + n, asksOf
}

// thingName returns the range of the last name that follows no preposition but "of", or else of the last name. Names in
// time expressions do not count.
func (p prior) thingName() (from, to int) {
	apart := func(i int) bool { return text.Prepositions()[p.Words[i].Key] && !nameLinks()[p.Words[i].Key] }
	from, to = lastName(p.Words, func(i int) bool {
		return p.inTime(i) || apart(i-1) || i > 1 && articles()[p.Words[i-1].Key] && apart(i-2)
	})
	if to == from {
		from, to = lastName(p.Words, p.inTime)
	}
	return from, to
}

// doVerbs take their verb after the subject.
var doVerbs = text.LazySet(func() text.WordList { return "do does did" })

// withHead extends a name by its head noun: "Peru's capital", "the sequel of Dune", "a hotel in Porto".
func (p prior) withHead(from, to int) (int, int) {
	words := p.Words
	if owner := p.span(to-1, to); to < len(words) && text.Possessive(owner) && !text.StopWords()[words[to].Key] {
		return from, to + 1
	}
	// A common noun after a name belongs to it: "the Tessen bridge". The last word is more often a verb.
	noun := func(i int) bool {
		return i < len(words) && !words[i].Upper && !isFunctionWord(words[i]) && !p.inTime(i)
	}
	verbBehind := !text.ContainsAny(words[:from], doVerbs()) || noun(to+1) // "does the museum open on Sunday"
	if from > 0 && articles()[words[from-1].Key] && to+1 < len(words) && noun(to) && verbBehind {
		return from, to + 1
	}
	if from <= 2 {
		return from, to
	}
	before, head := words[from-1].Key, words[from-2].Key
	if text.Prepositions()[before] && !nameLinks()[before] && !text.StopWords()[head] {
		for i := from - 2; i > 0 && i >= from-5; i-- {
			if articles()[words[i].Key] {
				return i + 1, to
			}
		}
	}
	if before == "of" && relationalNouns()[head] && words[from-3].Key == "the" {
		return from - 3, to
	}
	return from, to
}

// firstName returns the range of the first run of capitalised words after the first word, or 0, 0.
func firstName(words []text.Word) (from, to int) {
	for i := 1; i < len(words); i++ {
		if startsName(words[i]) {
			return i, nameEnd(words, i)
		}
	}
	return 0, 0
}

// lastName returns the range of the last such run that does not begin where skip says so. skip may be nil.
func lastName(words []text.Word, skip func(int) bool) (from, to int) {
	for i := 1; i < len(words); i++ {
		if !startsName(words[i]) {
			continue
		}
		end := nameEnd(words, i)
		if skip == nil || !skip(i) {
			from, to = i, end
		}
		i = end - 1
	}
	return from, to
}

func startsName(w text.Word) bool { return w.Upper && w.Key != "i" }

// nameEnd returns the end of the name that begins at from. It may contain "of", "the", "de" and numbers: "Lord of the
// Rings", "Windows 11".
func nameEnd(words []text.Word, from int) int {
	end := from + 1
	for i := end; i < len(words); i++ {
		switch {
		case words[i].Upper || text.Numeric(words[i].Key):
			end = i + 1
		case !nameParticles()[words[i].Key]:
			return end
		}
	}
	return end
}

// lacksSubject reports whether the subject of a question is left out: "who won?", "¿dónde nació?".
func lacksSubject(u Utterance) bool {
	if len(u.Body) < 2 || len(u.Body) > 5 || u.Form() != Wh || text.YearPattern.MatchString(u.Text) {
		return false
	}
	content := 0
	for i, w := range u.Body {
		if i > 0 && w.Upper || text.Pronouns()[w.Key] != "" {
			return false
		}
		if !text.StopWords()[w.Key] {
			content++
		}
	}
	drops := text.TablesOf(text.MessageLanguage(u.Text)).FollowUp.DropsSubject
	if !drops && (len(u.Body) > 2 || content != 1) {
		return false
	}
	return !slices.ContainsFunc(u.find(topicPhrases()), func(f text.Match) bool {
		switch f.Cue {
		case "person", "sport", "state":
			return false
		}
		return !drops || f.Cue != "price"
	})
}

// lacksOwner reports whether a question asks for a relation without naming its owner: "who was the captain?".
func lacksOwner(u Utterance) bool {
	if len(u.Body) > 6 || u.Form() != Wh {
		return false
	}
	lacks := false
	for i, w := range u.Body {
		if i > 0 && w.Upper && !relationalNouns()[w.Key] || text.Pronouns()[w.Key] != "" || nameLinks()[w.Key] && !articles()[w.Key] || w.Key == "my" || w.Key == "your" {
			return false
		}
		lacks = lacks || i > 0 && relationalNouns()[w.Key] && (articles()[u.Body[i-1].Key] || u.Body[i-1].Key == "are")
	}
	return lacks
}

// addSubject adds the subject of the question before.
func addSubject(u Utterance, p prior) (string, bool) {
	owned := lacksOwner(u)
	name := p.antecedent(p.asksForPerson() && !owned)
	if name == "" {
		return "", false
	}
	grammar := text.TablesOf(text.MessageLanguage(u.Text)).FollowUp
	if grammar.DropsSubject && len(text.ContentWords(p.Text)) > len(text.ContentWords(name))+1 {
		return "", false // "how much is it?": the service of a car, and not the car
	}
	bare := trailing.ReplaceAllString(strings.TrimSpace(u.Text), "")
	switch {
	case owned:
		return bare + " " + cmp.Or(grammar.OwnerLink, text.TablesOf("en").FollowUp.OwnerLink) + " " + name, true
	case !grammar.DropsSubject && strings.Contains(name, " ") && name[:1] == strings.ToLower(name[:1]): // a thing cannot be the subject
		return withQuestion(u.Text, p.raw), true
	}
	return bare + " " + name, true
}

// trailing matches the end of a question that a name replaces.
var trailing = text.LazyRegexpOf(func() string { return `(?i)(?: (?:` + tables().FollowUp.StressedPronouns.String() + `))?[?？! ]*$` })

// The shapes of Japanese follow-ups: a topic alone, and a pronoun with its particle. Particles tell the words apart,
// since there are no spaces.
var (
	topicAlone = text.LazyRegexpOf(func() string {
		return `^(?:` + text.TablesOf("ja").FollowUp.Unspaced.Opening.String() + `)?、?([^` + text.TablesOf("ja").FollowUp.Unspaced.Particles + `、。？?\s]{1,12})(?:` + text.TablesOf("ja").FollowUp.Unspaced.TopicEnd.String() + `)?[?？]$`
	})
	leftOfTopic = text.LazyRegexpOf(func() string {
		return `^([^` + text.TablesOf("ja").FollowUp.Unspaced.Particles + `、。？?\s]{1,12})((?:` + text.TablesOf("ja").FollowUp.Unspaced.TopicLink.String() + `).+)$`
	})
	standsFor = text.LazyRegexpOf(func() string {
		return `(?:` + text.TablesOf("ja").FollowUp.Unspaced.Pronouns.String() + `)(` + text.TablesOf("ja").FollowUp.Unspaced.PronounLink.String() + `)`
	})
)

// rewriteUnspaced completes Japanese follow-ups.
func rewriteUnspaced(u Utterance, p prior) (string, bool) {
	s, old := u.Text, leftOfTopic.FindStringSubmatch(strings.TrimSpace(p.raw))
	if old == nil {
		return "", false
	}
	if m := topicAlone.FindStringSubmatch(strings.TrimSpace(s)); m != nil && text.IsUnspaced(m[1]) {
		return m[1] + text.TablesOf("ja").FollowUp.Unspaced.Of + text.CutUnspaced(old[0], text.TablesOf("ja").FollowUp.Unspaced.Of), true
	}
	if standsFor.MatchString(s) {
		return standsFor.ReplaceAllString(s, old[1]+"$1"), true
	}
	return "", false
}
