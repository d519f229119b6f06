package bot

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"familiar/internal/context/turn"
	"familiar/internal/providers/websearch"
	"familiar/internal/redact"
	"familiar/internal/web/clean"
	"familiar/internal/web/guard"
)

// small begins a line that Discord sets in small type: what the code says beside the character.
const small = "-# "

// reply is the final text of one turn in the making.
type reply struct {
	bot    *Bot
	trace  *turn.Trace // its Guarded and Reply are filled in
	lookup *turn.Lookup
	out    Outgoing
	cited  *cited // nil: what is cited is not checked, for it is quoted
}

// compose guards the body, and adds the notes, the state of a lookup that failed, and the sources, which are written
// by code and never by a model.
func (r reply) compose(body string, notes ...string) string {
	switch {
	case r.lookup == nil:
	case r.lookup.State == turn.LookupFailed:
		notes = append(notes, r.bot.failure(r.lookup))
	case r.lookup.State == turn.Found && slices.ContainsFunc(r.lookup.Pages, turn.Page.Snippet):
		notes = append(notes, r.bot.say(onlySnippets))
	}
	return r.finish(body, notes)
}

func (r reply) finish(body string, notes []string) string {
	guarded, changes := r.out.Guard(body)
	r.trace.Guarded = changes
	if r.cited != nil {
		var n int
		guarded, r.trace.Unborne, n = r.cited.mark(guarded, false)
		r.trace.Uncited = n == 0 && r.lookup != nil && len(r.lookup.Sources) > 0
	}
	if strings.TrimSpace(guarded) == "" {
		guarded = r.bot.say(emptyAnswer)
	}
	var lines []string
	for _, n := range notes {
		lines = append(lines, small+n)
	}
	lines = append(lines, sourceLines(r.lookup, guarded, r.out.Secrets)...)
	r.trace.Reply = strings.TrimSpace(guarded + "\n\n" + strings.Join(lines, "\n"))
	return r.trace.Reply
}

// withoutModel answers from the lookup alone, in the words of the pages. excuse, if any, says why no model spoke.
func (r reply) withoutModel(excuse string) string {
	r.cited = nil
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
		sentence := clean.Unreferenced(verbatim(c)) + " " + c.Cited()
		if !slices.Contains(parts, sentence) {
			parts = append(parts, sentence)
		}
	}
	list := "- " + strings.Join(parts, "\n- ")
	if len(parts) == 1 {
		list = parts[0]
	}
	if l.Verdict != nil {
		return ruling(l.Verdict) + "\n" + list
	}
	return list
}

// verbatim is what the page says: the claim's text where its quote has it word for word, but for dots of omission, and
// else the quote. A side model's own words pass checks that each of them is on the page, and may still change places.
func verbatim(c turn.Claim) string {
	if text := strings.TrimSpace(c.Text); strings.Contains(c.Quote, strings.Trim(text, "… ")) {
		return text
	}
	return strings.TrimSpace(c.Quote)
}

// ruling says what came of a fact check.
func ruling(v *turn.Verdict) string {
	words := map[string]string{
		"supports": "Supported by these sources", "contradicts": "Contradicted by these sources",
		"unverified": "Unverified: too little is written about this to say it of a living person",
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

// failure tells people what the model was told too: that a lookup was wanted and could not be made.
func (b *Bot) failure(l *turn.Lookup) string {
	what, words := lookupFailed, failureWords(l)
	switch l.Failure {
	case "unreadable":
		what, words = unreadable(l)
	case "cap":
		what = overCap
	case "room":
		return b.say(noRoom)
	case "nothing_to_ask":
		return b.say(nothingLeft)
	case "internal":
		return b.say(myFault)
	}
	return b.say(what) + " (" + clean.Line(words, 200) + ")"
}

// unreadable tells pages that a rule forbids from pages that could not be read, and says why.
func unreadable(l *turn.Lookup) (what sentence, words string) {
	var each []string
	what = mayNotRead
	for _, p := range l.Pages {
		if p.Snippet() { // the page itself is among them
			continue
		}
		if p.Failure != "blocked_url" {
			what = couldNotRead
		}
		reason := websearch.Why(p)
		if !slices.Contains(each, reason) {
			each = append(each, reason)
		}
	}
	return what, strings.Join(each, "; ")
}

// failureWords names what failed, without the operator's details.
func failureWords(l *turn.Lookup) string {
	if l.Failure == "cap" {
		return l.Reason
	}
	var each []string
	for _, a := range l.Asked {
		if a.Status != "ok" && a.Status != "empty" {
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

var (
	// citation is the one form that the guard leaves, and its mark.
	citation = regexp.MustCompile(`\[(\d{1,2})\??\]`)
	// apart are citations, and the links they may be, with the space before. Behind a word there may be an index.
	apart = regexp.MustCompile(`(?: +|(^|[^\w)\] ]))(?:\[\d{1,2}\??\](?:\(<[^\[<>\s]*>\))?)+`)
)

// sourceLines lists what the guarded body cites or, when it cites nothing, what was read for it. A number directly
// behind a word counts, as for the guard; in code it may be an index, but a source that is listed for nothing does no harm.
func sourceLines(l *turn.Lookup, body string, secrets *redact.Redactor) []string {
	if l == nil || len(l.Sources) == 0 {
		return nil
	}
	cited := make(map[int]bool)
	for _, m := range citation.FindAllStringSubmatch(body, -1) {
		if n, err := strconv.Atoi(m[1]); err == nil && n >= 1 && n <= len(l.Sources) {
			cited[n] = true
		}
	}
	lines := []string{small + "Sources"}
	if len(cited) == 0 {
		lines[0] = small + "Read for this, not cited"
	}
	if l.Reused != nil {
		lines[0] += ", read " + ago(l.Reused.Age)
	}
	for _, s := range l.Sources {
		if len(cited) == 0 || cited[s.N] {
			if secrets.Found(sourceLine(s)) { // a mask in its place could set an address free
				s.Title, s.Site = "", ""
			}
			lines = append(lines, small+secrets.String(sourceLine(s)))
		}
	}
	return lines
}

func sourceLine(s turn.Source) string {
	date := "undated"
	if !s.Published.IsZero() {
		date = s.Published.UTC().Format("2006-01-02")
	}
	return fmt.Sprintf("[%d] %s · %s · %s <%s>", s.N, inert(s.Title, 80), inert(strings.TrimPrefix(s.Site, "www."), 60), date, s.URL)
}

// inert is a stranger's text as one line that Discord formats in no way and makes no link of. The marks go before
// the guard looks, because a link may be put together by their going, and once more because it writes some.
func inert(s string, limit int) string {
	guarded, _ := Outgoing{}.Guard(unmark(clean.Line(s, limit)))
	return unmark(guarded)
}

// unmark takes out what markdown and mentions are made of.
func unmark(s string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune("*_~`|<>[]()@#\\", r) {
			return -1
		}
		return r
	}, s)
}

// spoken is what a post says in the character's own words: history must not teach the model to write sources.
func spoken(text string) string {
	var kept []string
	for line := range strings.SplitSeq(text, "\n") {
		if !strings.HasPrefix(line, small) {
			kept = append(kept, line)
		}
	}
	return strings.TrimSpace(apart.ReplaceAllString(strings.Join(kept, "\n"), "$1"))
}

var typedURL = regexp.MustCompile(`https?://[^\s<>"]+`)

// outgoing is what the reply to r may hold: the addresses that a person typed, and those that were read.
func (b *Bot) outgoing(r turn.Request, l *turn.Lookup) Outgoing {
	out := Outgoing{URLs: make(map[string]bool), Secrets: b.Redact}
	allow := func(address string) {
		if c, ok := guard.Canonical(address); ok {
			out.URLs[c] = true
		}
	}
	typed := r.Message.Text
	if r.Parent != nil && r.Parent.ByPerson() {
		typed += "\n" + r.Parent.Text
	}
	for _, u := range typedURL.FindAllString(typed, -1) {
		allow(u[:trimmed(u, 0, len(u))])
	}
	if l != nil {
		out.Citations = len(l.Sources)
		for _, s := range l.Sources {
			allow(s.URL)
		}
	}
	return out
}
