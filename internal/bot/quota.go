package bot

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/store"
)

// What is counted.
const (
	turns   = "turns"
	lookups = "lookups"
	tokens  = "tokens"
	dollars = "dollars"
)

// Quota is how much may be used on a day of UTC by each person, in each channel or server, or by all together.
type Quota struct {
	Scope string // "person", "channel", "server", "all"
	Most  float64
	Of    string // "turns", "lookups", "tokens", "dollars"
}

// ParseQuotas reads "person 50 turns, server 2000000 tokens, all 5 dollars".
func ParseQuotas(text string) ([]Quota, error) {
	var all []Quota
	for one := range strings.SplitSeq(text, ",") {
		words := strings.Fields(one)
		if len(words) == 0 {
			continue
		}
		q := Quota{}
		if len(words) == 3 {
			q.Scope, q.Of = words[0], words[2]
			q.Most, _ = strconv.ParseFloat(words[1], 64)
		}
		if !slices.Contains([]string{store.OfPerson, store.OfChannel, store.OfServer, store.OfAll}, q.Scope) ||
			!slices.Contains([]string{turns, lookups, tokens, dollars}, q.Of) || !(q.Most > 0) || q.Most > 1e12 {
			return nil, fmt.Errorf("%q is no quota; write whose, how much and of what: person 50 turns, channel 20 lookups, server 2000000 tokens, all 5 dollars", strings.TrimSpace(one))
		}
		all = append(all, q)
	}
	return all, nil
}

// Used is how much of what it limits was used.
func (q Quota) Used(u store.Usage) float64 {
	switch q.Of {
	case turns:
		return float64(u.Turns)
	case lookups:
		return float64(u.Lookups)
	case tokens:
		return float64(u.Tokens)
	}
	return u.Cost
}

// party is for whom an event counts.
func party(e turn.Event) store.Party {
	by := e.Message.Author.ID
	if e.Command != nil {
		by = e.Command.By.ID
	}
	return store.Party{Person: by, Channel: e.Message.ChannelID, Guild: e.GuildID}
}

// spent returns whose quota of one of some kinds is used up today, or "".
func (b *Bot) spent(ctx context.Context, e turn.Event, of ...string) (scope, id string) {
	scope, id, err := spent(ctx, b.Store, b.Quotas, party(e), of...)
	b.logged("read what was used today", err)
	return scope, id
}

func spent(ctx context.Context, db *store.DB, quotas []Quota, p store.Party, of ...string) (scope, id string, err error) {
	if !slices.ContainsFunc(quotas, func(q Quota) bool { return slices.Contains(of, q.Of) }) {
		return "", "", nil
	}
	used, err := db.Usage(ctx, time.Now(), p)
	for _, q := range quotas {
		if slices.Contains(of, q.Of) && q.Used(used[q.Scope]) >= q.Most {
			return q.Scope, used[q.Scope].ID, err
		}
	}
	return "", "", err
}

// count adds what a turn has used to what was used today.
func (b *Bot) count(ctx context.Context, t *turn.Trace) {
	used := t.Usage
	for _, p := range t.Processed {
		used = used.Plus(p.Usage)
	}
	u := store.Used{Turns: 1}
	if l := t.Lookup(); l != nil {
		used = used.Plus(l.Usage)
		if l.Query != "" && l.Reused == nil {
			u.Lookups = 1
		}
	}
	if f := t.Filtered(); f != nil {
		used = used.Plus(f.Usage)
	}
	if t.Verified != nil {
		used = used.Plus(t.Verified.Usage)
	}
	u.Tokens, u.Cost = used.Prompt+used.Completion, used.Cost
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), storeLimit)
	defer cancel()
	r := t.Request
	b.logged("count what was used", b.Store.AddUsage(ctx, t.Began, store.Party{Person: r.Message.Author.ID, Channel: r.ChannelID, Guild: r.GuildID}, u))
}

// What /usage says.
const (
	usageOfYou     sentence = "You, today:"
	usageOfChannel sentence = "This channel:"
	usageOfServer  sentence = "This server:"
	usageOfAll     sentence = "Everybody:"
	usageNothing   sentence = "nothing yet"
	usageEnds      sentence = "A day ends at 00:00 UTC."
	usageTurns     sentence = "answers: %s"
	usageLookups   sentence = "lookups: %s"
	usageTokens    sentence = "tokens: %s"
	usageDollars   sentence = "dollars: %s"
	usageOf        sentence = "%s of %s"
)

// usage shows what was used today: to everybody their own, to who may manage the server that of the channel and the server, and to the
// operator all.
func (b *Bot) usage(ctx context.Context, e turn.Event) turn.Answer {
	used, err := b.Store.Usage(ctx, time.Now(), party(e))
	if err != nil {
		return b.storeTrouble(e, err)
	}
	lines := []string{b.usageLine(e, usageOfYou, store.OfPerson, used)}
	if e.Command.Admin && e.GuildID != "" {
		lines = append(lines, b.usageLine(e, usageOfChannel, store.OfChannel, used), b.usageLine(e, usageOfServer, store.OfServer, used))
	}
	if b.Operator != "" && e.Command.By.ID == b.Operator {
		lines = append(lines, b.usageLine(e, usageOfAll, store.OfAll, used))
	}
	return turn.Answer{Text: strings.Join(append(lines, usageEnds.in(language(e))), "\n")}
}

func (b *Bot) usageLine(e turn.Event, whose sentence, scope string, used map[string]store.Usage) string {
	in, u := language(e), used[scope]
	var parts []string
	for _, one := range []struct {
		of     string
		says   sentence
		digits int
	}{{turns, usageTurns, 0}, {lookups, usageLookups, 0}, {tokens, usageTokens, 0}, {dollars, usageDollars, 2}} {
		q := Quota{Scope: scope, Of: one.of}
		text := strconv.FormatFloat(q.Used(u), 'f', one.digits, 64)
		if i := slices.IndexFunc(b.Quotas, func(q Quota) bool { return q.Scope == scope && q.Of == one.of }); i >= 0 {
			text = usageOf.in(in, text, strconv.FormatFloat(b.Quotas[i].Most, 'f', one.digits, 64))
		} else if q.Used(u) == 0 {
			continue
		}
		parts = append(parts, one.says.in(in, text))
	}
	if len(parts) == 0 {
		parts = []string{usageNothing.in(in)}
	}
	return whose.in(in) + " " + strings.Join(parts, " · ")
}
