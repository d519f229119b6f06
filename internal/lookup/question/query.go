package question

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/lookup/followup"
	"familiar/internal/lookup/need"
	"familiar/internal/lookup/privacy"
	"familiar/internal/text"
	"familiar/internal/text/calendar"
	"familiar/internal/text/lang"
)

// KeysOf are the words of a phrase, in the form in which words are compared.
func KeysOf(phrase string) []string {
	var keys []string
	for _, w := range text.Words(phrase) {
		keys = append(keys, w.Key)
	}
	return keys
}

// Plan is all that is decided before the web is touched (P1): nothing read later changes it.
type Plan struct {
	need.Need
	Core     string   // the part that asks, standing alone
	Question string   // core as the models are shown it
	Queries  []string // what may leave, in the order of trying: the second only if the first finds nothing
	Scrubbed []string
	Intent   turn.Intent         // the first of Intents
	Intents  []turn.ScoredIntent // all kinds of question that it is, the likeliest first
	Language string
	Fresh    string
	Day      text.Date // the day it asks about, if it names one
	Urls     []string  // typed by people, canonical (P2)
	Refused  []string  // typed by people, but not URLs that may be read
	Topic    string    // the denied topic it holds
	Usage    turn.Usage
	Anew     bool          // it asks for something newer than what was found before
	Leans    bool          // it cannot be understood without what was said before
	Names    privacy.Names // whose names leave in no query
	Steps    []turn.Step   // how the queries came to be
}

func (p *Plan) Step(by, text string) { p.Steps = append(p.Steps, turn.Step{By: by, Text: text}) }

const (
	maxQuery    = 200 // characters (P10)
	MaxQuestion = 300
)

// Decide weighs a message, with what was said before it. It does no input or output.
func Decide(req turn.Request, names, denied []string) Plan {
	var p Plan
	p.Urls, p.Refused = Typed(req)
	bare := WithoutURLs(req.Message.Text)
	whole, helped := followup.Standalone(bare, names, privacy.Earlier(req))
	if p.Leans = helped != nil || leansOn(bare, names, req); helped != nil {
		p.Step("standalone", whole+" (with message "+helped.ID+")")
	}
	words, _ := need.DropNames(text.Words(bare), bare, names)
	p.Anew = followup.OnlyAnew(words)
	p.Need = need.Weigh(whole, names)
	if whole != bare {
		alone := bare
		if from, _ := need.Lead(words); 0 < from && from < len(words) {
			alone = bare[words[from].Start:] // the "ok" before it is no small talk
		}
		own := need.Weigh(alone, names)
		switch {
		case own.Order == "search" && followup.OnlyOrder(words):
			p.Order, p.Score, p.Cues = own.Order, own.Score, own.Cues
		case own.Order != "" || own.Barred && !p.Check && !p.Anew:
			p.Need = own
		}
	}
	if req.Mode == turn.FullRP && !p.Asks && p.Order == "" {
		p.Add("in play") // where a story is played, what asks for nothing is a part of it
	}
	if !p.Asks && p.Order == "" && toOthers(req, bare, names) {
		p.Urls, p.Refused = nil, nil
	}
	p.Anew = p.Anew || followup.AsksAnew(bare, words, p.Order)
	p.Names = privacy.NamesIn(req, names)
	p.Core = essence(whole, p.Need, names)
	p.Question = text.Truncate(text.OneLine(p.Core), MaxQuestion)
	p.Topic = DeniedTopic(whole, denied)
	return p
}

// leansOn reports whether a text has a pronoun or the form of a follow-up, and there is something that it may lean on.
func leansOn(s string, names []string, req turn.Request) bool {
	words, _ := need.DropNames(text.Words(s), s, names)
	if len(words) == 0 || len(words) > 25 || len(privacy.Earlier(req)) == 0 {
		return false
	}
	_, is := followup.Fragment(s, words)
	return is || followup.PronounAt(s, words) >= 0
}

// toOthers reports whether a message with a link was written to the room and not to the bot, which is no request to
// read it.
func toOthers(req turn.Request, s string, names []string) bool {
	if req.GuildID == "" || req.Web.Switch == turn.WebAlways || req.Parent != nil && req.Parent.Own {
		return false
	}
	_, named := need.DropNames(text.Words(s), s, names)
	return !named
}

// Compose words the queries.
func (p *Plan) Compose(names []string, now time.Time) {
	words := text.Words(p.Core)
	own, _ := need.DropNames(words, p.Core, names)
	p.Intents = need.BuiltIn().Classify(p.Need, p.Core, own)
	p.Intent = p.Intents[0].Name
	p.Language = text.Language(p.Core, words)
	p.Fresh = freshness(p.Need, p.Intent)
	p.Day = calendar.DayAsked(p.Core, words, now)
	p.Queries, p.Scrubbed = nil, nil
	p.Steps = slices.DeleteFunc(p.Steps, func(s turn.Step) bool { return s.By != "standalone" && s.By != "side model" })
	p.word(names, now)
}

// essence is the part of a message that asks: all of a short one but its courtesies, of a long one the sentence
// that decided.
func essence(body string, n need.Need, names []string) string {
	spoken := need.Action.ReplaceAllString(need.Inline.ReplaceAllString(need.Fenced.ReplaceAllString(body, " "), " "), " ")
	if spoken = text.OneLine(spoken); spoken != "" {
		body = spoken
	}
	all := text.MessageSentences(body)
	if len(all) < 2 {
		return body
	}
	if len(text.Words(body)) > 30 && n.Sentence != "" {
		return n.Sentence
	}
	var keep []string
	for _, s := range all {
		one := need.WeighSentence(s, names)
		aside := !one.Asks && (slices.Contains(one.Cues, "me") || slices.Contains(one.Cues, "i")) // what they tell of themselves
		if !one.Barred && !aside || s == n.Sentence {
			keep = append(keep, s)
		}
	}
	if len(keep) == 0 {
		return body
	}
	return strings.Join(keep, " ")
}

// freshness is the oldest result wanted.
func freshness(n need.Need, intent turn.Intent) string {
	for _, f := range [...]string{"day", "week"} {
		if slices.Contains(n.Times, f) && intent != turn.IntentWeather {
			return f
		}
	}
	if intent == turn.IntentNews {
		return "month"
	}
	if slices.Contains(n.Times, "month") && intent != turn.IntentPerson {
		return "year"
	}
	return ""
}

// word words the question for a search service: without courtesies, orders, names of the bot and whatever is
// private, with dates in place of words like "yesterday"; the second, for services that want all words to match, with
// the words of content alone.
func (p *Plan) word(names []string, now time.Time) {
	s, scrubbed := privacy.Scrub(p.Core, p.Names)
	p.Scrubbed = scrubbed
	s = privacy.StripOperators(trimmed(quoted(s), names))
	s = strings.TrimRight(s, "?？!.,;: ")
	if titled := quotedTitles(s); titled != s {
		s = titled
		p.Step("titles", s)
	}
	if !undated[p.Intent] {
		var dates []string
		s, dates = calendar.Absolute(s, p.Language, now)
		for _, d := range dates {
			p.Step("dates", d)
		}
	}
	if p.current(s) {
		s += " " + strconv.Itoa(now.Year())
		p.Step("year", strconv.Itoa(now.Year()))
	}
	s, _ = privacy.Scrub(text.Truncate(s, maxQuery), p.Names)
	if s = balanced(s); s == "" || len(scrubbed) > 0 && subjectLost(s) {
		if len(scrubbed) > 0 {
			p.Step("scrub", strings.Join(scrubbed, ", ")+": nothing is left to ask for")
		}
		return
	}
	p.Queries = []string{s}
	if short, _ := privacy.Scrub(text.Truncate(contentWords(s), maxQuery), p.Names); short != "" && !strings.EqualFold(short, s) {
		p.Queries = append(p.Queries, short)
	}
	if len(scrubbed) > 0 {
		p.Step("scrub", strings.Join(scrubbed, ", "))
	}
}

// subjectLost reports whether what is left of a question without what is private is but its form: "how old is", "who is".
func subjectLost(s string) bool {
	left := 0
	for _, w := range text.Words(s) {
		if w.Upper && w.Start > 0 || text.Numeric(w.Key) {
			return false
		}
		if !text.StopWords[w.Key] {
			left++
		}
	}
	return left < 2 && !text.Unspaced(s)
}

// undated are the intents that words for a day serve better than its date: a forecast is asked for as tomorrow's, and
// an instruction is no better for being of today.
var undated = map[turn.Intent]bool{turn.IntentWeather: true, turn.IntentHowTo: true, turn.IntentDocs: true, turn.IntentImage: true, turn.IntentVideo: true}

// current reports whether the year belongs into the query: where recency is asked and no year is named.
func (p *Plan) current(s string) bool {
	if text.YearPattern.MatchString(s) || p.Intent == turn.IntentWeather {
		return false
	}
	return slices.Contains(p.Times, "year") || slices.Contains(p.Times, "month") || slices.Contains(p.Times, "now") || slices.Contains(p.Topics, "version")
}

// tails are polite endings.
var tails = regexp.MustCompile(`(?i)[\s,]+(?:` + lang.All().Query.Courtesies.String() + `)[\s.!?]*$`)

// trimmed drops the beginning and the end of a message that are for the bot, not for a search service.
func trimmed(s string, names []string) string {
	for tails.MatchString(s) {
		s = tails.ReplaceAllString(s, "")
	}
	s = followup.WithoutAnew(s)
	words, _ := need.DropNames(text.Words(s), s, names)
	from := 0
	for from < len(words) {
		if n, cue := need.Orders.Prefix(words[from:]); n > 0 && cue == "search" {
			from += n
			for from < len(words)-1 && (n < 4 && linking[words[from].Key] || followup.TailWords[words[from].Key]) {
				from++
			}
			continue
		}
		n, _ := need.Leads.Prefix(words[from:])
		if n == 0 {
			break
		}
		from += n
	}
	if from >= len(words) {
		if followup.OnlyOrder(words) {
			return ""
		}
		return s
	}
	end := words[len(words)-1].End
	rest := s[end:]
	if len(strings.TrimSpace(rest)) > 0 && strings.TrimRight(rest, "?？!.,;: ") != "" {
		end = len(s)
	}
	return text.OneLine(s[words[from].Start:end])
}

// linking are the words between an order and what is to be looked up.
var linking = text.Set(lang.All().Query.OrderLinks)

// contentWords keeps the words that carry meaning, as they were written.
func contentWords(s string) string {
	var out []string
	last := -1
	for _, w := range text.Words(s) {
		if text.StopWords[w.Key] || w.Start == last {
			continue
		}
		last = w.Start
		out = append(out, s[w.Start:w.End])
	}
	return strings.Join(out, " ")
}

// DeniedTopic returns the topic of the operator's list that the text holds, matched as whole words.
func DeniedTopic(s string, denied []string) string {
	words := text.Words(s)
	for _, topic := range denied {
		keys := KeysOf(topic)
		if len(keys) == 0 {
			continue
		}
		if text.Unspaced(topic) && strings.Contains(s, topic) {
			return topic
		}
		for i := range words {
			if text.HasPrefix(words[i:], keys) {
				return topic
			}
		}
	}
	return ""
}
