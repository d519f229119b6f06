package question

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/lookup/followup"
	"familiar/internal/lookup/need"
	"familiar/internal/lookup/privacy"
	"familiar/internal/lookup/utterance"
	"familiar/internal/text"
	"familiar/internal/text/calendar"
)

// maxQuery is how many characters a query has at most.
const maxQuery = 200

// Compose names the intents of p.Core and writes its queries. names are the bot's.
func (p *Plan) Compose(names []string, now time.Time) {
	words := text.Words(p.Core)
	p.Intents = need.BuiltIn().Classify(p.Need, utterance.Parse(p.Core, names))
	if p.Chosen != "" {
		p.Intents = []turn.ScoredIntent{{Name: p.Chosen, Confidence: 1}}
	}
	p.Intent = p.Intents[0].Name
	p.Language = text.Language(p.Core, words)
	p.Fresh = freshness(p.Need, p.Intent)
	p.Day = calendar.Day(p.Core, words, now)
	p.Steps = slices.DeleteFunc(p.Steps, func(s turn.Step) bool { return s.By != "standalone" && s.By != "side model" })
	p.writeQueries(names, now)
}

// freshness returns how old results may be.
func freshness(n need.Need, intent turn.Intent) string {
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

// writeQueries writes two queries at most: the question as it was put, and for services that want all words to match, its
// words of content alone.
func (p *Plan) writeQueries(names []string, now time.Time) {
	p.Queries = nil
	var s string
	s, p.Scrubbed = privacy.Scrub(p.Core, p.Names)
	s = privacy.StripOperators(trimCourtesies(straightQuotes(s), names))
	s = strings.TrimRight(s, "?？!.,;: ")
	if titled := quoteTitles(s); titled != s {
		s = titled
		p.AddStep("titles", s)
	}
	if !undated[p.Intent] {
		var dates []string
		s, dates = calendar.Absolute(s, p.Language, now)
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

// cut shortens a query to maxQuery, and scrubs what became visible when words were taken out between other words.
func (p *Plan) cut(s string) string {
	s, _ = privacy.Scrub(text.Truncate(s, maxQuery), p.Names)
	return s
}

// lostSubject reports whether only the form of a question is left once private things were taken out: "how old is".
func lostSubject(s string) bool {
	content := 0
	for _, w := range text.Words(s) {
		if w.Upper && w.Start > 0 || text.Numeric(w.Key) {
			return false
		}
		if !text.StopWords[w.Key] {
			content++
		}
	}
	return content < 2 && !text.Unspaced(s)
}

// undated are the intents whose queries keep words such as "tomorrow": a forecast is found by them, and an instruction is
// no better for a date.
var undated = map[turn.Intent]bool{turn.IntentWeather: true, turn.IntentHowTo: true, turn.IntentDocs: true, turn.IntentImage: true, turn.IntentVideo: true}

// needsYear reports whether the year belongs into a query: recency is asked for, and no year is named.
func (p *Plan) needsYear(s string) bool {
	if text.YearPattern.MatchString(s) || p.Intent == turn.IntentWeather {
		return false
	}
	recent := func(row string) bool { return row == "year" || row == "month" || row == "now" }
	return slices.ContainsFunc(p.Times, recent) || slices.Contains(p.Topics, "version")
}

// trimCourtesies drops the beginning and the end of a message that are for the bot and not for a search service.
func trimCourtesies(s string, names []string) string {
	for courtesies.MatchString(s) {
		s = courtesies.ReplaceAllString(s, "")
	}
	s = followup.TrimRefresh(s)
	u := utterance.Parse(s, names)
	rest := u.Words
	for len(rest) > 0 {
		if n, cue := utterance.Orders.Prefix(rest); utterance.Order(cue) == utterance.Search {
			rest = rest[n:]
			for len(rest) > 1 && (n < 4 && orderLinks[rest[0].Key] || utterance.OrderTail[rest[0].Key]) {
				rest = rest[1:]
			}
			continue
		}
		n, _ := utterance.Leads.Prefix(rest)
		if n == 0 {
			break
		}
		rest = rest[n:]
	}
	if len(rest) == 0 {
		if followup.IsBareOrder(u) {
			return ""
		}
		return s
	}
	end := rest[len(rest)-1].End
	tail := s[end:]
	if name := text.Words(tail); len(name) > 0 { // the bot's, which is no part of the question
		tail = tail[:name[0].Start]
	}
	if strings.Trim(tail, "?？!.,;: @") != "" {
		end += len(tail)
	}
	return text.OneLine(s[rest[0].Start:end])
}

// contentWords keeps the words that carry meaning, as they were written.
func contentWords(s string) string {
	var out []string
	last := -1
	for _, w := range text.Words(s) {
		if !text.StopWords[w.Key] && w.Start != last {
			last = w.Start
			out = append(out, s[w.Start:w.End])
		}
	}
	return strings.Join(out, " ")
}
