package reply

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/web/clean"
)

// AnswerUnits limits an answer to a command, in UTF-16 units. Discord allows 2,000.
const AnswerUnits = 1900

// These are said of a lookup by command.
const (
	lookedInVain    sentence = "I looked and found nothing that answers it."
	lookedForInVain sentence = "I looked for %s and found nothing that answers it."
	webOffBecause   sentence = "The web is switched off here (%s)."
	couldNotLook    sentence = "I could not look: %s."
	nothingToLookUp sentence = "There was nothing to look up."
	// LabelSources is the heading above a list of sources, and the label of the button that shows them.
	LabelSources  sentence = "Sources"
	moreClaims    sentence = "(%d more: /context)"
	speaksFor     sentence = "For it:"
	speaksAgainst sentence = "Against it:"
)

// These are failures of search services, and the limits of lookups.
const (
	codeUnreachable   sentence = "unreachable"
	codeTimeout       sentence = "no answer in time"
	codeRateLimited   sentence = "asked too often"
	codeQuota         sentence = "the allowance is used up"
	codeUnauthorized  sentence = "the key is not accepted"
	codeBlocked       sentence = "it turns programs away"
	codeMalformed     sentence = "an unusable answer"
	codeTooLarge      sentence = "too large"
	codeRejected      sentence = "the request was refused"
	codeUpstream      sentence = "the search service is out of order"
	codeMissing       sentence = "nothing is there"
	codeNotConfigured sentence = "no search service is set up"
	codeForbiddenJSON sentence = "it answers no programs"
	codeNothingToAsk  sentence = "nothing to ask for"
	codeInternal      sentence = "a fault on my side"
	codeRoom          sentence = "no room for it"
	codeCap           sentence = "the limit is reached"

	pageStatus sentence = "status %s" // the HTTP status of a page

	capChannel sentence = "the %d lookups that this channel has in half an hour are used up; the next is free in %s, at %s UTC"
	capPerson  sentence = "the %d lookups that a person has in a day are used up; the next is free in %s, at %s UTC"
	capMinute  sentence = "the %d searches that I have in a minute, in all channels together, are used up; the next is free in a few seconds"
)

var codeSentences = map[turn.Code]sentence{
	turn.CodeUnreachable: codeUnreachable, turn.CodeTimeout: codeTimeout, turn.CodeRateLimited: codeRateLimited, turn.CodeQuota: codeQuota,
	turn.CodeUnauthorized: codeUnauthorized, turn.CodeBlocked: codeBlocked, turn.CodeMalformed: codeMalformed, turn.CodeTooLarge: codeTooLarge,
	turn.CodeRejected: codeRejected, turn.CodeUpstream: codeUpstream, turn.CodeMissing: codeMissing, turn.CodeNotConfigured: codeNotConfigured,
	turn.CodeForbiddenJSON: codeForbiddenJSON, turn.CodeNothingToAsk: codeNothingToAsk, turn.CodeInternal: codeInternal, turn.CodeRoom: codeRoom, turn.CodeCap: codeCap,
}

// failureWords says what failed, without details for the operator.
func failureWords(language string, l *turn.Lookup) string {
	if l.Failure == turn.CodeCap {
		return usedUp(language, l)
	}
	var each []string
	for _, a := range l.Asked {
		if a.Status != turn.CodeOK && a.Status != turn.CodeEmpty {
			if words := plainCode(language, a.Status); !slices.Contains(each, words) {
				each = append(each, words)
			}
		}
	}
	if len(each) > 0 {
		return strings.Join(each, ", ")
	}
	return plainCode(language, l.Failure)
}

// usedUp says which limit a lookup met, and when the next one is free.
func usedUp(language string, l *turn.Lookup) string {
	const up = time.Minute - 1
	for _, c := range slices.Backward(l.Caps) {
		wait, at := minutes(c.Free.Sub(l.Began)+up), c.Free.Add(up).UTC().Format("15:04")
		switch {
		case c.Used < c.Limit:
		case c.Of == "minute":
			return capMinute.In(language, c.Limit)
		case c.Of == "channel" && !c.Free.IsZero():
			return capChannel.In(language, c.Limit, wait, at)
		case c.Of == "person" && !c.Free.IsZero():
			return capPerson.In(language, c.Limit, wait, at)
		}
	}
	return plainCode(language, l.Failure)
}

// pageFailure says why a page was not read.
func pageFailure(language string, p turn.Page) string {
	words := p.Why()
	if status, ok := strings.CutPrefix(words, "status "); ok {
		return pageStatus.In(language, status)
	}
	return sentence(words).In(language)
}

// plainCode returns a code as words.
func plainCode(language string, code turn.Code) string {
	if words, ok := codeSentences[code]; ok {
		return words.In(language)
	}
	return pageFailure(language, turn.Page{Failure: code})
}

// LookupAnswer writes what was found, with its sources, in a language. It fits into one message of Discord.
func LookupAnswer(language string, l *turn.Lookup, secrets *clean.Redactor) string {
	switch l.State {
	case turn.Found:
		return foundAnswer(language, l, secrets)
	case turn.Empty:
		if l.Query == "" {
			return lookedInVain.In(language)
		}
		return lookedForInVain.In(language, l.Queries())
	case turn.Disabled:
		return webOffBecause.In(language, sentence(l.Reason).In(language))
	case turn.LookupFailed:
		words := failureWords(language, l)
		if l.Failure == turn.CodeUnreadable {
			_, words = unreadable(language, l)
		}
		return couldNotLook.In(language, words)
	}
	return nothingToLookUp.In(language)
}

// foundAnswer writes as many whole claims as fit together with their sources.
func foundAnswer(language string, l *turn.Lookup, secrets *clean.Redactor) string {
	text, _ := RulesFor(turn.Request{}, l, secrets).Guard(quotesOf(language, l))
	claims := strings.Split(text, "\n")
	for n := len(claims); ; n-- {
		body := strings.Join(claims[:n], "\n")
		lines := sourceNotes(language, l, body, secrets)
		if slices.ContainsFunc(l.Pages, turn.Page.Snippet) {
			lines = append([]string{SmallType + onlySnippets.In(language)}, lines...)
		}
		if l.Unanswered {
			lines = append([]string{SmallType + onlyOutline.In(language)}, lines...)
		}
		tail := "\n\n" + strings.Join(lines, "\n")
		if n < len(claims) {
			tail = "\n" + moreClaims.In(language, len(claims)-n) + tail
		}
		room := AnswerUnits - Units(tail)
		if n > 1 && Units(body) > room {
			continue
		}
		if Units(body) > room { // a single claim that is too long
			body = Head(body, room-1) + "…"
		}
		return Head(body+tail, AnswerUnits)
	}
}

// quotesOf writes the quotes of a lookup. After a fact check they are grouped by side.
func quotesOf(language string, l *turn.Lookup) string {
	if l.Verdict == nil || len(l.Verdict.For)+len(l.Verdict.Against) == 0 {
		return extracts(language, l)
	}
	lines := []string{verdict(language, l.Verdict)}
	for _, side := range []struct {
		heading sentence
		claims  []turn.Claim
	}{{speaksFor, l.Verdict.For}, {speaksAgainst, l.Verdict.Against}} {
		if len(side.claims) == 0 {
			lines = append(lines, side.heading.In(language)+" –")
			continue
		}
		lines = append(lines, side.heading.In(language))
		for _, c := range side.claims {
			line := "- “" + clean.Unreferenced(strings.TrimSpace(c.Quote)) + "”" + framed(language, c)
			if c.Source > 0 {
				line += " " + c.Cited()
			}
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n")
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
func (r Draft) failure() string {
	language, l := r.language(), r.Lookup
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
	if words == codeUnreachable.In(language) { // which says no more
		return clean.Line(r.Say(noWeb), 200)
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

// sourceNotes lists the sources of a guarded body below a heading.
func sourceNotes(language string, l *turn.Lookup, body string, secrets *clean.Redactor) []string {
	lines, cited := Sources(l, body, language, secrets)
	if len(lines) == 0 {
		return nil
	}
	heading, reused := readNotCited, notCitedReadAgo
	if cited {
		heading, reused = LabelSources, sourcesReadAgo
	}
	if l.Reused == nil {
		lines = slices.Insert(lines, 0, heading.In(language))
	} else {
		lines = slices.Insert(lines, 0, reused.In(language, minutes(l.Reused.Age)))
	}
	for i := range lines {
		lines[i] = SmallType + lines[i]
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
