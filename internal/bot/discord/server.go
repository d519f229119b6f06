package discord

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/bwmarrin/discordgo"

	"familiar/internal/context/turn"
)

// What the bot reads of a server when it is asked about it. All of it is what the bot itself may read: whoever asks must be allowed to,
// too, which Readable says.

// serverLimit is how long Discord may take for one of these.
const serverLimit = 3 * time.Second

// Channels lists the channels of a server, and the threads in them that are known.
func (s *Session) Channels(guildID string) []turn.Channel { return s.names.listChannels(guildID) }

// ChannelName returns the name of a channel, empty if it is not known.
func (s *Session) ChannelName(id string) string {
	c, _ := s.names.channel(id)
	return c.Name
}

func (d *directory) listChannels(guildID string) (all []turn.Channel) {
	d.mu.RLock()
	defer d.mu.RUnlock()
	if g := d.guilds[guildID]; g != nil {
		for _, c := range g.channels {
			all = append(all, turn.Channel{ID: c.ID, Name: c.Name, Topic: c.Topic})
		}
	}
	return all
}

// SearchMessages asks Discord's own search for messages of a server, those first that it thinks fit best. The error is a *SendError: of
// kind Forbidden or Gone where the search is not granted, of status 202 while Discord builds its index.
// https://discord.com/developers/docs/resources/message#search-guild-messages
func (s *Session) SearchMessages(ctx context.Context, guildID string, q turn.MessageSearch) ([]turn.Message, error) {
	const longest, most = 1024, "25" // of the words, and of messages
	params := url.Values{"limit": {most}}
	if q.Words != "" {
		params.Set("content", firstRunes(q.Words, longest))
	}
	params["author_id"], params["channel_id"] = q.Authors, q.Channels
	if !q.From.IsZero() {
		params.Set("min_id", flakeAt(q.From).String())
	}
	if !q.To.IsZero() {
		params.Set("max_id", flakeAt(q.To).String())
	}
	var found struct {
		Messages [][]message `json:"messages"` // each alone: Discord used to send what stands around it, too
	}
	if err := s.fetchJSON(ctx, discordgo.EndpointGuild(guildID)+"/messages/search?"+params.Encode(), &found); err != nil {
		return nil, err
	}
	var all []message
	for _, some := range found.Messages {
		all = append(all, some...)
	}
	return s.written(guildID, all), nil
}

// Pins returns the pinned messages of a channel, the newest pin first. The error is a *SendError.
// https://discord.com/developers/docs/resources/message#get-channel-pins
func (s *Session) Pins(ctx context.Context, guildID, channelID string) ([]turn.Message, error) {
	var found struct {
		Items []struct {
			Message message `json:"message"`
		} `json:"items"`
	}
	if err := s.fetchJSON(ctx, discordgo.EndpointChannel(channelID)+"/messages/pins?limit=50", &found); err != nil {
		return nil, err
	}
	var all []message
	for _, i := range found.Items {
		all = append(all, i.Message)
	}
	return s.written(guildID, all), nil
}

// Linked returns a message by its ids. The error is a *SendError.
func (s *Session) Linked(ctx context.Context, guildID, channelID, messageID string) (turn.Message, error) {
	var m message
	if err := s.fetchJSON(ctx, discordgo.EndpointChannelMessage(channelID, messageID), &m); err != nil {
		return turn.Message{}, err
	}
	if found := s.written(guildID, []message{m}); len(found) == 1 && m.ID == messageID && m.ChannelID == channelID {
		return found[0], nil
	}
	return turn.Message{}, &SendError{Kind: Gone, Message: "the answer is not that message"}
}

// fetchJSON asks for one object and reads it into v.
func (s *Session) fetchJSON(ctx context.Context, address string, v any) error {
	ctx, cancel := context.WithTimeout(ctx, serverLimit)
	defer cancel()
	body, err := s.call(ctx, request{method: http.MethodGet, url: address, rank: rankEdit, once: true})
	if err != nil {
		return err
	}
	if err := decode(body, v); err != nil {
		return &SendError{Kind: Unavailable, Message: fmt.Sprintf("read answer: %v", err)}
	}
	return nil
}

// written returns the messages of people and of the bot itself.
func (s *Session) written(guildID string, all []message) (found []turn.Message) {
	for i := range all {
		m := &all[i]
		m.GuildID = guildID // which they have in the gateway's events alone
		if m.Author != nil && (s.fromPerson(m) || m.Author.ID == s.selfID()) {
			found = append(found, s.message(m, nil))
		}
	}
	return found
}

func firstRunes(s string, n int) string {
	for i := range s {
		if n--; n < 0 {
			return s[:i]
		}
	}
	return s
}
