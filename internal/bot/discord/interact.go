package discord

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"mime/multipart"
	"net/http"
	"slices"
	"strconv"
	"time"
	"unicode/utf16"

	"github.com/bwmarrin/discordgo"

	"familiar/internal/context/turn"
)

// Discord waits three seconds for an acknowledgement, so one that hangs is sent again before that.
const (
	ackLimit   = 2500 * time.Millisecond
	ackAttempt = 1200 * time.Millisecond
)

// onInteraction acknowledges a command or a button at once, and only then hands it to the bot: Discord waits three
// seconds for the first answer, and fifteen minutes for the second.
// https://discord.com/developers/docs/interactions/receiving-and-responding
func (s *Session) onInteraction(ctx context.Context, i *interaction) {
	answer := discordgo.InteractionResponse{Type: discordgo.InteractionResponseDeferredChannelMessageWithSource,
		Data: &discordgo.InteractionResponseData{Flags: discordgo.MessageFlagsEphemeral}}
	switch i.Type {
	case discordgo.InteractionApplicationCommand:
		if s.opensForm(i.Data.Name) {
			s.tasks.Go(func() { s.openForm(ctx, i) })
			return
		}
	case discordgo.InteractionModalSubmit:
	case discordgo.InteractionApplicationCommandAutocomplete: // the suggestions are the first answer
		s.enqueue(queued{event: s.commandEvent(i)})
		return
	case discordgo.InteractionMessageComponent:
		if i.Message != nil && i.Message.Flags&discordgo.MessageFlagsEphemeral != 0 { // the presser's own: it is changed
			answer = discordgo.InteractionResponse{Type: discordgo.InteractionResponseDeferredMessageUpdate}
		}
	default:
		return
	}
	e := s.commandEvent(i)
	s.tasks.Go(func() {
		defer s.logPanic("acknowledge an interaction")
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), ackLimit)
		defer cancel()
		_, err := s.call(ctx, request{method: http.MethodPost, url: discordgo.EndpointInteractionResponse(i.ID, i.Token), body: mustJSON(answer), attempt: ackAttempt})
		if err != nil && code(err) != discordgo.ErrCodeInteractionHasAlreadyBeenAcknowledged { // as the attempt before did
			s.log.Warn("interaction could not be acknowledged and is lost", "command", e.Command.Name, "err", err)
			return
		}
		s.enqueue(queued{event: e}) // it would not come again: it is acknowledged
	})
}

// commandEvent makes an event of an interaction.
func (s *Session) commandEvent(i *interaction) turn.Event {
	by, who := i.User, i.Member
	if who != nil {
		by = &who.User
	}
	if by == nil {
		by = &user{}
	}
	cmd := &turn.Command{
		Kind: commandKind(i.Data.Type), Name: i.Data.Name, Button: i.Data.CustomID, ID: i.ID, Token: i.Token, Options: map[string]string{},
		By: turn.Author{ID: by.ID, Name: by.name(who)}, Admin: s.manages(i.GuildID, who), Deletes: s.may(i.GuildID, who, discordgo.PermissionManageMessages),
		Locale: orElse(i.Locale, i.GuildLocale), Target: s.target(i),
	}
	if i.Type == discordgo.InteractionModalSubmit {
		cmd.Name, cmd.Button, cmd.Options = i.Data.CustomID, "", fields(i.Data.Components)
	}
	cmd.Focused = options(cmd.Options, i.Data.Options)
	at, err := discordgo.SnowflakeTimestamp(i.ID)
	if err != nil {
		at = time.Now()
	}
	e := turn.Event{
		Kind: turn.Ordered, ID: i.ID, GuildID: i.GuildID, Direct: i.GuildID == "", Command: cmd, Reader: who.reader(by.ID),
		Message: turn.Message{ChannelID: i.ChannelID, Author: cmd.By, At: at},
	}
	if i.Message != nil {
		e.Message.ID = i.Message.ID
	}
	if i.visiting() { // what is kept must not be of that place
		cmd.Visiting, cmd.Admin, cmd.Deletes = true, false, false
		e.GuildID, e.Direct, e.Message.ChannelID = "", true, "user:"+by.ID
	}
	return e
}

func commandKind(t discordgo.ApplicationCommandType) turn.CommandKind {
	for kind, wire := range commandTypes {
		if wire == t {
			return kind
		}
	}
	return turn.ChatInput
}

// target returns the message that an entry of its menu was chosen for, or nil.
func (s *Session) target(i *interaction) *turn.Message {
	m := i.Data.Resolved.Messages[i.Data.TargetID]
	if m == nil || m.Author == nil {
		return nil
	}
	m.ChannelID, m.GuildID = i.ChannelID, i.GuildID
	target := s.message(m, nil)
	return &target
}

// manages reports whether a member may manage the server. Where the platform does not say so, only the server's owner and the
// bot's operator may.
func (s *Session) manages(guildID string, m *member) bool {
	return s.may(guildID, m, discordgo.PermissionManageGuild)
}

// may reports whether a member has one of some permissions, or all there are.
func (s *Session) may(guildID string, m *member, permissions int64) bool {
	switch {
	case m == nil || m.User.ID == "":
		return false
	case m.Permissions == "":
		return m.User.ID == s.names.owner(guildID) || m.User.ID == s.cfg.Operator
	}
	bits, err := strconv.ParseInt(m.Permissions, 10, 64)
	return err == nil && bits&(permissions|discordgo.PermissionAdministrator) != 0
}

// options collects option values as text; a subcommand's options are taken with it. It returns the name of the one that is being
// typed, or "".
func options(into map[string]string, from []option) (focused string) {
	for _, o := range from {
		if len(o.Options) > 0 {
			focused = orElse(options(into, o.Options), focused)
			continue
		}
		if o.Focused {
			focused = o.Name
		}
		var text string
		if json.Unmarshal(o.Value, &text) != nil {
			text = string(o.Value) // a number or true and false, as written
		}
		into[o.Name] = text
	}
	return focused
}

// reply is an answer in Discord's form. It has every field, so that an edit leaves nothing of the answer before; all of its text stands
// in components (version 2), which an answer of version 1 can be turned into but not back.
// https://discord.com/developers/docs/components/reference
type reply struct {
	Mentions    allowed                      `json:"allowed_mentions"`
	Flags       discordgo.MessageFlags       `json:"flags"`
	Content     *string                      `json:"content"` // null
	Components  []discordgo.MessageComponent `json:"components"`
	Attachments []attachment                 `json:"attachments"`
}

type attachment struct {
	ID       int    `json:"id"`
	Filename string `json:"filename"`
}

// maxShown is how much text all components of a message may have.
const maxShown = 4000

// Respond answers a command that came out of Events, to the person who gave it alone; answering again, or after a press under
// such an answer, replaces it. It works for fifteen minutes, for suggestions three seconds. At most 25 buttons are shown. The error is
// a *SendError.
func (s *Session) Respond(ctx context.Context, c turn.Command, a turn.Answer) error {
	ctx, cancel := withDeadline(ctx)
	defer cancel()
	self := s.self.Load()
	if self == nil {
		return &SendError{Kind: Unavailable, Message: "not connected yet"}
	}
	if c.Focused != "" {
		return s.suggest(ctx, c, a.Choices)
	}
	if err := checkLength(a.Text); err != nil {
		return err
	}
	shown, units := components(a)
	if units > maxShown {
		return &SendError{Kind: TooLong, Message: "the sections have more than 4,000 characters"}
	}
	r := reply{Flags: discordgo.MessageFlagsSuppressEmbeds | discordgo.MessageFlagsIsComponentsV2, Components: shown, Attachments: []attachment{}}
	req := request{method: http.MethodPatch, url: discordgo.EndpointInteractionResponseActions(self.app, c.Token)}
	if a.File == nil {
		req.body = mustJSON(r)
	} else {
		r.Attachments = []attachment{{Filename: recordName(a)}}
		var err error
		if req.contentType, req.body, err = form(r, a.File); err != nil {
			return fmt.Errorf("encode answer: %w", err)
		}
	}
	_, err := s.call(ctx, req)
	return err
}

func recordName(a turn.Answer) string { return orElse(a.Name, "record.txt") }

// components are an answer as Discord shows it, with the UTF-16 units of its text: the text, the sections in a frame with rules between
// them, the file, the buttons.
func components(a turn.Answer) (all []discordgo.MessageComponent, units int) {
	say := func(text string) discordgo.TextDisplay {
		units += len(utf16.Encode([]rune(text)))
		return discordgo.TextDisplay{Content: text}
	}
	if a.Text != "" {
		all = append(all, say(a.Text))
	}
	var frame discordgo.Container
	for i, section := range a.Sections {
		if i > 0 {
			frame.Components = append(frame.Components, discordgo.Separator{})
		}
		text := "```\n" + section.Text + "\n```"
		if section.Title != "" {
			text = "**" + section.Title + "**\n" + text
		}
		frame.Components = append(frame.Components, say(text))
	}
	if len(frame.Components) > 0 {
		all = append(all, frame)
	}
	if a.File != nil {
		all = append(all, discordgo.FileComponent{File: discordgo.UnfurledMediaItem{URL: "attachment://" + recordName(a)}})
	}
	return append(all, rows(a.Buttons)...), units
}

// suggest shows values for the option that is being typed. Discord waits three seconds for them.
func (s *Session) suggest(ctx context.Context, c turn.Command, choices []turn.Choice) error {
	list := []wireChoice{} // not null, where there is none
	for _, choice := range choices[:min(len(choices), 25)] {
		list = append(list, wireChoice{Name: choice.Name, Names: locales(choice.Names), Value: choice.Value})
	}
	body := mustJSON(map[string]any{"type": discordgo.InteractionApplicationCommandAutocompleteResult, "data": map[string]any{"choices": list}})
	_, err := s.call(ctx, request{method: http.MethodPost, url: discordgo.EndpointInteractionResponse(c.ID, c.Token), body: body, attempt: ackAttempt})
	return err
}

// rows spreads buttons evenly over rows of five at most, five rows at most.
func rows(buttons []turn.Button) []discordgo.MessageComponent {
	rows := []discordgo.MessageComponent{}
	buttons = buttons[:min(len(buttons), 25)]
	if len(buttons) == 0 {
		return rows
	}
	lines := (len(buttons) + 4) / 5
	for some := range slices.Chunk(buttons, (len(buttons)+lines-1)/lines) {
		var row discordgo.ActionsRow
		for _, b := range some {
			row.Components = append(row.Components, discordgo.Button{
				Style: discordgo.SecondaryButton, Label: b.Label, CustomID: b.ID, Disabled: b.Disabled,
			})
		}
		rows = append(rows, row)
	}
	return rows
}

// form encodes an answer with its file.
// https://discord.com/developers/docs/reference#uploading-files
func form(r reply, file []byte) (contentType string, body []byte, err error) {
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	if err = w.WriteField("payload_json", string(mustJSON(r))); err != nil {
		return "", nil, err
	}
	part, err := w.CreateFormFile("files[0]", r.Attachments[0].Filename)
	if err != nil {
		return "", nil, err
	}
	if _, err = part.Write(file); err != nil {
		return "", nil, err
	}
	if err = w.Close(); err != nil {
		return "", nil, err
	}
	return w.FormDataContentType(), b.Bytes(), nil
}
