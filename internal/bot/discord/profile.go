package discord

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"

	"github.com/bwmarrin/discordgo"

	"familiar/internal/context/turn"
)

const maxNick = 32 // characters of a nickname

// Profile changes how the bot looks in one server. The error says what would help.
// https://discord.com/developers/docs/resources/guild#modify-current-member
func (s *Session) Profile(ctx context.Context, guildID string, p turn.Profile) error {
	ctx, cancel := withDeadline(ctx)
	defer cancel()
	var body struct {
		Nick   *string `json:"nick"`
		Avatar *string `json:"avatar"`
	}
	if p.Name != "" {
		name := []rune(PersonaName(p.Name))
		nick := string(name[:min(len(name), maxNick)])
		body.Nick = &nick
	}
	if p.Picture != nil {
		picture := "data:image/png;base64," + base64.StdEncoding.EncodeToString(p.Picture)
		body.Avatar = &picture
	}
	_, err := s.call(ctx, request{method: http.MethodPatch, url: discordgo.EndpointGuildMember(guildID, "@me"), body: mustJSON(body), rank: rankBack})
	if e := (*SendError)(nil); errors.As(err, &e) && e.Kind == Forbidden {
		return fmt.Errorf("give the bot's role the permission Change Nickname: %w", err)
	}
	return err
}
