package command

import (
	"cmp"
	"context"
	"errors"
	"net/url"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"familiar/internal/context/turn"
	"familiar/internal/memory"
	"familiar/internal/memory/order"
	"familiar/internal/reply"
	"familiar/internal/store"
	"familiar/internal/text"
)

// /memory shows people what is remembered about them and in the channels that they may read. It lets them change their own part. Only the
// person who gave the command sees the answer.

// These are the answers to /memory.
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
	memoryPinned    sentence = "Pinned: it comes first from now on."
	memoryUnpinned  sentence = "No longer pinned."
	memoryUsage     sentence = "I can show, search, remember, correct, forget, undo, pin or unpin what is in my memory, or switch learning on or off."

	memoryTitle     sentence = "Memory"
	memoryOfYou     sentence = "About you, or at your request"
	memoryOfOthers  sentence = "From channels that you may read"
	memoryOfPerson  sentence = "What I remember of this person"
	memoryNoneOf    sentence = "I remember nothing of this person that you may see."
	memoryPinMark   sentence = "pinned"
	memoryDirect    sentence = "in direct messages"
	memoryServer    sentence = "in the whole server"
	memoryAnywhere  sentence = "everywhere"
	memoryByItself  sentence = "learned by myself"
	memoryReworded  sentence = "in my own words"
	memoryUntilThen sentence = "before: %s"
	memoryOutdated  sentence = "no longer holds"
)

// These are the actions of /memory on one statement.
const (
	actCorrect = "correct"
	actForget  = "forget"
	actPin     = "pin"
	actUnpin   = "unpin"
)

// rememberMenu is the entry of a person's menu.
const rememberMenu = "What do you remember?"

const (
	personPrefix = "person" // of the ids of buttons; the person's id follows, and the page
	memoryPrefix = "memory" // of the ids of buttons; the search follows, escaped, and the page
	mostListed   = 500      // statements that are shown
	longestShown = 500      // characters of a statement
	longestQuery = 70       // bytes of a search in the id of a button, which has room for 100
)

// readableMemory returns what the person may see of memory.
func (c *call) readableMemory(ctx context.Context) memory.ScopeFilter {
	r := turn.Request{GuildID: c.GuildID, ChannelID: c.Message.ChannelID, Reader: c.reader(), Private: true}
	return memory.FilterFor(ctx, c.Bot.Memories, c.Bot.Servers, r).WithOwn(c.Command.By.ID)
}

// own reports whether a statement is about the person, or was remembered at their request.
func (c *call) own(m memory.Statement) bool { return memory.OwnedBy(m, c.Command.By.ID) }

// visible leaves out what is about other people. Only they see it, and people who may manage the messages of its channel.
func (c *call) visible(all []memory.Statement) []memory.Statement {
	return slices.DeleteFunc(all, func(m memory.Statement) bool {
		return m.Kind == memory.Person && m.Subject != c.Command.By.ID && !c.moderates(m)
	})
}

// moderates reports whether the person may manage messages in the channel that a statement is from.
func (c *call) moderates(m memory.Statement) bool {
	return c.GuildID != "" && m.Scope.GuildID == c.GuildID && (c.Command.Admin || c.Command.Deletes && m.Scope.ID == c.Message.ChannelID)
}

// mayChange reports whether the person may change a statement. Nobody may reword what somebody else said about themselves.
func (c *call) mayChange(m memory.Statement, action string) bool {
	return c.own(m) || c.moderates(m) && (m.Kind != memory.Person || action == actForget)
}

func (c *call) showMemory(ctx context.Context) turn.Answer { return c.listMemory(ctx, "", 0) }

// searchMemory shows what is remembered and holds some words.
func (c *call) searchMemory(ctx context.Context) turn.Answer {
	words := c.option("words")
	if words == "" {
		return c.say(memoryNoText)
	}
	return c.listMemory(ctx, words, 0)
}

// memoryPage shows another page of one of these.
func (c *call) memoryPage(ctx context.Context) turn.Answer {
	words, err := url.QueryUnescape(c.variables["search"])
	if err != nil {
		return c.say(unknownButton)
	}
	return c.listMemory(ctx, words, c.number("page"))
}

func (c *call) listMemory(ctx context.Context, words string, page int) turn.Answer {
	w := c.readableMemory(ctx)
	var all []memory.Statement
	var err error
	none := memoryNone
	if words == "" {
		all, err = c.Bot.Memories.List(ctx, w, memory.List{Limit: mostListed})
	} else {
		all, err = c.Bot.Memories.Search(ctx, w, words, mostListed)
		none = memoryNoMatch
	}
	if err != nil {
		return c.memoryTrouble(err)
	}
	agreed, err := c.Bot.Memories.Consent(ctx, c.Command.By.ID)
	c.logged("read consent", err)
	consent := memoryNotAgreed
	if agreed {
		consent = memoryAgreed
	}
	sections := append(c.cardSection(ctx, words), c.reminderSection(ctx, words)...)
	if all = c.visible(all); len(all) == 0 && len(sections) == 0 {
		return turn.Answer{Text: none.In(c.language) + "\n" + consent.In(c.language)}
	}
	a := c.listPage(memoryPrefix+":"+queryKey(words), memoryTitle, append(sections, c.memorySections(ctx, w, all)...), page)
	a.Text = consent.In(c.language)
	return a
}

// rememberedOf shows what the person may see of what another is remembered by, or asked to be remembered.
func (c *call) rememberedOf(ctx context.Context) turn.Answer {
	whom := cmp.Or(c.Command.Person, c.variables["person"])
	if whom == c.Command.By.ID {
		return c.showMemory(ctx)
	}
	w := c.readableMemory(ctx)
	all, err := c.Bot.Memories.List(ctx, w, memory.List{Mine: whom, Limit: mostListed})
	if err != nil {
		return c.memoryTrouble(err)
	}
	if all = c.visible(all); len(all) == 0 {
		return turn.Answer{Text: reply.Receipt(c.Command.Locale, string(memoryNoneOf))}
	}
	var lines []string
	named := c.channelNames()
	for _, m := range all {
		lines = append(lines, c.Bot.Redact.String(c.memoryLine(ctx, w, m, named)))
	}
	section := turn.Section{Title: reply.Receipt(c.Command.Locale, string(memoryOfPerson)), Text: strings.Join(lines, "\n")}
	return c.listPage(personPrefix+":"+whom, memoryTitle, []turn.Section{section}, c.number("page"))
}

// channelNames returns the names of the server's channels by id.
func (c *call) channelNames() map[string]string {
	named := map[string]string{}
	if c.Bot.Servers != nil && c.Bot.Servers.Platform != nil && c.GuildID != "" {
		for _, one := range c.Bot.Servers.Platform.Channels(c.GuildID) {
			named[one.ID] = one.Name
		}
	}
	return named
}

// memorySections writes statements as sections, the person's own first.
func (c *call) memorySections(ctx context.Context, w memory.ScopeFilter, all []memory.Statement) (sections []turn.Section) {
	named := c.channelNames()
	history := memory.Outdated(slices.DeleteFunc(slices.Clone(all), func(m memory.Statement) bool { return m.Kind != memory.Person || m.Subject != c.Command.By.ID }))
	var own, others []string
	for _, m := range all {
		line := c.Bot.Redact.String(c.memoryLine(ctx, w, m, named))
		if slices.Contains(history, m.ID) {
			line += " · " + memoryOutdated.In(c.language)
		}
		if c.own(m) {
			own = append(own, line)
		} else {
			others = append(others, line)
		}
	}
	if len(own) > 0 {
		sections = append(sections, turn.Section{Title: memoryOfYou.In(c.language), Text: strings.Join(own, "\n")})
	}
	if len(others) > 0 {
		sections = append(sections, turn.Section{Title: memoryOfOthers.In(c.language), Text: strings.Join(others, "\n")})
	}
	return sections
}

// memoryLine writes one statement: its number, its words, when and where they were said, and what it replaced.
func (c *call) memoryLine(ctx context.Context, w memory.ScopeFilter, m memory.Statement, named map[string]string) string {
	notes := []string{m.SaidAt.Format("2006-01-02"), c.place(m.Scope, named)}
	if m.Pinned {
		notes = append(notes, memoryPinMark.In(c.language))
	}
	if m.By == "" {
		notes = append(notes, memoryByItself.In(c.language))
	}
	if m.Author == "" {
		notes = append(notes, memoryReworded.In(c.language))
	}
	if m.Supersedes != 0 {
		if history, err := c.Bot.Memories.History(ctx, w, m.ID); err == nil && len(history) > 0 {
			notes = append(notes, memoryUntilThen.In(c.language, "“"+text.Truncate(text.OneLine(history[0].Text), 100)+"”"))
		}
	}
	said := text.OneLine(m.Text)
	if m.Kind == memory.Topic && m.Subject != "" {
		said = m.Subject + ": " + said
	}
	return strconv.FormatInt(m.ID, 10) + ". " + text.Truncate(said, longestShown) + " (" + strings.Join(notes, " · ") + ")"
}

func (c *call) place(s memory.Scope, named map[string]string) string {
	switch {
	case s.Kind == memory.ScopeDM:
		return memoryDirect.In(c.language)
	case s.Kind == memory.ScopeGuild:
		return memoryServer.In(c.language)
	case s.Kind == memory.ScopePublic:
		return memoryAnywhere.In(c.language)
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

// remember keeps what the person wrote into the command.
func (c *call) remember(ctx context.Context) turn.Answer {
	said := c.option("words")
	if a, refused := c.refuseText(ctx, said); refused {
		return a
	}
	by := c.by()
	m := memory.Statement{
		Kind: memory.Note, Scope: memory.ScopeOf(c.GuildID, c.Message.ChannelID), Text: said, Author: by.ID, Sources: []string{memory.CommandSource(c.ID)},
		By: by.ID, SaidAt: by.At, LearnedAt: by.At,
	}
	if own, _ := order.About(said); own {
		m.Kind, m.Subject = memory.Person, by.ID
	}
	id, err := c.Bot.Memories.Save(ctx, m)
	if err != nil {
		return c.memoryTrouble(err)
	}
	if saved, err := c.Bot.Memories.Get(ctx, c.readableMemory(ctx), id); err == nil && saved.LearnedAt.Equal(by.At.Truncate(time.Microsecond)) {
		c.undoable(ctx, memory.Reversal{Added: []int64{id}})
	}
	return c.memoryChanged("remember", id, deed(order.Keep))
}

// deed returns what is said of an order that was carried out.
func deed(d order.Deed) sentence { return reply.MemorySaid(turn.MemoryChange{Deed: string(d)}) }

// refuseText answers a text that is not remembered as a message with that text is answered.
func (c *call) refuseText(ctx context.Context, said string) (a turn.Answer, refuses bool) {
	if said == "" {
		return c.say(memoryNoText), true
	}
	if utf8.RuneCountInString(said) > memory.LongestPointed {
		return c.say(memoryTooLong, memory.LongestPointed), true
	}
	people, err := c.Bot.Store.People.Names(ctx, c.GuildID)
	c.logged("read the names of people", err)
	_, other := order.About(said)
	refused := memory.Refusal(c.Bot.Redact, turn.Request{Message: turn.Message{Author: c.Command.By}, Names: c.speaker(ctx).Names(), People: people}, said, other)
	return c.say(reply.MemorySaid(turn.MemoryChange{Refused: refused})), refused != ""
}

// changeMemory corrects, forgets, pins or unpins a statement.
func (c *call) changeMemory(ctx context.Context) turn.Answer {
	action, named := c.option("action"), c.option("entry")
	if named == "" {
		return c.say(memoryWhich)
	}
	if field := cardField(named); field != "" {
		return c.changeCard(ctx, action, field)
	}
	if id, is := strings.CutPrefix(named, reminderPrefix); is {
		return c.cancelReminder(ctx, action, id)
	}
	w := c.readableMemory(ctx)
	m, err := c.memoryNamed(ctx, w, named)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return c.say(memoryGone)
	case err != nil:
		return c.memoryTrouble(err)
	case !c.mayChange(m, action):
		return c.say(memoryNotYours)
	}
	var done sentence
	old := m
	switch action {
	case actCorrect:
		said := c.option("words")
		if a, refused := c.refuseText(ctx, said); refused {
			return a
		}
		by := c.by()
		m.Supersedes, m.ID, m.Text, m.Author, m.Sources, m.By, m.TraceID, m.SaidAt, m.LearnedAt = m.ID, 0, said, by.ID, []string{memory.CommandSource(c.ID)}, by.ID, "", by.At, by.At
		if m.ID, err = c.Bot.Memories.Correct(ctx, m, by); err == nil && c.own(old) {
			c.undoable(ctx, memory.Reversal{Added: []int64{m.ID}, Gone: []memory.Statement{old}})
		}
		done = deed(order.Correct)
	case actForget:
		if c.own(old) { // else another person's words would outlast them here
			c.undoable(ctx, memory.Reversal{Gone: []memory.Statement{old}})
		}
		err = c.Bot.Memories.Forget(ctx, w, m.ID, c.by())
		done = deed(order.Forget)
	case actPin:
		err = c.Bot.Memories.Pin(ctx, w, m.ID, true, c.by())
		done = memoryPinned
	case actUnpin:
		err = c.Bot.Memories.Pin(ctx, w, m.ID, false, c.by())
		done = memoryUnpinned
	}
	switch {
	case errors.Is(err, store.ErrNotFound): // it was deleted meanwhile
		return c.say(memoryGone)
	case err != nil:
		return c.memoryTrouble(err)
	}
	return c.memoryChanged(action, m.ID, done)
}

// memoryNamed finds the statement that an option names. It is named by its number, which a suggestion has, or by words that no other
// statement holds.
func (c *call) memoryNamed(ctx context.Context, w memory.ScopeFilter, named string) (memory.Statement, error) {
	if id, err := strconv.ParseInt(strings.Trim(named, "#. "), 10, 64); err == nil {
		m, err := c.Bot.Memories.Get(ctx, w, id)
		if err == nil && (m.Superseded || len(c.visible([]memory.Statement{m})) == 0) {
			err = store.ErrNotFound
		}
		return m, err
	}
	all, err := c.Bot.Memories.Search(ctx, w, named, mostListed)
	if err != nil {
		return memory.Statement{}, err
	}
	all = slices.DeleteFunc(c.visible(all), func(m memory.Statement) bool { return !strings.Contains(text.Fold(m.Text), text.Fold(named)) })
	if len(all) != 1 {
		return memory.Statement{}, store.ErrNotFound
	}
	return all[0], nil
}

// suggestMemories suggests the statements that the person may change, the person's own first.
func (c *call) suggestMemories(ctx context.Context) (a turn.Answer) {
	typed := text.Fold(c.option(c.Command.Focused))
	all, err := c.Bot.Memories.List(ctx, c.readableMemory(ctx), memory.List{Limit: mostListed})
	c.logged("read memory", err)
	all = slices.DeleteFunc(c.visible(all), func(m memory.Statement) bool {
		return !c.mayChange(m, c.option("action")) || !strings.Contains(text.Fold(m.Text), typed)
	})
	others := func(m memory.Statement) int {
		if c.own(m) {
			return 0
		}
		return 1
	}
	sort.SliceStable(all, func(i, j int) bool {
		a, b := all[i], all[j]
		return others(a)-others(b) < 0
	})
	a.Choices = append(c.cardChoices(ctx, typed), c.reminderChoices(ctx, typed)...)
	a.Choices = a.Choices[:min(len(a.Choices), 25)]
	for _, m := range all[:min(len(all), 25-len(a.Choices))] {
		a.Choices = append(a.Choices, turn.Choice{Name: text.Truncate(c.Bot.Redact.String(text.OneLine(m.Text)), 90), Value: strconv.FormatInt(m.ID, 10)})
	}
	return a
}

// consent returns the handler that lets the bot learn about a person by itself, or ends that.
func consent(agrees bool) handler {
	return func(c *call, ctx context.Context) turn.Answer {
		deleted, err := c.Bot.Memories.SetConsent(ctx, c.by(), agrees)
		if err != nil {
			return c.memoryTrouble(err)
		}
		c.Bot.Log.Info("learning about a person switched on or off", "on", agrees, "by", c.Command.By.ID, "deleted", deleted)
		if agrees {
			return c.say(memoryOn)
		}
		return c.say(memoryOff, deleted)
	}
}

func (c *call) memoryChanged(action string, id int64, done sentence) turn.Answer {
	c.Bot.Log.Info("memory changed", "what", action, "statement", id, "by", c.Command.By.ID, "channel", c.Message.ChannelID, "server", c.GuildID)
	return c.say(done)
}

func (c *call) memoryTrouble(err error) turn.Answer {
	switch {
	case errors.Is(err, store.ErrTooMany):
		return c.say(reply.MemorySaid(turn.MemoryChange{Refused: turn.MemoryFull}))
	case errors.Is(err, store.ErrOptedOut):
		return c.say(reply.YouOptedOut)
	}
	return c.unsaved("change memory", err)
}

// Under /memory a person sees and cancels their reminders. Messages set them.

const (
	remindersTitle    sentence = "Your reminders"
	reminderCancelled sentence = "That reminder is cancelled."

	reminderPrefix = "reminder:" // before the number of a reminder, where a statement has its number
)

// reminders returns the lines of the person's reminders that hold some words. A reminder of another place is only for a private answer,
// as each answer to /memory is.
func (c *call) reminders(ctx context.Context, words string) (all []store.Reminder, lines []string) {
	set, err := c.Bot.Store.Reminders.Of(ctx, c.Command.By.ID)
	c.logged("read reminders", err)
	zone := c.card(ctx)[turn.CardZone]
	for _, r := range set {
		if !strings.Contains(text.Fold(r.Text), text.Fold(words)) {
			continue
		}
		in := cmp.Or(zone, r.Zone, "UTC")
		all = append(all, r)
		lines = append(lines, reply.Moment(c.language, r.At, in)+": "+c.Bot.Redact.String(text.Truncate(text.OneLine(r.Text), longestShown)))
	}
	return all, lines
}

func (c *call) reminderSection(ctx context.Context, words string) []turn.Section {
	_, lines := c.reminders(ctx, words)
	if len(lines) == 0 {
		return nil
	}
	return []turn.Section{{Title: remindersTitle.In(c.language), Text: strings.Join(lines, "\n")}}
}

// reminderChoices suggests the reminders that can be cancelled.
func (c *call) reminderChoices(ctx context.Context, typed string) (choices []turn.Choice) {
	if c.option("action") != actForget {
		return nil
	}
	all, lines := c.reminders(ctx, typed)
	for i, r := range all {
		choices = append(choices, turn.Choice{Name: text.Truncate(lines[i], 90), Value: reminderPrefix + strconv.FormatInt(r.ID, 10)})
	}
	return choices
}

// cancelReminder cancels a reminder of the person, which can be undone.
func (c *call) cancelReminder(ctx context.Context, action, number string) turn.Answer {
	id, err := strconv.ParseInt(number, 10, 64)
	if action != actForget || err != nil {
		return c.say(memoryWhich)
	}
	r, err := c.Bot.Store.Reminders.Cancel(ctx, c.Command.By.ID, id)
	if err != nil {
		return c.say(memoryGone)
	}
	c.undoable(ctx, memory.Reversal{Cancelled: []store.Reminder{r}})
	return c.say(reminderCancelled)
}
