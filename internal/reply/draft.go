package reply

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"familiar/internal/context/turn"
	"familiar/internal/factcheck"
	"familiar/internal/memory/order"
	"familiar/internal/providers/character"
	"familiar/internal/question"
	"familiar/internal/text"
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

// Draft composes the final text of one turn.
type Draft struct {
	Character *character.Character
	Trace     *turn.Trace // Compose sets its Guarded and Reply
	Lookup    *turn.Lookup
	Rules     Rules
	Marker    *Marker   // nil: citations are not checked, because the body consists of quotes
	Away      bool      // add a note that the bot was away
	Hint      string    // note below an excuse: what is wrong with the model
	Speeches  *Speeches // which channels were told how the bot gets a model

	// Verify asks a model about citations, beside the rules. It returns nil if there is no time. If Verify is nil, the rules alone decide.
	Verify func([]factcheck.Citation) []factcheck.Opinion

	receipted bool // the body says what became of orders
}

func (r Draft) language() string { return r.Trace.Request.Language }

func (r Draft) Say(s Sentence) string { return Say(r.Character, r.language(), s) }

// Rewritten returns the body after the character's scripts. A change is recorded.
func (r Draft) Rewritten(body string) string {
	text := r.Character.Reworded(r.Trace.Request, body, false)
	if text != body {
		r.Trace.Processed = append(r.Trace.Processed, turn.Processed{By: "rewrites", Status: turn.OK, Text: CutUnits(text, 500)})
	}
	return text
}

// Compose guards the body and adds notes, the state of a failed lookup, and the sources. Code writes the sources, never
// a model.
func (r Draft) Compose(body string, notes ...string) string {
	switch {
	case r.Lookup == nil:
	case r.Lookup.State == turn.LookupFailed:
		notes = append(notes, r.failure())
	case r.Lookup.State == turn.Found && slices.ContainsFunc(r.Lookup.Pages, turn.Page.Snippet):
		notes = append(notes, r.Say(onlySnippets))
	case r.Lookup.Unanswered && r.Marker == nil: // a model says so itself
		notes = append(notes, r.Say(onlyOutline))
	}
	return r.Finish(body, notes)
}

// Finish guards the body and adds notes and the sources.
func (r Draft) Finish(body string, notes []string) string {
	guarded, changes := r.Rules.Guard(body)
	r.Trace.Guarded = changes
	if r.Marker != nil {
		if r.Verify != nil {
			r.verify(guarded)
		}
		var n int
		guarded, r.Trace.Unsupported, n = r.Marker.Mark(guarded, false)
		r.Trace.Uncited = n == 0 && r.Lookup != nil && len(r.Lookup.Sources) > 0
	}
	if strings.TrimSpace(guarded) == "" {
		guarded = r.Say(emptyAnswer)
	}
	if r.Hint != "" {
		notes = append([]string{r.Hint}, notes...)
	}
	if r.Trace.Blind {
		notes = append(notes, r.Say(cannotSee))
	}
	if excuse := Unheard(r.Trace); excuse != "" {
		notes = append(notes, r.Say(excuse))
	}
	if files := unread(r.Trace.Outcomes); len(files) > 0 {
		notes = append(notes, notRead.In(r.language(), strings.Join(files, ", ")))
	}
	if r.Away {
		notes = append(notes, r.Say(wasAway))
	}
	var lines []string
	if !r.receipted {
		notes = append(r.receipts(), notes...)
	}
	for _, n := range notes {
		lines = append(lines, SmallType+n)
	}
	if r.Trace.Request.Buttons && !ForAddress(r.Lookup) { // one of the buttons shows the addresses
		lines = append(lines, r.sourceLine(guarded)...)
	} else {
		lines = append(lines, sourceNotes(r.language(), r.Lookup, guarded, r.Rules.Secrets)...)
	}
	r.Trace.Reply = strings.TrimSpace(guarded + "\n\n" + strings.Join(lines, "\n"))
	return r.Trace.Reply
}

// ForAddress reports whether the question asks for an address: that of a picture or a video.
func ForAddress(l *turn.Lookup) bool {
	return l != nil && (l.Intent == turn.IntentImage || l.Intent == turn.IntentVideo)
}

// sourceLine names the sources of a guarded body, and when they were looked up, in one line.
func (r Draft) sourceLine(body string) []string {
	brief, cited := Brief(r.Lookup, body, r.Rules.Secrets)
	if brief == "" {
		return nil
	}
	line := readLine
	if cited {
		line = sourcesLine
	}
	at := r.Lookup.Began
	if r.Lookup.Reused != nil {
		at = at.Add(-r.Lookup.Reused.Age)
	}
	if zone := r.Character.Location; zone != nil {
		at = at.In(zone)
	}
	return []string{SmallType + line.In(r.language(), brief, at.Format("15:04 MST"))}
}

// WithoutModel answers from the lookup alone, in the pages' words. excuse says why no model answered; it may be empty.
func (r Draft) WithoutModel(excuse string) string {
	r.Marker = nil
	if r.Trace.Request.Addressed == turn.ByGreeting {
		r.Hint = ""
		return r.Finish(r.greeting(), nil)
	}
	found := r.Lookup != nil && r.Lookup.State == turn.Found && len(r.Lookup.Summary) > 0
	if words := strings.Join(r.receipts(), "\n"); words != "" && !found {
		r.receipted = true
		return r.Finish(strings.TrimSpace(words+"\n\n"+excuse), nil)
	}
	if !found && excuse == "" {
		if words := r.plain(); words != "" {
			var notes []string
			r.Hint = "" // nothing failed that it needs
			if answer := r.aboutProgram(); answer != nil && words == answer.Text {
				notes = []string{cameWithMe.In(r.language(), answer.File)}
			}
			if r.chat() != question.TellSad && r.Speeches.due(r.Trace.Request.ChannelID, r.Trace.Began) {
				notes = append(notes, r.Say(toLetMeTalk))
			}
			return r.Finish(words, notes)
		}
	}
	switch {
	case found && excuse != "":
		return r.Compose(extracts(r.language(), r.Lookup), excuse)
	case found:
		return r.Compose(extracts(r.language(), r.Lookup), r.noModel(noModelNote, ownWords))
	case excuse != "":
		return r.Compose(excuse)
	case r.Lookup != nil && r.Lookup.State == turn.Empty:
		return r.Finish(r.Say(foundNothing), nil)
	case r.Lookup != nil && r.Lookup.State == turn.LookupFailed:
		return r.Finish(r.failure(), nil)
	case r.Lookup != nil && r.Lookup.State == turn.Disabled:
		return r.Finish(webIsOff.In(r.language(), sentence(r.Lookup.Reason).In(r.language())), nil)
	}
	return r.Finish(r.noModel(noModel, noModelYet), nil)
}

// Unheard returns what to say of a voice message that was not transcribed; empty if there is none.
func Unheard(t *turn.Trace) sentence {
	for _, r := range t.Transcripts {
		switch r.Failure {
		case "":
		case turn.CodeNotConfigured:
			return cannotListen
		case turn.CodeTooLarge:
			return tooLongToHear
		default:
			return notHeard
		}
	}
	return ""
}

// unread returns the names of the files of a message that could not be read.
func unread(outcomes []turn.Outcome) (names []string) {
	for _, o := range outcomes {
		for _, c := range o.Contributions {
			if a := c.Attached; a != nil && a.Failure != "" && a.Failure != turn.CodeBlind && a.Failure != turn.CodeNotConfigured && a.Failure != turn.CodeSkipped {
				names = text.AddOnce(names, "“"+clean.Unreferenced(clean.Line(a.Name, longestFileName))+"”")
			}
		}
	}
	return names
}

const longestFileName = 60 // characters

// CouldNotBeSaved is said if the store fails.
const CouldNotBeSaved sentence = "That could not be saved. The operator's log says why."

// YouOptedOut is said if nothing is kept of the person.
const YouOptedOut sentence = "You have opted out of everything that I keep, so I did not keep this. /privacy changes that."

// These are the receipts of orders. Code writes them below each answer.
const (
	memoryKept      sentence = "Kept: “%s”"
	memoryChanged   sentence = "Changed from “%s” to “%s”"
	memoryForgotten sentence = "Forgotten: %d"
	memoryAsks      sentence = "Forget everything I know of you, everywhere? Say yes to confirm. For a day you can undo it."
	memoryWiped     sentence = "Forgotten: everything (%d). For a day you can undo it with /memory undo; then it is gone everywhere."
	memoryUnclear   sentence = "Nothing was changed in my memory. /memory remembers, corrects and forgets."
	memoryOthers    sentence = "I keep nothing about other people in my memory unless they ask for it themselves."
	memoryUnknown   sentence = "I have nothing of that kind in my memory."
	memorySecret    sentence = "That looks like a secret, so I don't keep it in my memory."
	memoryOrder     sentence = "I remember what people tell me, but no orders on how I am to behave, and no addresses."
	memoryFull      sentence = "I have as much in my memory for you as I keep for one person. /memory shows it."
	remindSet       sentence = "I will remind you on %s: “%s”"
	remindTaken     sentence = "I don't know your time zone and took %s. “My time zone is Europe/Paris” tells me."
	remindWhen      sentence = "I set no reminder: say when, as in “tomorrow at 9” or “in 20 minutes”."
	remindPast      sentence = "I set no reminder: that time is over."
	remindAgain     sentence = "I set no reminder: mine come once, not again and again."
	remindRange     sentence = "I set no reminder: it must be a minute to a year ahead."
	remindCrowded   sentence = "I set no reminder: you have as many as I keep for one person. /memory shows them."
	noSuchZone      sentence = "I know no such time zone. They are called as in “Europe/Paris” or “UTC+2”."
	memoryUndo      sentence = "/memory undo takes it back, for a day."
)

// These answer a command that did the same.
const (
	memoryKeptDone      sentence = "I have put that in my memory."
	memoryForgottenDone sentence = "I have deleted that from my memory."
	memoryCorrectedDone sentence = "I have corrected that in my memory."
)

const longestReceipt = 120 // characters of a statement in a receipt

// receipts say what became of the orders; empty if there were none.
func (r Draft) receipts() (all []string) {
	undo := false
	for _, m := range r.Trace.Memory.All() {
		receipt, _ := r.Rules.Guard(r.receipt(m))
		all = append(all, receipt)
		if m.Taken {
			all = append(all, Receipt(r.spoken(), string(remindTaken), m.Zone))
		}
		undo = undo || Undoable(m)
	}
	if undo && !r.Trace.Request.Buttons {
		all = append(all, Receipt(r.spoken(), string(memoryUndo)))
	}
	return slices.Compact(all)
}

func (r Draft) receipt(m turn.MemoryChange) string {
	brief := func(s string) string { return clean.Line(s, longestReceipt) }
	say := func(s sentence, values ...any) string { return Receipt(r.spoken(), string(s), values...) }
	switch {
	case m.Refused != "":
		return say(MemorySaid(m))
	case m.Asks:
		return say(memoryAsks)
	case m.Wiped:
		return say(memoryWiped, m.Gone)
	case m.Deed == string(order.Remind):
		return say(remindSet, Moment(r.spoken(), m.At, m.Zone), brief(m.Text))
	case m.Deed == string(order.Forget):
		return say(memoryForgotten, max(1, len(m.IDs)))
	case m.From != "":
		return say(memoryChanged, brief(m.From), brief(m.Text))
	}
	return say(memoryKept, brief(m.Text))
}

// Moment writes when a reminder comes, with the name of the day in a language.
func Moment(language string, at time.Time, zone string) string {
	if in, known := text.ZoneCalled(zone); known {
		at = at.In(in)
	}
	days := cmp.Or(text.TablesOf(language).Remind.Weekdays, text.TablesOf(English).Remind.Weekdays)
	return days.Name(int(at.Weekday())) + " " + at.Format("2006-01-02 15:04") + " (" + zone + ")"
}

// These tell people what they wanted to be reminded of.
const (
	reminding     sentence = "Reminder: “%s”"
	remindingLate sentence = "Reminder, late by %s, because I was away: “%s”"
)

// lateAfter is how late a reminder may come without a word about that.
const lateAfter = 2 * time.Minute

// MostSpoken is how many characters are said aloud at once: about a minute and a half.
const MostSpoken = 1500

// Aloud returns the words of a text as they are said aloud, at most [MostSpoken] characters. Code, addresses, citations and marks
// are left out.
func Aloud(words string) string {
	words = strings.NewReplacer("*", "", "_", " ", "~", "", "`", "", "|", "", "#", "", ">", "").Replace(unspoken.ReplaceAllString(OwnWords(words), " "))
	if !strings.ContainsFunc(words, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) {
		return ""
	}
	words = text.OneLine(words)
	if utf8.RuneCountInString(words) <= MostSpoken {
		return words
	}
	return Head(words, MostSpoken)
}

// unspoken matches code, addresses, citations and emojis of a server.
var unspoken = text.NewLazyRegexp("(?s)```.*?```|`[^`\n]+`|<?https?://[^\\s<>)]+>?|\\[\\d+\\]|<a?:\\w+:\\d+>")

// Reminder returns what a person is told at the time of a reminder, or late.
func Reminder(language, said string, late time.Duration) string {
	if late < lateAfter {
		return Receipt(language, string(reminding), said)
	}
	span := strconv.Itoa(int(late.Minutes())) + " min"
	switch {
	case late >= 48*time.Hour:
		span = strconv.Itoa(int(late.Hours()/24)) + " d"
	case late >= 2*time.Hour:
		span = strconv.Itoa(int(late.Hours())) + " h"
	}
	return Receipt(language, string(remindingLate), span, said)
}

// spoken returns the language that was decided for the turn. It may be one in which the bot says nothing but receipts.
func (r Draft) spoken() string {
	req := &r.Trace.Request
	own := text.MessageLanguage(req.Message.Text)
	if LanguageOf(own) != req.Language { // it was not clear
		own = ""
	}
	return cmp.Or(text.LanguageNamed(req.Card[turn.CardLanguage]), own, req.Language)
}

// Undoable reports whether a change can be undone.
func Undoable(m turn.MemoryChange) bool {
	return m.Refused == "" && !m.Asks && (len(m.IDs) > 0 || m.Field != "" || m.Wiped)
}

// MemorySaid says what became of an order without its words.
func MemorySaid(m turn.MemoryChange) sentence {
	switch m.Refused {
	case "":
		return map[string]sentence{string(order.Keep): memoryKeptDone, string(order.Forget): memoryForgottenDone, string(order.Correct): memoryCorrectedDone}[m.Deed]
	case turn.MemoryOthers:
		return memoryOthers
	case turn.MemoryNothing:
		return memoryUnknown
	case turn.MemorySecret:
		return memorySecret
	case turn.MemoryOrder:
		return memoryOrder
	case turn.MemoryFull:
		return memoryFull
	case turn.MemoryOptOut:
		return YouOptedOut
	case turn.MemoryUnclear:
		return memoryUnclear
	case turn.MemoryZone:
		return noSuchZone
	case turn.MemoryCrowded:
		return remindCrowded
	case string(order.NoTime):
		return remindWhen
	case string(order.Past):
		return remindPast
	case string(order.Again):
		return remindAgain
	case string(order.Near), string(order.Far):
		return remindRange
	}
	return CouldNotBeSaved
}

// fixed matches what another wording may not change: code, links, and numbers, including those of sources.
var fixed = text.NewLazyRegexp("(?s)```.*?```|`[^`\n]+`|https?://[^\\s<>)\\]]+|\\[\\d+\\]|\\p{Nd}+(?:[.,:/]\\p{Nd}+)*")

// SameFacts returns an error if a wording lost or added facts, as far as code can tell.
func SameFacts(before, after string) error {
	had, has := fixed.FindAllString(before, -1), fixed.FindAllString(after, -1)
	slices.Sort(had)
	slices.Sort(has)
	if !slices.Equal(had, has) {
		return fmt.Errorf("its numbers, sources, links or code are not those of the answer")
	}
	if len(after) > 3*len(before)+200 || len(before) > 3*len(after)+200 {
		return errors.New("it is much longer or shorter than the answer")
	}
	return nil
}
