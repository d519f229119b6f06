package discord

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"slices"
	"strconv"

	"github.com/bwmarrin/discordgo"

	"familiar/internal/context/turn"
	"familiar/internal/discord/rest"
)

// The commands in Discord's form. Unset fields are left out: discordgo's types write null for fields where Discord does
// not document null.
// https://discord.com/developers/docs/interactions/application-commands#application-command-object
type (
	wireCommand struct {
		Type         discordgo.ApplicationCommandType       `json:"type"`
		Name         string                                 `json:"name"`
		Names        map[discordgo.Locale]string            `json:"name_localizations,omitempty"`
		Description  string                                 `json:"description"` // must be empty for a menu entry
		Descriptions map[discordgo.Locale]string            `json:"description_localizations,omitempty"`
		Permissions  string                                 `json:"default_member_permissions,omitempty"`
		Installs     []discordgo.ApplicationIntegrationType `json:"integration_types"`
		Contexts     []discordgo.InteractionContextType     `json:"contexts"`
		Options      []wireOption                           `json:"options,omitempty"`
	}
	wireOption struct {
		Type         discordgo.ApplicationCommandOptionType `json:"type"`
		Name         string                                 `json:"name"`
		Names        map[discordgo.Locale]string            `json:"name_localizations,omitempty"`
		Description  string                                 `json:"description"`
		Descriptions map[discordgo.Locale]string            `json:"description_localizations,omitempty"`
		Required     bool                                   `json:"required,omitempty"`
		Suggests     bool                                   `json:"autocomplete,omitempty"`
		MaxLength    int                                    `json:"max_length,omitempty"`
		Choices      []wireChoice                           `json:"choices,omitempty"`
		ChannelTypes []discordgo.ChannelType                `json:"channel_types,omitempty"`
	}
	wireChoice struct {
		Name  string                      `json:"name"`
		Names map[discordgo.Locale]string `json:"name_localizations,omitempty"`
		Value string                      `json:"value"`
	}
)

// The turn package's words as Discord's numbers.
var (
	commandTypes = map[turn.CommandKind]discordgo.ApplicationCommandType{
		turn.ChatInput: discordgo.ChatApplicationCommand, turn.MessageMenu: discordgo.MessageApplicationCommand, turn.UserMenu: discordgo.UserApplicationCommand,
	}
	contextTypes = map[turn.Place]discordgo.InteractionContextType{
		turn.InServer: discordgo.InteractionContextGuild, turn.InDirect: discordgo.InteractionContextBotDM, turn.InPrivate: discordgo.InteractionContextPrivateChannel,
	}
	integrationTypes = map[turn.Install]discordgo.ApplicationIntegrationType{
		turn.ServerInstall: discordgo.ApplicationIntegrationGuildInstall, turn.UserInstall: discordgo.ApplicationIntegrationUserInstall,
	}
	permissionBits = map[turn.Permission]int64{
		turn.ManageMessages: discordgo.PermissionManageMessages, turn.ManageServer: discordgo.PermissionManageGuild,
	}
)

// channelTypes are the types of channels in which people write, or in whose threads they write.
var channelTypes = []discordgo.ChannelType{
	discordgo.ChannelTypeGuildText, discordgo.ChannelTypeGuildVoice, discordgo.ChannelTypeGuildNews, discordgo.ChannelTypeGuildStageVoice,
	discordgo.ChannelTypeGuildForum, discordgo.ChannelTypeGuildMedia,
}

// localesOf maps a language to Discord's locales, unless the locale is the language itself.
// https://discord.com/developers/docs/reference#locales
var localesOf = map[string][]discordgo.Locale{
	"en": {discordgo.EnglishUS, discordgo.EnglishGB},
	"es": {discordgo.SpanishES, discordgo.SpanishLATAM},
	"pt": {discordgo.PortugueseBR},
	"zh": {discordgo.ChineseCN, discordgo.ChineseTW},
}

// locales returns texts by Discord's locales.
func locales(texts turn.Localized) map[discordgo.Locale]string {
	all := map[discordgo.Locale]string{}
	for language, text := range texts {
		of := localesOf[language]
		if of == nil {
			of = []discordgo.Locale{discordgo.Locale(language)}
		}
		for _, locale := range of {
			all[locale] = text
		}
	}
	return all
}

// wireForm returns a command in Discord's form.
func wireForm(d turn.Definition) wireCommand {
	w := wireCommand{
		Type: commandTypes[d.Kind], Name: d.Name, Names: locales(d.Names), Description: d.Description, Descriptions: locales(d.Descriptions),
	}
	for _, place := range d.Places {
		w.Contexts = append(w.Contexts, contextTypes[place])
	}
	for _, install := range d.Installs {
		w.Installs = append(w.Installs, integrationTypes[install])
	}
	if d.Permission != turn.Everyone {
		w.Permissions = strconv.FormatInt(permissionBits[d.Permission], 10)
	}
	for _, o := range d.Options {
		option := wireOption{
			Type: discordgo.ApplicationCommandOptionString, Name: o.Name, Names: locales(o.Names), Description: o.Description,
			Descriptions: locales(o.Descriptions), Required: o.Required, Suggests: o.Suggests,
		}
		if len(o.Choices) == 0 && !o.Channel && !o.File {
			option.MaxLength = o.Longest()
		}
		if o.Channel {
			option.Type, option.ChannelTypes = discordgo.ApplicationCommandOptionChannel, channelTypes
		}
		if o.File {
			option.Type = discordgo.ApplicationCommandOptionAttachment
		}
		for _, c := range o.Choices {
			option.Choices = append(option.Choices, wireChoice{c.Name, locales(c.Names), c.Value})
		}
		w.Options = append(w.Options, option)
	}
	return w
}

// commands returns the commands that people are offered now.
func (s *Session) commands() []turn.Definition {
	if changed := s.offered.Load(); changed != nil {
		return *changed
	}
	return s.cfg.Commands
}

// Offer replaces the commands that people are offered: at once if the session has begun, otherwise when it begins.
func (s *Session) Offer(ctx context.Context, commands []turn.Definition) {
	s.offered.Store(&commands)
	s.registering.Lock()
	s.registered = false
	s.registering.Unlock()
	if self := s.self.Load(); self != nil {
		s.registerOnce(ctx, self.app)
	}
}

// registerOnce registers the commands, unless Discord has them already.
func (s *Session) registerOnce(ctx context.Context, app string) {
	s.registering.Lock()
	defer s.registering.Unlock()
	if s.registered {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, requestLimit)
	defer cancel()
	if err := s.register(ctx, app); err != nil {
		s.log.Error("commands are not registered: people see the earlier ones, if any; "+commandsCure(err), "err", err)
		return
	}
	s.registered = true
}

// codeDailyCommands is Discord's error code when 200 commands were created on one day. discordgo does not know it.
const codeDailyCommands = 30034

// commandsCure says what helps if Discord refuses the commands.
func commandsCure(err error) string {
	switch kind := rest.KindOf(err); {
	case rest.Code(err) == codeDailyCommands || kind == rest.RateLimited:
		return "Discord accepts 200 new ones a day: the next session tries again"
	case kind == rest.Forbidden || kind == rest.Gone:
		return "open the invite link once more, which allows commands (the scope applications.commands), and check that DISCORD_TOKEN belongs to that application"
	case kind == rest.Rejected || kind == rest.TooLong:
		return "the server does not accept them: update the program"
	}
	return "the next session tries again"
}

// register sends Discord the commands if they differ from those it has. A bulk overwrite at each start would use up the 200 creations a
// day. It would also make commands flicker in every open client.
func (s *Session) register(ctx context.Context, app string) error {
	offered := s.commands()
	commands := make([]wireCommand, 0, len(offered))
	for _, d := range offered {
		commands = append(commands, wireForm(d))
	}
	body := rest.JSON(commands)
	sum := sha256.Sum256(append([]byte(s.rest.Base+"\n"+app+"\n"), body...))
	hash := hex.EncodeToString(sum[:])
	if s.cfg.LoadHash != nil {
		if have, err := s.cfg.LoadHash(ctx); err == nil && have == hash {
			return nil
		}
	}
	save := func(hash string) error {
		if s.cfg.SaveHash == nil {
			return nil
		}
		if err := s.cfg.SaveHash(ctx, hash); err != nil {
			return fmt.Errorf("save fingerprint of commands: %w", err)
		}
		return nil
	}
	if err := save(""); err != nil { // from now on it is not certain what Discord has
		return err
	}
	switch whole, err := s.sendCommands(ctx, app, commands); {
	case err != nil:
		return fmt.Errorf("register commands: %w", err)
	case !whole: // the next start tries again
		return nil
	}
	return save(hash)
}

// sendCommands sends Discord the commands. One property that a server does not know makes it refuse all of them. Then they are sent without
// translations. If that is refused too, they are sent one by one, so that only those with the property are missing. whole reports whether
// all were taken as they are.
func (s *Session) sendCommands(ctx context.Context, app string, commands []wireCommand) (whole bool, err error) {
	send := func(method string, v any) error {
		_, err := s.rest.Call(ctx, rest.Request{Method: method, URL: discordgo.EndpointApplicationGlobalCommands(app), Body: rest.JSON(v)})
		return err
	}
	if err = send(http.MethodPut, commands); !malformed(err) {
		return true, err
	}
	s.log.Warn("the commands are refused, and sent without translations", "err", err)
	plain := make([]wireCommand, len(commands))
	for i, c := range commands {
		plain[i] = c.untranslated()
	}
	if err = send(http.MethodPut, plain); !malformed(err) {
		return false, err
	}
	accepted := 0
	for _, c := range plain {
		switch one := send(http.MethodPost, c); {
		case malformed(one):
			s.log.Warn("a command is refused, and nobody is offered it: update the program, or the server if it is not Discord", "command", c.Name, "err", one)
		case one != nil:
			return false, one
		default:
			accepted++
		}
	}
	if accepted == 0 {
		return false, err
	}
	return false, nil
}

// malformed reports whether a server does not accept the form of a request.
func malformed(err error) bool {
	kind := rest.KindOf(err)
	return (kind == rest.Rejected || kind == rest.TooLong) && rest.Code(err) != codeDailyCommands
}

// untranslated returns the command without its translations.
func (c wireCommand) untranslated() wireCommand {
	c.Names, c.Descriptions = nil, nil
	c.Options = slices.Clone(c.Options)
	for i := range c.Options {
		o := &c.Options[i]
		o.Names, o.Descriptions, o.Choices = nil, nil, slices.Clone(o.Choices)
		for j := range o.Choices {
			o.Choices[j].Names = nil
		}
	}
	return c
}
