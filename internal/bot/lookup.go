package bot

import (
	"context"
	"slices"
	"strings"
	"time"

	"familiar/internal/bot/outgoing"
	"familiar/internal/bot/view"
	"familiar/internal/context/turn"
	"familiar/internal/providers/websearch"
	"familiar/internal/web/clean"
	"familiar/internal/web/guard"

	"github.com/oklog/ulid/v2"
)

// What is said about a lookup by command.
const (
	lookUpWhat      sentence = "What shall I look up? Or shall I stop looking things up here: web off?"
	lookedInVain    sentence = "I looked and found nothing that answers it."
	lookedForInVain sentence = "I looked for %s and found nothing that answers it."
	webOffBecause   sentence = "The web is switched off here (%s)."
	offByChannel    sentence = "in this channel; the command lookup switches it on again"
	couldNotLook    sentence = "I could not look: %s."
	nothingToLookUp sentence = "There was nothing to look up."
	moreClaims      sentence = "(%d more: /context)"
	noTextThere     sentence = "There is no text in this message to look up."
	notByPerson     sentence = "I look up only what a person has written."
	noSuchSite      sentence = "%s is no site that I may look on."
	speaksFor       sentence = "For it:"
	speaksAgainst   sentence = "Against it:"
)

// lookUp answers /lookup.
func (b *Bot) lookUp(ctx context.Context, e turn.Event) turn.Answer {
	if verdict := e.Command.Options["feedback"]; verdict != "" {
		return b.feedback(ctx, e, verdict, strings.TrimSpace(e.Command.Options["source"]))
	}
	o := lookupOrder{question: strings.TrimSpace(e.Command.Options["query"])}
	switched := ""
	if web := e.Command.Options["web"]; web != "" {
		switched = b.setWeb(ctx, e, web).Text
		if o.question == "" {
			return turn.Answer{Text: switched}
		}
		switched += "\n\n"
	}
	if o.question == "" {
		return b.respond(e, lookUpWhat)
	}
	if intent := e.Command.Options["intent"]; slices.ContainsFunc(intentChoices(), func(c turn.Choice) bool { return c.Value == intent }) {
		o.intent = turn.Intent(intent)
	}
	actor := b.speaker(ctx, e)
	if site := strings.TrimSpace(e.Command.Options["site"]); site != "" {
		var ok bool
		if o.site, ok = actor.siteOf(site); !ok {
			return b.respond(e, noSuchSite, outgoing.Inert(site, 80))
		}
	}
	a := b.answerLookup(ctx, actor, e, o)
	a.Text = switched + a.Text
	return a
}

// lookUpMessage answers "Look this up".
func (b *Bot) lookUpMessage(ctx context.Context, e turn.Event) turn.Answer {
	text, refusal := targetText(e)
	if refusal != "" {
		return b.respond(e, refusal)
	}
	return b.answerLookup(ctx, b.speaker(ctx, e), e, lookupOrder{question: text, target: e.Command.Target})
}

// checkMessage answers "Check this claim". Addresses in the claim are left out: its author's own page does not check it.
func (b *Bot) checkMessage(ctx context.Context, e turn.Event) turn.Answer {
	text, refusal := targetText(e)
	if refusal == "" && strings.TrimSpace(guard.WithoutURLs(text)) == "" {
		refusal = noTextThere
	}
	if refusal != "" {
		return b.respond(e, refusal)
	}
	return b.answerLookup(ctx, b.speaker(ctx, e), e, lookupOrder{question: guard.WithoutURLs(text), target: e.Command.Target, intent: turn.IntentFactCheck})
}

// targetText returns the text of the message that a command was given for, or why there is none to look up: what a machine has
// written becomes no query (P2).
func targetText(e turn.Event) (text string, refusal sentence) {
	switch target := e.Command.Target; {
	case target == nil || strings.TrimSpace(target.Text) == "":
		return "", noTextThere
	case !target.ByPerson():
		return "", notByPerson
	default:
		return strings.TrimSpace(target.Text), ""
	}
}

// suggestSites suggests the sites that the operator named, and what was typed if it is one.
func (b *Bot) suggestSites(ctx context.Context, e turn.Event) []turn.Choice {
	actor := b.speaker(ctx, e)
	typed := strings.ToLower(strings.TrimSpace(e.Command.Options[e.Command.Focused]))
	var sites []string
	add := func(site string) {
		if host, ok := actor.siteOf(site); ok && !slices.Contains(sites, host) {
			sites = append(sites, host)
		}
	}
	for _, trusted := range actor.Web.Trusted {
		for _, site := range trusted {
			add(site)
		}
	}
	for _, site := range actor.Web.Allow {
		add(site)
	}
	for _, d := range actor.Docs {
		add(d.Site.Host())
	}
	slices.Sort(sites)
	if strings.Contains(typed, ".") {
		add(typed)
	}
	return matching(typed, sites)
}

// siteOf returns the host of a site that a person names, by its name or an address, and reports whether pages of it may be read.
func (a *Actor) siteOf(s string) (host string, ok bool) {
	if u, err := guard.Parse(s); err == nil {
		s = u.Hostname()
	}
	host, err := guard.Host(strings.ToLower(s))
	return host, err == nil && a.Lookup.Policy.Domains.Allows(host)
}

// lookupOrder is what a person orders to be looked up.
type lookupOrder struct {
	question string
	target   *turn.Message // of somebody else, whose text question is; nil: the person's own words
	docs     string        // name of the only site of documentation to look in; empty: anywhere
	intent   turn.Intent   // kind of question; empty: its words decide
	site     string        // host of the only site to look on; empty: anywhere
}

func (b *Bot) answerLookup(ctx context.Context, actor *Actor, e turn.Event, o lookupOrder) turn.Answer {
	if !b.allows(e.Command.By) {
		return b.respond(e, tooMany)
	}
	if o.isLinked() {
		return b.openLinked(ctx, actor, e, o)
	}
	t, err := b.lookUpFor(ctx, actor, e, o)
	if err != nil {
		return b.storeTrouble(e, err)
	}
	return turn.Answer{Text: t.Reply}
}

// LookUp looks a message's question up, whether or not it seems to need it: anywhere or, with docs, in that site of
// documentation alone. What leaves the machine must be on record, so it is recorded like a turn; the error is the store's.
func (b *Bot) LookUp(ctx context.Context, m turn.Message, docs string) (*turn.Lookup, error) {
	t, err := b.lookUpFor(ctx, b.cast().Default, turn.Event{ID: m.ID, Message: m}, lookupOrder{question: m.Text, docs: docs})
	if err != nil {
		return nil, err
	}
	return t.Lookup(), nil
}

func (b *Bot) lookUpFor(ctx context.Context, actor *Actor, e turn.Event, o lookupOrder) (*turn.Trace, error) {
	t := &turn.Trace{Began: time.Now(), Phase: turn.Begun, Model: NoModel}
	if e.Command != nil {
		e.Message = turn.Message{ID: e.ID, ChannelID: e.Message.ChannelID, Author: e.Command.By, Text: o.question, At: t.Began}
	}
	if o.target != nil {
		e.Message.Mentions = o.target.Mentions
	}
	t.Request = b.request(ctx, actor, ulid.Make().String(), []arrival{{Event: e}})
	t.Request.Chain, t.Request.Parent = nil, nil
	if o.target != nil {
		t.Request.Target = &turn.Message{ID: o.target.ID, Author: o.target.Author, At: o.target.At}
	}
	t.Request.Web.Docs, t.Request.Web.Intent, t.Request.Web.Site = o.docs, o.intent, o.site
	t.Request.Addressed = turn.ByDirect // also from a command line, which is no event
	if t.Request.Web.Switch == turn.WebAuto {
		t.Request.Web.Switch = turn.WebAlways
	}
	if err := b.save(ctx, t); err != nil {
		return nil, err
	}
	l := turn.Lookup{State: turn.Disabled, Reason: offReason(t.Request.Web), Question: o.question, Began: t.Began}
	if t.Request.Web.Switch != turn.WebOff { // else it does not matter whether there is anything to look up
		l = actor.Lookup.Lookup(ctx, t.Request)
	}
	outcome := turn.Outcome{Provider: actor.Lookup.Name(), Status: turn.OK, Took: l.Took,
		Contributions: []turn.Contribution{{Layer: turn.Content, Source: actor.Lookup.Name(), Lookup: &l}}}
	if l.State == turn.LookupFailed {
		outcome.Status = turn.Failed
	}
	t.Outcomes, t.Phase, t.Took, t.Reply = []turn.Outcome{outcome}, turn.Answered, time.Since(t.Began), b.LookupAnswer(t.Request.Language, &l)
	b.count(ctx, t)
	return t, b.save(ctx, t)
}

// LookupAnswer says in a language what was found, with its sources, in one message of Discord.
func (b *Bot) LookupAnswer(language string, l *turn.Lookup) string {
	switch l.State {
	case turn.Found:
		return b.foundAnswer(language, l)
	case turn.Empty:
		if l.Query == "" {
			return lookedInVain.in(language)
		}
		return lookedForInVain.in(language, view.Queries(l.Query))
	case turn.Disabled:
		return webOffBecause.in(language, sentence(l.Reason).in(language))
	case turn.LookupFailed:
		words := failureWords(language, l)
		if l.Failure == turn.CodeUnreadable {
			_, words = unreadable(language, l)
		}
		return couldNotLook.in(language, words)
	}
	return nothingToLookUp.in(language)
}

// foundAnswer returns as many whole claims as fit beside their sources.
func (b *Bot) foundAnswer(language string, l *turn.Lookup) string {
	text, _ := outgoing.RulesFor(turn.Request{}, l, b.Redact).Guard(quotes(language, l))
	claims := strings.Split(text, "\n")
	for n := len(claims); ; n-- {
		body := strings.Join(claims[:n], "\n")
		lines := sourceNotes(language, l, body, b.Redact)
		if slices.ContainsFunc(l.Pages, turn.Page.Snippet) {
			lines = append([]string{outgoing.SmallType + onlySnippets.in(language)}, lines...)
		}
		if l.Unanswered {
			lines = append([]string{outgoing.SmallType + onlyOutline.in(language)}, lines...)
		}
		tail := "\n\n" + strings.Join(lines, "\n")
		if n < len(claims) {
			tail = "\n" + moreClaims.in(language, len(claims)-n) + tail
		}
		room := answerUnits - outgoing.Units(tail)
		if n > 1 && outgoing.Units(body) > room {
			continue
		}
		if outgoing.Units(body) > room { // one claim too long to be whole
			body = outgoing.Head(body, room-1) + "…"
		}
		return outgoing.Head(body+tail, answerUnits)
	}
}

// quotes are the quotes of a lookup. Where a statement was checked, they stand by the side that they are on.
func quotes(language string, l *turn.Lookup) string {
	if l.Verdict == nil || len(l.Verdict.For)+len(l.Verdict.Against) == 0 {
		return extracts(language, l)
	}
	lines := []string{verdict(language, l.Verdict)}
	for _, side := range []struct {
		heading sentence
		claims  []turn.Claim
	}{{speaksFor, l.Verdict.For}, {speaksAgainst, l.Verdict.Against}} {
		if len(side.claims) == 0 {
			lines = append(lines, side.heading.in(language)+" –")
			continue
		}
		lines = append(lines, side.heading.in(language))
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

// offReason returns who switched the web off, in English: it is on record.
func offReason(w turn.Web) string {
	if w.Reason == turn.OffChannel {
		return string(offByChannel)
	}
	return websearch.OffWords(w.Reason)
}
