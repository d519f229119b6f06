package bot

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"familiar/internal/bot/view"
	"familiar/internal/context/turn"
	"familiar/internal/store"
	"familiar/internal/text"
)

// What /changes says.
const (
	changesTitle       sentence = "Changes"
	changesNone        sentence = "I know of no setting that was changed in this server."
	changesForManagers sentence = "Only people who may manage this server can see that."
	changeLength       sentence = "%s characters"
)

const changesButton = "changes:"

// changeCommands are the words of the command that changes a setting, each of which the catalogue has in other languages.
var changeCommands = map[store.ChangeKind]string{
	store.ChangeMode: "mode", store.ChangeButtons: "mode buttons", store.ChangeChatty: "mode chatty", store.ChangeThreads: "mode threads",
	store.ChangePosts: "mode posts", store.ChangeSubscribed: "subscribe", store.ChangeLookups: "lookups", store.ChangePause: "pause",
	store.ChangeCharacters: "character", store.ChangeBackdrop: "backdrop",
	store.ChangeMemory: "memory", store.ChangePin: "memory pin",
}

// giver is who gives a command, as the one who changes something.
func giver(e turn.Event) store.By {
	return store.By{ID: e.Command.By.ID, Name: e.Command.By.Name, At: time.Now()}
}

// changes shows which settings were changed in the server.
func (b *Bot) changes(ctx context.Context, e turn.Event) turn.Answer { return b.showChanges(ctx, e, 0) }

// showChanges shows a part of them, to people who may manage the server.
func (b *Bot) showChanges(ctx context.Context, e turn.Event, part int) turn.Answer {
	switch {
	case e.GuildID == "":
		return b.respond(e, saysNoServer)
	case !e.Command.Admin:
		return b.respond(e, changesForManagers)
	}
	all, err := b.Store.Changes(ctx, e.GuildID, mostListed)
	if err != nil {
		return b.storeTrouble(e, err)
	}
	if len(all) == 0 {
		return b.respond(e, changesNone)
	}
	named := b.readableNames(ctx, e, all)
	var lines []string
	for _, c := range all {
		lines = append(lines, b.Redact.String(changeLine(language(e), c, named)))
	}
	parts := paginate([]view.Page{{Name: string(changesTitle), Sections: []turn.Section{{Title: changesTitle.in(language(e)), Text: strings.Join(lines, "\n")}}}}, sectionUnits)
	part = min(max(part, 0), len(parts)-1)
	a := turn.Answer{Sections: parts[part].sections}
	if len(parts) > 1 {
		a.Buttons = pageButtons(language(e), strings.TrimSuffix(changesButton, ":"), parts, part)
	}
	return a
}

// readableNames are the names of the channels of some changes, by id, as far as who gave the command may read them.
func (b *Bot) readableNames(ctx context.Context, e turn.Event, all []store.Change) map[string]string {
	named := map[string]string{}
	if b.Servers == nil || b.Servers.Platform == nil {
		return named
	}
	ids := map[string]bool{}
	for _, c := range all {
		ids[c.ChannelID] = c.ChannelID != ""
	}
	may := b.Servers.Platform.Readable(ctx, e.GuildID, readerOf(e), "", slices.Collect(maps.Keys(ids))...)
	for _, c := range b.Servers.Platform.Channels(e.GuildID) {
		if may[c.ID] {
			named[c.ID] = c.Name
		}
	}
	return named
}

// changeLine writes one change: when, who, where, and what by the command that does it.
func changeLine(in string, c store.Change, named map[string]string) string {
	where := memoryServer.in(in)
	if c.ChannelID != "" {
		where = "#" + cmp.Or(named[c.ChannelID], c.ChannelID)
	}
	var what []string
	for word := range strings.FieldsSeq(changeCommands[c.Kind]) {
		what = append(what, sentence(word).in(in))
	}
	return strings.Join([]string{c.By.At.Format("2006-01-02 15:04 UTC"), plainName(c.By.Name), where,
		"/" + strings.Join(what, " ") + ": " + changeValue(in, c.Kind, c.From) + " → " + changeValue(in, c.Kind, c.To)}, " · ")
}

func changeValue(in string, kind store.ChangeKind, value string) string {
	switch {
	case kind == store.ChangeBackdrop:
		return changeLength.in(in, value)
	case value == "":
		return "–"
	case value == string(wordOn) || value == string(wordOff):
		return sentence(value).in(in)
	}
	return text.Truncate(value, longestShown)
}
