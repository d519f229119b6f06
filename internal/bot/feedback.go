package bot

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"familiar/internal/bot/outgoing"
	"familiar/internal/bot/view"
	"familiar/internal/context/turn"
	"familiar/internal/store"
	"familiar/internal/web/guard"
)

// The verdicts on a source.
const (
	outdated = "outdated"
	wrong    = "wrong"
)

// What is said about feedback.
const (
	feedbackUsage   sentence = "Feedback on a source is outdated, wrong or undo; or show, to see what was said."
	feedbackWhich   sentence = "Which source? Name its number in my latest answer here, or its domain."
	notedOutdated   sentence = "Noted: %s is outdated. It stands lower in what I look up here from now on; feedback undo takes that back."
	notedWrong      sentence = "Noted: %s is wrong. It stands lower in what I look up here from now on; feedback undo takes that back."
	nothingNoted    sentence = "Nothing was said of %s."
	feedbackUndone  sentence = "Forgotten: what was said of %s."
	noSource        sentence = "That is neither a source's number nor a domain."
	noSuchNumber    sentence = "My latest answer here has no source with the number %d. Sources that it has: %d."
	noSourcesHere   sentence = "None of my latest answers here has sources."
	couldNotBeSaved sentence = "That could not be saved. The operator's log says why."
)

// saveFeedback stores a person's verdict on a source. From then on its domain ranks lower in this
// character's lookups in the same server or, from a direct message, in those for the same person.
func (b *Bot) saveFeedback(ctx context.Context, character string, e turn.Event, address, verdict string) (domain string, err error) {
	domain, err = domainOf(address)
	if err != nil {
		return "", err
	}
	err = b.Store.SetFeedback(ctx, store.Feedback{Character: character, Domain: domain, Verdict: verdict, By: e.Command.By.ID, GuildID: e.GuildID, URL: address, At: time.Now()})
	if err == nil {
		b.Log.Info("feedback on a source", "domain", domain, "verdict", verdict, "by", e.Command.By.ID, "guild", e.GuildID)
	}
	return domain, err
}

// domainOf returns the registrable domain of an address or a host name.
func domainOf(address string) (string, error) {
	host := address
	if u, err := guard.Parse(address); err == nil {
		host = u.Hostname()
	}
	host, err := guard.Host(host)
	if err != nil {
		return "", fmt.Errorf("find the domain of %q: %w", address, err)
	}
	return guard.Registrable(host), nil
}

// feedback answers /lookup with a verdict on a source, which is named by its number in the latest answer here or by its
// domain.
func (b *Bot) feedback(ctx context.Context, e turn.Event, verdict, source string) turn.Answer {
	switch verdict {
	case "show":
		return b.showFeedback(ctx, e)
	case outdated, wrong, "undo":
	default:
		return b.respond(e, feedbackUsage)
	}
	if source == "" {
		return b.respond(e, feedbackWhich)
	}
	address, a := b.sourceNamed(ctx, e, source)
	if address == "" {
		return a
	}
	if verdict == "undo" {
		return b.forgetFeedback(ctx, e, address)
	}
	domain, err := b.saveFeedback(ctx, b.speaker(ctx, e).ID, e, address, verdict)
	if err != nil {
		return b.notSaved(e, err)
	}
	return turn.Answer{Text: noted(language(e), domain, verdict)}
}

func noted(language, domain, verdict string) string {
	said := notedOutdated
	if verdict == wrong {
		said = notedWrong
	}
	return said.in(language, outgoing.Inert(domain, 80))
}

func (b *Bot) forgetFeedback(ctx context.Context, e turn.Event, address string) turn.Answer {
	domain, err := domainOf(address)
	if err != nil {
		return b.notSaved(e, err)
	}
	by := e.Command.By.ID
	if e.Command.Admin && e.GuildID != "" {
		by = "" // whoever manages the server may also delete the feedback of others there
	}
	n, err := b.Store.ForgetFeedback(ctx, b.speaker(ctx, e).ID, domain, e.GuildID, by)
	if err != nil {
		return b.notSaved(e, err)
	}
	if n == 0 {
		return b.respond(e, nothingNoted, outgoing.Inert(domain, 80))
	}
	return b.respond(e, feedbackUndone, outgoing.Inert(domain, 80))
}

// sourceNamed finds the address behind a source's number in the channel's latest answer that has sources. What is no number is
// taken for a domain.
func (b *Bot) sourceNamed(ctx context.Context, e turn.Event, source string) (string, turn.Answer) {
	n, err := strconv.Atoi(strings.Trim(source, "[]"))
	if err != nil {
		if _, err := domainOf(source); err != nil {
			return "", b.respond(e, noSource)
		}
		return source, turn.Answer{}
	}
	b.settle(e.Message.ChannelID)
	list, err := b.Traces.Recent(ctx, e.Message.ChannelID, latestTurns)
	if err != nil {
		return "", b.storeTrouble(e, err)
	}
	for _, s := range list {
		t, a := b.visibleTurn(ctx, e, s.ID)
		if t == nil {
			return "", a
		}
		l := t.Lookup()
		if l == nil || len(l.Sources) == 0 {
			continue
		}
		for _, s := range l.Sources {
			if s.N == n {
				return s.URL, turn.Answer{}
			}
		}
		return "", b.respond(e, noSuchNumber, n, len(l.Sources))
	}
	return "", b.respond(e, noSourcesHere)
}

// latestTurns is how far back a source's number may reach.
const latestTurns = 5

func (b *Bot) showFeedback(ctx context.Context, e turn.Event) turn.Answer {
	all, err := b.Store.Feedback(ctx, b.speaker(ctx, e).ID)
	if err != nil {
		return b.storeTrouble(e, err)
	}
	text := b.Redact.String(strings.ReplaceAll(view.FeedbackFrom(e, all), "`", "'"))
	return turn.Answer{Sections: []turn.Section{{Text: outgoing.CutUnits(text, sectionUnits)}}}
}

func (b *Bot) notSaved(e turn.Event, err error) turn.Answer {
	if errors.Is(err, store.ErrOptedOut) {
		return b.respond(e, youOptedOut)
	}
	b.logged("keep feedback", err)
	return b.respond(e, couldNotBeSaved)
}
