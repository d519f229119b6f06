package command

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/reply"
	"familiar/internal/store"
	"familiar/internal/view"
	"familiar/internal/web/clean"
)

// The verdicts on a source.
const (
	outdated = "outdated"
	wrong    = "wrong"
)

// What is said about feedback.
const (
	feedbackUsage  sentence = "Feedback on a source is outdated, wrong or undo; or show, to see what was said."
	feedbackWhich  sentence = "Which source? Name its number in my latest answer here, or its domain."
	notedOutdated  sentence = "Noted: %s is outdated. It ranks lower in what I look up here from now on; feedback undo takes that back."
	notedWrong     sentence = "Noted: %s is wrong. It ranks lower in what I look up here from now on; feedback undo takes that back."
	nothingNoted   sentence = "Nothing was said of %s."
	feedbackUndone sentence = "Forgotten: what was said of %s."
	noSource       sentence = "That is neither a source's number nor a domain."
	noSuchNumber   sentence = "My latest answer here has no source with the number %d. Sources that it has: %d."
	noSourcesHere  sentence = "None of my latest answers here has sources."
)

// giveFeedback answers /lookup with a verdict on a source.
func (c *call) giveFeedback(ctx context.Context) turn.Answer {
	verdict := c.variables["verdict"]
	if verdict != outdated && verdict != wrong {
		return c.say(feedbackUsage)
	}
	address, refusal := c.namedSource(ctx)
	if address == "" {
		return refusal
	}
	domain, err := c.saveFeedback(ctx, c.speaker(ctx).ID, address, verdict)
	if err != nil {
		return c.notSaved(err)
	}
	return turn.Answer{Text: noted(c.language, domain, verdict)}
}

// forgetFeedback takes verdicts on a source back. They are the person's own, and those of others in a server that the person manages.
func (c *call) forgetFeedback(ctx context.Context) turn.Answer {
	address, refusal := c.namedSource(ctx)
	if address == "" {
		return refusal
	}
	domain, err := domainOf(address)
	if err != nil {
		return c.notSaved(err)
	}
	by := c.Command.By.ID
	if c.Command.Admin && c.GuildID != "" {
		by = ""
	}
	n, err := c.Bot.Store.Ratings.ForgetFeedback(ctx, c.speaker(ctx).ID, domain, c.GuildID, by)
	if err != nil {
		return c.notSaved(err)
	}
	if n == 0 {
		return c.say(nothingNoted, reply.Inert(domain, 80))
	}
	return c.say(feedbackUndone, reply.Inert(domain, 80))
}

// showFeedback shows the verdicts that the person may see.
func (c *call) showFeedback(ctx context.Context) turn.Answer {
	all, err := c.Bot.Store.Ratings.Feedback(ctx, c.speaker(ctx).ID)
	if err != nil {
		return c.unread(err)
	}
	text := c.Bot.Redact.String(strings.ReplaceAll(view.FeedbackFrom(c.Event, all), "`", "'"))
	return turn.Answer{Sections: []turn.Section{{Text: reply.CutUnits(text, sectionUnits)}}}
}

// saveFeedback stores a person's verdict on a source, and returns the source's domain. From then on the domain ranks lower in this
// character's lookups in the same server. From a direct message it does so in lookups for the same person.
func (c *call) saveFeedback(ctx context.Context, character, address, verdict string) (domain string, err error) {
	domain, err = domainOf(address)
	if err != nil {
		return "", err
	}
	err = c.Bot.Store.Ratings.SaveFeedback(ctx, store.Feedback{Character: character, Domain: domain, Verdict: verdict, By: c.Command.By.ID, GuildID: c.GuildID, URL: address, At: time.Now()})
	if err == nil {
		c.Bot.Log.Info("feedback on a source", "domain", domain, "verdict", verdict, "by", c.Command.By.ID, "guild", c.GuildID)
	}
	return domain, err
}

// domainOf returns the registrable domain of an address or a host name.
func domainOf(address string) (string, error) {
	host := address
	if u, err := clean.ParseURL(address); err == nil {
		host = u.Hostname()
	}
	host, err := clean.Host(host)
	if err != nil {
		return "", fmt.Errorf("find the domain of %q: %w", address, err)
	}
	return clean.Registrable(host), nil
}

func noted(language, domain, verdict string) string {
	said := notedOutdated
	if verdict == wrong {
		said = notedWrong
	}
	return said.In(language, reply.Inert(domain, 80))
}

// latestTurns is how many turns back a source's number may be.
const latestTurns = 5

// namedSource returns the address of the source that the command names. It is named by its number in the channel's latest answer that has
// sources, or by a domain. Without one it returns the answer that says why.
func (c *call) namedSource(ctx context.Context) (address string, refusal turn.Answer) {
	named := c.option("source")
	if named == "" {
		return "", c.say(feedbackWhich)
	}
	n, err := strconv.Atoi(strings.Trim(named, "[]"))
	if err != nil {
		if _, err := domainOf(named); err != nil {
			return "", c.say(noSource)
		}
		return named, turn.Answer{}
	}
	c.Bot.Settle(c.Message.ChannelID)
	list, err := c.Bot.Traces.Recent(ctx, c.Message.ChannelID, latestTurns)
	if err != nil {
		return "", c.unread(err)
	}
	for _, summary := range list {
		t, a := c.visibleTurn(ctx, summary.ID)
		if t == nil {
			return "", a
		}
		l := t.Lookup()
		if l == nil || len(l.Sources) == 0 {
			continue
		}
		if i := slices.IndexFunc(l.Sources, func(s turn.Source) bool { return s.N == n }); i >= 0 {
			return l.Sources[i].URL, turn.Answer{}
		}
		return "", c.say(noSuchNumber, n, len(l.Sources))
	}
	return "", c.say(noSourcesHere)
}

// notSaved answers after feedback could not be saved.
func (c *call) notSaved(err error) turn.Answer {
	if errors.Is(err, store.ErrOptedOut) {
		return c.say(reply.YouOptedOut)
	}
	return c.unsaved("keep feedback", err)
}
