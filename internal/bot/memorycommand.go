package bot

import (
	"context"
	"errors"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"familiar/internal/bot/view"
	"familiar/internal/context/turn"
	"familiar/internal/memory/remember"
	"familiar/internal/store"
	"familiar/internal/text"
)

// /memory shows people what is remembered of them, and of the channels that they may read, and lets them change what is theirs. Only who
// gave the command sees the answer, so what they may read is what counts.

// What /memory says.
const (
	memoryNone      sentence = "There is nothing in my memory here that you may see."
	memoryNoMatch   sentence = "Nothing in my memory that you may see holds that."
	memoryAgreed    sentence = "I may learn things about you from what you write. /memory off ends that and deletes them."
	memoryNotAgreed sentence = "Of you I keep only what you ask me to remember. /memory on lets me learn from what you write, too."
	memoryOn        sentence = "From now on I may learn things about you from what you write. /memory off ends that and deletes them."
	memoryOff       sentence = "I no longer learn anything about you by myself. Deleted from what I had learned: %d."
	memoryWhich     sentence = "Which one? Choose it from the list of the option entry."
	memoryGone      sentence = "That is not in my memory, or not for you to see."
	memoryNotYours  sentence = "Only the person whom that is about, or who asked for it, can change that; in a channel, also who may manage messages there."
	memoryNoText    sentence = "Write it into the option words."
	memoryTooLong   sentence = "That is too long for my memory: %d characters at most."
	memoryPinned    sentence = "Pinned: it stands first from now on."
	memoryUnpinned  sentence = "No longer pinned."
	memoryUsage     sentence = "I can show, search, remember, correct, forget, pin or unpin what is in my memory, or switch learning on or off."

	memoryTitle     sentence = "Memory"
	memoryOfYou     sentence = "About you, or at your wish"
	memoryOfOthers  sentence = "From channels that you may read"
	memoryPinMark   sentence = "pinned"
	memoryDirect    sentence = "in direct messages"
	memoryServer    sentence = "in the whole server"
	memoryAnywhere  sentence = "everywhere"
	memoryByItself  sentence = "learned by myself"
	memoryUntilThen sentence = "before: %s"
)

const (
	memoryButton = "memory:" // and the search that is shown, escaped
	mostListed   = 500       // statements that are shown
	longestQuery = 70        // bytes of a search in the id of a button, which has room for 100
)

func (b *Bot) memory(ctx context.Context, e turn.Event) turn.Answer {
	o := e.Command.Options
	said := strings.TrimSpace(o["words"])
	switch action := o["action"]; action {
	case "show":
		return b.showMemory(ctx, e, "", 0)
	case "search":
		if said == "" {
			return b.respond(e, memoryNoText)
		}
		return b.showMemory(ctx, e, said, 0)
	case "remember":
		return b.rememberByCommand(ctx, e, said)
	case "correct", "forget", "pin", "unpin":
		return b.changeMemory(ctx, e, action, said)
	case "on", "off":
		return b.consent(ctx, e, action == "on")
	}
	return b.respond(e, memoryUsage)
}

// withinCommand is what of memory who gave a command may see in its answer.
func (b *Bot) withinCommand(ctx context.Context, e turn.Event) store.Within {
	w := b.within(ctx, turn.Request{GuildID: e.GuildID, ChannelID: e.Message.ChannelID, Reader: readerOf(e), Private: true})
	return w.AlsoOwn(e.Command.By.ID)
}

// readerOf is who gave a command. At a terminal nobody brings roles.
func readerOf(e turn.Event) turn.Reader {
	if e.Reader.ID != e.Command.By.ID {
		return turn.Reader{ID: e.Command.By.ID}
	}
	return e.Reader
}

// visible leaves out what is about other people: that is for them, and for who may manage the messages of its channel.
func visible(e turn.Event, all []store.Memory) []store.Memory {
	return slices.DeleteFunc(all, func(m store.Memory) bool {
		return m.Kind == store.MemoryPerson && m.Subject != e.Command.By.ID && !manages(e, m)
	})
}

// manages reports whether who gave a command may manage the messages of the channel that a statement is from.
func manages(e turn.Event, m store.Memory) bool {
	return e.GuildID != "" && m.Scope.GuildID == e.GuildID && (e.Command.Admin || e.Command.Deletes && m.Scope.ID == e.Message.ChannelID)
}

// mayChange reports whether who gave a command may change a statement. What somebody said of themselves nobody else words anew.
func mayChange(e turn.Event, m store.Memory, action string) bool {
	return of(m, e.Command.By.ID) || manages(e, m) && (m.Kind != store.MemoryPerson || action == "forget")
}

// showMemory shows what is remembered, or what of it holds some words, a part at a time.
func (b *Bot) showMemory(ctx context.Context, e turn.Event, words string, part int) turn.Answer {
	w := b.withinCommand(ctx, e)
	var all []store.Memory
	var err error
	if words == "" {
		all, err = b.Store.ListMemories(ctx, w, store.MemoryList{Limit: mostListed})
	} else {
		all, err = b.Store.SearchMemories(ctx, w, words, mostListed)
	}
	if err != nil {
		return b.memoryTrouble(e, err)
	}
	agreed, err := b.Store.Consent(ctx, e.Command.By.ID)
	b.logged("read consent", err)
	consent := memoryNotAgreed
	if agreed {
		consent = memoryAgreed
	}
	if all = visible(e, all); len(all) == 0 {
		none := memoryNone
		if words != "" {
			none = memoryNoMatch
		}
		return turn.Answer{Text: none.in(language(e)) + "\n" + consent.in(language(e))}
	}
	parts := paginate([]view.Page{{Name: string(memoryTitle), Sections: b.memorySections(ctx, e, w, all)}}, sectionUnits)
	part = min(max(part, 0), len(parts)-1)
	a := turn.Answer{Text: consent.in(language(e)), Sections: parts[part].sections}
	if len(parts) > 1 {
		a.Buttons = pageButtons(language(e), memoryButton+queryKey(words), parts, part)
	}
	return a
}

// memorySections writes statements as sections: those of who asks first.
func (b *Bot) memorySections(ctx context.Context, e turn.Event, w store.Within, all []store.Memory) (sections []turn.Section) {
	named := map[string]string{}
	if b.Servers != nil && b.Servers.Platform != nil && e.GuildID != "" {
		for _, c := range b.Servers.Platform.Channels(e.GuildID) {
			named[c.ID] = c.Name
		}
	}
	var own, others []string
	for _, m := range all {
		line := b.Redact.String(b.memoryLine(ctx, e, w, m, named))
		if of(m, e.Command.By.ID) {
			own = append(own, line)
		} else {
			others = append(others, line)
		}
	}
	if len(own) > 0 {
		sections = append(sections, turn.Section{Title: memoryOfYou.in(language(e)), Text: strings.Join(own, "\n")})
	}
	if len(others) > 0 {
		sections = append(sections, turn.Section{Title: memoryOfOthers.in(language(e)), Text: strings.Join(others, "\n")})
	}
	return sections
}

// memoryLine writes one statement: its number, what it says, when that was said, where, and what it replaced.
func (b *Bot) memoryLine(ctx context.Context, e turn.Event, w store.Within, m store.Memory, named map[string]string) string {
	in := language(e)
	notes := []string{m.SaidAt.Format("2006-01-02"), b.placeOf(in, m.Scope, named)}
	if m.Pinned {
		notes = append(notes, memoryPinMark.in(in))
	}
	if m.By == "" {
		notes = append(notes, memoryByItself.in(in))
	}
	if m.Supersedes != 0 {
		if history, err := b.Store.MemoryHistory(ctx, w, m.ID); err == nil && len(history) > 0 {
			notes = append(notes, memoryUntilThen.in(in, "“"+text.Truncate(text.OneLine(history[0].Text), 100)+"”"))
		}
	}
	said := text.OneLine(m.Text)
	if m.Kind == store.MemoryTopic {
		said = m.Subject + ": " + said
	}
	return strconv.FormatInt(m.ID, 10) + ". " + text.Truncate(said, longestShown) + " (" + strings.Join(notes, " · ") + ")"
}

// longestShown is how many characters of a statement are shown.
const longestShown = 500

func (b *Bot) placeOf(in string, s store.Scope, named map[string]string) string {
	switch {
	case s.Kind == store.ScopeDM:
		return memoryDirect.in(in)
	case s.Kind == store.ScopeGuild:
		return memoryServer.in(in)
	case s.Kind == store.ScopePublic:
		return memoryAnywhere.in(in)
	case named[s.ID] != "":
		return "#" + named[s.ID]
	}
	return "#" + s.ID
}

// queryKey writes a search into the id of a button, as much of it as has room.
func queryKey(words string) string {
	for {
		key := url.QueryEscape(words)
		if len(key) <= longestQuery {
			return key
		}
		_, size := utf8.DecodeLastRuneInString(words)
		words = words[:len(words)-size]
	}
}

// memoryPage shows another part of what /memory shows. The button's id is "memory:SEARCH:PART" or "memory:SEARCH:PART:DIRECTION".
func (b *Bot) memoryPage(ctx context.Context, e turn.Event) turn.Answer {
	key, part, _ := strings.Cut(strings.TrimPrefix(e.Command.Button, memoryButton), ":")
	words, err := url.QueryUnescape(key)
	if err != nil {
		return b.respond(e, unknownButton)
	}
	return b.showMemory(ctx, e, words, pageNumber(part))
}

// rememberByCommand keeps what somebody wrote into /memory.
func (b *Bot) rememberByCommand(ctx context.Context, e turn.Event, said string) turn.Answer {
	if a, refused := b.refuseText(ctx, e, said); refused {
		return a
	}
	by, now := e.Command.By.ID, time.Now()
	m := store.Memory{
		Kind: store.MemoryNote, Scope: scopeOf(e.GuildID, e.Message.ChannelID), Text: said, Sources: []string{store.CommandSource(e.ID)}, By: by, SaidAt: now, LearnedAt: now,
	}
	if own, _ := remember.About(said); own {
		m.Kind, m.Subject = store.MemoryPerson, by
	}
	id, err := b.Store.Remember(ctx, m)
	if err != nil {
		return b.memoryTrouble(e, err)
	}
	b.memoryChanged(e, "remember", id)
	return b.respond(e, memoryKept)
}

// refuseText answers for what is not remembered, as it does to a message.
func (b *Bot) refuseText(ctx context.Context, e turn.Event, said string) (a turn.Answer, refused bool) {
	if said == "" {
		return b.respond(e, memoryNoText), true
	}
	if utf8.RuneCountInString(said) > longestPointed {
		return b.respond(e, memoryTooLong, longestPointed), true
	}
	people, err := b.Store.People(ctx, e.GuildID)
	b.logged("read the names of people", err)
	m := memoryOrder{b: b, r: turn.Request{Message: turn.Message{Author: e.Command.By}, Names: b.speaker(ctx, e).Names(), People: people}}
	if _, other := remember.About(said); !m.refuses(said, other) {
		return turn.Answer{}, false
	}
	if m.done.Refused == turn.MemorySecret {
		return b.respond(e, memorySecret), true
	}
	return b.respond(e, memoryOthers), true
}

// changeMemory corrects, forgets, pins or unpins a statement.
func (b *Bot) changeMemory(ctx context.Context, e turn.Event, action, said string) turn.Answer {
	named := strings.TrimSpace(e.Command.Options["entry"])
	if named == "" {
		return b.respond(e, memoryWhich)
	}
	w := b.withinCommand(ctx, e)
	m, err := b.memoryNamed(ctx, e, w, named)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return b.respond(e, memoryGone)
	case err != nil:
		return b.memoryTrouble(e, err)
	case !mayChange(e, m, action):
		return b.respond(e, memoryNotYours)
	}
	done := map[string]sentence{"correct": memoryCorrected, "forget": memoryForgotten, "pin": memoryPinned, "unpin": memoryUnpinned}[action]
	switch action {
	case "correct":
		if a, refused := b.refuseText(ctx, e, said); refused {
			return a
		}
		now := time.Now()
		m.Supersedes, m.ID, m.Text, m.Sources, m.By, m.TraceID, m.SaidAt, m.LearnedAt = m.ID, 0, said, []string{store.CommandSource(e.ID)}, e.Command.By.ID, "", now, now
		m.ID, err = b.Store.CorrectMemory(ctx, m, giver(e))
	case "forget":
		err = b.Store.ForgetMemory(ctx, w, m.ID, giver(e))
	default:
		err = b.Store.PinMemory(ctx, w, m.ID, action == "pin", giver(e))
	}
	if errors.Is(err, store.ErrNotFound) { // it went meanwhile
		return b.respond(e, memoryGone)
	}
	if err != nil {
		return b.memoryTrouble(e, err)
	}
	b.memoryChanged(e, action, m.ID)
	return b.respond(e, done)
}

// memoryNamed finds the statement that an option names: by its number, which a suggestion has, or by words that it alone holds.
func (b *Bot) memoryNamed(ctx context.Context, e turn.Event, w store.Within, named string) (store.Memory, error) {
	if id, err := strconv.ParseInt(strings.Trim(named, "#. "), 10, 64); err == nil {
		m, err := b.Store.Memory(ctx, w, id)
		if err == nil && (m.Superseded || len(visible(e, []store.Memory{m})) == 0) {
			err = store.ErrNotFound
		}
		return m, err
	}
	all, err := b.Store.SearchMemories(ctx, w, named, mostListed)
	all = slices.DeleteFunc(visible(e, all), func(m store.Memory) bool { return !strings.Contains(text.Fold(m.Text), text.Fold(named)) })
	if err == nil && len(all) != 1 {
		err = store.ErrNotFound
	}
	return first(all), err
}

// suggestMemories suggests the statements that who types may change, with those of theirs first.
func (b *Bot) suggestMemories(ctx context.Context, e turn.Event) (found []turn.Choice) {
	typed := text.Fold(strings.TrimSpace(e.Command.Options[e.Command.Focused]))
	all, err := b.Store.ListMemories(ctx, b.withinCommand(ctx, e), store.MemoryList{Limit: mostListed})
	b.logged("read memory", err)
	all = slices.DeleteFunc(visible(e, all), func(m store.Memory) bool {
		return !mayChange(e, m, e.Command.Options["action"]) || !strings.Contains(text.Fold(m.Text), typed)
	})
	own := slices.DeleteFunc(slices.Clone(all), func(m store.Memory) bool { return !of(m, e.Command.By.ID) })
	others := slices.DeleteFunc(all, func(m store.Memory) bool { return of(m, e.Command.By.ID) })
	all = slices.Concat(own, others)
	for _, m := range all[:min(len(all), 25)] {
		found = append(found, turn.Choice{Name: text.Truncate(b.Redact.String(text.OneLine(m.Text)), 90), Value: strconv.FormatInt(m.ID, 10)})
	}
	return found
}

// consent switches on or off that the bot learns about a person by itself.
func (b *Bot) consent(ctx context.Context, e turn.Event, agrees bool) turn.Answer {
	deleted, err := b.Store.SetConsent(ctx, giver(e), agrees)
	if err != nil {
		return b.memoryTrouble(e, err)
	}
	b.Log.Info("learning about a person switched", "on", agrees, "by", e.Command.By.ID, "deleted", deleted)
	if agrees {
		return b.respond(e, memoryOn)
	}
	return b.respond(e, memoryOff, deleted)
}

func (b *Bot) memoryChanged(e turn.Event, action string, id int64) {
	b.Log.Info("memory changed", "what", action, "statement", id, "by", e.Command.By.ID, "channel", e.Message.ChannelID, "server", e.GuildID)
}

func (b *Bot) memoryTrouble(e turn.Event, err error) turn.Answer {
	switch {
	case errors.Is(err, store.ErrTooMany):
		return b.respond(e, memoryFull)
	case errors.Is(err, store.ErrOptedOut):
		return b.respond(e, youOptedOut)
	}
	b.logged("change memory", err)
	return b.respond(e, couldNotBeSaved)
}
