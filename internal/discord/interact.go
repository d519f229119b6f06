package discord

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"
	"unicode/utf16"

	"github.com/bwmarrin/discordgo"

	"familiar/internal/context/turn"
	"familiar/internal/discord/rest"
)

// Discord waits three seconds for the first response to an interaction and fifteen minutes for the second.
// https://discord.com/developers/docs/interactions/receiving-and-responding
const (
	ackAfter   = 300 * time.Millisecond  // for an answer that is the first response itself; then the interaction is acknowledged
	ackLimit   = 2500 * time.Millisecond // from the interaction to its first response
	ackAttempt = 1200 * time.Millisecond // for one attempt, so that one that hangs is sent again within that time
	ackLate    = time.Second             // an interaction that comes later is acknowledged first: its giver may have been shown that it failed
	mostAcks   = 1000                    // first responses that are remembered
)

// ack is the first response to an interaction.
type ack struct {
	deferral, answer discordgo.InteractionResponseType // as an acknowledgement, and with the answer itself

	mu   sync.Mutex // held while the response is sent
	sent bool       // guarded by mu
}

// acks are the first responses to the latest interactions, by token. The zero value is ready.
type acks struct {
	mu     sync.Mutex
	all    map[string]*ack // guarded by mu
	tokens []string        // oldest first; guarded by mu
}

// add remembers the first response to an interaction. It reports false if the interaction came before.
func (as *acks) add(token string, a *ack) bool {
	as.mu.Lock()
	defer as.mu.Unlock()
	if as.all[token] != nil {
		return false
	}
	if as.all == nil {
		as.all = map[string]*ack{}
	}
	if len(as.tokens) == mostAcks {
		delete(as.all, as.tokens[0])
		as.tokens = as.tokens[1:]
	}
	as.all[token], as.tokens = a, append(as.tokens, token)
	return true
}

func (as *acks) get(token string) *ack {
	as.mu.Lock()
	defer as.mu.Unlock()
	return as.all[token]
}

// respondFirst sends the first response to an interaction, unless it was sent. first reports whether it was the one.
func (s *Session) respondFirst(ctx context.Context, a *ack, id, token string, body any) (first bool, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.sent {
		return false, nil
	}
	err = s.respond(ctx, id, token, body)
	taken := rest.Code(err) == discordgo.ErrCodeInteractionHasAlreadyBeenAcknowledged // by an attempt whose response got lost, or before a restart
	if a.sent = err == nil || taken; taken {
		return false, nil
	}
	return err == nil, err
}

// acknowledge tells Discord that an answer will follow.
func (s *Session) acknowledge(ctx context.Context, a *ack, id, token string) error {
	_, err := s.respondFirst(ctx, a, id, token, discordgo.InteractionResponse{Type: a.deferral, Data: &discordgo.InteractionResponseData{Flags: discordgo.MessageFlagsEphemeral}})
	return err
}

// onInteraction hands a command or a button to the bot, and acknowledges it if the answer is not there soon.
func (s *shard) onInteraction(ctx context.Context, i *interaction) {
	if !s.seen.add(i.ID, "") { // two sets of shards bring it while their number changes
		return
	}
	a := &ack{deferral: discordgo.InteractionResponseDeferredChannelMessageWithSource, answer: discordgo.InteractionResponseChannelMessageWithSource}
	switch i.Type {
	case discordgo.InteractionApplicationCommand:
		if s.opensForm(i.Data.Name) {
			s.gateway.Go("open a form", func() { s.openForm(ctx, i) })
			return
		}
	case discordgo.InteractionModalSubmit:
	case discordgo.InteractionApplicationCommandAutocomplete: // the suggestions are the first response
		s.gateway.EmitOnce(s.commandEvent(i))
		return
	case discordgo.InteractionMessageComponent:
		if i.Message != nil && i.Message.Flags&discordgo.MessageFlagsEphemeral != 0 { // a message that only this person sees: it is edited
			a.deferral, a.answer = discordgo.InteractionResponseDeferredMessageUpdate, discordgo.InteractionResponseUpdateMessage
		}
	default:
		return
	}
	if !s.acks.add(i.Token, a) {
		s.log.Info("an interaction came twice", "id", i.ID)
		return
	}
	e := s.commandEvent(i)
	s.gateway.Go("acknowledge an interaction", func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), ackLimit)
		defer cancel()
		if s.taken(ctx, i.ID) {
			return
		}
		rereads := e.Command.Kind == turn.MessageMenu && e.Command.Target == nil
		if first := rereads || s.Now().Sub(e.Message.At) > ackLate; first {
			if err := s.acknowledge(ctx, a, i.ID, i.Token); err != nil {
				s.log.Warn("interaction could not be acknowledged and is lost", "command", e.Command.Name, "err", err)
				return
			}
			s.reread(ctx, i, e.Command)
		}
		s.gateway.EmitOnce(e) // what is carried out now must not come again
		if rest.Sleep(ctx, ackAfter) == nil {
			if err := s.acknowledge(ctx, a, i.ID, i.Token); err != nil {
				s.log.Warn("interaction could not be acknowledged", "command", e.Command.Name, "err", err)
			}
		}
	})
}

// takenLimit is how long the disk may take to say whether an interaction was carried out. The bot asks again before it carries it out.
const takenLimit = time.Second

// taken reports whether an interaction was carried out before: a RESUME after a restart may bring it again.
func (s *Session) taken(ctx context.Context, id string) bool {
	if s.cfg.Taken == nil {
		return false
	}
	asked := make(chan bool, 1)
	s.gateway.Go("look for an interaction", func() {
		taken, err := s.cfg.Taken(ctx, id)
		if err != nil {
			s.log.Error("look for an interaction that came before", "err", err)
		}
		asked <- taken
	})
	select {
	case taken := <-asked:
		return taken
	case <-time.After(takenLimit):
		return false
	}
}

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
		Locale: cmp.Or(i.Locale, i.GuildLocale), Target: s.target(i),
	}
	if i.Type == discordgo.InteractionModalSubmit {
		cmd.Name, cmd.Button, cmd.Options = i.Data.CustomID, "", fields(i.Data.Components)
	}
	if cmd.Kind == turn.UserMenu {
		cmd.Person = i.Data.TargetID
	}
	cmd.Focused = options(cmd.Options, i.Data.Options)
	for _, f := range i.Data.Resolved.Attachments { // no command takes more than one
		for _, sent := range files("", []sentFile{f}, 0) {
			cmd.File = &sent
		}
	}
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
	if i.visiting() { // nothing of that place may be stored
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

// target returns the message on which a menu entry was chosen, or nil.
func (s *Session) target(i *interaction) *turn.Message {
	m := i.Data.Resolved.Messages[i.Data.TargetID]
	if m == nil || m.Author == nil {
		return nil
	}
	m.ChannelID, m.GuildID = i.ChannelID, i.GuildID
	target := s.message(m, nil)
	return &target
}

// reread asks Discord for the message on which a menu entry was chosen, if it did not come along. Where the app is not installed, the bot
// may not read it.
func (s *Session) reread(ctx context.Context, i *interaction, c *turn.Command) {
	if c.Kind != turn.MessageMenu || c.Target != nil || i.Data.TargetID == "" || c.Visiting {
		return
	}
	m, err := s.Message(ctx, i.ChannelID, i.Data.TargetID)
	if err != nil {
		s.log.Warn("the message of a menu could not be read", "command", c.Name, "err", err)
		return
	}
	c.Target = &m
}

// manages reports whether a member may manage the server. If the platform does not say, only the server's owner and the
// bot's operator may.
func (s *Session) manages(guildID string, m *member) bool {
	return s.may(guildID, m, discordgo.PermissionManageGuild)
}

// may reports whether a member has one of the given permissions or is an administrator.
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

// options collects option values as text, including those of a subcommand. It returns the name of the option that is
// being typed, or "".
func options(into map[string]string, from []option) (focused string) {
	for _, o := range from {
		if len(o.Options) > 0 {
			focused = cmp.Or(options(into, o.Options), focused)
			continue
		}
		if o.Focused {
			focused = o.Name
		}
		var text string
		if json.Unmarshal(o.Value, &text) != nil {
			text = string(o.Value) // a number or a boolean, as written
		}
		into[o.Name] = text
	}
	return focused
}

// reply is an answer in Discord's form. It has every field, so that an edit leaves nothing of an earlier answer. All of
// its text is in components (version 2). An answer of version 1 can become one of version 2, but not the other way.
// https://discord.com/developers/docs/components/reference
type reply struct {
	Mentions    allowedMentions              `json:"allowed_mentions"`
	Flags       discordgo.MessageFlags       `json:"flags"`
	Content     *string                      `json:"content"` // always null
	Components  []discordgo.MessageComponent `json:"components"`
	Attachments []attachment                 `json:"attachments"`
}

type attachment struct {
	ID       int    `json:"id"`
	Filename string `json:"filename"`

	Description string `json:"description,omitempty"`
}

// maxShown limits the text of all components of a message, in UTF-16 units.
const maxShown = 4000

// Respond answers a command that came out of Events. Only the person who gave it sees the answer. A second answer, also
// one to a button under the first, replaces it. Respond works for fifteen minutes, and three seconds for suggestions. At
// most 25 buttons are shown. The error is a *rest.Error.
func (s *Session) Respond(ctx context.Context, c turn.Command, a turn.Answer) (err error) {
	ctx, cancel := withDeadline(ctx)
	defer cancel()
	self := s.self.Load()
	if self == nil {
		return &rest.Error{Kind: rest.Unavailable, Message: "not connected yet"}
	}
	if c.Focused != "" {
		return s.suggest(ctx, c, a.Choices)
	}
	if err := checkLength(a.Text); err != nil {
		return err
	}
	shown, units := components(a)
	if units > maxShown {
		return &rest.Error{Kind: rest.TooLong, Message: "the sections have more than 4,000 characters"}
	}
	r := reply{Flags: discordgo.MessageFlagsSuppressEmbeds | discordgo.MessageFlagsIsComponentsV2, Components: shown, Attachments: []attachment{}}
	if first := s.acks.get(c.Token); first != nil {
		if a.File != nil {
			err = s.acknowledge(ctx, first, c.ID, c.Token)
		} else if done, failed := s.answerFirst(ctx, first, c, r); done || failed != nil {
			return failed
		}
		if err != nil {
			return err
		}
	}
	req := rest.Request{Method: http.MethodPatch, URL: discordgo.EndpointInteractionResponseActions(self.app, c.Token)}
	if a.File == nil {
		req.Body = rest.JSON(r)
	} else {
		r.Attachments = []attachment{{Filename: recordName(a)}}
		file := []*discordgo.File{{Name: recordName(a), Reader: bytes.NewReader(a.File)}}
		if req.Type, req.Body, err = discordgo.MultipartBodyWithJSON(r, file); err != nil {
			return fmt.Errorf("encode answer: %w", err)
		}
	}
	_, err = s.rest.Call(ctx, req)
	return err
}

// answerFirst sends an answer as the first response, so that one request does, unless that was sent. done reports whether it was the one.
func (s *Session) answerFirst(ctx context.Context, first *ack, c turn.Command, r reply) (done bool, err error) {
	if r.Flags |= discordgo.MessageFlagsEphemeral; first.answer == discordgo.InteractionResponseUpdateMessage {
		r.Flags &^= discordgo.MessageFlagsEphemeral // the message has it already
	}
	return s.respondFirst(ctx, first, c.ID, c.Token, struct {
		Type discordgo.InteractionResponseType `json:"type"`
		Data reply                             `json:"data"`
	}{first.answer, r})
}

func recordName(a turn.Answer) string { return cmp.Or(a.Name, "record.txt") }

// components returns an answer as Discord shows it, and the length of its text in UTF-16 units. The text comes first,
// then the sections in a frame with rules between them, the file, and the buttons.
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
	list := []wireChoice{} // never null
	for _, choice := range choices[:min(len(choices), 25)] {
		list = append(list, wireChoice{Name: choice.Name, Names: locales(choice.Names), Value: choice.Value})
	}
	body := map[string]any{"type": discordgo.InteractionApplicationCommandAutocompleteResult, "data": map[string]any{"choices": list}}
	return s.respond(ctx, c.ID, c.Token, body)
}

// respond sends the first response to an interaction.
func (s *Session) respond(ctx context.Context, id, token string, body any) error {
	_, err := s.rest.Call(ctx, rest.Request{Method: http.MethodPost, URL: discordgo.EndpointInteractionResponse(id, token), Body: rest.JSON(body), Attempt: ackAttempt})
	return err
}

// rows spreads buttons evenly over at most five rows of at most five.
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

// componentLabel is the type of a label over one field of a form.
// https://discord.com/developers/docs/components/reference#label
const componentLabel = 18

// formPart is a part of a form, both as it is opened and as it comes back. It is a label with its field, or a row of fields.
type formPart struct {
	Type       int        `json:"type"`
	Label      string     `json:"label,omitempty"`
	Component  *formPart  `json:"component,omitempty"`
	Components []formPart `json:"components,omitempty"`
	CustomID   string     `json:"custom_id,omitempty"`
	Style      int        `json:"style,omitempty"`
	Value      string     `json:"value,omitempty"`
	MaxLength  int        `json:"max_length,omitempty"`
	Required   *bool      `json:"required,omitempty"`
}

func (s *Session) opensForm(command string) bool {
	return s.cfg.Form != nil && slices.ContainsFunc(s.commands(), func(d turn.Definition) bool { return d.Form && d.Name == command })
}

// openForm answers a command with its form, or with the reason why a person may not open it. A form must be the first
// response, within three seconds, so the command is not acknowledged before.
// https://discord.com/developers/docs/interactions/receiving-and-responding#interaction-response-object-modal
func (s *Session) openForm(ctx context.Context, i *interaction) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), ackLimit)
	defer cancel()
	e := s.commandEvent(i)
	s.place(&e)
	form, refusal := s.cfg.Form(ctx, e)
	type answer struct {
		Type discordgo.InteractionResponseType `json:"type"`
		Data any                               `json:"data"`
	}
	a := answer{discordgo.InteractionResponseModal, map[string]any{"custom_id": i.Data.Name, "title": form.Title, "components": []formPart{{
		Type: componentLabel, Label: form.Label,
		Component: &formPart{Type: int(discordgo.TextInputComponent), CustomID: form.Option, Style: int(discordgo.TextInputParagraph), Value: form.Text, MaxLength: form.Most, Required: new(bool)},
	}}}}
	if refusal != "" {
		a = answer{discordgo.InteractionResponseChannelMessageWithSource, wireMessage{Content: refusal, Flags: discordgo.MessageFlagsEphemeral}}
	}
	err := s.respond(ctx, i.ID, i.Token, a)
	if err != nil && rest.Code(err) != discordgo.ErrCodeInteractionHasAlreadyBeenAcknowledged {
		s.log.Warn("a form could not be opened", "command", i.Data.Name, "err", err)
	}
}

func fields(parts []formPart) map[string]string {
	values := map[string]string{}
	for _, p := range parts {
		all := p.Components
		if p.Component != nil {
			all = append(all, *p.Component)
		}
		for _, field := range all {
			if field.CustomID != "" {
				values[field.CustomID] = field.Value
			}
		}
	}
	return values
}
