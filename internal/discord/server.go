package discord

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"sort"
	"sync"
	"time"

	"github.com/bwmarrin/discordgo"

	"familiar/internal/context/turn"
	"familiar/internal/discord/gateway"
	"familiar/internal/discord/rest"
)

// Survey says how the bot is set up at Discord, and what it may do in which channel.
type Survey struct {
	Application, ID string // name and id
	Bot             string // name of the bot's account
	Content         bool   // the Message Content intent is granted
	Public          bool   // anybody may add the bot to a server
	InteractionsTo  string // URL to which Discord sends commands; empty: it sends them over the gateway
	Invite          string // URL that adds the bot to a server with the least permissions it needs
	Servers         []SurveyedServer
	More            int // number of servers that were not surveyed
	Shards          int // that Discord recommends; 0: unknown
	Starts          int // sessions that may begin before the day's limit is reset, of StartsADay
	StartsADay      int // 0: unknown

	botID string
}

// SurveyedServer is one of the bot's servers.
type SurveyedServer struct {
	ID, Name string
	Silenced time.Time // until when a moderator has silenced the bot; zero: not silenced
	Channels []SurveyedChannel
	Err      error // why nothing more is known; the other fields are empty then
}

// SurveyedChannel is a channel in which people write. Its threads have the same permissions.
type SurveyedChannel struct {
	ID, Name string
	Forum    bool     // all messages are in threads
	Missing  []string // Discord's names of the permissions that the bot needs here and lacks
	Without  []string // those that the bot could use and lacks
}

// right is a permission with its name in Discord's settings.
type right struct {
	bit  permissions
	name string
}

// needs are the permissions that the bot is invited with. uses are those for everything beyond answering.
func needs() []right {
	return []right{
		{discordgo.PermissionViewChannel, "View Channels"}, {discordgo.PermissionReadMessageHistory, "Read Message History"},
		{discordgo.PermissionSendMessages, "Send Messages"}, {discordgo.PermissionSendMessagesInThreads, "Send Messages in Threads"},
	}
}

func uses() []right {
	return []right{
		{discordgo.PermissionAddReactions, "Add Reactions"}, {discordgo.PermissionAttachFiles, FilesPermission},
		{discordgo.PermissionCreatePublicThreads, "Create Public Threads"}, {discordgo.PermissionManageWebhooks, "Manage Webhooks"},
		{discordgo.PermissionSendVoiceMessages, VoicePermission},
	}
}

// VoicePermission is the name of the permission to say replies aloud, and FilesPermission that to attach pictures.
const (
	VoicePermission = "Send Voice Messages"
	FilesPermission = "Attach Files"
)

// NeededPermissions returns the names of the permissions that the bot needs.
func NeededPermissions() []string { return rightNames(needs()) }

// UsefulPermissions returns the names of the permissions for everything beyond answering. VoicePermission is one if the bot says replies
// aloud.
func UsefulPermissions(speaks bool) []string {
	return slices.DeleteFunc(rightNames(uses()), func(name string) bool { return name == VoicePermission && !speaks })
}

func rightNames(all []right) (names []string) {
	for _, r := range all {
		names = append(names, r.name)
	}
	return names
}

// Flags of an application.
// https://discord.com/developers/docs/resources/application#application-object-application-flags
const contentFlags = 1<<18 | 1<<19 // granted after a review, or switched on without one

// mostSurveyed is how many servers are surveyed, with three requests each. surveyedAtOnce is how many at a time.
const (
	mostSurveyed   = 50
	surveyedAtOnce = 4
)

// Application returns the application and the bot that the token belongs to. Neither Application nor Survey needs a
// running session. The error is a *rest.Error.
// https://discord.com/developers/docs/resources/application#get-current-application
func (s *Session) Application(ctx context.Context) (Survey, error) {
	var app struct {
		ID      string `json:"id"`
		Name    string `json:"name"`
		Flags   uint64 `json:"flags"`
		Public  bool   `json:"bot_public"`
		Address string `json:"interactions_endpoint_url"`
		Bot     user   `json:"bot"`
	}
	if err := s.rest.Get(ctx, rest.Request{URL: discordgo.EndpointAPI + "applications/@me"}, &app); err != nil {
		return Survey{}, err
	}
	return Survey{Application: app.Name, ID: app.ID, Bot: app.Bot.Username, botID: app.Bot.ID, Content: app.Flags&contentFlags != 0, Public: app.Public,
		InteractionsTo: app.Address, Invite: Invite(app.ID)}, nil
}

// Survey returns what Application returns, and what the bot may do in the channels of its servers. With an error it
// returns what was found so far.
func (s *Session) Survey(ctx context.Context) (Survey, error) {
	found, err := s.Application(ctx)
	if err != nil {
		return found, err
	}
	if told, err := s.gateway.Ask(ctx); err == nil {
		found.Shards, found.Starts, found.StartsADay = told.Shards, told.SessionStartLimit.Remaining, told.SessionStartLimit.Total
	}
	guilds, err := s.ownGuilds(ctx)
	if err != nil {
		return found, err
	}
	found.More = max(0, len(guilds)-mostSurveyed)
	guilds = guilds[:len(guilds)-found.More]
	found.Servers = make([]SurveyedServer, len(guilds))
	var looking sync.WaitGroup
	next := make(chan int)
	for range min(surveyedAtOnce, len(guilds)) {
		looking.Go(func() {
			for i := range next {
				found.Servers[i] = s.surveyServer(ctx, guilds[i], found.botID)
			}
		})
	}
	for i := range guilds {
		next <- i
	}
	close(next)
	looking.Wait()
	sort.Slice(found.Servers, func(i, j int) bool { // not slices.SortFunc, which is compiled once more for each type: 15 kB
		a, b := found.Servers[i], found.Servers[j]
		return a.Name < b.Name || a.Name == b.Name && a.ID < b.ID
	})
	return found, nil
}

// ownGuilds lists the bot's servers.
// https://discord.com/developers/docs/resources/user#get-current-user-guilds
func (s *Session) ownGuilds(ctx context.Context) (all []guildInfo, err error) {
	const page = 200
	for after := "0"; ; after = all[len(all)-1].ID {
		var some []guildInfo
		if err := s.rest.Get(ctx, rest.Request{URL: fmt.Sprintf("%susers/@me/guilds?limit=%d&after=%s", discordgo.EndpointAPI, page, after)}, &some); err != nil {
			return nil, err
		}
		if all = append(all, some...); len(some) < page {
			return all, nil
		}
	}
}

// errNoRoles is why a survey does not know what the bot may do in a server. Every server has a role, that of everyone.
var errNoRoles = errors.New("the answers lack the roles of the server, or of the bot")

// surveyServer computes what the bot may do in a server. Servers that are not Discord may leave the roles out of a server.
func (s *Session) surveyServer(ctx context.Context, g guildInfo, botID string) SurveyedServer {
	found := SurveyedServer{ID: g.ID, Name: g.Name}
	var me member
	var channels list[channel]
	for address, v := range map[string]any{
		discordgo.EndpointGuild(g.ID): &g, discordgo.EndpointGuildMember(g.ID, botID): &me, discordgo.EndpointGuildChannels(g.ID): &channels,
	} {
		if found.Err = s.rest.Get(ctx, rest.Request{URL: address}, v); found.Err != nil {
			return found
		}
	}
	if len(g.Roles) == 0 {
		if found.Err = s.rest.Get(ctx, rest.Request{URL: discordgo.EndpointGuildRoles(g.ID)}, &g.Roles); found.Err != nil {
			return found
		}
	}
	if len(g.Roles) == 0 || me.Roles == nil {
		found.Err = errNoRoles
		return found
	}
	known := newGuild(g)
	who := subject{id: botID, roles: me.Roles, timeout: me.Timeout.After(time.Now())}
	if who.timeout {
		found.Silenced = me.Timeout.Time
	}
	for _, c := range channels {
		if slices.Contains(channelTypes, c.Type) {
			found.Channels = append(found.Channels, surveyChannel(c, known.channelPermissions(g.ID, who, c.Overwrites)))
		}
	}
	sort.Slice(found.Channels, func(i, j int) bool {
		a, b := found.Channels[i], found.Channels[j]
		return a.Name < b.Name || a.Name == b.Name && a.ID < b.ID
	})
	return found
}

// surveyChannel says which permissions are missing. In a forum, Send Messages would allow opening posts, which the bot
// does not do.
func surveyChannel(c channel, may permissions) SurveyedChannel {
	found := SurveyedChannel{ID: c.ID, Name: withoutBidi(c.Name), Forum: c.forum()}
	for _, r := range needs() {
		if may&r.bit == 0 && !(found.Forum && r.bit == discordgo.PermissionSendMessages) {
			found.Missing = append(found.Missing, r.name)
		}
	}
	for _, r := range uses() {
		if may&r.bit == 0 {
			found.Without = append(found.Without, r.name)
		}
	}
	return found
}

// Reading a server when somebody asks about it. Everything here is what the bot itself may read. Readable says what the
// asking person may read.

// serverLimit is how long Discord may take for one of these requests.
const serverLimit = 3 * time.Second

// Channels lists the channels of a server and their known threads.
func (s *Session) Channels(guildID string) []turn.Channel { return s.names.listChannels(guildID) }

// ChannelName returns the name of a channel, or "" if it is unknown.
func (s *Session) ChannelName(id string) string {
	c, _ := s.names.channel(id)
	return c.Name
}

func (d *directory) listChannels(guildID string) (all []turn.Channel) {
	d.mu.RLock()
	defer d.mu.RUnlock()
	if g := d.guilds[guildID]; g != nil {
		for _, c := range g.channels {
			all = append(all, turn.Channel{ID: c.ID, Name: c.Name, Topic: c.Topic, Server: g.name})
		}
	}
	return all
}

// SearchMessages searches the messages of a server with Discord's own search, best match first. The error is a
// *rest.Error. Its kind is Forbidden or Gone if the search is not granted. Its status is 202 while Discord builds the
// index.
// https://discord.com/developers/docs/resources/message#search-guild-messages
func (s *Session) SearchMessages(ctx context.Context, guildID string, q turn.MessageSearch) ([]turn.Message, error) {
	const longest, most = 1024, "25" // characters of the words, and number of messages
	params := url.Values{"limit": {most}}
	if q.Words != "" {
		params.Set("content", head(q.Words, longest))
	}
	params["author_id"], params["channel_id"] = q.Authors, q.Channels
	if !q.From.IsZero() {
		params.Set("min_id", gateway.FlakeAt(q.From).String())
	}
	if !q.To.IsZero() {
		params.Set("max_id", gateway.FlakeAt(q.To).String())
	}
	var found struct {
		Messages list[list[message]] `json:"messages"` // groups of one message; Discord used to add the messages around it
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

// Pins returns the pinned messages of a channel, the newest pin first. The error is a *rest.Error.
// https://discord.com/developers/docs/resources/message#get-channel-pins
func (s *Session) Pins(ctx context.Context, guildID, channelID string) ([]turn.Message, error) {
	var found struct {
		Items list[struct {
			Message message `json:"message"`
		}] `json:"items"`
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

// Linked returns the message with these ids. The error is a *rest.Error.
func (s *Session) Linked(ctx context.Context, guildID, channelID, messageID string) (turn.Message, error) {
	var m message
	if err := s.fetchJSON(ctx, discordgo.EndpointChannelMessage(channelID, messageID), &m); err != nil {
		return turn.Message{}, err
	}
	if found := s.written(guildID, []message{m}); len(found) == 1 && m.ID == messageID && m.ChannelID == channelID {
		return found[0], nil
	}
	return turn.Message{}, &rest.Error{Kind: rest.Gone, Message: "the response is not that message"}
}

// Earlier returns up to 50 messages of a channel from before one of them, oldest first. The error is a *rest.Error.
// https://discord.com/developers/docs/resources/channel#get-channel-messages
func (s *Session) Earlier(ctx context.Context, channelID, messageID string) ([]turn.Message, error) {
	var all list[message]
	if err := s.fetchJSON(ctx, discordgo.EndpointChannelMessages(channelID)+"?limit=50&before="+messageID, &all); err != nil {
		return nil, err
	}
	slices.SortStableFunc(all, byID)
	c, _ := s.names.channel(channelID)
	return s.written(c.GuildID, all), nil
}

// fetchJSON reads one object into v, without retries.
func (s *Session) fetchJSON(ctx context.Context, address string, v any) error {
	ctx, cancel := context.WithTimeout(ctx, serverLimit)
	defer cancel()
	return s.rest.Get(ctx, rest.Request{URL: address, Rank: rest.Edit, Once: true}, v)
}

// written returns the messages that people or the bot itself wrote.
func (s *Session) written(guildID string, all []message) (found []turn.Message) {
	for i := range all {
		m := &all[i]
		m.GuildID = guildID // only the gateway's events include it
		if m.Author != nil && (s.fromPerson(m) || m.Author.ID == s.me().user.ID) {
			found = append(found, s.message(m, nil))
		}
	}
	return found
}

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
	_, err := s.rest.Call(ctx, rest.Request{Method: http.MethodPatch, URL: discordgo.EndpointGuildMember(guildID, "@me"), Body: rest.JSON(body), Rank: rest.Back})
	if rest.KindOf(err) == rest.Forbidden {
		return fmt.Errorf("give the bot's role the permission Change Nickname: %w", err)
	}
	return err
}

// Replies returns the bot's own replies to a message, oldest first, among the hundred messages that follow it. Posts of personas and in
// direct messages do not say what they reply to. Those with buttons come, too.
func (s *Session) Replies(ctx context.Context, channelID, messageID string) (all []turn.Standing, err error) {
	ctx, cancel := withDeadline(ctx)
	defer cancel()
	self := s.me().user.ID
	if self == "" {
		var u user
		if err := s.rest.Get(ctx, rest.Request{URL: discordgo.EndpointUser("@me"), Rank: rest.Back}, &u); err != nil {
			return nil, fmt.Errorf("look for replies: %w", err)
		}
		self = u.ID
	}
	var page list[struct {
		message
		Components list[keyRow] `json:"components"`
	}]
	url := fmt.Sprintf("%s?after=%s&limit=100", discordgo.EndpointChannelMessages(channelID), messageID)
	if err := s.rest.Get(ctx, rest.Request{URL: url, Rank: rest.Back}, &page); err != nil {
		return nil, fmt.Errorf("look for replies: %w", err)
	}
	for i := len(page) - 1; i >= 0; i-- { // newest first
		m := page[i]
		if m.Author == nil || m.Author.ID != self && (m.WebhookID == "" || m.AppID == "" || m.AppID != s.me().app) {
			continue
		}
		found := turn.Standing{ID: m.ID, Text: m.Content}
		for _, row := range m.Components {
			for _, button := range row.Components {
				found.Buttons++
				found.Key = cmp.Or(found.Key, button.CustomID)
			}
		}
		switch {
		case m.Reference != nil && m.Reference.MessageID == messageID:
			found.Key = ""
		case m.Reference != nil || found.Key == "":
			continue
		}
		all = append(all, found)
	}
	return all, nil
}
