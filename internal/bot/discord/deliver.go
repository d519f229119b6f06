package discord

import (
	"context"
	"crypto/rand"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf16"

	"github.com/bwmarrin/discordgo"

	"familiar/internal/context/turn"
)

const (
	maxText       = 2000            // UTF-16 units in a message
	maxNonce      = 25              // characters in a nonce
	refusalMemory = 5 * time.Minute // how long a channel that refused us is not asked again
	requestLimit  = time.Minute     // for a request whose caller set no deadline, with the wait for its place
)

// outgoing is a message as every create and edit carries it: nobody is pinged and no link is embedded, whatever the
// text says. An edit that left these out would fall back to Discord's defaults, which ping.
// https://discord.com/developers/docs/resources/message#create-message
type outgoing struct {
	Content      string                 `json:"content"`
	Mentions     allowed                `json:"allowed_mentions"`
	Flags        discordgo.MessageFlags `json:"flags"`
	Nonce        string                 `json:"nonce,omitempty"`
	EnforceNonce bool                   `json:"enforce_nonce,omitempty"`
	Reference    *reference             `json:"message_reference,omitempty"`
}

// post is a message of the channel. An edit always says which buttons there are: one that left them out would leave the old ones.
type post struct {
	outgoing
	Components []discordgo.MessageComponent `json:"components,omitzero"`
}

// allowed is whom a message may ping: nobody.
type allowed struct{}

func (allowed) MarshalJSON() ([]byte, error) { return []byte(`{"parse":[]}`), nil }

type reference struct {
	MessageID       string `json:"message_id"`
	FailIfNotExists bool   `json:"fail_if_not_exists"` // always false: the question may be deleted meanwhile
}

// Deliver sends a new message, or changes the text of an old one, and returns its id. It waits for limits to pass and retries
// temporary failures, within ctx (or a minute, if it has no deadline), always with the same nonce: whatever happens on the way, the
// message is there once. The error is a *SendError.
func (s *Session) Deliver(ctx context.Context, p turn.Post) (string, error) {
	ctx, cancel := withDeadline(ctx)
	defer cancel()
	if err := checkLength(p.Text); err != nil {
		return "", err
	}
	if err := s.refusals.check(p.ChannelID); err != nil {
		return "", err
	}
	if p.ID != "" && p.Thread != "" {
		return s.openThread(ctx, p)
	}
	if p.ID != "" && p.Reaction != "" {
		return p.ID, s.putReaction(ctx, p)
	}
	if p.Persona != nil {
		if id, done, err := s.deliverAs(ctx, p); done {
			s.learnRefusal(p.ChannelID, err)
			return id, err
		}
		if p.Text != "" {
			p.Text = Labelled(p.Persona.Name, p.Text)
		}
	}
	out := post{outgoing: outgoing{Content: p.Text, Flags: discordgo.MessageFlagsSuppressEmbeds}}
	if p.ID != "" || len(p.Buttons) > 0 {
		out.Components = rows(p.Buttons)
	}
	if p.ID != "" && p.Text == "" {
		return p.ID, s.deletePost(ctx, p)
	}
	req := request{method: http.MethodPatch, url: discordgo.EndpointChannelMessage(p.ChannelID, p.ID), rank: rankEdit, passing: p.Passing}
	if p.Final {
		req.rank = rankFinal
	}
	if p.ID == "" {
		req = request{method: http.MethodPost, url: discordgo.EndpointChannelMessages(p.ChannelID), rank: rankCreate}
		out.Nonce, out.EnforceNonce = nonce(p.Nonce), true
		if p.ReplyTo != "" {
			out.Reference = &reference{MessageID: p.ReplyTo}
		}
	}
	req.body = mustJSON(out)
	body, err := s.callIn(ctx, p.ChannelID, req)
	if out.Reference != nil && refersInVain(err) {
		out.Reference = nil // an answer that is no reply is better than none
		req.body = mustJSON(out)
		body, err = s.callIn(ctx, p.ChannelID, req)
	}
	if p.ID != "" && p.Persona == nil && code(err) == discordgo.ErrCodeCannotEditFromAnotherUser {
		p.Persona = &turn.Persona{} // the channel had several characters when it was written
		id, _, err := s.deliverAs(ctx, p)
		return id, err
	}
	if err != nil {
		s.learnRefusal(p.ChannelID, err)
		return "", err
	}
	var sent struct {
		ID         string   `json:"id"`
		Content    *string  `json:"content"`
		Components []keyRow `json:"components"`
	}
	if err := decode(body, &sent); err != nil || sent.ID == "" {
		return "", &SendError{Kind: Unavailable, Status: http.StatusOK, Message: "the answer is not a message"}
	}
	if p.ID == "" && sent.Content != nil && !(sameWords(*sent.Content, p.Text) && sameButtons(sent.Components, p.Buttons)) {
		return s.Deliver(ctx, turn.Post{ID: sent.ID, ChannelID: p.ChannelID, Text: p.Text, Buttons: p.Buttons, Final: true}) // the nonce was an older message's
	}
	return sent.ID, nil
}

// sameWords compares two texts but for white space, which Discord trims.
func sameWords(a, b string) bool { return slices.Equal(strings.Fields(a), strings.Fields(b)) }

// keyRow is a row of buttons in an answer of Discord.
type keyRow struct {
	Components []struct {
		CustomID string `json:"custom_id"`
	} `json:"components"`
}

func sameButtons(rows []keyRow, buttons []turn.Button) bool {
	n := 0
	for _, row := range rows {
		for _, b := range row.Components {
			if n == len(buttons) || b.CustomID != buttons[n].ID {
				return false
			}
			n++
		}
	}
	return n == len(buttons)
}

// refersInVain reports whether a message was refused for what it replies to.
func refersInVain(err error) bool {
	var e *SendError
	if !errors.As(err, &e) {
		return false
	}
	switch e.Code {
	case discordgo.ErrCodeCannotReplyWithoutPermissionToReadMessageHistory, discordgo.ErrCodeUnknownMessage:
		return true
	case discordgo.ErrCodeInvalidFormBody:
		return strings.Contains(e.Message, "message_reference")
	}
	return false
}

// checkLength refuses a text that is too long for a message, in UTF-16 units.
func checkLength(text string) error {
	if len(utf16.Encode([]rune(text))) > maxText {
		return &SendError{Kind: TooLong, Message: "the text has more than 2,000 characters"}
	}
	return nil
}

// deletePost deletes a message. That it is gone already is no error.
func (s *Session) deletePost(ctx context.Context, p turn.Post) error {
	_, err := s.callIn(ctx, p.ChannelID, request{method: http.MethodDelete, url: discordgo.EndpointChannelMessage(p.ChannelID, p.ID), rank: rankFinal})
	if e := (*SendError)(nil); errors.As(err, &e) && e.Kind == Gone {
		return nil
	}
	return err
}

// Typing shows the bot as typing, for ten seconds or until its next message. It is not retried, and not sent at all where a message
// would have to wait for it; that is no error.
func (s *Session) Typing(ctx context.Context, channelID string) error {
	ctx, cancel := withDeadline(ctx)
	defer cancel()
	if err := s.refusals.check(channelID); err != nil {
		return err
	}
	_, err := s.call(ctx, request{method: http.MethodPost, url: discordgo.EndpointChannelTyping(channelID), spare: true})
	if err != nil {
		s.learnRefusal(channelID, err)
	}
	return err
}

// withDeadline gives a context a deadline, if it has none.
func withDeadline(ctx context.Context) (context.Context, context.CancelFunc) {
	if _, ok := ctx.Deadline(); ok {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, requestLimit)
}

// nonce cuts a nonce to the length that Discord allows, and makes a random one if there is none.
func nonce(given string) string {
	if given == "" {
		given = rand.Text()
	}
	return given[:min(len(given), maxNonce)]
}

// code returns Discord's error code, or 0.
func code(err error) int {
	var e *SendError
	if errors.As(err, &e) {
		return e.Code
	}
	return 0
}

// refusals remembers the channels where the bot may not write. Asking again and again counts towards the 10,000 invalid
// requests in ten minutes after which Discord bans the address.
type refusals struct {
	mu    sync.Mutex
	until map[string]time.Time // guarded by mu
}

func (c *refusals) check(channelID string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	until, ok := c.until[channelID]
	if !ok {
		return nil
	}
	if !until.After(time.Now()) {
		delete(c.until, channelID)
		return nil
	}
	return &SendError{Kind: Forbidden, Status: http.StatusForbidden, Code: discordgo.ErrCodeMissingPermissions,
		Message: "the bot may not write in this channel (remembered)"}
}

// learn reports whether the channel has refused the bot, where it did not before.
func (c *refusals) learn(channelID string, err error) (news bool) {
	if n := code(err); n != discordgo.ErrCodeMissingAccess && n != discordgo.ErrCodeMissingPermissions {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.until == nil || len(c.until) > 10_000 {
		c.until = map[string]time.Time{}
	}
	_, again := c.until[channelID]
	c.until[channelID] = time.Now().Add(refusalMemory)
	return !again
}

// learnRefusal remembers that the bot may not write in a channel, and says what would help.
func (s *Session) learnRefusal(channelID string, err error) {
	if !s.refusals.learn(channelID, err) {
		return
	}
	c, _ := s.names.channel(channelID)
	needs, where := "Send Messages", orElse(c.Name, channelID)
	if c.thread() {
		above, _ := s.names.channel(c.ParentID)
		needs, where = "Send Messages in Threads", orElse(above.Name, c.ParentID)
	}
	s.log.Warn("the bot may not write there; in the settings of #"+where+" → Permissions, allow its role View Channel and "+needs, "channel", channelID, "err", err)
}

// forget forgets every refusal: permissions have changed somewhere.
func (c *refusals) forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.until = nil
}
