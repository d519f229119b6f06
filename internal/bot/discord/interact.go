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
		Name: i.Data.Name, Button: i.Data.CustomID, Token: i.Token, Options: map[string]string{},
		By: turn.Author{ID: by.ID, Name: by.name(who)}, Admin: s.manages(i.GuildID, who), Deletes: s.may(i.GuildID, who, discordgo.PermissionManageMessages),
	}
	options(cmd.Options, i.Data.Options)
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
	return e
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

// options collects option values as text; a subcommand's options are taken with it.
func options(into map[string]string, from []option) {
	for _, o := range from {
		if len(o.Options) > 0 {
			options(into, o.Options)
			continue
		}
		var text string
		if json.Unmarshal(o.Value, &text) != nil {
			text = string(o.Value) // a number or true and false, as written
		}
		into[o.Name] = text
	}
}

// reply is an answer in Discord's form. It has every field, so that an edit leaves nothing of the answer before.
type reply struct {
	outgoing
	Components  []discordgo.MessageComponent `json:"components"`
	Attachments []attachment                 `json:"attachments"`
}

type attachment struct {
	ID       int    `json:"id"`
	Filename string `json:"filename"`
}

// Respond answers a command that came out of Events, to the person who gave it alone; answering again, or after a press under
// such an answer, replaces it. It works for fifteen minutes. At most 25 buttons are shown. The error is a *SendError.
func (s *Session) Respond(ctx context.Context, c turn.Command, a turn.Answer) error {
	ctx, cancel := withDeadline(ctx)
	defer cancel()
	self := s.self.Load()
	if self == nil {
		return &SendError{Kind: Unavailable, Message: "not connected yet"}
	}
	if err := checkLength(a.Text); err != nil {
		return err
	}
	r := reply{
		outgoing:    outgoing{Content: a.Text, Flags: discordgo.MessageFlagsSuppressEmbeds},
		Components:  rows(a.Buttons),
		Attachments: []attachment{},
	}
	req := request{method: http.MethodPatch, url: discordgo.EndpointInteractionResponseActions(self.app, c.Token)}
	if a.File == nil {
		req.body = mustJSON(r)
	} else {
		r.Attachments = []attachment{{Filename: orElse(a.Name, "record.txt")}}
		var err error
		if req.contentType, req.body, err = form(r, a.File); err != nil {
			return fmt.Errorf("encode answer: %w", err)
		}
	}
	_, err := s.call(ctx, req)
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
