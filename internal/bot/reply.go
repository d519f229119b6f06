package bot

import (
	"fmt"
	"slices"
	"strings"

	"familiar/internal/bot/outgoing"
	"familiar/internal/bot/view"
	"familiar/internal/context/turn"
	"familiar/internal/providers/websearch"
	"familiar/internal/redact"
	"familiar/internal/web/clean"
)

// reply is the final text of one turn in the making.
type reply struct {
	bot    *Bot
	trace  *turn.Trace // its Guarded and Reply are filled in
	lookup *turn.Lookup
	rules  outgoing.Rules
	marker *outgoing.Marker  // nil: citations are not checked, because they are of quotes
	verify func(body string) // has the marker's decisions looked at again; nil: they stand
	away   bool              // say that the bot was away
}

// compose guards the body and adds the notes, the state of a lookup that failed, and the sources, which are written by code
// and never by a model.
func (r reply) compose(body string, notes ...string) string {
	switch {
	case r.lookup == nil:
	case r.lookup.State == turn.LookupFailed:
		notes = append(notes, r.bot.failure(r.lookup))
	case r.lookup.State == turn.Found && slices.ContainsFunc(r.lookup.Pages, turn.Page.Snippet):
		notes = append(notes, r.bot.say(onlySnippets))
	case r.lookup.Unanswered && r.marker == nil: // a model says so itself
		notes = append(notes, r.bot.say(onlyOutline))
	}
	return r.finish(body, notes)
}

func (r reply) finish(body string, notes []string) string {
	guarded, changes := r.rules.Guard(body)
	r.trace.Guarded = changes
	if r.marker != nil {
		if r.verify != nil {
			r.verify(guarded)
		}
		var n int
		guarded, r.trace.Unborne, n = r.marker.Mark(guarded, false)
		r.trace.Uncited = n == 0 && r.lookup != nil && len(r.lookup.Sources) > 0
	}
	if strings.TrimSpace(guarded) == "" {
		guarded = r.bot.say(emptyAnswer)
	}
	if r.trace.Blind {
		notes = append(notes, r.bot.say(cannotSee))
	}
	if excuse := unheard(r.trace); excuse != "" {
		notes = append(notes, r.bot.say(excuse))
	}
	if r.away {
		notes = append(notes, r.bot.say(wasAway))
	}
	var lines []string
	for _, n := range notes {
		lines = append(lines, outgoing.SmallType+n)
	}
	if r.trace.Request.Buttons && !forAddress(r.lookup) { // one of them shows the addresses
		lines = append(lines, r.sourceLine(guarded)...)
	} else {
		lines = append(lines, sourceNotes(r.lookup, guarded, r.rules.Secrets)...)
	}
	r.trace.Reply = strings.TrimSpace(guarded + "\n\n" + strings.Join(lines, "\n"))
	return r.trace.Reply
}

// forAddress reports whether an address is what is asked for: that of a picture or a video.
func forAddress(l *turn.Lookup) bool {
	return l != nil && (l.Intent == turn.IntentImage || l.Intent == turn.IntentVideo)
}

// sourceLine names the sources of a guarded body in one line, and when they were looked up.
func (r reply) sourceLine(body string) []string {
	brief, cited := outgoing.Brief(r.lookup, body, r.rules.Secrets)
	if brief == "" {
		return nil
	}
	heading := "read for this, not cited"
	if cited {
		heading = "sources"
	}
	at := r.lookup.Began
	if r.lookup.Reused != nil {
		at = at.Add(-r.lookup.Reused.Age)
	}
	if zone := r.bot.Character.Location; zone != nil {
		at = at.In(zone)
	}
	return []string{outgoing.SmallType + heading + ": " + brief + " · looked up " + at.Format("15:04 MST")}
}

// sourceNotes lists the sources of a guarded body below a heading.
func sourceNotes(l *turn.Lookup, body string, secrets *redact.Redactor) []string {
	lines, cited := outgoing.Sources(l, body, secrets)
	if len(lines) == 0 {
		return nil
	}
	heading := "Read for this, not cited"
	if cited {
		heading = "Sources"
	}
	if l.Reused != nil {
		heading += ", read " + view.Ago(l.Reused.Age)
	}
	lines = slices.Insert(lines, 0, heading)
	for i := range lines {
		lines[i] = outgoing.SmallType + lines[i]
	}
	return lines
}

// withoutModel answers from the lookup alone, in the words of the pages. excuse, if any, says why no model answered.
func (r reply) withoutModel(excuse string) string {
	r.marker = nil
	found := r.lookup != nil && r.lookup.State == turn.Found && len(r.lookup.Summary) > 0
	switch {
	case found && excuse != "":
		return r.compose(extracts(r.lookup), excuse)
	case found:
		return r.compose(extracts(r.lookup), r.bot.say(noModelNote))
	case excuse != "":
		return r.compose(excuse)
	case r.lookup != nil && r.lookup.State == turn.Empty:
		return r.finish(r.bot.say(foundNothing), nil)
	case r.lookup != nil && r.lookup.State == turn.LookupFailed:
		return r.finish(r.bot.failure(r.lookup)+".", nil)
	case r.lookup != nil && r.lookup.State == turn.Disabled:
		return r.finish(r.bot.say(webIsOff)+" ("+r.lookup.Reason+").", nil)
	}
	return r.finish(r.bot.say(noModel), nil)
}

// extracts quotes the checked sentences, those of one source together, with their numbers.
func extracts(l *turn.Lookup) string {
	var parts []string
	for _, c := range l.Summary {
		sentence := clean.Unreferenced(strings.TrimSpace(c.Text)) + framed(c) + " " + c.Cited()
		if !slices.Contains(parts, sentence) {
			parts = append(parts, sentence)
		}
	}
	list := "- " + strings.Join(parts, "\n- ")
	if len(parts) == 1 {
		list = parts[0]
	}
	if l.Verdict != nil {
		return verdict(l.Verdict) + "\n" + list
	}
	return list
}

// framed says what a quote is on its page, where that changes what it means.
func framed(c turn.Claim) string {
	note := c.Framing.Note(func(words string) string { return "“" + clean.Unreferenced(words) + "”" })
	if note == "" {
		return ""
	}
	return " (" + note + ")"
}

// verdict says how a fact check ended.
func verdict(v *turn.Verdict) string {
	words := map[turn.VerdictLabel]string{
		turn.VerdictSupports: "Supported by these sources", turn.VerdictContradicts: "Contradicted by these sources",
		turn.VerdictUnverified: "Unverified: too little is written about this to say it of a living person",
	}[v.Label]
	if words == "" {
		words = "Inconclusive: too few independent sources settle this"
	}
	of := ""
	if v.Statement != "" {
		of = fmt.Sprintf("“%s”: ", clean.Line(clean.Unreferenced(v.Statement), 200))
	}
	return fmt.Sprintf("%s**%s** (%d for, %d against, confidence %.2f).", of, words, len(v.For), len(v.Against), v.Confidence)
}

// failure tells people, as the prompt tells the model, that a lookup was needed and failed.
func (b *Bot) failure(l *turn.Lookup) string {
	what, words := lookupFailed, failureWords(l)
	switch l.Failure {
	case turn.CodeUnreadable:
		what, words = unreadable(l)
	case turn.CodeCap:
		what = overCap
	case turn.CodeRoom:
		return b.say(noRoom)
	case turn.CodeNothingToAsk:
		return b.say(nothingLeft)
	case turn.CodeInternal:
		return b.say(myFault)
	}
	return b.say(what) + " (" + clean.Line(words, 200) + ")"
}

// unreadable distinguishes pages that a rule forbids from pages that could not be read, and says why.
func unreadable(l *turn.Lookup) (what sentence, words string) {
	var each []string
	what = mayNotRead
	for _, p := range l.Pages {
		if p.Snippet() { // its page is another entry
			continue
		}
		if p.Failure != turn.CodeBlockedURL {
			what = couldNotRead
		}
		reason := websearch.Why(p)
		if !slices.Contains(each, reason) {
			each = append(each, reason)
		}
	}
	return what, strings.Join(each, "; ")
}

// failureWords says what failed, without the operator's details.
func failureWords(l *turn.Lookup) string {
	if l.Failure == turn.CodeCap {
		return l.Reason
	}
	var each []string
	for _, a := range l.Asked {
		if a.Status != turn.CodeOK && a.Status != turn.CodeEmpty {
			if words := a.Backend + ": " + strings.ReplaceAll(string(a.Status), "_", " "); !slices.Contains(each, words) {
				each = append(each, words)
			}
		}
	}
	if len(each) > 0 {
		return strings.Join(each, ", ")
	}
	return strings.ReplaceAll(string(l.Failure), "_", " ")
}
