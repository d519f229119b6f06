package discord

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"

	"github.com/bwmarrin/discordgo"

	"familiar/internal/context/turn"
)

// Command is one slash command. Only the person who gives it sees the answers.
type Command struct {
	Name        string // 1–32 lower-case characters
	Description string // 1–100 characters
	Options     []Option
	Manage      bool // offered only to people who may manage the server, unless the server's settings say otherwise
	Direct      bool // offered in direct messages too
}

// Option is one text option of a command.
type Option struct {
	Name        string
	Description string
	Required    bool     // required options come first
	Choices     []string // at most 25; empty: any text
}

// Commands lists the usual commands. docs are the names of the sites of documentation, at most 25; without any there is
// no command for them.
func Commands(docs []string) []Command {
	modes := make([]string, 0, 3)
	for _, m := range turn.Modes() {
		modes = append(modes, string(m))
	}
	all := []Command{
		{Name: "context", Manage: true, Description: "Show how an answer came about: what was looked up, read, sent and cut",
			Options: []Option{{Name: "turn", Description: "Record or message id; the latest answer here if left out"}}},
		{Name: "lookup", Manage: true, Description: "Look something up now, or switch looking things up on or off here",
			Options: []Option{
				{Name: "query", Description: "What to look up"},
				{Name: "web", Description: "Whether answers here may look things up", Choices: []string{"on", "off"}},
				{Name: "feedback", Description: "What you think of a source, which then stands lower; or what was said so far", Choices: []string{"outdated", "wrong", "undo", "show"}},
				{Name: "source", Description: "The source that the feedback is about: its number in the latest answer here, or its domain"},
			}},
		{Name: "mode", Manage: true, Description: "Show or change how the character behaves in this channel",
			Options: []Option{{Name: "mode", Description: "The new mode; shows the present one if left out", Choices: modes}}},
		{Name: "help", Manage: true, Direct: true, Description: "What this bot does and how to talk to it"},
	}
	if len(docs) > 0 {
		all = append(all, Command{Name: "docs", Manage: true, Description: "Look something up in one documentation, and nowhere else",
			Options: []Option{
				{Name: "question", Description: "A question, the name of a page, or its address", Required: true},
				{Name: "site", Description: "Which documentation, where several are known", Choices: docs},
			}})
	}
	return all
}

// wire returns the command in Discord's form.
func (c Command) wire() *discordgo.ApplicationCommand {
	contexts := []discordgo.InteractionContextType{discordgo.InteractionContextGuild}
	if c.Direct {
		contexts = append(contexts, discordgo.InteractionContextBotDM)
	}
	w := &discordgo.ApplicationCommand{
		Type: discordgo.ChatApplicationCommand, Name: c.Name, Description: c.Description, Contexts: &contexts,
		Options: []*discordgo.ApplicationCommandOption{},
	}
	if c.Manage {
		manage := int64(discordgo.PermissionManageGuild)
		w.DefaultMemberPermissions = &manage
	}
	for _, o := range c.Options {
		option := &discordgo.ApplicationCommandOption{
			Type: discordgo.ApplicationCommandOptionString, Name: o.Name, Description: o.Description, Required: o.Required,
		}
		for _, choice := range o.Choices {
			option.Choices = append(option.Choices, &discordgo.ApplicationCommandOptionChoice{Name: choice, Value: choice})
		}
		w.Options = append(w.Options, option)
	}
	return w
}

// register returns Discord the commands, if they are not the ones it has. A bulk overwrite at each start would spend
// the 200 creations a day and make commands flicker in every open client.
func (s *Session) register(ctx context.Context, app string) error {
	commands := make([]*discordgo.ApplicationCommand, 0, len(s.cfg.Commands))
	for _, c := range s.cfg.Commands {
		commands = append(commands, c.wire())
	}
	body := mustJSON(commands)
	sum := sha256.Sum256(append([]byte(s.base+"\n"+app+"\n"), body...))
	hash := hex.EncodeToString(sum[:])
	if s.cfg.LoadHash != nil {
		if have, err := s.cfg.LoadHash(ctx); err == nil && have == hash {
			return nil
		}
	}
	if _, err := s.call(ctx, request{method: http.MethodPut, url: discordgo.EndpointApplicationGlobalCommands(app), body: body}); err != nil {
		return fmt.Errorf("register commands: %w", err)
	}
	if s.cfg.SaveHash == nil {
		return nil
	}
	if err := s.cfg.SaveHash(ctx, hash); err != nil {
		return fmt.Errorf("save fingerprint of commands: %w", err)
	}
	return nil
}
