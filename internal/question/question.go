// Package question decides what a message asks, before the web is touched. It does no input or output.
//
// [Decide] makes a [Plan] in five steps:
//
//  1. Parse: utterance.go cuts a message into words and tells its form: question, request, order.
//  2. Complete: followup.go completes "and in Berlin?" from the messages before. Rules come first (fragment.go,
//     time.go, pronoun.go), then two models (completion.go, traits.go).
//  3. Assess: need.go scores how much the message needs the web, with the cues behind the score. models.go has the
//     trained models and the intents; features.go and multilingual.go have what the models see.
//  4. Compose: query.go writes the queries ([Plan.Compose]).
//  5. Scrub: scrub.go and names.go take out what may not leave the machine.
//
// [Plan.Reword] checks and takes a side model's wording of a follow-up. lexicon.go has all words that these files look for.
// Package past reads what a message asks of the past of its own server.
//
// What is read later never changes a plan.
package question

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"familiar/internal/context/turn"
	"familiar/internal/text"
	"familiar/internal/web/clean"
)

// MaxQuestion is the length of a question that models are shown, in characters.
const MaxQuestion = 300

// Plan says what to ask the web.
type Plan struct {
	Need
	Core     string      // the part of the message that asks, completed
	Question string      // Core as shown to models
	FollowUp bool        // the message cannot be understood without earlier ones
	Outline  bool        // it names a page and asks only what the page says
	Refresh  bool        // it asks for something newer than was found before
	URLs     []string    // typed by people; canonical
	Refused  []string    // typed texts that look like URLs but may not be read
	Topic    string      // the denied topic in the message, or ""
	Chosen   turn.Intent // the intent that a person chose; empty: the words decide
	Names    Names       // names that may not leave in a query

	// Compose sets these.
	Queries  []string // what may leave, in order; the second is tried only if the first finds nothing
	Scrubbed []string // kinds of private things that were removed
	Intents  []turn.ScoredIntent
	Intent   turn.Intent // the first of Intents
	Language string
	Fresh    string    // maximum age of results: "day", "week", "month", "year" or "" for any age
	Day      text.Date // the day that it asks about, if any

	Steps []turn.Step // how the queries were made
}

// AddStep records how the queries were made.
func (p *Plan) AddStep(by, text string) { p.Steps = append(p.Steps, turn.Step{By: by, Text: text}) }

// Decide plans what a message asks. names are the bot's names; denied are the topics that the operator denies.
func Decide(req turn.Request, names, denied []string) Plan {
	p := Plan{Names: NamesIn(req, names), Chosen: req.Web.Intent}
	message, earlier := clean.WithoutURLs(req.Message.Text), Earlier(req)
	outline, spelled := asksForOutline(req.Message.Text, names)
	if outline && len(clean.TypedURLs(req.Message.Text)) > 0 {
		earlier = nil // it needs no earlier message
	}
	whole, helper := standalone(message, names, earlier)
	p.FollowUp = helper != nil || len(earlier) > 0 && isFollowUp(message, names)
	if helper != nil {
		p.AddStep("standalone", whole+" (with message "+helper.ID+")")
	}
	u := Parse(message, names)
	p.Refresh = isRefresh(u)
	p.weigh(whole, u, names)
	if helper != nil && !p.Barred && p.Order == NoOrder {
		p.Score = max(p.Score, needBefore(helper, earlier, names)) // a follow-up needs the web as much as the questions before it
	}
	if req.Mode == turn.FullRP && !p.Asks && p.Order == NoOrder {
		p.addCue("in play") // in a story, a message that asks nothing is part of the play
	}
	if p.Asks || p.Order != NoOrder || !isToRoom(req, u) {
		p.URLs, p.Refused = typedURLs(req, outline && spelled)
	}
	p.Outline = outline && len(p.URLs) > 0
	p.Refresh = p.Refresh || asksToRefresh(u, p.Order)
	p.Core = askingPart(whole, p.Need, names)
	if req.Target != nil && p.Chosen == turn.IntentFactCheck {
		p.Core = checkableSentence(whole, names)
	}
	p.Question = text.Truncate(text.OneLine(p.Core), MaxQuestion)
	if p.Outline {
		p.Question, p.FollowUp = OutlineQuestion, false
	}
	p.Topic = DeniedTopic(whole, denied)
	return p
}

// needBefore returns the need of the message that helped, or of one before it.
func needBefore(helper *turn.Message, earlier []turn.Message, names []string) (most float64) {
	at := slices.IndexFunc(earlier, func(m turn.Message) bool { return m.ID == helper.ID })
	for _, m := range earlier[max(at, 0):] {
		if most < Threshold {
			most = max(most, Assess(m.Text, names).Score)
		}
	}
	return most
}

// weigh sets the need of a message. A completed follow-up has the need of the whole question, unless its own words order
// a search or bar one.
func (p *Plan) weigh(whole string, u Utterance, names []string) {
	p.Need = Assess(whole, names)
	if whole == u.Text {
		return
	}
	if strings.Contains(whole, beside) {
		p.Barred = false // words that are apart say nothing together
	}
	own := u.Text
	if 0 < len(u.Body) && len(u.Body) < len(u.Words) {
		own = own[u.Body[0].Start:] // an "ok" before the question is not small talk
	}
	own = withoutReactions(own)
	switch n := Assess(own, names); {
	case n.Order == Search && isBareOrder(u):
		p.Order, p.Score, p.Cues = n.Order, n.Score, n.Cues
	case n.Order != NoOrder, n.Barred && !p.Check && !p.Refresh:
		p.Need = n
	case n.Asks:
		p.Score = max(p.Score, n.Score)
	}
}

// isToRoom reports whether a message addresses the room and not the bot. A link in it is then no request.
func isToRoom(req turn.Request, u Utterance) bool {
	return req.GuildID != "" && req.Web.Switch != turn.WebAlways && !req.Addressed.Plain() && (req.Parent == nil || !req.Parent.Own) && !u.ToBot
}

// Predict decides with the given models whether a message without a history is looked up, and its intent.
func Predict(m Models, message string) (search bool, intent turn.Intent) {
	n := m.Assess(message, nil)
	intents := m.Classify(n, Parse(askingPart(message, n, nil), nil))
	return n.Order != NoSearch && n.Score >= Threshold, intents[0].Name
}

// askingPart returns the part of a message that asks. For a long message that is the deciding sentence; for a short one,
// everything except small talk.
func askingPart(message string, n Need, names []string) string {
	spoken, _, _ := spokenText(message)
	if spoken = text.OneLine(spoken); spoken != "" {
		message = spoken
	}
	all := text.MessageSentences(message)
	if len(all) < 2 {
		return message
	}
	if len(text.Words(message)) > 30 && n.Sentence != "" {
		return n.Sentence
	}
	keep := slices.DeleteFunc(all, func(s string) bool {
		one := assessSentence(s, names)
		ofSpeaker := !one.Asks && (slices.Contains(one.Cues, "me") || slices.Contains(one.Cues, "i"))
		return s != n.Sentence && (one.Barred || ofSpeaker)
	})
	if len(keep) == 0 {
		return message
	}
	return strings.Join(keep, " ")
}

// checkableSentence returns the sentence of somebody's message that can be fact-checked best. Other sentences and orders
// would only confuse the check.
func checkableSentence(message string, names []string) string {
	spoken, _, _ := spokenText(message)
	best, score := message, 0.0
	for _, s := range text.MessageSentences(spoken) {
		if n := assessSentence(s, names); n.Order == NoOrder && n.Score > score {
			best, score = text.OneLine(s), n.Score
		}
	}
	return best
}

// DeniedTopic returns the first denied topic that appears in a text as whole words, or "".
func DeniedTopic(s string, denied []string) string {
	words := text.Words(s)
	for _, topic := range denied {
		keys := text.PhraseKeys(topic)
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

// Reword replaces the rules' wording of a follow-up with a side model's, and reports whether it did. It refuses a
// wording with words that are neither stop words nor in the messages. Private words do not count as words of the
// messages.
func (p *Plan) Reword(wording, model string, messages []turn.Message, names []string) bool {
	wording = text.OneLine(wording)
	if !p.mayAsk(wording, messages) {
		p.AddStep("side model", "refused: words that nobody wrote")
		return false
	}
	p.Core, p.Question = wording, text.Truncate(wording, MaxQuestion)
	n := Assess(wording, names)
	p.Topics, p.Times, p.Check = n.Topics, n.Times, n.Check
	p.AddStep("side model", wording+" (by "+model+")")
	return true
}

// mayAsk reports whether a question has only stop words and words of the messages, without private ones.
func (p *Plan) mayAsk(question string, messages []turn.Message) bool {
	if question == "" || utf8.RuneCountInString(question) > MaxQuestion || text.Unspaced(question) {
		return false // a text without spaces has no words to compare
	}
	allowed := map[string]bool{}
	for _, m := range messages {
		s, _ := scrub(clean.WithoutURLs(m.Text), p.Names)
		for _, w := range text.Words(s) {
			allowed[w.Key] = true
		}
	}
	words := text.Words(question)
	return text.ContainsAny(words, allowed) &&
		!slices.ContainsFunc(words, func(w text.Word) bool { return !allowed[w.Key] && !text.StopWords()[w.Key] })
}

// typedURLs returns the URLs in a message, in order. They are canonical but keep their fragments. URLs of the message that it replies to
// are added in two cases. The message refers to a page or asks for an outline. refused has texts that look like URLs but may not be read.
func typedURLs(req turn.Request, outline bool) (urls, refused []string) {
	var typed []string
	if req.Message.ByPerson() {
		typed = clean.TypedURLs(req.Message.Text)
	}
	if parent := req.Parent; parent != nil && parent.ByPerson() && (outline || text.ContainsAny(text.Words(req.Message.Text), pageWords())) {
		typed = append(typed, clean.TypedURLs(parent.Text)...)
	}
	for _, raw := range typed {
		if strings.HasPrefix(strings.ToLower(raw), "www.") {
			raw = "https://" + raw
		}
		canonical, ok := clean.Canonical(raw)
		switch {
		case !ok:
			refused = text.AddOnce(refused, raw)
		case !clean.Unreadable(canonical):
			urls = text.AddOnce(urls, canonical+clean.Fragment(raw))
		}
	}
	return urls, refused
}

// OutlineQuestion is shown to models if somebody named a page and asked nothing specific.
const OutlineQuestion = "What does the page say? What are its main points?"

var (
	// linkText matches the text of a Markdown link without its address: it names the page.
	linkText = text.NewLazyRegexp(`\[[^\[\]\n]*\]\(<? *>?\)?`)
	// precise are words that ask for a person, time, place, number or reason. An outline answers none of them.
	precise = sync.OnceValue(func() text.Phrases {
		rows := map[string]text.PhraseList{}
		for _, kind := range []string{"person", "time", "place", "number", "reason"} {
			rows[kind] = text.AllTables().Evidence.AnswerKinds[kind]
		}
		return text.Compile(rows)
	})
	pageTalk = text.LazySet(func() text.WordList { return tables().Query.PageTalk })
	// unspacedTalk are the words of pageTalk in scripts without spaces, longest first.
	unspacedTalk = sync.OnceValue(func() []string {
		all := slices.DeleteFunc(tables().Query.PageTalk.Fields(), func(s string) bool { return !text.Unspaced(s) })
		slices.SortStableFunc(all, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
		return all
	})
	englishStops = text.LazySet(func() text.WordList { return text.TablesOf("en").Grammar.StopWords })
)

// asksForOutline reports whether a message asks no more than what a page says. That holds if all its words could be said of any page
// ("thoughts on this?"). It also holds if it has no words. spelled reports whether it has such a word beyond stop words and small talk.
func asksForOutline(message string, names []string) (outline, spelled bool) {
	u := Parse(linkText.ReplaceAllString(clean.WithoutURLs(message), " "), names)
	if u.has(precise()) {
		return false, false
	}
	stops := text.StopWords()
	if text.MessageLanguage(u.Text) == "en" {
		stops = englishStops() // a stop word of one language may be the topic in another: "die"
	}
	for _, w := range u.Body {
		switch written := u.Text[w.Start:w.End]; {
		case pageTalk()[w.Key]:
			spelled = true
		case stops[w.Key], text.Numeric(w.Key) && len(w.Key) < 3: // "in 3 sentences"
		case text.Unspaced(written):
			if withoutTalk(written) != "" {
				return false, false
			}
			spelled = true
		default:
			return false, false
		}
	}
	smallTalk := slices.ContainsFunc(u.find(notForWeb()), func(f text.Match) bool { return f.Cue == "smalltalk" })
	return true, spelled && !smallTalk
}

// withoutTalk removes the words that may be said of any page from a text without spaces.
func withoutTalk(s string) string {
	for _, word := range unspacedTalk() {
		s = strings.ReplaceAll(s, word, "")
	}
	return s
}
