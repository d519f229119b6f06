package doctor

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Where the settings of a bot are.
const (
	portal      = "https://discord.com/developers/applications → your application"
	tokenCure   = "reset it at " + portal + " → Bot → Reset Token, and set DISCORD_TOKEN"
	contentCure = "switch on \"Message Content Intent\" at " + portal + " → Bot → Privileged Gateway Intents; then start the bot again"
)

// Trouble is why Discord did not answer a question.
type Trouble struct {
	Refused bool   // it does not accept the token
	Text    string // what it said, or what went wrong
}

// Application is what Discord says of the bot.
type Application struct {
	Name, ID, Bot  string
	Content        bool   // the Message Content intent is granted
	InteractionsTo string // where commands are sent in place of the gateway; empty: to the gateway
	Invite         string
}

// Token judges whether Discord accepts the token. Trouble is nil where it does.
func Token(a Application, t *Trouble) Finding {
	f := Finding{ID: "token", State: Failure}
	switch {
	case t == nil:
		f.State, f.Text = OK, fmt.Sprintf("Discord accepts it: application %s (%s), the bot %s.", a.Name, a.ID, a.Bot)
	case t.Refused:
		f.Text, f.Cure = "Discord does not accept it.", tokenCure
	default:
		f.Text, f.Cure = "Discord could not be asked: "+t.Text+".", "see whether this machine reaches Discord, and whether DISCORD_API_URL and the proxy variables are right"
	}
	return f
}

// Intents judges what the bot is let see and hear.
func Intents(a Application) []Finding {
	f := Finding{ID: "intents", State: OK, Text: "Message Content is granted: it reads what is written in its channels."}
	if !a.Content {
		f.State, f.Text, f.Cure = Warning, "Message Content is not granted: it reads only mentions, replies with a ping, commands and direct messages.", contentCure
	}
	all := []Finding{f}
	if a.InteractionsTo != "" {
		all = append(all, Finding{ID: "commands", State: Failure, Text: "Commands and buttons go to " + a.InteractionsTo + ", and not to this program.",
			Cure: "empty \"Interactions Endpoint URL\" at " + portal + " → General Information"})
	}
	return all
}

// Server is a server that the bot is in.
type Server struct {
	Name     string
	Silenced time.Time // until when it may not write there; zero: it may
	Channels []Channel
	Trouble  *Trouble // why no more is known
}

// Channel is one of its channels, with the permissions that the bot does not have there.
type Channel struct {
	Name             string
	Forum            bool
	Missing, Without []string // of those that it needs, and of those that are of use
}

// Rights are the names of the permissions: those that a bot needs, the first of them to see a channel, and those that are of use.
type Rights struct{ Needed, Useful []string }

// Permissions judges what the bot may do in each server. More is how many servers were not looked at.
func Permissions(a Application, servers []Server, more int, r Rights) []Finding {
	if len(servers) == 0 {
		return []Finding{{ID: "permissions", State: Warning, Text: "It is in no server yet.", Cure: "open " + a.Invite}}
	}
	var all []Finding
	for _, s := range servers {
		all = append(all, s.judge(a, r))
	}
	if more > 0 {
		all = append(all, Finding{ID: "permissions", State: Skipped, Text: fmt.Sprintf("%d more servers were not looked at.", more)})
	}
	return all
}

func (s Server) judge(a Application, r Rights) Finding {
	f := Finding{ID: "permissions", Subject: s.Name, State: OK}
	if s.Trouble != nil {
		f.State, f.Text = Warning, "What it may do there is not known: "+s.Trouble.Text+"."
		return f
	}
	var hidden, limited int
	for _, c := range s.Channels {
		switch {
		case slices.Contains(c.Missing, r.Needed[0]):
			hidden++
		case len(c.Missing) > 0:
			limited++
		}
	}
	fine := len(s.Channels) - hidden - limited
	f.Text = fmt.Sprintf("%s: it may do all that it needs in %d.", number(len(s.Channels), "channel"), fine)
	if limited > 0 {
		f.Text += fmt.Sprintf(" In %d it sees what it may not answer, or cannot read what was said before.", limited)
	}
	if hidden > 0 {
		f.Text += fmt.Sprintf(" Hidden from it: %d, which may be what you want.", hidden)
	}
	f.Table = matrix(s.Channels, r)
	if limited > 0 || fine == 0 {
		f.State, f.Cure = Warning, "give its role what is missing: Server Settings → Roles, or the channel's Permissions; or open the invite link once more: "+a.Invite
	}
	if fine == 0 {
		f.State = Failure
	}
	if !s.Silenced.IsZero() {
		f.State, f.Text, f.Cure = Failure, fmt.Sprintf("A moderator has silenced it until %s.", s.Silenced.UTC().Format("2006-01-02 15:04 UTC")), "have the timeout removed: right click on it → Remove Timeout"
	}
	return f
}

// matrix has a row for each channel.
func matrix(channels []Channel, r Rights) *Table {
	t := &Table{Columns: slices.Concat(r.Needed, r.Useful)}
	for _, c := range channels {
		row := Row{Name: "#" + c.Name}
		for i, name := range t.Columns {
			cell := Has
			switch {
			case slices.Contains(c.Missing, name):
				cell = Missing
			case slices.Contains(c.Without, name):
				cell = Without
			case c.Forum && i < len(r.Needed) && strings.HasSuffix(name, "Send Messages"):
				cell = Unused // a forum has posts alone
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
