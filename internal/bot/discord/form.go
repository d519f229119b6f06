package discord

import (
	"context"
	"net/http"
	"slices"

	"github.com/bwmarrin/discordgo"

	"familiar/internal/context/turn"
)

// componentLabel puts a label over one field of a form.
// https://discord.com/developers/docs/components/reference#label
const componentLabel = 18

// formPart is a part of a form, as it is opened and as it comes back: a label with its field, or a row of fields.
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

// openForm answers a command with its form, or with why a person may not open it. A form must be the first answer, within three
// seconds: nothing can be acknowledged before.
// https://discord.com/developers/docs/interactions/receiving-and-responding#interaction-response-object-modal
func (s *Session) openForm(ctx context.Context, i *interaction) {
	defer s.logPanic("open a form")
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
		a = answer{discordgo.InteractionResponseChannelMessageWithSource, outgoing{Content: refusal, Flags: discordgo.MessageFlagsEphemeral}}
	}
	_, err := s.call(ctx, request{method: http.MethodPost, url: discordgo.EndpointInteractionResponse(i.ID, i.Token), body: mustJSON(a), attempt: ackAttempt})
	if err != nil && code(err) != discordgo.ErrCodeInteractionHasAlreadyBeenAcknowledged {
		s.log.Warn("a form could not be opened", "command", i.Data.Name, "err", err)
	}
}

// fields returns what was written into a form, by field.
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
