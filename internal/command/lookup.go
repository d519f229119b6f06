package command

import (
	"context"
	"slices"
	"strings"
	"time"

	"familiar/internal/bot"
	"familiar/internal/context/turn"
	"familiar/internal/reply"
	"familiar/internal/web/clean"
)

// These are the answers about what cannot be looked up.
const (
	lookUpWhat  sentence = "What shall I look up? Or shall I stop looking things up here: web off?"
	noTextThere sentence = "There is no text in this message to look up."
	notByPerson sentence = "I look up only what a person has written."
	noSuchSite  sentence = "%s is no site that I may look on."
)

// switchAndLookUp switches lookups in the channel on or off, and then looks something up, if the command says what.
func (c *call) switchAndLookUp(ctx context.Context) turn.Answer {
	switched := checked((*call).setWeb, changesWeb()...)(c, ctx)
	if c.option("query") == "" {
		return switched
	}
	a := c.lookUp(ctx)
	a.Text = switched.Text + "\n\n" + a.Text
	return a
}

func (c *call) lookUp(ctx context.Context) turn.Answer {
	o := bot.LookupOrder{Question: c.option("query")}
	if o.Question == "" {
		return c.say(lookUpWhat)
	}
	if intent := c.option("intent"); slices.ContainsFunc(intentChoices(), func(one turn.Choice) bool { return one.Value == intent }) {
		o.Intent = turn.Intent(intent)
	}
	actor := c.speaker(ctx)
	if site := c.option("site"); site != "" {
		var ok bool
		if o.Site, ok = siteOf(actor, site); !ok {
			return c.say(noSuchSite, reply.Inert(site, 80))
		}
	}
	return c.answerLookup(ctx, actor, o)
}

func (c *call) lookUpMessage(ctx context.Context) turn.Answer {
	text, refusal := c.targetText()
	if bot.OnlyPictures(c.Command.Target) && c.Command.Target.ByPerson() {
		refusal = "" // the model that sees it writes the question
	}
	if refusal != "" {
		return c.say(refusal)
	}
	return c.answerLookup(ctx, c.speaker(ctx), bot.LookupOrder{Question: text, Target: c.Command.Target})
}

// checkMessage answers "Check this claim". Addresses in the claim are left out: its author's own page does not check it.
func (c *call) checkMessage(ctx context.Context) turn.Answer {
	text, refusal := c.targetText()
	if refusal == "" && strings.TrimSpace(clean.WithoutURLs(text)) == "" {
		refusal = noTextThere
	}
	if refusal != "" {
		return c.say(refusal)
	}
	return c.answerLookup(ctx, c.speaker(ctx), bot.LookupOrder{Question: clean.WithoutURLs(text), Target: c.Command.Target, Intent: turn.IntentFactCheck})
}

// targetText returns the text of the message whose menu was used, or why it is not looked up. What a machine has written becomes no query
// (rule P2).
func (c *call) targetText() (text string, refusal sentence) {
	switch target := c.Command.Target; {
	case target == nil || strings.TrimSpace(target.Text) == "":
		return "", noTextThere
	case !target.ByPerson():
		return "", notByPerson
	default:
		return strings.TrimSpace(target.Text), ""
	}
}

// answerLookup carries out an order.
func (c *call) answerLookup(ctx context.Context, actor *bot.Actor, o bot.LookupOrder) turn.Answer {
	if o.Docs == "" && o.Site == "" && o.Intent == "" && len(clean.MessageLinks(o.Question)) > 0 {
		return c.openLinked(ctx, actor, o)
	}
	t, err := c.Bot.LookUpFor(ctx, actor, c.Event, o)
	if err != nil {
		return c.refused(err)
	}
	return turn.Answer{Text: t.Reply}
}

// suggestSites suggests the sites that the operator named, and what was typed if it is one.
func (c *call) suggestSites(ctx context.Context) turn.Answer {
	actor := c.speaker(ctx)
	var sites []string
	add := func(site string) {
		if host, ok := siteOf(actor, site); ok && !slices.Contains(sites, host) {
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
	if typed := strings.ToLower(c.option(c.Command.Focused)); strings.Contains(typed, ".") {
		add(typed)
	}
	return c.matching(sites)
}

// siteOf returns the host of a site that a person names, by its name or an address. It also reports whether its pages may be read.
func siteOf(a *bot.Actor, s string) (host string, ok bool) {
	if u, err := clean.ParseURL(s); err == nil {
		s = u.Hostname()
	}
	host, err := clean.Host(strings.ToLower(s))
	return host, err == nil && a.Lookup.Policy.Domains.Allows(host)
}

// matching suggests the values that hold what was typed, at most 25. Those that begin with it come first.
func (c *call) matching(values []string) turn.Answer {
	typed := strings.ToLower(c.option(c.Command.Focused))
	var first, rest []string
	for _, v := range values {
		switch folded := strings.ToLower(v); {
		case strings.HasPrefix(folded, typed):
			first = append(first, v)
		case strings.Contains(folded, typed):
			rest = append(rest, v)
		}
	}
	all := append(first, rest...)
	return turn.Answer{Choices: choices(all[:min(len(all), 25)]...)}
}

// These are the answers about documentation.
const (
	noDocs     sentence = "%s knows no documentation. The operator can name sites of it: [[docs]] in character.toml."
	docsWhat   sentence = "What shall I look up in the documentation? A question, the name of a page, or its address."
	noSuchDocs sentence = "I know no documentation called “%s”. I know %s."
	docsWhich  sentence = "In which documentation? I know %s."
)

// lookUpDocs answers /docs: a lookup in one site of documentation.
func (c *call) lookUpDocs(ctx context.Context) turn.Answer {
	actor := c.speaker(ctx)
	site, question, refusal := DocsFor(actor, c.language, c.option("site"), c.option("question"))
	if refusal != "" {
		return turn.Answer{Text: refusal}
	}
	return c.answerLookup(ctx, actor, bot.LookupOrder{Question: question, Docs: site})
}

// suggestDocs suggests the names of sites of documentation.
func (c *call) suggestDocs(ctx context.Context) turn.Answer {
	var names []string
	for _, d := range c.speaker(ctx).Docs {
		names = append(names, d.Name)
	}
	return c.matching(names)
}

// DocsFor chooses the documentation site for a question. It is the one called name, or the one that the question begins with. It may also
// be one that the question links to or names, or the only one. It returns the question without that name. If it cannot choose, refusal
// tells the person so in a language.
func DocsFor(a *bot.Actor, language, name, text string) (site, question, refusal string) {
	text = strings.TrimSpace(text)
	var names []string
	for _, d := range a.Docs {
		names = append(names, d.Name)
	}
	site, question, ok := a.Lookup.DocsFor(strings.TrimSpace(name), text)
	switch {
	case len(names) == 0:
		return "", "", noDocs.In(language, a.Name)
	case text == "":
		return "", "", docsWhat.In(language)
	case !ok && name != "":
		return "", "", noSuchDocs.In(language, reply.Inert(name, longestEcho), strings.Join(names, ", "))
	case !ok:
		return "", "", docsWhich.In(language, strings.Join(names, ", "))
	}
	return site, question, ""
}

// These are the answers about links to messages, which no web page tells about.
const (
	linkNotOpened sentence = "I cannot open that message: it is not there, or not for you to read."
	linkElsewhere sentence = "That is a message of a server, which I open in that server alone, for those who may read it."
	linkBeside    sentence = "*What this links to is a message here. To look something up, ask without the link.*"
)

// openLinked shows the messages that the person links to, if the person may read them.
func (c *call) openLinked(ctx context.Context, actor *bot.Actor, o bot.LookupOrder) turn.Answer {
	switch {
	case actor.Past == nil || actor.Past.Off:
		return c.say(serverNotRead)
	case c.GuildID == "":
		return c.say(linkElsewhere)
	}
	return c.aside(ctx, actor, o.Question, time.Now(), func(_ context.Context, t *turn.Trace) bool {
		within, cancel := context.WithDeadline(ctx, t.Request.Deadline)
		defer cancel()
		contributions, err := actor.Past.Contribute(within, t.Request)
		outcome := turn.Outcome{Provider: actor.Past.Name(), Status: turn.OK, Took: time.Since(t.Began), Contributions: contributions}
		if c.logged("open a linked message", err); err != nil {
			outcome.Status = turn.Failed
		}
		t.Outcomes, t.Reply = []turn.Outcome{outcome}, linkNotOpened.In(c.language)
		if l := t.Lookup(); l != nil && l.State == turn.Found {
			t.Reply = linkedAnswer(c.language, l)
		}
		return false
	})
}

// linkedAnswer quotes the messages, with their links.
func linkedAnswer(language string, l *turn.Lookup) string {
	const longest = 600 // characters of a message
	var lines []string
	for i, s := range l.Sources {
		who, where, _ := strings.Cut(s.Site, " in #")
		lines = append(lines, "**"+reply.Inert(who, catchUpAuthor)+"** · #"+reply.Inert(where, catchUpAuthor)+" · "+moment(s.Published)+
			" [→](<"+s.URL+">)\n"+reply.Inert(l.Summary[i].Quote, longest))
	}
	note := linkBeside.In(language)
	return reply.Head(strings.Join(lines, "\n"), reply.AnswerUnits-reply.Units(note)-2) + "\n\n" + note
}
