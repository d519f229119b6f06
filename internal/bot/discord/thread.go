package discord

import (
	"context"
	"net/http"

	"github.com/bwmarrin/discordgo"

	"familiar/internal/context/turn"
)

// codeThreadExists is Discord's answer where a message has a thread already. discordgo does not know it.
const codeThreadExists = 160004

// openThread opens a thread for a message and returns its id, which is the message's.
// https://discord.com/developers/docs/resources/channel#start-thread-from-message
func (s *Session) openThread(ctx context.Context, p turn.Post) (string, error) {
	body, err := s.call(ctx, request{
		method: http.MethodPost, rank: rankCreate, url: discordgo.EndpointChannelMessageThread(p.ChannelID, p.ID),
		body: mustJSON(map[string]any{"name": p.Thread, "auto_archive_duration": 1440}), // minutes
	})
	switch {
	case code(err) == codeThreadExists:
		return p.ID, nil
	case err != nil:
		return "", err
	}
	var c channel
	if err := decode(body, &c); err != nil || c.ID == "" {
		return "", &SendError{Kind: Unavailable, Status: http.StatusOK, Message: "the answer is not a thread"}
	}
	s.names.setChannel(c) // before the gateway says so
	return c.ID, nil
}
