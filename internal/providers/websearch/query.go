package websearch

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"familiar/internal/context/turn"
)

// plan is all that is decided before the web is touched (P1): nothing read later changes it.
type plan struct {
	need
	core     string   // the part that asks, standing alone
	question string   // core as the models are shown it
	queries  []string // what may leave, in the order of trying: the second only if the first finds nothing
	scrubbed []string
	intent   string              // the first of intents
	intents  []turn.ScoredIntent // all kinds of question that it is, the likeliest first
	language string
	fresh    string
	day      date     // the day it asks about, if it names one
	urls     []string // typed by people, canonical (P2)
	refused  []string // typed by people, but not URLs that may be read
	topic    string   // the denied topic it holds
	usage    turn.Usage
	anew     bool        // it asks for something newer than what was found before
	leans    bool        // it cannot be understood without what was said before
	known    known       // whose names leave in no query
	steps    []turn.Step // how the queries came to be
}

func (p *plan) step(by, text string) { p.steps = append(p.steps, turn.Step{By: by, Text: text}) }

const (
	maxQuery    = 200 // characters (P10)
	maxQuestion = 300
)

// decide weighs a message, with what was said before it. It does no input or output.
func decide(req turn.Request, names []string, pol Policy) plan {
	var p plan
	p.urls, p.refused = typedURLs(req)
	bare := withoutURLs(req.Message.Text)
	whole, helped := standalone(bare, names, said(req))
	if p.leans = helped != nil || leansOn(bare, names, req); helped != nil {
		p.step("standalone", whole+" (with message "+helped.ID+")")
	}
	words, _ := dropNames(split(bare), bare, names)
	p.anew = onlyAnew(words)
	p.need = weigh(whole, names)
	if whole != bare {
		alone := bare
		if from, _ := lead(words); 0 < from && from < len(words) {
			alone = bare[words[from].start:] // the "ok" before it is no small talk
		}
		own := weigh(alone, names)
		switch {
		case own.order == "search" && onlyOrder(words):
			p.order, p.score, p.cues = own.order, own.score, own.cues
		case own.order != "" || own.barred && !p.check && !p.anew:
			p.need = own
		}
	}
	if req.Mode == turn.FullRP && !p.asks && p.order == "" {
		p.add("in play") // where a story is played, what asks for nothing is a part of it
	}
	if !p.asks && p.order == "" && toOthers(req, bare, names) {
		p.urls, p.refused = nil, nil
	}
	p.anew = p.anew || asksAnew(bare, words, p.order)
	p.known = knownTo(req, names)
	p.core = essence(whole, p.need, names)
	p.question = cut(oneLine(p.core), maxQuestion)
	p.topic = deniedTopic(whole, pol.DeniedTopics)
	return p
}

// leansOn reports whether a text has a pronoun or the form of a follow-up, and there is something that it may lean on.
func leansOn(text string, names []string, req turn.Request) bool {
	words, _ := dropNames(split(text), text, names)
	if len(words) == 0 || len(words) > 25 || len(said(req)) == 0 {
		return false
	}
	_, is := fragment(text, words)
	return is || pronounAt(text, words) >= 0
}

// toOthers reports whether a message with a link was written to the room and not to the bot, which is no request to
// read it.
func toOthers(req turn.Request, text string, names []string) bool {
	if req.GuildID == "" || req.Web.Switch == turn.WebAlways || req.Parent != nil && req.Parent.Own {
		return false
	}
	_, named := dropNames(split(text), text, names)
	return !named
}

// compose words the queries.
func (p *plan) compose(names []string, now time.Time) {
	words := split(p.core)
	own, _ := dropNames(words, p.core, names)
	p.intents = builtIn().classify(p.need, p.core, own)
	p.intent = string(p.intents[0].Name)
	p.language = language(p.core, words)
	p.fresh = freshness(p.need, p.intent)
	p.day = dayAsked(p.core, words, now)
	p.queries, p.scrubbed = nil, nil
	p.steps = slices.DeleteFunc(p.steps, func(s turn.Step) bool { return s.By != "standalone" && s.By != "side model" })
	p.word(names, now)
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// essence is the part of a message that asks: all of a short one but its courtesies, of a long one the sentence
// that decided.
func essence(text string, n need, names []string) string {
	spoken := action.ReplaceAllString(inline.ReplaceAllString(fenced.ReplaceAllString(text, " "), " "), " ")
	if spoken = oneLine(spoken); spoken != "" {
		text = spoken
	}
	all := sentences(text)
	if len(all) < 2 {
		return text
	}
	if len(split(text)) > 30 && n.said != "" {
		return n.said
	}
	var keep []string
	for _, s := range all {
		one := weighSentence(s, names)
		aside := !one.asks && (slices.Contains(one.cues, "me") || slices.Contains(one.cues, "i")) // what they tell of themselves
		if !one.barred && !aside || s == n.said {
			keep = append(keep, s)
		}
	}
	if len(keep) == 0 {
		return text
	}
	return strings.Join(keep, " ")
}

// freshness is the oldest result wanted.
func freshness(n need, intent string) string {
	for _, f := range [...]string{"day", "week"} {
		if slices.Contains(n.times, f) && intent != weather {
			return f
		}
	}
	if intent == news {
		return "month"
	}
	if slices.Contains(n.times, "month") && intent != person {
		return "year"
	}
	return ""
}

// word words the question for a search service: without courtesies, orders, names of the bot and whatever is
// private, with dates in place of words like "yesterday"; the second, for services that want all words to match, with
// the words of content alone.
func (p *plan) word(names []string, now time.Time) {
	text, scrubbed := scrub(p.core, p.known)
	p.scrubbed = scrubbed
	text = plainWords(trimmed(quoted(text), names))
	text = strings.TrimRight(text, "?？!.,;: ")
	if titled := quotedTitles(text); titled != text {
		text = titled
		p.step("titles", text)
	}
	if !undated[p.intent] {
		var dates []string
		text, dates = absolute(text, p.language, now)
		for _, d := range dates {
			p.step("dates", d)
		}
	}
	if p.current(text) {
		text += " " + strconv.Itoa(now.Year())
		p.step("year", strconv.Itoa(now.Year()))
	}
	text, _ = scrub(cut(text, maxQuery), p.known)
	if text = balanced(text); text == "" || len(scrubbed) > 0 && subjectLost(text) {
		if len(scrubbed) > 0 {
			p.step("scrub", strings.Join(scrubbed, ", ")+": nothing is left to ask for")
		}
		return
	}
	p.queries = []string{text}
	if short, _ := scrub(cut(contentWords(text), maxQuery), p.known); short != "" && !strings.EqualFold(short, text) {
		p.queries = append(p.queries, short)
	}
	if len(scrubbed) > 0 {
		p.step("scrub", strings.Join(scrubbed, ", "))
	}
}

// subjectLost reports whether what is left of a question without what is private is but its form: "how old is", "who is".
func subjectLost(text string) bool {
	left := 0
	for _, w := range split(text) {
		if w.upper && w.start > 0 || numeric(w.key) {
			return false
		}
		if !stopWords[w.key] {
			left++
		}
	}
	return left < 2 && !unspaced(text)
}

// undated are the intents that words for a day serve better than its date: a forecast is asked for as tomorrow's, and
// an instruction is no better for being of today.
var undated = map[string]bool{weather: true, howTo: true, docs: true, image: true, video: true}

// current reports whether the year belongs into the query: where recency is asked and no year is named.
func (p *plan) current(text string) bool {
	if aYear.MatchString(text) || p.intent == weather {
		return false
	}
	return slices.Contains(p.times, "year") || slices.Contains(p.times, "month") || slices.Contains(p.times, "now") || slices.Contains(p.topics, "version")
}

// tails are polite endings.
var tails = regexp.MustCompile(`(?i)[\s,]+(?:please|pls|plz|thanks|thank you|thx|for me|online|on the (?:web|internet)|bitte|danke|s'il (?:te|vous) pla[iî]t|por favor|per favore)[\s.!?]*$`)

// trimmed drops the beginning and the end of a message that are for the bot, not for a search service.
func trimmed(s string, names []string) string {
	for tails.MatchString(s) {
		s = tails.ReplaceAllString(s, "")
	}
	s = withoutAnew(s)
	words, _ := dropNames(split(s), s, names)
	from := 0
	for from < len(words) {
		if n, cue := orders.at(words[from:]); n > 0 && cue == "search" {
			from += n
			for from < len(words)-1 && (n < 4 && linking[words[from].key] || tailWords[words[from].key]) {
				from++
			}
			continue
		}
		n, _ := leads.at(words[from:])
		if n == 0 {
			break
		}
		from += n
	}
	if from >= len(words) {
		if onlyOrder(words) {
			return ""
		}
		return s
	}
	end := words[len(words)-1].end
	rest := s[end:]
	if len(strings.TrimSpace(rest)) > 0 && strings.TrimRight(rest, "?？!.,;: ") != "" {
		end = len(s)
	}
	return oneLine(s[words[from].start:end])
}

// linking are the words between an order and what is to be looked up.
var linking = set("for about on if whether nach sur por sobre")

// stopWords carry no meaning in a search.
var stopWords = set("a an the is are was were be been being am do does did has have had will would can could should shall may might must of in on at to for from by with about as into and or but if than then so that this these those it its there here " +
	"who what when where which whose whom why how many much i me my we us our you your he she they them his her their him not no just also please tell know find show give get " +
	"der die das ein eine einer eines einem einen den dem des und oder ist sind war waren wird werden hat haben in im am an auf zu zum zur von mit fur bei nach aus wer was wann wo wie warum welche welcher welches viele viel es " +
	"le la les un une des du de et ou est sont etait qui que quoi quand quel quelle combien comment pourquoi dans sur pour par avec au aux en " +
	"el los las una del y o es son fue era quien cual cuando donde cuanto cuantos como por para con al se " +
	"os um uma do da dos das e sao foi quem qual onde quanto quantos no na nos nas com ao " +
	"il lo gli di della del chi cosa quando dove quanto perche per con nel sono " +
	"и в на с из по за для от до о об это как что кто где когда какой какая какие сколько почему был была были есть")

// contentWords keeps the words that carry meaning, as they were written.
func contentWords(s string) string {
	var out []string
	last := -1
	for _, w := range split(s) {
		if stopWords[w.key] || w.start == last {
			continue
		}
		last = w.start
		out = append(out, s[w.start:w.end])
	}
	return strings.Join(out, " ")
}

// cut shortens s to at most n characters, at a word's end where there is one.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for i := range s {
		if n--; n < 0 {
			short := s[:i]
			if blank := strings.LastIndexByte(short, ' '); blank > len(short)/2 {
				short = short[:blank]
			}
			return strings.TrimSpace(short)
		}
	}
	return s
}

// deniedTopic returns the topic of the operator's list that the text holds, matched as whole words.
func deniedTopic(text string, denied []string) string {
	words := split(text)
	for _, topic := range denied {
		keys := keysOf(topic)
		if len(keys) == 0 {
			continue
		}
		if unspaced(topic) && strings.Contains(text, topic) {
			return topic
		}
		for i := range words {
			if begins(words[i:], keys) {
				return topic
			}
		}
	}
	return ""
}
