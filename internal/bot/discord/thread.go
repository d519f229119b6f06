package discord

import (
	"context"
	"net/http"

	"github.com/bwmarrin/discordgo"

	"familiar/internal/context/turn"
)

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

// callIn sends a request about a message of a channel. A thread that was archived meanwhile, which a new message would open again and an
// edit does not, is opened for it; one that is locked stays closed.
// https://discord.com/developers/docs/topics/threads#active-archived-threads
func (s *Session) callIn(ctx context.Context, channelID string, r request) ([]byte, error) {
	body, err := s.call(ctx, r)
	if code(err) != discordgo.ErrCodePerformedOperationOnArchivedThread {
		return body, err
	}
	_, locked := s.call(ctx, request{method: http.MethodPatch, rank: rankFinal, url: discordgo.EndpointChannel(channelID), body: []byte(`{"archived":false}`)})
	if locked != nil {
		s.log.Info("a thread is archived and cannot be opened again", "thread", channelID, "err", locked)
		return nil, err
	}
	return s.call(ctx, r)
}
