package discord

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/bwmarrin/discordgo"
)

// Survey is how the bot is set up at Discord, and what it may do where.
type Survey struct {
	Application, ID string // its name and id
	Bot             string // name of its account
	Content         bool   // the Message Content intent is granted
	Public          bool   // anybody may add it to a server
	InteractionsTo  string // where commands are sent in place of the gateway; empty: to the gateway
	Invite          string // URL that adds the bot to a server with the least permissions it needs
	Servers         []SurveyedServer
	More            int // servers that were not looked at

	botID string
}

// SurveyedServer is one server that the bot is in.
type SurveyedServer struct {
	ID, Name string
	Silenced time.Time // until when a moderator has silenced the bot there; zero: not
	Channels []SurveyedChannel
	Err      error // why no more is known; the rest is empty then
}

// SurveyedChannel is a channel with text in it. Its threads are as it is.
type SurveyedChannel struct {
	ID, Name string
	Forum    bool     // its posts are threads
	Missing  []string // permissions that the bot needs here and does not have, by Discord's names
	Without  []string // those that it could use and does not have
}

// right is a permission with the name that Discord's settings have for it.
type right struct {
	bit  permissions
	name string
}

// needs are the permissions that the bot is invited with; uses are those of what it can do beyond answering.
func needs() []right {
	return []right{
		{discordgo.PermissionViewChannel, "View Channels"}, {discordgo.PermissionReadMessageHistory, "Read Message History"},
		{discordgo.PermissionSendMessages, "Send Messages"}, {discordgo.PermissionSendMessagesInThreads, "Send Messages in Threads"},
	}
}

func uses() []right {
	return []right{
		{discordgo.PermissionAddReactions, "Add Reactions"}, {discordgo.PermissionAttachFiles, "Attach Files"},
		{discordgo.PermissionCreatePublicThreads, "Create Public Threads"}, {discordgo.PermissionManageWebhooks, "Manage Webhooks"},
	}
}

// NeededPermissions and UsefulPermissions are the names of those that the bot needs, and could use.
func NeededPermissions() []string { return rightNames(needs()) }

// UsefulPermissions are the names of the permissions for what the bot can do beyond answering.
func UsefulPermissions() []string { return rightNames(uses()) }

func rightNames(all []right) (names []string) {
	for _, r := range all {
		names = append(names, r.name)
	}
	return names
}

// Bits of an application's flags.
// https://discord.com/developers/docs/resources/application#application-object-application-flags
const contentFlags = 1<<18 | 1<<19 // reviewed, and switched on without a review

// mostSurveyed is how many servers are looked at, in three requests each; surveyedAtOnce at a time.
const (
	mostSurveyed   = 50
	surveyedAtOnce = 4
)

// Application asks Discord whose token it is. Neither it nor Survey needs a session that runs. The error is a *SendError.
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
	if err := s.get(ctx, discordgo.EndpointAPI+"applications/@me", &app); err != nil {
		return Survey{}, err
	}
	return Survey{Application: app.Name, ID: app.ID, Bot: app.Bot.Username, botID: app.Bot.ID, Content: app.Flags&contentFlags != 0, Public: app.Public,
		InteractionsTo: app.Address, Invite: Invite(app.ID)}, nil
}

// Survey is Application, and what the bot may do in the channels of its servers. With an error it holds what was found until then.
func (s *Session) Survey(ctx context.Context) (Survey, error) {
	found, err := s.Application(ctx)
	if err != nil {
		return found, err
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
	slices.SortFunc(found.Servers, func(a, b SurveyedServer) int { return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.ID, b.ID)) })
	return found, nil
}

// ownGuilds lists the servers that the bot is in.
// https://discord.com/developers/docs/resources/user#get-current-user-guilds
func (s *Session) ownGuilds(ctx context.Context) (all []guildInfo, err error) {
	const page = 200
	for after := "0"; ; after = all[len(all)-1].ID {
		var some []guildInfo
		if err := s.get(ctx, fmt.Sprintf("%susers/@me/guilds?limit=%d&after=%s", discordgo.EndpointAPI, page, after), &some); err != nil {
			return nil, err
		}
		if all = append(all, some...); len(some) < page {
			return all, nil
		}
	}
}

// surveyServer computes what the bot may do in a server, as Discord documents it.
func (s *Session) surveyServer(ctx context.Context, g guildInfo, botID string) SurveyedServer {
	found := SurveyedServer{ID: g.ID, Name: g.Name}
	var me member
	var channels []channel
	for address, v := range map[string]any{
		discordgo.EndpointGuild(g.ID): &g, discordgo.EndpointGuildMember(g.ID, botID): &me, discordgo.EndpointGuildChannels(g.ID): &channels,
	} {
		if found.Err = s.get(ctx, address, v); found.Err != nil {
			return found
		}
	}
	known := &guild{owner: g.OwnerID, roles: map[string]role{}}
	for _, r := range g.Roles {
		known.roles[r.ID] = r
	}
	who := subject{id: botID, roles: me.Roles, timeout: me.Timeout.After(time.Now())}
	if who.timeout {
		found.Silenced = me.Timeout.Time
	}
	for _, c := range channels {
		if hasText(c.Type) {
			found.Channels = append(found.Channels, surveyChannel(c, known.channelPermissions(g.ID, who, c.Overwrites)))
		}
	}
	slices.SortFunc(found.Channels, func(a, b SurveyedChannel) int { return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.ID, b.ID)) })
	return found
}

// hasText reports whether people may write in channels of a kind, or in their threads.
func hasText(kind discordgo.ChannelType) bool {
	switch kind {
	case discordgo.ChannelTypeGuildText, discordgo.ChannelTypeGuildNews, discordgo.ChannelTypeGuildVoice, discordgo.ChannelTypeGuildStageVoice,
		discordgo.ChannelTypeGuildForum, discordgo.ChannelTypeGuildMedia:
		return true
	}
	return false
}

// surveyChannel says what is missing. In a forum there are posts alone, which are threads; sending messages there means opening them, which
// the bot does not do.
func surveyChannel(c channel, may permissions) SurveyedChannel {
	found := SurveyedChannel{ID: c.ID, Name: withoutBidi(c.Name), Forum: c.Type == discordgo.ChannelTypeGuildForum || c.Type == discordgo.ChannelTypeGuildMedia}
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

// get asks for one object and reads it into v, with the waits that Discord asks for.
func (s *Session) get(ctx context.Context, address string, v any) error {
	body, err := s.call(ctx, request{method: http.MethodGet, url: address})
	if err != nil {
		return err
	}
	if err := decode(body, v); err != nil {
		return &SendError{Kind: Unavailable, Message: fmt.Sprintf("read answer: %v", err)}
	}
	return nil
}
