package doctor

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"familiar/internal/discord"
)

// Where a bot is set up.
const (
	portal = "https://discord.com/developers/applications → your application"
	// TokenHelp is where the bot's token is.
	TokenHelp   = portal + " → Bot → Reset Token"
	tokenCure   = "reset it at " + portal + " → Bot → Reset Token, and set DISCORD_TOKEN"
	contentCure = "switch on \"Message Content Intent\" at " + portal + " → Bot → Privileged Gateway Intents; then start the bot again"
)

func (e *Examination) discord(ctx context.Context) []Finding {
	if e.Discord.Token == "" {
		return []Finding{{ID: "token", State: Skipped, Text: "DISCORD_TOKEN is not set: familiar chat works, familiar run does not.", Cure: "get it from " + TokenHelp}}
	}
	e.clock.readFrom(e.Discord.HTTP, discordsClock)
	session, err := discord.New(e.Discord) // it asks, and does not listen
	if err != nil {
		return []Finding{{ID: "token", State: Failure, Text: err.Error(), Cure: "get it from " + TokenHelp}}
	}
	found, err := session.Survey(ctx)
	if err != nil && found.ID == "" {
		return []Finding{judgeToken(found, err)}
	}
	e.invite = found.Invite
	all := append([]Finding{judgeToken(found, nil)}, judgeIntents(found)...)
	all = append(all, judgeShards(found, e.Discord.Shards)...)
	if err != nil {
		return append(all, Finding{ID: "permissions", State: Warning, Text: "The bot's servers could not be listed: " + err.Error() + "."})
	}
	all = append(all, judgePermissions(found, rights{discord.NeededPermissions(), discord.UsefulPermissions(e.Speech != nil), e.Pictured})...)
	return append(all, e.namesakes(ctx, session, found.Servers)...)
}

// mostNamed is how many names are looked for in servers.
const mostNamed = 50

// namesakes warns of characters that are called like a member of a server. One character alone posts under the bot's own name.
func (e *Examination) namesakes(ctx context.Context, session *discord.Session, servers []discord.SurveyedServer) (all []Finding) {
	if len(e.Others) == 0 {
		return nil
	}
	asked := 0
	for _, server := range servers {
		for _, name := range append([]string{e.Character}, e.Others...) {
			if asked++; asked > mostNamed {
				return all
			}
			if taken, err := session.Namesake(ctx, server.ID, name); err == nil && taken {
				all = append(all, Finding{ID: "names", Subject: server.Name, State: Warning, Text: "A member is called like the character " + name + ", which posts there as " + discord.MarkedName(name) + ".",
					Cure: "give the character another name in its character.toml"})
			}
		}
	}
	return all
}

// judgeToken judges whether Discord accepts the token. err is what Discord answered to the question for the application.
func judgeToken(s discord.Survey, err error) Finding {
	f := Finding{ID: "token", State: Failure}
	switch {
	case err == nil:
		f.State, f.Text = OK, fmt.Sprintf("Discord accepts the token: application %s (%s), the bot %s.", s.Application, s.ID, s.Bot)
	case discord.Refuses(err):
		f.Text, f.Cure = "Discord does not accept it.", tokenCure
	default:
		f.Text, f.Cure = "Discord could not be asked: "+err.Error()+".", "check whether this machine can reach Discord, and whether DISCORD_API_URL and the proxy variables are right"
	}
	return f
}

// judgeIntents judges which messages the bot receives, and where its commands go.
func judgeIntents(s discord.Survey) []Finding {
	f := Finding{ID: "intents", State: OK, Text: "Message Content is granted: the bot can read messages in its channels."}
	if !s.Content {
		f.State, f.Text, f.Cure = Warning, "Message Content is not granted: it reads only mentions, replies with a ping, commands and direct messages.", contentCure
	}
	all := []Finding{f}
	if s.InteractionsTo != "" {
		all = append(all, Finding{ID: "commands", State: Failure, Text: "Commands and buttons go to " + s.InteractionsTo + ", not to this program.",
			Cure: "clear \"Interactions Endpoint URL\" at " + portal + " → General Information"})
	}
	return all
}

// fewStarts is how many sessions should be left of a day.
const fewStarts = 100

// judgeShards judges the number of shards, which is chosen or Discord's, and how many sessions may begin. It says nothing of a bot with one
// shard.
func judgeShards(s discord.Survey, chosen int) (all []Finding) {
	f := Finding{ID: "shards", State: OK, Text: fmt.Sprintf("Discord recommends %d shards.", s.Shards)}
	switch {
	case s.Shards == 0 || s.Shards == 1 && chosen <= 1:
	case chosen > 0 && chosen < s.Shards:
		f.State, f.Text = Warning, fmt.Sprintf("FAMILIAR_SHARDS is %d, and Discord recommends %d shards. It refuses a shard with more than 2,500 servers.", chosen, s.Shards)
		f.Cure = "remove FAMILIAR_SHARDS, or set it to that number or more"
		all = append(all, f)
	default:
		if chosen > 0 {
			f.Text = fmt.Sprintf("FAMILIAR_SHARDS is %d. %s", chosen, f.Text)
		}
		all = append(all, f)
	}
	if s.StartsADay > 0 && s.Starts < fewStarts+max(s.Shards, chosen) {
		all = append(all, Finding{ID: "sessions", State: Warning, Text: fmt.Sprintf("Only %d of the day's %d sessions may still begin. Then the bot waits until the day is over.", s.Starts, s.StartsADay),
			Cure: "do not start it again and again; the log says why sessions ended"})
	}
	return all
}

// rights are the names of permissions. The needed ones come first, beginning with the one to see a channel, then the useful ones.
type rights struct {
	needed, useful []string
	pictured       bool // characters have pictures of their moods to attach
}

// judgePermissions judges what the bot may do in each server.
func judgePermissions(s discord.Survey, r rights) []Finding {
	if len(s.Servers) == 0 {
		return []Finding{{ID: "permissions", State: Warning, Text: "The bot is in no server yet.", Cure: "open " + s.Invite}}
	}
	var all []Finding
	for _, server := range s.Servers {
		all = append(all, judgeServer(server, s.Invite, r))
	}
	if s.More > 0 {
		all = append(all, Finding{ID: "permissions", State: Skipped, Text: fmt.Sprintf("%d more servers were not checked.", s.More)})
	}
	return all
}

func judgeServer(s discord.SurveyedServer, invite string, r rights) Finding {
	f := Finding{ID: "permissions", Subject: s.Name, State: OK}
	if s.Err != nil {
		f.State, f.Text = Warning, "What it may do there is not known: "+s.Err.Error()+"."
		return f
	}
	var hidden, limited, mute, bare int
	for _, c := range s.Channels {
		switch {
		case slices.Contains(c.Missing, r.needed[0]):
			hidden++
		case len(c.Missing) > 0:
			limited++
		default:
			if slices.Contains(c.Without, discord.VoicePermission) && slices.Contains(r.useful, discord.VoicePermission) {
				mute++
			}
			if slices.Contains(c.Without, discord.FilesPermission) && r.pictured {
				bare++
			}
		}
	}
	fine := len(s.Channels) - hidden - limited
	f.Text = fmt.Sprintf("%s: the bot has all needed permissions in %d.", number(len(s.Channels), "channel"), fine)
	if limited > 0 {
		f.Text += fmt.Sprintf(" In %d it can read but not answer, or cannot read earlier messages.", limited)
	}
	if hidden > 0 {
		f.Text += fmt.Sprintf(" %d are hidden from the bot, which may be intended.", hidden)
	}
	if mute > 0 {
		f.Text += fmt.Sprintf(" In %d it may not say replies aloud.", mute)
		f.State, f.Cure = Warning, "give its role "+discord.VoicePermission+" there, or remove SPEECH_BASE_URL"
	}
	if bare > 0 {
		f.Text += fmt.Sprintf(" In %d it may not attach the pictures of characters' moods.", bare)
		f.State, f.Cure = Warning, strings.TrimPrefix(f.Cure+"; give its role "+discord.FilesPermission+" there, or remove the folders expressions", "; ")
	}
	f.Table = matrix(s.Channels, r)
	if limited > 0 || fine == 0 {
		f.State, f.Cure = Warning, "give its role what is missing: Server Settings → Roles, or the channel's Permissions; or open the invite link once more: "+invite
	}
	if fine == 0 {
		f.State = Failure
	}
	if !s.Silenced.IsZero() {
		f.State, f.Text, f.Cure = Failure, fmt.Sprintf("A moderator has timed the bot out until %s.", s.Silenced.UTC().Format("2006-01-02 15:04 UTC")), "have the timeout removed: right click on it → Remove Timeout"
	}
	return f
}

// matrix has a row for each channel.
func matrix(channels []discord.SurveyedChannel, r rights) *Table {
	t := &Table{Columns: slices.Concat(r.needed, r.useful)}
	for _, c := range channels {
		row := Row{Name: "#" + c.Name}
		for i, name := range t.Columns {
			cell := Has
			switch {
			case slices.Contains(c.Missing, name):
				cell = Missing
			case slices.Contains(c.Without, name):
				cell = Without
			case c.Forum && i < len(r.needed) && strings.HasSuffix(name, "Send Messages"):
				cell = Unused // a forum has only threads
			}
			row.Cells = append(row.Cells, cell)
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// number is a count with its noun.
func number(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
