package bot

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/redact"
	"familiar/internal/reply"
	"familiar/internal/web/clean"
)

// Notes that are added to an answer.
const (
	sourcesLine        sentence = "sources: %s · looked up %s"
	readLine           sentence = "read for this, not cited: %s · looked up %s"
	readNotCited       sentence = "Read for this, not cited"
	sourcesReadAgo     sentence = "Sources, read %s ago"
	notCitedReadAgo    sentence = "Read for this, not cited, read %s ago"
	verdictSupports    sentence = "Supported by these sources"
	verdictContradicts sentence = "Contradicted by these sources"
	verdictUnverified  sentence = "Unverified: too little is written about this to say it of a living person"
	verdictOpen        sentence = "Inconclusive: too few independent sources settle this"
	verdictCount       sentence = "(%d for, %d against, confidence %.2f)."
)

// draft composes the final text of one turn.
type draft struct {
	bot       *Bot
	actor     *Actor
	trace     *turn.Trace // compose sets its Guarded and Reply
	lookup    *turn.Lookup
	rules     reply.Rules
	marker    *reply.Marker     // nil: citations are not checked, because the body consists of quotes
	verify    func(body string) // reviews the marker's decisions; nil: they are final
	away      bool              // add a note that the bot was away
	receipted bool              // the body says what became of orders
	hint      string            // note below an excuse: what is wrong with the model
}

func (r draft) language() string { return r.trace.Request.Language }

func (r draft) say(s sentence) string { return r.actor.say(r.language(), s) }

// rewritten returns the body after the character's scripts. A change is recorded.
func (r draft) rewritten(body string) string {
	text := r.actor.rewritten(r.trace.Request, body)
	if text != body {
		r.trace.Processed = append(r.trace.Processed, turn.Processed{By: "rewrites", Status: turn.OK, Text: reply.CutUnits(text, 500)})
	}
	return text
}

// compose guards the body and adds notes, the state of a failed lookup, and the sources. Code writes the sources, never
// a model.
func (r draft) compose(body string, notes ...string) string {
	switch {
	case r.lookup == nil:
	case r.lookup.State == turn.LookupFailed:
		notes = append(notes, r.bot.failure(r.language(), r.lookup))
	case r.lookup.State == turn.Found && slices.ContainsFunc(r.lookup.Pages, turn.Page.Snippet):
		notes = append(notes, r.say(onlySnippets))
	case r.lookup.Unanswered && r.marker == nil: // a model says so itself
		notes = append(notes, r.say(onlyOutline))
	}
	return r.finish(body, notes)
}

func (r draft) finish(body string, notes []string) string {
	guarded, changes := r.rules.Guard(body)
	r.trace.Guarded = changes
	if r.marker != nil {
		if r.verify != nil {
			r.verify(guarded)
		}
		var n int
		guarded, r.trace.Unsupported, n = r.marker.Mark(guarded, false)
		r.trace.Uncited = n == 0 && r.lookup != nil && len(r.lookup.Sources) > 0
	}
	if strings.TrimSpace(guarded) == "" {
		guarded = r.say(emptyAnswer)
	}
	if r.hint != "" {
		notes = append([]string{r.hint}, notes...)
	}
	if r.trace.Blind {
		notes = append(notes, r.say(cannotSee))
	}
	if excuse := unheard(r.trace); excuse != "" {
		notes = append(notes, r.say(excuse))
	}
	if files := unread(r.trace.Outcomes); len(files) > 0 {
		notes = append(notes, notRead.In(r.language(), strings.Join(files, ", ")))
	}
	if r.away {
		notes = append(notes, r.say(wasAway))
	}
	var lines []string
	if !r.receipted {
		notes = append(r.receipts(), notes...)
	}
	for _, n := range notes {
		lines = append(lines, reply.SmallType+n)
	}
	if r.trace.Request.Buttons && !forAddress(r.lookup) { // one of the buttons shows the addresses
		lines = append(lines, r.sourceLine(guarded)...)
	} else {
		lines = append(lines, sourceNotes(r.language(), r.lookup, guarded, r.rules.Secrets)...)
	}
	r.trace.Reply = strings.TrimSpace(guarded + "\n\n" + strings.Join(lines, "\n"))
	return r.trace.Reply
}

// forAddress reports whether the question asks for an address: that of a picture or a video.
func forAddress(l *turn.Lookup) bool {
	return l != nil && (l.Intent == turn.IntentImage || l.Intent == turn.IntentVideo)
}

// sourceLine names the sources of a guarded body, and when they were looked up, in one line.
func (r draft) sourceLine(body string) []string {
	brief, cited := reply.Brief(r.lookup, body, r.rules.Secrets)
	if brief == "" {
		return nil
	}
	line := readLine
	if cited {
		line = sourcesLine
	}
	at := r.lookup.Began
	if r.lookup.Reused != nil {
		at = at.Add(-r.lookup.Reused.Age)
	}
	if zone := r.actor.Location; zone != nil {
		at = at.In(zone)
	}
	return []string{reply.SmallType + line.In(r.language(), brief, at.Format("15:04 MST"))}
}

// sourceNotes lists the sources of a guarded body below a heading.
func sourceNotes(language string, l *turn.Lookup, body string, secrets *redact.Redactor) []string {
	lines, cited := reply.Sources(l, body, language, secrets)
	if len(lines) == 0 {
		return nil
	}
	heading, reused := readNotCited, notCitedReadAgo
	if cited {
		heading, reused = labelSources, sourcesReadAgo
	}
	if l.Reused == nil {
		lines = slices.Insert(lines, 0, heading.In(language))
	} else {
		lines = slices.Insert(lines, 0, reused.In(language, minutes(l.Reused.Age)))
	}
	for i := range lines {
		lines[i] = reply.SmallType + lines[i]
	}
	return lines
}

// minutes returns a duration in minutes or hours. All languages share their symbols.
func minutes(d time.Duration) string {
	if d < time.Hour {
		return fmt.Sprintf("%d min", max(1, int(d.Minutes())))
	}
	return fmt.Sprintf("%d h", int(d.Hours()))
}

// withoutModel answers from the lookup alone, in the pages' words. excuse says why no model answered; it may be empty.
func (r draft) withoutModel(excuse string) string {
	r.marker = nil
	found := r.lookup != nil && r.lookup.State == turn.Found && len(r.lookup.Summary) > 0
	if words := strings.Join(r.receipts(), "\n"); words != "" && !found {
		r.receipted = true
		return r.finish(strings.TrimSpace(words+"\n\n"+excuse), nil)
	}
	if !found && excuse == "" {
		if words := r.plain(); words != "" {
			var notes []string
			if r.bot.speeches.due(r.trace.Request.ChannelID, r.trace.Began) {
				notes = []string{r.say(toLetMeTalk)}
			}
			return r.finish(words, notes)
		}
	}
	switch {
	case found && excuse != "":
		return r.compose(extracts(r.language(), r.lookup), excuse)
	case found:
		return r.compose(extracts(r.language(), r.lookup), r.noModel(noModelNote, ownWords))
	case excuse != "":
		return r.compose(excuse)
	case r.lookup != nil && r.lookup.State == turn.Empty:
		return r.finish(r.say(foundNothing), nil)
	case r.lookup != nil && r.lookup.State == turn.LookupFailed:
		return r.finish(r.bot.failure(r.language(), r.lookup), nil)
	case r.lookup != nil && r.lookup.State == turn.Disabled:
		return r.finish(webIsOff.In(r.language(), sentence(r.lookup.Reason).In(r.language())), nil)
	}
	return r.finish(r.noModel(noModel, noModelYet), nil)
}

// extracts returns the checked quotes with the numbers of their sources.
func extracts(language string, l *turn.Lookup) string {
	var parts []string
	for _, c := range l.Summary {
		sentence := clean.Unreferenced(strings.TrimSpace(c.Text)) + framed(language, c) + " " + c.Cited()
		if !slices.Contains(parts, sentence) {
			parts = append(parts, sentence)
		}
	}
	list := "- " + strings.Join(parts, "\n- ")
	if len(parts) == 1 {
		list = parts[0]
	}
	if l.Verdict != nil {
		return verdict(language, l.Verdict) + "\n" + list
	}
	return list
}

// framed returns what changes the meaning of a quote on its page, in brackets, or "".
func framed(language string, c turn.Claim) string {
	quote := func(words string) string { return "“" + clean.Unreferenced(words) + "”" }
	note := c.Framing.Note(quote, func(format string, values ...any) string { return sentence(format).In(language, values...) })
	if note == "" {
		return ""
	}
	return " (" + note + ")"
}

// verdict returns the sentence for the result of a fact check.
func verdict(language string, v *turn.Verdict) string {
	words := map[turn.VerdictLabel]sentence{
		turn.VerdictSupports: verdictSupports, turn.VerdictContradicts: verdictContradicts, turn.VerdictUnverified: verdictUnverified,
	}[v.Label]
	if words == "" {
		words = verdictOpen
	}
	of := ""
	if v.Statement != "" {
		of = fmt.Sprintf("“%s”: ", clean.Line(clean.Unreferenced(v.Statement), 200))
	}
	return of + "**" + words.In(language) + "** " + verdictCount.In(language, len(v.For), len(v.Against), v.Confidence)
}

// failure returns the sentence for a lookup that was needed and failed. The prompt tells the model the same.
func (b *Bot) failure(language string, l *turn.Lookup) string {
	what, words := lookupFailed, failureWords(language, l)
	switch l.Failure {
	case turn.CodeUnreadable:
		what, words = unreadable(language, l)
	case turn.CodeCap:
		what = overCap
	case turn.CodeRoom:
		return noRoom.In(language)
	case turn.CodeNothingToAsk:
		return nothingLeft.In(language)
	case turn.CodeInternal:
		return myFault.In(language)
	}
	return what.In(language, clean.Line(words, 200))
}

// unreadable returns the sentence for pages that could not be read, or that a rule forbids, and the reasons.
func unreadable(language string, l *turn.Lookup) (what sentence, words string) {
	var each []string
	what = mayNotRead
	for _, p := range l.Pages {
		if p.Snippet() { // its page has an entry of its own
			continue
		}
		if p.Failure != turn.CodeBlockedURL {
			what = couldNotRead
		}
		reason := pageFailure(language, p)
		if !slices.Contains(each, reason) {
			each = append(each, reason)
		}
	}
	return what, strings.Join(each, "; ")
}
