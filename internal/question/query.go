package question

import (
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"familiar/internal/context/turn"
	"familiar/internal/text"
)

// maxQuery is the length of a query, in characters.
const maxQuery = 200

// Compose classifies p.Core and writes its queries. names are the bot's.
func (p *Plan) Compose(names []string, now time.Time) {
	words := text.Words(p.Core)
	p.Intents = builtIn().Classify(p.Need, Parse(p.Core, names))
	if p.Chosen != "" {
		p.Intents = []turn.ScoredIntent{{Name: p.Chosen, Confidence: 1}}
	}
	p.Intent = p.Intents[0].Name
	p.Language = text.MessageLanguage(p.Core)
	p.Fresh = freshness(p.Need, p.Intent)
	p.Day = text.DayIn(p.Core, words, now)
	p.Steps = slices.DeleteFunc(p.Steps, func(s turn.Step) bool { return s.By != "standalone" && s.By != "side model" })
	p.writeQueries(names, now)
}

// freshness returns the maximum age of results, or "".
func freshness(n Need, intent turn.Intent) string {
	for _, age := range [...]string{"day", "week"} {
		if slices.Contains(n.Times, age) && intent != turn.IntentWeather {
			return age
		}
	}
	switch {
	case intent == turn.IntentNews:
		return "month"
	case slices.Contains(n.Times, "month") && intent != turn.IntentPerson:
		return "year"
	}
	return ""
}

// writeQueries writes at most two queries. They are the question as it was put, and only its words of content, for services that match all
// words.
func (p *Plan) writeQueries(names []string, now time.Time) {
	p.Queries = nil
	var s string
	s, p.Scrubbed = scrub(p.Core, p.Names)
	if p.FollowUp && (strings.Contains(s, beside) || len(text.Words(s)) > maxWhole) {
		s = onlySubject(s)
	}
	s = stripOperators(trimPoliteness(straightQuotes(s), names))
	s = strings.TrimRight(s, "?？!.,;: ")
	if titled := quoteTitles(s); titled != s {
		s = titled
		p.AddStep("titles", s)
	}
	if !undated[p.Intent] {
		var dates []string
		s, dates = text.AbsoluteDates(s, p.Language, now)
		for _, d := range dates {
			p.AddStep("dates", d)
		}
	}
	if p.needsYear(s) {
		year := strconv.Itoa(now.Year())
		s += " " + year
		p.AddStep("year", year)
	}
	s = balanceQuotes(p.cut(s))
	if s == "" || len(p.Scrubbed) > 0 && lostSubject(s) {
		if len(p.Scrubbed) > 0 {
			p.AddStep("scrub", strings.Join(p.Scrubbed, ", ")+": nothing is left to ask for")
		}
		return
	}
	p.Queries = []string{s}
	if short := p.cut(contentWords(s)); short != "" && !strings.EqualFold(short, s) {
		p.Queries = append(p.Queries, short)
	}
	if len(p.Scrubbed) > 0 {
		p.AddStep("scrub", strings.Join(p.Scrubbed, ", "))
	}
}

// cut shortens a query to maxQuery, and scrubs it again: removing words may have joined others.
func (p *Plan) cut(s string) string {
	s, _ = scrub(text.Truncate(s, maxQuery), p.Names)
	return s
}

// lostSubject reports whether only the form of a question is left after scrubbing: "how old is".
func lostSubject(s string) bool {
	content := 0
	for _, w := range text.Words(s) {
		if w.Upper && w.Start > 0 || text.Numeric(w.Key) {
			return false
		}
		if !text.StopWords()[w.Key] {
			content++
		}
	}
	return content < 2 && !text.Unspaced(s)
}

// undated are the intents whose queries keep words such as "tomorrow". A forecast is found by them, and instructions
// have no date.
var undated = map[turn.Intent]bool{turn.IntentWeather: true, turn.IntentHowTo: true, turn.IntentDocs: true, turn.IntentImage: true, turn.IntentVideo: true}

// needsYear reports whether the query needs the current year: recency is asked for, and no year is named.
func (p *Plan) needsYear(s string) bool {
	if text.YearPattern.MatchString(s) || p.Intent == turn.IntentWeather {
		return false
	}
	recent := func(row string) bool { return row == "year" || row == "month" || row == "now" }
	return slices.ContainsFunc(p.Times, recent) || slices.Contains(p.Topics, "version")
}

// trimPoliteness removes the beginning and end of a message that address the bot and not a search service.
func trimPoliteness(s string, names []string) string {
	for politeEnding.MatchString(s) {
		s = politeEnding.ReplaceAllString(s, "")
	}
	s = trimRefresh(s)
	u := Parse(s, names)
	rest := u.Words
	for len(rest) > 0 {
		if n, cue := orderPhrases().Prefix(rest); Order(cue) == Search {
			rest = rest[n:]
			for len(rest) > 1 && (n < 4 && orderLinks()[rest[0].Key] || orderTails()[rest[0].Key]) {
				rest = rest[1:]
			}
			continue
		}
		n, _ := politeOpenings().Prefix(rest)
		if n == 0 {
			break
		}
		rest = rest[n:]
	}
	if len(rest) == 0 {
		if isBareOrder(u) {
			return ""
		}
		return s
	}
	end := rest[len(rest)-1].End
	tail := s[end:]
	if name := text.Words(tail); len(name) > 0 { // the bot's name is not part of the question
		tail = tail[:name[0].Start]
	}
	if strings.Trim(tail, "?？!.,;: @") != "" {
		end += len(tail)
	}
	return text.OneLine(s[rest[0].Start:end])
}

// contentWords keeps the words that carry meaning, as written.
func contentWords(s string) string {
	var out []string
	last := -1
	for _, w := range text.Words(s) {
		if !text.StopWords()[w.Key] && w.Start != last {
			last = w.Start
			out = append(out, s[w.Start:w.End])
		}
	}
	return strings.Join(out, " ")
}

// quotation matches quoted words with their marks.
var quotation = text.NewLazyRegexp(`"([^"\n]*)"|“([^”“„\n]*)[”“]|„([^“”„\n]*)[“”]|«([^»\n]*)»|»([^«\n]*)«|「([^」\n]*)」|『([^』\n]*)』`)

const maxQuoted = 80 // characters

// straightQuotes puts quoted words into straight quotation marks, which search services know, and removes all other
// marks.
func straightQuotes(s string) string {
	const quote = "\x00"
	s = quotation.ReplaceAllStringFunc(s, func(m string) string {
		_, first := utf8.DecodeRuneInString(m)
		_, last := utf8.DecodeLastRuneInString(m)
		inside := strings.Trim(m[first:len(m)-last], " ?!.,;:")
		if inside == "" || utf8.RuneCountInString(inside) > maxQuoted {
			return " " + inside + " "
		}
		return quote + inside + quote
	})
	s = strings.Map(func(r rune) rune {
		if strings.ContainsRune("\"“”„«»「」『』", r) {
			return ' '
		}
		return r
	}, s)
	return text.OneLine(strings.ReplaceAll(s, quote, `"`))
}

// balanceQuotes removes a quotation mark that lost its partner, and marks around nothing.
func balanceQuotes(s string) string {
	s = strings.ReplaceAll(strings.ReplaceAll(s, `""`, " "), `" "`, " ")
	if strings.Count(s, `"`)%2 == 1 {
		i := strings.LastIndexByte(s, '"')
		s = s[:i] + " " + s[i+1:]
	}
	return text.OneLine(s)
}

// quoteTitles puts quotation marks around a title of several words after the kind of work.
func quoteTitles(s string) string {
	words := text.Words(s)
	for i, work := range words {
		if !works()[work.Key] {
			continue
		}
		from := i + 1
		for from < len(words) && titleLinks()[words[from].Key] && !words[from].Upper {
			from++
		}
		to := titleEnd(words, from)
		if to-from < 2 {
			continue
		}
		start, end := words[from].Start, words[to-1].End
		if quoted := strings.Contains(s[work.End:end], `"`) || strings.Count(s[:work.End], `"`)%2 == 1; !quoted {
			return s[:start] + `"` + s[start:end] + `"` + s[end:]
		}
	}
	return s
}

// titleEnd returns the end of the run of capitalised words that begins at from. The run may contain stop words and
// numbers.
func titleEnd(words []text.Word, from int) int {
	end := from
	for i := from; i < len(words) && i < from+10; i++ {
		switch w := words[i]; {
		case w.Upper || i > from && text.Numeric(w.Key):
			end = i + 1
		case i == from || !text.StopWords()[w.Key]:
			return end
		}
	}
	return end
}
