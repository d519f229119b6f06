package command

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"familiar/internal/context/turn"
	"familiar/internal/reply"
	"familiar/internal/store"
	"familiar/internal/text"
)

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
	store.ChangePosts: "mode posts", store.ChangeGreets: "mode greets", store.ChangeSubscribed: "subscribe", store.ChangeLookups: "lookups", store.ChangePause: "pause",
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
