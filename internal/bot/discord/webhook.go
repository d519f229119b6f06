package discord

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/bwmarrin/discordgo"

	"familiar/internal/context/turn"
)

// Webhook is a webhook that the bot's application has made in a channel. Its token is a secret: whoever has it can post there.
type Webhook struct{ ID, Token string }

const (
	webhookName    = "familiar" // of the webhook itself; each message has a name of its own
	maxPersonaName = 80         // characters in a webhook's name
	hookSkew       = time.Minute
	hookMemory     = 10_000           // messages
	lookBack       = 10 * time.Minute // in which an earlier process may have posted
	lookAt         = 100              // messages, when one is looked for
	withParts      = "with_components=true"
	manageHooks    = "give the bot's role the permission Manage Webhooks there"
	tooManyHooks   = "delete one of the channel's webhooks: Server Settings → Integrations → Webhooks"
)

// webhooks are those of the channels, and what was posted through them. Its zero value is ready.
type webhooks struct {
	mu       sync.Mutex
	channels map[string]*channelHook // by channel, never by thread; guarded by mu
	posted   map[string]bool         // ids of messages that this process knows to have posted; guarded by mu
	doubts   map[string]snowflake    // by nonce: posts that may or may not be there, with where to look from; guarded by mu
}

// channelHook is the webhook of one channel.
type channelHook struct {
	making  sync.Mutex // held while it is looked for or made
	mu      sync.Mutex
	hook    Webhook   // guarded by mu; empty: none is known
	refused time.Time // when one could not be had; guarded by mu
	why     error     // guarded by mu
}

func (w *webhooks) channel(id string) *channelHook {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.channels == nil {
		w.channels = map[string]*channelHook{}
	}
	if w.channels[id] == nil {
		w.channels[id] = &channelHook{}
	}
	return w.channels[id]
}

// known lists the webhooks that are known.
func (w *webhooks) known() []Webhook {
	w.mu.Lock()
	all := slices.Collect(maps.Values(w.channels))
	w.mu.Unlock()
	var known []Webhook
	for _, c := range all {
		if hook := c.get(); hook.ID != "" {
			known = append(known, hook)
		}
	}
	return known
}

// retry forgets that webhooks could not be had: permissions have changed somewhere.
func (w *webhooks) retry() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range w.channels {
		c.mu.Lock()
		c.refused = time.Time{}
		c.mu.Unlock()
	}
}

// note keeps that a message was posted, and that the post of that nonce is beyond doubt.
func (w *webhooks) note(nonce, messageID string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.posted == nil || len(w.posted) > hookMemory {
		w.posted = map[string]bool{}
	}
	w.posted[messageID] = true
	delete(w.doubts, nonce)
}

func (w *webhooks) has(messageID string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.posted[messageID]
}

// doubt notes that a post may be there, and returns from where on it is to be looked for.
func (w *webhooks) doubt(nonce string, since snowflake) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.doubts == nil || len(w.doubts) > hookMemory {
		w.doubts = map[string]snowflake{}
	}
	if _, already := w.doubts[nonce]; !already {
		w.doubts[nonce] = since
	}
}

func (w *webhooks) doubtful(nonce string) (since snowflake, doubtful bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	since, doubtful = w.doubts[nonce]
	return since, doubtful
}

func (c *channelHook) get() Webhook {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.hook
}

func (c *channelHook) set(hook Webhook) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.hook = hook
}

// refuse notes why there is none, and reports whether that is news.
func (c *channelHook) refuse(why error) (news bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	news = c.why == nil
	c.refused, c.why = time.Now(), why
	return news
}

func (c *channelHook) refusal() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if time.Since(c.refused) < refusalMemory {
		return c.why
	}
	return nil
}

// PreparePersonas makes what several characters need to post in a channel under their own names. The error says why they cannot,
// and how they could.
func (s *Session) PreparePersonas(ctx context.Context, channelID string) error {
	ctx, cancel := withDeadline(ctx)
	defer cancel()
	_, err := s.webhook(ctx, channelID)
	return err
}

// place is the webhook for a channel, or for the channel that a thread hangs on.
type place struct {
	Webhook
	of     *channelHook
	thread string // empty: the channel itself
}

// query returns what stands behind the address of a request.
func (p place) query(more ...string) string {
	if p.thread != "" {
		more = append(more, "thread_id="+url.QueryEscape(p.thread))
	}
	return "?" + strings.Join(more, "&")
}

func (s *Session) hookPlace(ctx context.Context, channelID string) (p place, above string, err error) {
	parent, known := s.Parent(ctx, channelID)
	if !known {
		return place{}, "", errors.New("the channel is not known")
	}
	p.thread, above = channelID, parent
	if parent == "" {
		p.thread, above = "", channelID
	}
	p.of = s.hooks.channel(above)
	p.Webhook = p.of.get()
	return p, above, nil
}

// webhook returns the channel's webhook: the one that is known, or kept from before, or there already, or a new one.
func (s *Session) webhook(ctx context.Context, channelID string) (place, error) {
	p, above, err := s.hookPlace(ctx, channelID)
	if err != nil || p.ID != "" {
		return p, err
	}
	p.of.making.Lock()
	defer p.of.making.Unlock()
	if p.Webhook = p.of.get(); p.ID != "" {
		return p, nil
	}
	if err := p.of.refusal(); err != nil {
		return p, err
	}
	if s.cfg.LoadWebhook != nil {
		if kept, err := s.cfg.LoadWebhook(ctx, above); err == nil && kept.ID != "" {
			p.Webhook = kept
			p.of.set(kept)
			return p, nil
		}
	}
	p.Webhook, err = s.findOrMake(ctx, above)
	if err != nil {
		if err = noWebhook(err); p.of.refuse(err) {
			s.log.Warn("characters of this channel post under the bot's name, with theirs in front", "channel", above, "why", s.redact(err.Error()))
		}
		return p, err
	}
	p.of.set(p.Webhook)
	s.saveWebhook(ctx, above, p.Webhook)
	return p, nil
}

func (s *Session) saveWebhook(ctx context.Context, channelID string, hook Webhook) {
	if s.cfg.SaveWebhook == nil {
		return
	}
	c, _ := s.names.channel(channelID)
	if err := s.cfg.SaveWebhook(ctx, c.GuildID, channelID, hook); err != nil {
		s.log.Error("keep a webhook", "channel", channelID, "err", s.redact(err.Error()))
	}
}

// noWebhook says why there is no webhook, and what would help.
func noWebhook(err error) error {
	switch code(err) {
	case discordgo.ErrCodeMissingAccess, discordgo.ErrCodeMissingPermissions:
		return fmt.Errorf("no permission to use webhooks there; %s: %w", manageHooks, err)
	case discordgo.ErrCodeMaximumNumberOfWebhooksReached:
		return fmt.Errorf("the channel has no room for another webhook; %s: %w", tooManyHooks, err)
	}
	return fmt.Errorf("no webhook could be made: %w", err)
}

// findOrMake returns the application's webhook in a channel. One that is there already may be from a store that was lost.
func (s *Session) findOrMake(ctx context.Context, channelID string) (Webhook, error) {
	at := discordgo.EndpointChannelWebhooks(channelID)
	body, err := s.call(ctx, request{method: http.MethodGet, url: at})
	if err != nil {
		return Webhook{}, err
	}
	var there []wireWebhook
	if err := decode(body, &there); err != nil {
		return Webhook{}, fmt.Errorf("read webhooks: %w", err)
	}
	for _, w := range there {
		if w.ApplicationID == s.appID() && w.ApplicationID != "" && w.Token != "" {
			return Webhook{w.ID, w.Token}, nil
		}
	}
	body, err = s.call(ctx, request{method: http.MethodPost, url: at, body: mustJSON(map[string]string{"name": webhookName})})
	if err != nil {
		return Webhook{}, err
	}
	var made wireWebhook
	if err := decode(body, &made); err != nil || made.ID == "" || made.Token == "" {
		return Webhook{}, errors.New("make a webhook: the answer is none")
	}
	return Webhook{made.ID, made.Token}, nil
}

type wireWebhook struct {
	ID            string `json:"id"`
	Token         string `json:"token"`
	ApplicationID string `json:"application_id"`
}

// persona is a post as a webhook makes it. It has no nonce and replies to nothing: webhooks can do neither.
// https://discord.com/developers/docs/resources/webhook#execute-webhook
type persona struct {
	post
	Username string `json:"username,omitempty"`
	Avatar   string `json:"avatar_url,omitempty"`
}

// deliverAs carries out a post of a persona through a webhook. done is false where that cannot be: there is no webhook, or the
// message to be changed is none of its own.
func (s *Session) deliverAs(ctx context.Context, p turn.Post) (id string, done bool, err error) {
	at, err := s.webhook(ctx, p.ChannelID)
	if err != nil {
		return "", false, nil // it was said
	}
	if p.ID == "" {
		id, err = s.execute(ctx, at, p)
		if isGoneHook(err) { // somebody has deleted it
			at.of.set(Webhook{})
			s.saveWebhook(ctx, orElse(s.above(at, p.ChannelID), p.ChannelID), Webhook{})
			if at, err = s.webhook(ctx, p.ChannelID); err != nil {
				return "", false, nil
			}
			id, err = s.execute(ctx, at, p)
		}
		return id, true, err
	}
	err = s.change(ctx, at, p)
	if code(err) == discordgo.ErrCodeUnknownMessage || isGoneHook(err) {
		return "", false, nil
	}
	return p.ID, true, err
}

// above returns the channel of a thread's webhook, or "".
func (s *Session) above(at place, channelID string) string {
	if at.thread == "" {
		return ""
	}
	c, _ := s.names.channel(channelID)
	return c.above()
}

func isGoneHook(err error) bool {
	return code(err) == discordgo.ErrCodeUnknownWebhook || code(err) == discordgo.ErrCodeInvalidWebhookTokenProvided
}

// change edits or, without a text, deletes a message of a webhook.
func (s *Session) change(ctx context.Context, at place, p turn.Post) error {
	address := discordgo.EndpointWebhookMessage(at.ID, at.Token, p.ID)
	if p.Text == "" {
		_, err := s.callIn(ctx, p.ChannelID, request{method: http.MethodDelete, url: address + at.query(), rank: rankFinal})
		return err
	}
	r := request{method: http.MethodPatch, url: address + at.query(withParts), rank: rankEdit, passing: p.Passing}
	if p.Final {
		r.rank = rankFinal
	}
	r.body = mustJSON(persona{post: post{outgoing: outgoing{Content: p.Text, Flags: discordgo.MessageFlagsSuppressEmbeds}, Components: rows(p.Buttons)}})
	_, err := s.callIn(ctx, p.ChannelID, r)
	return err
}

// execute posts a new message. Webhooks know no nonce: before it is sent again, the channel is looked at, whether it is there.
func (s *Session) execute(ctx context.Context, at place, p turn.Post) (string, error) {
	out := persona{
		post:     post{outgoing: outgoing{Content: p.Text, Flags: discordgo.MessageFlagsSuppressEmbeds}, Components: rows(p.Buttons)},
		Username: PersonaName(p.Persona.Name), Avatar: p.Persona.Avatar,
	}
	r := request{method: http.MethodPost, url: discordgo.EndpointWebhookToken(at.ID, at.Token) + at.query("wait=true", withParts), body: mustJSON(out), once: true}
	since, look := s.hooks.doubtful(p.Nonce)
	if !look {
		since = flakeAt(time.Now().Add(-hookSkew))
	}
	if p.Again && !look {
		if since, look = flake(p.ReplyTo), true; since == 0 {
			since = flakeAt(time.Now().Add(-lookBack))
		}
	}
	for failures, limits := 0, 0; ; {
		if look {
			id, err := s.lookFor(ctx, at, p, out.Username, since)
			if err != nil {
				s.hooks.doubt(p.Nonce, since)
				return "", err
			}
			if id != "" {
				s.hooks.note(p.Nonce, id)
				p.ID = id
				return id, s.change(ctx, at, p) // its text may be an older one
			}
		}
		body, err := s.callIn(ctx, p.ChannelID, r)
		var sent object
		if err == nil {
			if decode(body, &sent) == nil && sent.ID != "" {
				s.hooks.note(p.Nonce, sent.ID)
				return sent.ID, nil
			}
			err = &SendError{Kind: Unavailable, Status: http.StatusOK, Message: "the answer is not a message"}
		}
		e := s.failure(err)
		switch {
		case e.Kind == RateLimited && waitable(e) && limits < maxLimits:
			limits++ // the pacer waits; it had no effect
			look = false
			continue
		case e.Kind != Unavailable:
			return "", e
		}
		s.hooks.doubt(p.Nonce, since)
		if failures++; failures == maxFailures || sleep(ctx, backoff(firstResend, 10*time.Second, failures)) != nil {
			return "", e
		}
		look = true
	}
}

// lookFor returns the message that a persona posted here through the webhook, and that nobody knows of, or "".
func (s *Session) lookFor(ctx context.Context, at place, p turn.Post, name string, since snowflake) (string, error) {
	body, err := s.call(ctx, request{method: http.MethodGet,
		url: fmt.Sprintf("%s?after=%v&limit=%d", discordgo.EndpointChannelMessages(p.ChannelID), since, lookAt)})
	if err != nil {
		return "", err
	}
	var page []message
	if err := decode(body, &page); err != nil {
		return "", &SendError{Kind: Unavailable, Message: "the channel cannot be read"}
	}
	for _, m := range page { // the newest first
		if m.WebhookID != at.ID || m.Author == nil || m.Author.Username != name || s.hooks.has(m.ID) {
			continue
		}
		if s.cfg.Keeps != nil {
			if keeps, err := s.cfg.Keeps(ctx, m.ID); err != nil || keeps {
				continue
			}
		}
		return m.ID, nil
	}
	return "", nil
}

// forbidden are the words that no webhook's name may hold.
var forbidden = regexp.MustCompile(`(?i)(disc)(ord)|(cly)(de)`)

// PersonaName makes a name one that Discord lets a webhook have: 1 to 80 characters, without some words and signs.
// https://discord.com/developers/docs/resources/user#usernames-and-nicknames
func PersonaName(name string) string {
	name = strings.Map(func(r rune) rune {
		if strings.ContainsRune("@#:`", r) || r < ' ' {
			return -1
		}
		return r
	}, withoutBidi(name))
	name = forbidden.ReplaceAllString(strings.Join(strings.Fields(name), " "), "$1$3·$2$4")
	if folded := strings.ToLower(name); folded == "everyone" || folded == "here" {
		name += "·"
	}
	runes := []rune(name)
	return orElse(strings.TrimSpace(string(runes[:min(len(runes), maxPersonaName)])), webhookName)
}

// Labelled is a persona's text where the bot posts it under its own name.
func Labelled(name, text string) string { return "**" + PlainName(name) + ":** " + text }

// PlainName takes what Discord reads as markup out of a persona's name.
func PlainName(name string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune(`*_~|<>()[]\`, r) {
			return -1
		}
		return r
	}, PersonaName(name))
}
