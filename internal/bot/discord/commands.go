package discord

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"strconv"

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
			Options: []Option{{Name: "mode", Description: "The new mode; shows the present one if left out", Choices: modes},
				{Name: "buttons", Description: "Whether replies here have buttons", Choices: []string{"on", "off"}}}},
		{Name: "catchup", Description: "What you have missed here, for you alone",
			Options: []Option{{Name: "span", Description: "How far back: 3h, 2 days, yesterday, since Monday; since you last wrote here if left out"}}},
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

// The commands in Discord's form, with nothing that is not set: discordgo's types write null where Discord documents none.
// https://discord.com/developers/docs/interactions/application-commands#application-command-object
type (
	wireCommand struct {
		Type        discordgo.ApplicationCommandType   `json:"type"`
		Name        string                             `json:"name"`
		Description string                             `json:"description"`
		Permissions string                             `json:"default_member_permissions,omitempty"`
		Contexts    []discordgo.InteractionContextType `json:"contexts"`
		Options     []wireOption                       `json:"options,omitempty"`
	}
	wireOption struct {
		Type        discordgo.ApplicationCommandOptionType `json:"type"`
		Name        string                                 `json:"name"`
		Description string                                 `json:"description"`
		Required    bool                                   `json:"required,omitempty"`
		Choices     []wireChoice                           `json:"choices,omitempty"`
	}
	wireChoice struct {
		Name  string `json:"name"`
		Value string `json:"value"`
	}
)

// wire returns the command in Discord's form.
func (c Command) wire() wireCommand {
	w := wireCommand{
		Type: discordgo.ChatApplicationCommand, Name: c.Name, Description: c.Description,
		Contexts: []discordgo.InteractionContextType{discordgo.InteractionContextGuild},
	}
	if c.Direct {
		w.Contexts = append(w.Contexts, discordgo.InteractionContextBotDM)
	}
	if c.Manage {
		w.Permissions = strconv.Itoa(discordgo.PermissionManageGuild)
	}
	for _, o := range c.Options {
		option := wireOption{Type: discordgo.ApplicationCommandOptionString, Name: o.Name, Description: o.Description, Required: o.Required}
		for _, choice := range o.Choices {
			option.Choices = append(option.Choices, wireChoice{choice, choice})
		}
		w.Options = append(w.Options, option)
	}
	return w
}

// register returns Discord the commands, if they are not the ones it has. A bulk overwrite at each start would spend
// the 200 creations a day and make commands flicker in every open client.
func (s *Session) register(ctx context.Context, app string) error {
	commands := make([]wireCommand, 0, len(s.cfg.Commands))
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
