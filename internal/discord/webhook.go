package discord

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/bwmarrin/discordgo"

	"familiar/internal/context/turn"
	"familiar/internal/discord/gateway"
	"familiar/internal/discord/rest"
)

// Webhook is a webhook that the bot's application has made in a channel. Its token is a secret: anybody who has it can
// post there.
type Webhook struct{ ID, Token string }

const (
	webhookName    = "familiar" // of the webhook; each message has its own name
	maxPersonaName = 80         // characters in a webhook's name
	hookSkew       = time.Minute
	hookMemory     = 10_000           // messages
	lookBack       = 10 * time.Minute // within which an earlier process may have posted
	lookAt         = 100              // messages that are searched for a post
	withParts      = "with_components=true"
	manageHooks    = "give the bot's role the permission Manage Webhooks there"
	tooManyHooks   = "delete one of the channel's webhooks: Server Settings → Integrations → Webhooks"
)

// webhooks are the channels' webhooks and what was posted through them. The zero value is ready.
type webhooks struct {
	mu       sync.Mutex
	channels map[string]*channelHook  // by channel, never by thread; guarded by mu
	posted   map[string]bool          // ids of messages that this process has posted; guarded by mu
	doubts   map[string]gateway.Flake // nonce of a post that may or may not exist → where to search from; guarded by mu
}

// channelHook is the webhook of one channel.
type channelHook struct {
	making  sync.Mutex // held while the webhook is looked for or made
	mu      sync.Mutex
	hook    Webhook   // guarded by mu; zero: none is known
	refused time.Time // when none could be made; guarded by mu
	why     error     // why none could be made; guarded by mu
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

// retry forgets failed attempts to get a webhook, because permissions have changed somewhere.
func (w *webhooks) retry() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range w.channels {
		c.mu.Lock()
		c.refused = time.Time{}
		c.mu.Unlock()
	}
}

// note records that a message was posted, so that its nonce is no longer in doubt.
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

// doubt records that a post with this nonce may exist, and from where to search for it.
func (w *webhooks) doubt(nonce string, since gateway.Flake) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.doubts == nil || len(w.doubts) > hookMemory {
		w.doubts = map[string]gateway.Flake{}
	}
	if _, already := w.doubts[nonce]; !already {
		w.doubts[nonce] = since
	}
}

func (w *webhooks) doubtful(nonce string) (since gateway.Flake, doubtful bool) {
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

// refuse records why there is no webhook, and reports whether that is news.
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

// PreparePersonas makes what several characters need to post in a channel under their own names. The error says why they
// cannot, and what would help.
func (s *Session) PreparePersonas(ctx context.Context, channelID string) error {
	ctx, cancel := withDeadline(ctx)
	defer cancel()
	_, err := s.webhook(ctx, channelID)
	return err
}

// place is the webhook for a channel or, for a thread, the webhook of its parent.
type place struct {
	Webhook
	of      *channelHook
	channel string // id of the channel, or of the channel above a thread
	thread  string // id of the thread; empty: the channel itself
}

func (p place) query(more ...string) string {
	if p.thread != "" {
		more = append(more, "thread_id="+url.QueryEscape(p.thread))
	}
	return "?" + strings.Join(more, "&")
}

func (s *Session) hookPlace(ctx context.Context, channelID string) (place, error) {
	parent, known := s.Parent(ctx, channelID)
	if !known {
		return place{}, errors.New("the channel is not known")
	}
	p := place{channel: parent, thread: channelID}
	if parent == "" {
		p.channel, p.thread = channelID, ""
	}
	p.of = s.hooks.channel(p.channel)
	p.Webhook = p.of.get()
	return p, nil
}

// webhook returns the channel's webhook. It takes the known one, the saved one, one that exists at Discord, or a new
// one, in this order.
func (s *Session) webhook(ctx context.Context, channelID string) (place, error) {
	p, err := s.hookPlace(ctx, channelID)
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
		if kept, err := s.cfg.LoadWebhook(ctx, p.channel); err == nil && kept.ID != "" {
			p.Webhook = kept
			p.of.set(kept)
			return p, nil
		}
	}
	p.Webhook, err = s.findOrMake(ctx, p.channel)
	if err != nil {
		if err = noWebhook(err); p.of.refuse(err) {
			s.log.Warn("characters of this channel post under the bot's name, with their own before the text", "channel", p.channel, "why", s.redact(err.Error()))
		}
		return p, err
	}
	p.of.set(p.Webhook)
	s.saveWebhook(ctx, p.channel, p.Webhook)
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
	switch rest.Code(err) {
	case discordgo.ErrCodeMissingAccess, discordgo.ErrCodeMissingPermissions:
		return fmt.Errorf("no permission to use webhooks there; %s: %w", manageHooks, err)
	case discordgo.ErrCodeMaximumNumberOfWebhooksReached:
		return fmt.Errorf("the channel has no room for another webhook; %s: %w", tooManyHooks, err)
	}
	return fmt.Errorf("no webhook could be made: %w", err)
}

// findOrMake returns the application's webhook in a channel. One may exist already, for example from a store that was
// lost.
func (s *Session) findOrMake(ctx context.Context, channelID string) (Webhook, error) {
	at := discordgo.EndpointChannelWebhooks(channelID)
	var there []wireWebhook
	if err := s.rest.Get(ctx, rest.Request{URL: at}, &there); err != nil {
		return Webhook{}, err
	}
	for _, w := range there {
		if w.ApplicationID == s.me().app && w.ApplicationID != "" && w.Token != "" {
			return Webhook{w.ID, w.Token}, nil
		}
	}
	body, err := s.rest.Call(ctx, rest.Request{Method: http.MethodPost, URL: at, Body: rest.JSON(map[string]string{"name": webhookName})})
	if err != nil {
		return Webhook{}, err
	}
	var made wireWebhook
	if err := rest.Decode(body, &made); err != nil || made.ID == "" || made.Token == "" {
		return Webhook{}, errors.New("make a webhook: the response is not a webhook")
	}
	return Webhook{made.ID, made.Token}, nil
}

type wireWebhook struct {
	ID            string `json:"id"`
	Token         string `json:"token"`
	ApplicationID string `json:"application_id"`
}

// wirePersona is a message as a webhook posts it. It has no nonce and no reference, because webhooks support neither.
// https://discord.com/developers/docs/resources/webhook#execute-webhook
type wirePersona struct {
	wireMessage
	Username string `json:"username,omitempty"`
	Avatar   string `json:"avatar_url,omitempty"`
}

// postAs posts under the name of a persona, through the channel's webhook. posted is false if there is no webhook.
func (s *Session) postAs(ctx context.Context, p turn.Post) (id string, posted bool, err error) {
	at, err := s.webhook(ctx, p.ChannelID)
	if err != nil {
		return "", false, nil // webhook has logged why
	}
	id, err = s.execute(ctx, at, p)
	if isGoneHook(err) { // somebody has deleted it
		at.of.set(Webhook{})
		s.saveWebhook(ctx, at.channel, Webhook{})
		if at, err = s.webhook(ctx, p.ChannelID); err != nil {
			return "", false, nil
		}
		id, err = s.execute(ctx, at, p)
	}
	return id, true, err
}

// editAs edits a message as through does.
func (s *Session) editAs(ctx context.Context, e turn.Edit) (edited bool, err error) {
	return s.through(ctx, e.ChannelID, func(at place) error { return s.editThrough(ctx, at, e) })
}

// deleteAs deletes a message as through does.
func (s *Session) deleteAs(ctx context.Context, r turn.Ref) (deleted bool, err error) {
	return s.through(ctx, r.ChannelID, func(at place) error {
		address := discordgo.EndpointWebhookMessage(at.ID, at.Token, r.ID) + at.query()
		_, err := s.callIn(ctx, r.GuildID, r.ChannelID, rest.Request{Method: http.MethodDelete, URL: address, Rank: rest.Final})
		return err
	})
}

// through changes a message through the channel's webhook. done is false if there is no webhook or the message is not the
// webhook's.
func (s *Session) through(ctx context.Context, channelID string, change func(at place) error) (done bool, err error) {
	at, err := s.webhook(ctx, channelID)
	if err != nil {
		return false, nil
	}
	err = change(at)
	if rest.Code(err) == discordgo.ErrCodeUnknownMessage || isGoneHook(err) {
		return false, nil
	}
	return true, err
}

func isGoneHook(err error) bool {
	return rest.Code(err) == discordgo.ErrCodeUnknownWebhook || rest.Code(err) == discordgo.ErrCodeInvalidWebhookTokenProvided
}

func (s *Session) editThrough(ctx context.Context, at place, e turn.Edit) error {
	address := discordgo.EndpointWebhookMessage(at.ID, at.Token, e.ID) + at.query(withParts)
	s.late.follow(e)
	r, err := editRequest(address, e)
	if err != nil {
		return err
	}
	r.Doubt = func() { s.doubted(e) }
	_, err = s.callIn(ctx, e.GuildID, e.ChannelID, r)
	return err
}

// execute posts a new message. Webhooks have no nonce, so execute searches the channel for the message before it sends
// it again.
func (s *Session) execute(ctx context.Context, at place, p turn.Post) (string, error) {
	out := wirePersona{wireMessage: newMessage(p.Text, p.Buttons), Username: s.postingName(ctx, at.channel, p.Persona.Name), Avatar: p.Persona.Avatar}
	r := rest.Request{Method: http.MethodPost, URL: discordgo.EndpointWebhookToken(at.ID, at.Token) + at.query("wait=true", withParts), Body: rest.JSON(out), Once: true}
	since, look := s.hooks.doubtful(p.Nonce)
	if !look {
		since = gateway.FlakeAt(time.Now().Add(-hookSkew))
	}
	if p.Again && !look {
		if since, look = gateway.FlakeOf(p.ReplyTo), true; since == 0 {
			since = gateway.FlakeAt(time.Now().Add(-lookBack))
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
				ref := turn.Ref{GuildID: p.GuildID, ChannelID: p.ChannelID, ID: id, Persona: p.Persona}
				return id, s.editThrough(ctx, at, turn.Edit{Ref: ref, Text: p.Text, Buttons: p.Buttons, Final: p.Final}) // its text may be older
			}
		}
		body, err := s.callIn(ctx, p.GuildID, p.ChannelID, r)
		var sent sentMessage
		if err == nil {
			sent, err = readSent(body)
		}
		if err == nil {
			s.hooks.note(p.Nonce, sent.ID)
			return sent.ID, nil
		}
		var e *rest.Error
		switch errors.As(err, &e); {
		case e.Waitable() && limits < rest.MaxLimits:
			limits++ // the pacer waits; nothing was posted
			look = false
			continue
		case e.Kind != rest.Unavailable:
			return "", e
		}
		s.hooks.doubt(p.Nonce, since)
		if failures++; failures == rest.MaxFailures || rest.Sleep(ctx, rest.Backoff(rest.FirstResend, 10*time.Second, failures)) != nil {
			return "", e
		}
		look = true
	}
}

// lookFor returns the id of a message that the persona posted here through the webhook and that nobody has recorded. It returns "" if there
// is none.
func (s *Session) lookFor(ctx context.Context, at place, p turn.Post, name string, since gateway.Flake) (string, error) {
	var page list[message]
	address := fmt.Sprintf("%s?after=%v&limit=%d", discordgo.EndpointChannelMessages(p.ChannelID), since, lookAt)
	if err := s.rest.Get(ctx, rest.Request{URL: address}, &page); err != nil {
		return "", err
	}
	for _, m := range page { // newest first
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

// forbidden matches the words that no webhook's name may hold.
var forbidden = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)(disc)(ord)|(cly)(de)`) })

// PersonaName turns a name into one that Discord allows for a webhook. It has 1 to 80 characters, and lacks some words and signs.
// https://discord.com/developers/docs/resources/user#usernames-and-nicknames
func PersonaName(name string) string {
	name = strings.Map(func(r rune) rune {
		if strings.ContainsRune("@#:`", r) || r < ' ' {
			return -1
		}
		return r
	}, withoutBidi(name))
	name = forbidden().ReplaceAllString(strings.Join(strings.Fields(name), " "), "$1$3·$2$4")
	if folded := strings.ToLower(name); folded == "everyone" || folded == "here" {
		name += "·"
	}
	runes := []rune(name)
	return cmp.Or(strings.TrimSpace(string(runes[:min(len(runes), maxPersonaName)])), webhookName)
}

// Label returns what is before a persona's text that the bot posts under its own name. What Discord reads as markup is not in it.
func Label(name string) string {
	return "**" + strings.Map(func(r rune) rune {
		if strings.ContainsRune(`*_~|<>()[]\`, r) {
			return -1
		}
		return r
	}, PersonaName(name)) + ":** "
}

const (
	namesakeMemory = time.Hour
	namesakeLimit  = 2 * time.Second // a post does not wait longer
	mostNamesakes  = 100             // members that Discord returns at most
	namesakeMark   = " (bot)"        // behind the name of a persona that a member has, too
)

// namesakes remembers which personas have the name of a member. The zero value is ready.
type namesakes struct {
	mu    sync.Mutex
	asked map[string]namesake // by server and name; guarded by mu
}

type namesake struct {
	taken bool
	at    time.Time
}

// Namesake reports whether a member of a server has a name that looks like a persona's. It asks Discord for the members whose names begin
// like it, at most once an hour for a name. The error is a *rest.Error.
// https://discord.com/developers/docs/resources/guild#search-guild-members
func (s *Session) Namesake(ctx context.Context, guildID, name string) (taken bool, err error) {
	n, key := &s.namesakes, guildID+" "+name
	n.mu.Lock()
	known, ok := n.asked[key]
	n.mu.Unlock()
	if ok && time.Since(known.at) < namesakeMemory {
		return known.taken, nil
	}
	var members []member
	query := url.Values{"query": {PersonaName(name)}, "limit": {strconv.Itoa(mostNamesakes)}}
	if err = s.rest.Get(ctx, rest.Request{URL: discordgo.EndpointGuildMembers(guildID) + "/search?" + query.Encode()}, &members); err == nil {
		alike := func(other string) bool { return s.cfg.Alike(name, other) }
		for _, m := range members {
			own := s.self.Load() != nil && m.User.ID == s.me().user.ID
			taken = taken || !own && slices.ContainsFunc([]string{m.Nick, m.User.GlobalName, m.User.Username}, alike)
		}
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.asked == nil {
		n.asked = map[string]namesake{}
	}
	n.asked[key] = namesake{taken, time.Now()} // a failure, too: a post does not ask again soon
	return taken, err
}

// postingName returns the name under which a persona posts in a channel. It differs from the names of members.
func (s *Session) postingName(ctx context.Context, channelID, name string) string {
	posts := PersonaName(name)
	if s.cfg.Alike == nil {
		return posts
	}
	c, _ := s.names.channel(channelID)
	if c.GuildID == "" {
		return posts
	}
	ctx, cancel := context.WithTimeout(ctx, namesakeLimit)
	defer cancel()
	if taken, err := s.Namesake(ctx, c.GuildID, name); err != nil || !taken {
		return posts
	}
	return MarkedName(name)
}

// MarkedName returns the name under which a persona posts where a member has its name.
func MarkedName(name string) string {
	runes := []rune(PersonaName(name))
	return string(runes[:min(len(runes), maxPersonaName-len(namesakeMark))]) + namesakeMark
}
