package discord

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf16"

	"github.com/bwmarrin/discordgo"

	"familiar/internal/context/turn"
	"familiar/internal/discord/rest"
)

const (
	maxText       = 2000            // UTF-16 units in a message
	maxNonce      = 25              // characters in a nonce
	refusalMemory = 5 * time.Minute // how long a channel that refused the bot is not asked again
	requestLimit  = time.Minute     // for a request whose caller set no deadline, including the wait for its turn
)

// wireMessage is a message as every create and edit sends it. Nobody but the person of a reminder is pinged, and no link is embedded,
// whatever the text says. An edit without these fields would get Discord's defaults, which ping.
// https://discord.com/developers/docs/resources/message#create-message
type wireMessage struct {
	Content      string                       `json:"content"`
	Mentions     allowedMentions              `json:"allowed_mentions"`
	Flags        discordgo.MessageFlags       `json:"flags"`
	Nonce        string                       `json:"nonce,omitempty"`
	EnforceNonce bool                         `json:"enforce_nonce,omitempty"`
	Reference    *reference                   `json:"message_reference,omitempty"`
	Components   []discordgo.MessageComponent `json:"components,omitzero"`  // nil in an edit: the old ones stay
	Attachments  []attachment                 `json:"attachments,omitzero"` // nil in an edit: the old ones stay
}

// allowedMentions is the id of the only person whom a message pings, or empty.
type allowedMentions string

func (a allowedMentions) MarshalJSON() ([]byte, error) {
	if a == "" {
		return []byte(`{"parse":[]}`), nil
	}
	return fmt.Appendf(nil, `{"parse":[],"users":[%q]}`, string(a)), nil
}

type reference struct {
	MessageID       string `json:"message_id"`
	FailIfNotExists bool   `json:"fail_if_not_exists"` // always false: the question may be deleted meanwhile
}

func newMessage(text string, buttons []turn.Button) wireMessage {
	return wireMessage{Content: text, Flags: discordgo.MessageFlagsSuppressEmbeds, Components: rows(buttons)}
}

// Post sends a new message and returns its id. It waits for limits to pass and retries temporary failures until ctx ends. If ctx has no
// deadline, it does so for a minute. Every attempt carries the same nonce, so the message is posted once. The error is a *rest.Error.
func (s *Session) Post(ctx context.Context, p turn.Post) (id string, err error) {
	ctx, cancel := withDeadline(ctx)
	defer cancel()
	if err := s.mayWrite(p.GuildID, p.ChannelID, p.Text); err != nil {
		return "", err
	}
	if p.Voice != nil {
		return s.postVoice(ctx, p)
	}
	defer func() { s.learnRefusal(p.ChannelID, err) }()
	if p.Mention != "" {
		p.Text = "<@" + p.Mention + "> " + p.Text
	}
	if p.Persona != nil {
		if id, posted, err := s.postAs(ctx, p); posted {
			return id, err
		}
		if p.Text != "" {
			p.Text = Label(p.Persona.Name) + p.Text
		}
	}
	return s.postOwn(ctx, p)
}

// voiceMessage is a message that is one recording, and nothing else.
// https://discord.com/developers/docs/resources/message#voice-messages
type voiceMessage struct {
	wireMessage
	Content     *string     `json:"content,omitempty"` // always nil
	Attachments []recording `json:"attachments"`
}

type recording struct {
	attachment
	Seconds  float64 `json:"duration_secs"`
	Waveform []byte  `json:"waveform"` // Base64
}

const voiceName = "voice-message.ogg"

// postVoice sends a voice message under the bot's own name. That it may not be sent says nothing about other messages.
func (s *Session) postVoice(ctx context.Context, p turn.Post) (id string, err error) {
	m := voiceMessage{Attachments: []recording{{attachment{Filename: voiceName}, p.Voice.Seconds, p.Voice.Waveform}}}
	m.Flags, m.Nonce, m.EnforceNonce = isVoice, nonce(p.Nonce), true
	if p.ReplyTo != "" {
		m.Reference = &reference{MessageID: p.ReplyTo}
	}
	r := rest.Request{Method: http.MethodPost, URL: discordgo.EndpointChannelMessages(p.ChannelID), Rank: rest.Create}
	r.Type, r.Body, err = discordgo.MultipartBodyWithJSON(m, []*discordgo.File{{Name: voiceName, ContentType: "audio/ogg", Reader: bytes.NewReader(p.Voice.Data)}})
	if err != nil {
		return "", fmt.Errorf("encode voice message: %w", err)
	}
	body, err := s.callIn(ctx, p.GuildID, p.ChannelID, r)
	if err != nil {
		return "", err
	}
	sent, err := readSent(body)
	return sent.ID, err
}

// postOwn sends a new message under the bot's own name.
func (s *Session) postOwn(ctx context.Context, p turn.Post) (id string, err error) {
	m := newMessage(p.Text, p.Buttons)
	m.Mentions, m.Nonce, m.EnforceNonce = allowedMentions(p.Mention), nonce(p.Nonce), true
	if len(p.Buttons) == 0 {
		m.Components = nil
	}
	if p.ReplyTo != "" {
		m.Reference = &reference{MessageID: p.ReplyTo}
	}
	sent, err := s.create(ctx, p, m)
	if m.Reference != nil && referenceRefused(err) {
		m.Reference = nil // an answer that is not a reply is better than none
		sent, err = s.create(ctx, p, m)
	}
	if err != nil || sent.holds(p) {
		return sent.ID, err
	}
	// The nonce belonged to an older message, which Discord has returned instead of a new one.
	ref := turn.Ref{GuildID: p.GuildID, ChannelID: p.ChannelID, ID: sent.ID}
	return sent.ID, s.Edit(ctx, turn.Edit{Ref: ref, Text: p.Text, Buttons: p.Buttons, Final: true})
}

func (s *Session) create(ctx context.Context, p turn.Post, m wireMessage) (sentMessage, error) {
	body, err := s.callIn(ctx, p.GuildID, p.ChannelID, rest.Request{
		Method: http.MethodPost, URL: discordgo.EndpointChannelMessages(p.ChannelID), Rank: rest.Create, Passing: p.Passing, Body: rest.JSON(m),
	})
	if err != nil {
		return sentMessage{}, err
	}
	return readSent(body)
}

// Edit replaces the text, the buttons and the picture of a message. It waits and retries as Post does. It refuses an edit without a
// text. The error is a *rest.Error.
func (s *Session) Edit(ctx context.Context, e turn.Edit) (err error) {
	ctx, cancel := withDeadline(ctx)
	defer cancel()
	if err := invalid(e.Validate()); err != nil {
		return err
	}
	if err := s.mayWrite(e.GuildID, e.ChannelID, e.Text); err != nil {
		return err
	}
	defer func() {
		if e.Picture == nil { // that files may not be attached says nothing about other messages
			s.learnRefusal(e.ChannelID, err)
		}
	}()
	if e.Persona != nil {
		if edited, err := s.editAs(ctx, e); edited {
			return err
		}
		e.Text = Label(e.Persona.Name) + e.Text
	}
	err = s.editOwn(ctx, e)
	if e.Persona == nil && rest.Code(err) == discordgo.ErrCodeCannotEditFromAnotherUser { // the channel had several characters when it was posted
		if edited, err := s.editAs(ctx, e); edited {
			return err
		}
	}
	return err
}

// editOwn edits a message that the bot posted under its own name.
func (s *Session) editOwn(ctx context.Context, e turn.Edit) error {
	e.Persona = nil
	s.late.follow(e)
	r, err := editRequest(discordgo.EndpointChannelMessage(e.ChannelID, e.ID), e)
	if err != nil {
		return err
	}
	r.Doubt = func() { s.doubted(e) }
	body, err := s.callIn(ctx, e.GuildID, e.ChannelID, r)
	if err != nil {
		return err
	}
	_, err = readSent(body)
	return err
}

// editRequest returns the request for an edit. The address is the message's own or its webhook's. Files that the request does not list are removed.
// https://discord.com/developers/docs/resources/message#edit-message
func editRequest(url string, e turn.Edit) (r rest.Request, err error) {
	m, p := newMessage(e.Text, e.Buttons), e.Picture
	m.Attachments = []attachment{}
	r = rest.Request{Method: http.MethodPatch, URL: url, Rank: rest.Edit, Passing: e.Passing}
	if e.Final {
		r.Rank = rest.Final
	}
	if p == nil {
		r.Body = rest.JSON(m)
		return r, nil
	}
	m.Attachments = []attachment{{Filename: p.Name, Description: p.Alt}}
	r.Type, r.Body, err = discordgo.MultipartBodyWithJSON(m, []*discordgo.File{{Name: p.Name, ContentType: "image/png", Reader: bytes.NewReader(p.PNG)}})
	if err != nil {
		return r, fmt.Errorf("encode picture: %w", err)
	}
	return r, nil
}

// Delete deletes a message. A message that is gone already is not an error. The error is a *rest.Error.
func (s *Session) Delete(ctx context.Context, r turn.Ref) error {
	ctx, cancel := withDeadline(ctx)
	defer cancel()
	if err := s.mayTouch(r); err != nil {
		return err
	}
	s.late.settle(r.ID)
	if r.Persona != nil {
		if deleted, err := s.deleteAs(ctx, r); deleted {
			s.learnRefusal(r.ChannelID, err)
			return err
		}
	}
	_, err := s.callIn(ctx, r.GuildID, r.ChannelID, rest.Request{Method: http.MethodDelete, URL: discordgo.EndpointChannelMessage(r.ChannelID, r.ID), Rank: rest.Final})
	if rest.KindOf(err) == rest.Gone {
		return nil
	}
	return err
}

// React adds the bot's reaction to a message, which may be anybody's. The error is a *rest.Error.
// https://discord.com/developers/docs/resources/message#create-reaction
func (s *Session) React(ctx context.Context, r turn.Ref, emoji string) error {
	ctx, cancel := withDeadline(ctx)
	defer cancel()
	if err := s.mayTouch(r); err != nil {
		return err
	}
	_, err := s.rest.Call(ctx, rest.Request{
		Method: http.MethodPut, Rank: rest.Edit,
		URL: discordgo.EndpointMessageReaction(r.ChannelID, r.ID, url.PathEscape(emoji), "@me"),
	})
	return err
}

// OpenThread opens a thread on a message and returns the thread's id, which is the message's. The name has 1 to 100
// characters. It is not an error if the thread exists already. The error is a *rest.Error.
// https://discord.com/developers/docs/resources/channel#start-thread-from-message
func (s *Session) OpenThread(ctx context.Context, r turn.Ref, name string) (id string, err error) {
	ctx, cancel := withDeadline(ctx)
	defer cancel()
	if err := s.mayTouch(r); err != nil {
		return "", err
	}
	body, err := s.rest.Call(ctx, rest.Request{
		Method: http.MethodPost, Rank: rest.Create, URL: discordgo.EndpointChannelMessageThread(r.ChannelID, r.ID),
		Body: rest.JSON(map[string]any{"name": name, "auto_archive_duration": 1440}), // minutes
	})
	switch {
	case rest.Code(err) == rest.CodeThreadExists:
		return r.ID, nil
	case err != nil:
		return "", err
	}
	var c channel
	if err := rest.Decode(body, &c); err != nil || c.ID == "" {
		return "", &rest.Error{Kind: rest.Unavailable, Status: http.StatusOK, Message: "the response is not a thread"}
	}
	s.names.setChannel(c) // before the gateway announces it
	return c.ID, nil
}

// callIn sends a request about a message of a channel, if this process acts for its server. If the channel is a thread that was archived meanwhile, callIn
// reopens it and sends the request again. An edit, unlike a new message, does not reopen a thread. A locked thread stays
// closed.
// https://discord.com/developers/docs/topics/threads#active-archived-threads
func (s *Session) callIn(ctx context.Context, guildID, channelID string, r rest.Request) ([]byte, error) {
	r.Mine = func() bool { return s.gateway.Finishes(guildID) }
	body, err := s.rest.Call(ctx, r)
	if rest.Code(err) != discordgo.ErrCodePerformedOperationOnArchivedThread {
		return body, err
	}
	_, locked := s.rest.Call(ctx, rest.Request{Method: http.MethodPatch, Rank: rest.Final, URL: discordgo.EndpointChannel(channelID), Body: []byte(`{"archived":false}`)})
	if locked != nil {
		s.log.Info("a thread is archived and cannot be opened again", "thread", channelID, "err", locked)
		return nil, err
	}
	return s.rest.Call(ctx, r)
}

// invalid wraps the error of a reference or an edit in a rest.Error.
func invalid(err error) error {
	if err == nil {
		return nil
	}
	return &rest.Error{Kind: rest.Rejected, Message: err.Error(), Cause: err}
}

// mayTouch returns an error if the reference is incomplete or the channel has refused the bot a short while ago.
func (s *Session) mayTouch(r turn.Ref) error {
	if err := invalid(r.Validate()); err != nil {
		return err
	}
	return s.mayAct(r.GuildID, r.ChannelID)
}

// mayAct returns an error if another process acts for the server. It also does so if the channel has refused the bot a short while ago.
func (s *Session) mayAct(guildID, channelID string) error {
	if !s.gateway.Finishes(guildID) {
		return rest.NotMine()
	}
	return s.refusals.check(channelID)
}

// mayWrite returns an error if the text is too long. It also does so if the channel has refused the bot a short while ago.
func (s *Session) mayWrite(guildID, channelID, text string) error {
	if err := checkLength(text); err != nil {
		return err
	}
	return s.mayAct(guildID, channelID)
}

// sentMessage is a message as Discord returns it.
type sentMessage struct {
	ID         string   `json:"id"`
	Content    *string  `json:"content"`
	Components []keyRow `json:"components"`
}

func readSent(body []byte) (sentMessage, error) {
	var sent sentMessage
	if err := rest.Decode(body, &sent); err != nil || sent.ID == "" {
		return sentMessage{}, &rest.Error{Kind: rest.Unavailable, Status: http.StatusOK, Message: "the response is not a message"}
	}
	return sent, nil
}

// holds reports whether the message has the post's text and buttons.
func (m sentMessage) holds(p turn.Post) bool {
	return m.Content == nil || sameWords(*m.Content, p.Text) && sameButtons(m.Components, p.Buttons)
}

// sameWords compares two texts without their white space, which Discord trims.
func sameWords(a, b string) bool { return slices.Equal(strings.Fields(a), strings.Fields(b)) }

// keyRow is a row of buttons as Discord returns it.
type keyRow struct {
	Components []struct {
		CustomID string `json:"custom_id"`
	} `json:"components"`
}

func sameButtons(rows []keyRow, buttons []turn.Button) bool {
	var shown, wanted []string
	for _, row := range rows {
		for _, b := range row.Components {
			shown = append(shown, b.CustomID)
		}
	}
	for _, b := range buttons {
		wanted = append(wanted, b.ID)
	}
	return slices.Equal(shown, wanted)
}

// referenceRefused reports whether Discord refused a message because of the message it replies to.
func referenceRefused(err error) bool {
	switch rest.Code(err) {
	case discordgo.ErrCodeCannotReplyWithoutPermissionToReadMessageHistory, discordgo.ErrCodeUnknownMessage:
		return true
	case discordgo.ErrCodeInvalidFormBody:
		return strings.Contains(err.Error(), "message_reference")
	}
	return false
}

func checkLength(text string) error {
	if len(utf16.Encode([]rune(text))) > maxText {
		return &rest.Error{Kind: rest.TooLong, Message: "the text has more than 2,000 characters"}
	}
	return nil
}

// Typing shows the bot as typing, for ten seconds or until its next message. It is not retried. If a message would have
// to wait for it, it is not sent, which is not an error.
func (s *Session) Typing(ctx context.Context, channelID string) error {
	ctx, cancel := withDeadline(ctx)
	defer cancel()
	if err := s.refusals.check(channelID); err != nil {
		return err
	}
	_, err := s.rest.Call(ctx, rest.Request{Method: http.MethodPost, URL: discordgo.EndpointChannelTyping(channelID), Spare: true})
	if err != nil {
		s.learnRefusal(channelID, err)
	}
	return err
}

// withDeadline gives a context a deadline if it has none.
func withDeadline(ctx context.Context) (context.Context, context.CancelFunc) {
	if _, ok := ctx.Deadline(); ok {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, requestLimit)
}

// nonce cuts a nonce to the length that Discord allows. It makes a random one if there is none.
func nonce(given string) string {
	if given == "" {
		given = rand.Text()
	}
	return given[:min(len(given), maxNonce)]
}

// lateAfter is when a post is read after an edit whose fate is unknown. The edit may take effect after the edits that follow it.
var lateAfter = []time.Duration{3 * time.Second, 7 * time.Second, 20 * time.Second}

// lateEdits are the messages with an edit whose fate is unknown. The zero value is ready.
type lateEdits struct {
	mu     sync.Mutex
	wanted map[string]turn.Edit // the latest edit of each; guarded by mu
}

// follow notes the latest edit of a message, if one before it is still in doubt.
func (l *lateEdits) follow(e turn.Edit) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, doubted := l.wanted[e.ID]; doubted {
		l.wanted[e.ID] = e
	}
}

// doubt notes that the fate of an edit is unknown. It reports whether the message was not in doubt before.
func (l *lateEdits) doubt(e turn.Edit) (first bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, doubted := l.wanted[e.ID]; doubted {
		return false
	}
	if l.wanted == nil {
		l.wanted = map[string]turn.Edit{}
	}
	l.wanted[e.ID] = e
	return true
}

// latest returns the latest edit of a message in doubt.
func (l *lateEdits) latest(id string) (e turn.Edit, doubted bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	e, doubted = l.wanted[id]
	return e, doubted
}

// Doubted reports whether the fate of an edit of a message is unknown: it may still take effect.
func (s *Session) Doubted(messageID string) bool {
	_, doubted := s.late.latest(messageID)
	return doubted
}

func (l *lateEdits) settle(id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.wanted, id)
}

// doubted has the post of an edit read in the background. Nobody knows whether and when the edit takes effect.
func (s *Session) doubted(e turn.Edit) {
	if s.late.doubt(e) && !s.gateway.Start("correct a post", func(ctx context.Context) { s.putRight(ctx, e.ID) }) {
		s.late.settle(e.ID)
	}
}

// putRight reads a post a few times. It edits the post again if it does not hold what the latest edit says.
func (s *Session) putRight(ctx context.Context, id string) {
	for _, wait := range lateAfter {
		if rest.Sleep(ctx, wait) != nil { // the next start puts it right
			return
		}
		e, doubted := s.late.latest(id)
		if !doubted { // it was deleted
			return
		}
		var sent sentMessage
		within, cancel := context.WithTimeout(ctx, requestLimit)
		err := s.rest.Get(within, rest.Request{URL: discordgo.EndpointChannelMessage(e.ChannelID, id), Rank: rest.Back}, &sent)
		if err == nil && !sent.holds(turn.Post{Text: e.Text, Buttons: e.Buttons}) {
			e, _ = s.late.latest(id)
			s.log.Info("an edit took effect late: the post is corrected", "channel", e.ChannelID, "message", id)
			if e.Persona != nil {
				_, err = s.editAs(within, e)
			} else {
				err = s.editOwn(within, e)
			}
		}
		cancel()
		if err != nil {
			s.log.Debug("correct a post", "err", err)
		}
	}
	s.late.settle(id)
}
