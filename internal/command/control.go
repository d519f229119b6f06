package command

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/gate"
	"familiar/internal/reply"
	"familiar/internal/store"
	"familiar/internal/text"
)

// These are the answers about what people switch off.
const (
	pausedChannel sentence = "I say nothing in this channel until somebody ends the pause."
	pausedServer  sentence = "I say nothing in this server until somebody ends the pause."
	pausedAll     sentence = "I say nothing anywhere until you end the pause."
	pauseOver     sentence = "I am back."
	lookupsServer sentence = "I look nothing up in this server any more."
	lookupsBack   sentence = "I look things up again, where nothing else keeps me from it."
	isPaused      sentence = "I am paused here."
	isNotPaused   sentence = "I am not paused here."
	lookupsAreOff sentence = "Lookups are off here."
	lookupsAreOn  sentence = "Lookups are on here."
	operatorAlone sentence = "Only the person who runs me can do that everywhere."
)

// showPause shows whether the bot is paused here.
func (c *call) showPause(ctx context.Context) turn.Answer {
	return c.showSwitch(ctx, store.Answers, isPaused, isNotPaused)
}

// pause changes whether the bot answers in a channel, a server or anywhere. What is being answered there ends at once.
func (c *call) pause(ctx context.Context) turn.Answer {
	s := c.newSwitch(store.Answers)
	if s.Place == store.Everywhere && !c.operates() {
		return c.say(operatorAlone)
	}
	ends := c.variables["state"] == "off"
	if err := c.Bot.Pause(ctx, s, ends); err != nil {
		return c.unsaved("keep a switch", err)
	}
	switch {
	case ends:
		return c.say(pauseOver)
	case s.Place == store.Everywhere:
		return c.say(pausedAll)
	case s.Place == "":
		return c.say(pausedServer)
	}
	return c.say(pausedChannel)
}

// showLookups shows whether anything is looked up here.
func (c *call) showLookups(ctx context.Context) turn.Answer {
	if c.Bot.Settings(ctx, c.speaker(ctx), c.Event).WebOff {
		return c.say(lookupsAreOff)
	}
	return c.showSwitch(ctx, store.Lookups, lookupsAreOff, lookupsAreOn)
}

// switchLookups changes whether anything is looked up in the server.
func (c *call) switchLookups(ctx context.Context) turn.Answer {
	off := c.variables["state"] == "off"
	change := c.Bot.Store.Settings.SwitchOn
	if off {
		change = c.Bot.Store.Settings.SwitchOff
	}
	s := c.newSwitch(store.Lookups)
	if err := change(ctx, s); err != nil {
		return c.unsaved("keep a switch", err)
	}
	c.Bot.Log.Info("lookups switched on or off", "off", off, "server", c.GuildID, "by", s.By)
	if off {
		return c.say(lookupsServer)
	}
	return c.say(lookupsBack)
}

// showSwitch shows whether something is switched off here.
func (c *call) showSwitch(ctx context.Context, kind string, off, on sentence) turn.Answer {
	found, err := c.Bot.Store.Settings.SwitchedOff(ctx, c.Message.ChannelID, c.ParentID, c.GuildID)
	switch {
	case err != nil:
		return c.unread(err)
	case found[kind]:
		return c.say(off)
	}
	return c.say(on)
}

// newSwitch returns the switch of a kind in the place that the command names: the channel, if it names none.
func (c *call) newSwitch(kind string) store.Switch {
	s := store.Switch{Kind: kind, Place: c.Message.ChannelID, GuildID: c.GuildID, By: c.Command.By.ID, ByName: c.Command.By.Name, At: time.Now()}
	switch c.option("where") {
	case "server":
		s.Place = ""
	case "everywhere":
		s.Place, s.GuildID = store.Everywhere, ""
	}
	return s
}

// These are the answers to /usage.
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

// usage shows what was used today. Everybody sees their own, and people who may manage the server also the channel's and the server's. The
// operator also sees that of all.
func (c *call) usage(ctx context.Context) turn.Answer {
	used, err := c.Bot.Store.Quotas.Usage(ctx, c.Bot.Now(), gate.Party(c.Event))
	if err != nil {
		return c.unread(err)
	}
	lines := []string{c.usageLine(usageOfYou, store.OfPerson, used)}
	if c.Command.Admin && c.GuildID != "" {
		lines = append(lines, c.usageLine(usageOfChannel, store.OfChannel, used), c.usageLine(usageOfServer, store.OfServer, used))
	}
	if c.Operator != "" && c.Command.By.ID == c.Operator {
		lines = append(lines, c.usageLine(usageOfAll, store.OfAll, used))
	}
	return turn.Answer{Text: strings.Join(append(lines, usageEnds.In(c.language)), "\n")}
}

func (c *call) usageLine(whose sentence, scope string, used map[string]store.Usage) string {
	in, u, limits := c.language, used[scope], c.Bot.Gate.Limits()
	var parts []string
	for _, one := range []struct {
		of     string
		says   sentence
		digits int
	}{{gate.Turns, usageTurns, 0}, {gate.Lookups, usageLookups, 0}, {gate.Tokens, usageTokens, 0}, {gate.Dollars, usageDollars, 2}} {
		q := gate.Quota{Scope: scope, Of: one.of}
		text := strconv.FormatFloat(q.Used(u), 'f', one.digits, 64)
		if i := slices.IndexFunc(limits, func(q gate.Quota) bool { return q.Scope == scope && q.Of == one.of }); i >= 0 {
			text = usageOf.In(in, text, strconv.FormatFloat(limits[i].Most, 'f', one.digits, 64))
		} else if q.Used(u) == 0 {
			continue
		}
		parts = append(parts, one.says.In(in, text))
	}
	if len(parts) == 0 {
		parts = []string{usageNothing.In(in)}
	}
	return whose.In(in) + " " + strings.Join(parts, " · ")
}

// These are the answers to /changes.
const (
	changesTitle       sentence = "Changes"
	changesNone        sentence = "I know of no setting that was changed in this server."
	changesForManagers sentence = "Only people who may manage this server can see that."
	changeLength       sentence = "%s characters"
)

// changesPrefix begins the ids of buttons that turn the pages of /changes. The page follows.
const changesPrefix = "changes"

// changeCommands has the words of the command that changes a setting. The catalogue translates each word.
var changeCommands = map[store.ChangeKind]string{
	store.ChangeMode: "mode", store.ChangeButtons: "mode buttons", store.ChangeChatty: "mode chatty", store.ChangeThreads: "mode threads",
	store.ChangePosts: "mode posts", store.ChangeGreets: "mode greets", store.ChangePictures: "mode pictures", store.ChangeSubscribed: "subscribe", store.ChangeLookups: "lookups", store.ChangePause: "pause",
	store.ChangeCharacters: "character", store.ChangeBackdrop: "backdrop",
	store.ChangeMemory: "memory", store.ChangePin: "memory pin",
}

// showChanges shows which settings were changed in the server.
func (c *call) showChanges(ctx context.Context) turn.Answer {
	all, err := c.Bot.Store.Changes.InGuild(ctx, c.GuildID, mostListed)
	if err != nil {
		return c.unread(err)
	}
	if len(all) == 0 {
		return c.say(changesNone)
	}
	named := c.readableNames(ctx, all)
	var lines []string
	for _, one := range all {
		lines = append(lines, c.Bot.Redact.String(changeLine(c.language, one, named)))
	}
	return c.listPage(changesPrefix, changesTitle, []turn.Section{{Title: changesTitle.In(c.language), Text: strings.Join(lines, "\n")}}, c.number("page"))
}

// readableNames returns the names, by id, of those channels of some changes that the person may read.
func (c *call) readableNames(ctx context.Context, all []store.Change) map[string]string {
	named := map[string]string{}
	if c.Bot.Servers == nil || c.Bot.Servers.Platform == nil {
		return named
	}
	ids := map[string]bool{}
	for _, one := range all {
		ids[one.ChannelID] = one.ChannelID != ""
	}
	may := c.Bot.Servers.Platform.Readable(ctx, c.GuildID, c.reader(), "", slices.Collect(maps.Keys(ids))...)
	for _, one := range c.Bot.Servers.Platform.Channels(c.GuildID) {
		if may[one.ID] {
			named[one.ID] = one.Name
		}
	}
	return named
}

// changeLine writes one change: when, who, where, and the command that makes it.
func changeLine(in string, c store.Change, named map[string]string) string {
	where := memoryServer.In(in)
	if c.ChannelID != "" {
		where = "#" + cmp.Or(named[c.ChannelID], c.ChannelID)
	}
	var what []string
	for word := range strings.FieldsSeq(changeCommands[c.Kind]) {
		what = append(what, sentence(word).In(in))
	}
	return strings.Join([]string{c.By.At.Format("2006-01-02 15:04 UTC"), reply.PlainName(c.By.Name), where,
		"/" + strings.Join(what, " ") + ": " + changeValue(in, c.Kind, c.From) + " → " + changeValue(in, c.Kind, c.To)}, " · ")
}

func changeValue(in string, kind store.ChangeKind, value string) string {
	switch {
	case kind == store.ChangeBackdrop:
		return changeLength.In(in, value)
	case value == "":
		return "–"
	case value == string(wordOn) || value == string(wordOff):
		return sentence(value).In(in)
	}
	return text.Truncate(value, longestShown)
}
