package discord

import (
	"encoding/json"
	"time"

	"github.com/bwmarrin/discordgo"
)

// The gateway's payloads, with the fields this bot reads and no others: what is not read cannot fail to parse, so a
// message with a component or an embed of a kind invented tomorrow is not lost, and takes no memory.
// https://discord.com/developers/docs/events/gateway-events

// frame is everything the gateway sends.
type frame struct {
	Op   int             `json:"op"`
	Data json.RawMessage `json:"d"`
	Seq  int64           `json:"s"`
	Type string          `json:"t"`
}

type ready struct {
	SessionID   string      `json:"session_id"`
	ResumeURL   string      `json:"resume_gateway_url"`
	User        user        `json:"user"`
	Application object      `json:"application"`
	Guilds      []guildInfo `json:"guilds"`
}

type object struct {
	ID string `json:"id"`
}

type user struct {
	ID         string `json:"id"`
	Username   string `json:"username"`
	GlobalName string `json:"global_name"`
	Bot        bool   `json:"bot"`
	System     bool   `json:"system"`
}

// member is a user in a server; User is missing where the payload names the user beside it.
type member struct {
	User        user   `json:"user"`
	Nick        string `json:"nick"`
	Permissions string `json:"permissions"` // in interactions: a bit set in decimal
}

// name is what others see: the nickname in this server, the display name, or the account's name.
func (u user) name(m *member) string {
	if m != nil && m.Nick != "" {
		return m.Nick
	}
	if u.GlobalName != "" {
		return u.GlobalName
	}
	return u.Username
}

type mention struct {
	user
	Member *member `json:"member"`
}

type message struct {
	ID         string                `json:"id"`
	ChannelID  string                `json:"channel_id"`
	GuildID    string                `json:"guild_id"`
	Type       discordgo.MessageType `json:"type"`
	Content    string                `json:"content"`
	Timestamp  time.Time             `json:"timestamp"`
	Edited     *time.Time            `json:"edited_timestamp"`
	WebhookID  string                `json:"webhook_id"`
	Author     *user                 `json:"author"`
	Member     *member               `json:"member"`
	Mentions   []mention             `json:"mentions"`
	Roles      []string              `json:"mention_roles"`
	Reference  *messageReference     `json:"message_reference"`
	Referenced *message              `json:"referenced_message"`
}

type messageReference struct {
	Type      int    `json:"type"` // 0 reply, 1 forward
	MessageID string `json:"message_id"`
}

type deletion struct {
	ID        string   `json:"id"`
	IDs       []string `json:"ids"` // of a bulk deletion
	ChannelID string   `json:"channel_id"`
	GuildID   string   `json:"guild_id"`
}

type guildInfo struct {
	ID          string    `json:"id"`
	Name        string    `json:"name"`
	Unavailable bool      `json:"unavailable"`
	Roles       []role    `json:"roles"`
	Channels    []channel `json:"channels"`
	Threads     []channel `json:"threads"`
}

type role struct {
	ID   string   `json:"id"`
	Name string   `json:"name"`
	Tags roleTags `json:"tags"`
}

type roleTags struct {
	BotID string `json:"bot_id"` // the bot whose own role this is; empty for all others
}

type roleChange struct {
	GuildID string `json:"guild_id"`
	Role    role   `json:"role"`
	RoleID  string `json:"role_id"` // of a deletion
}

type channel struct {
	ID       string                `json:"id"`
	GuildID  string                `json:"guild_id"`
	Type     discordgo.ChannelType `json:"type"`
	Name     string                `json:"name"`
	ParentID string                `json:"parent_id"` // the channel of a thread, the category of a channel
}

// thread reports whether the channel is a thread of any kind.
func (c channel) thread() bool {
	switch c.Type {
	case discordgo.ChannelTypeGuildNewsThread, discordgo.ChannelTypeGuildPublicThread, discordgo.ChannelTypeGuildPrivateThread:
		return true
	}
	return false
}

type threadList struct {
	GuildID string    `json:"guild_id"`
	Threads []channel `json:"threads"`
}

type interaction struct {
	ID        string                    `json:"id"`
	Type      discordgo.InteractionType `json:"type"`
	Token     string                    `json:"token"`
	GuildID   string                    `json:"guild_id"`
	ChannelID string                    `json:"channel_id"`
	Member    *member                   `json:"member"` // in a server
	User      *user                     `json:"user"`   // in a direct message
	Message   *object                   `json:"message"`
	Data      struct {
		Name     string   `json:"name"`
		Options  []option `json:"options"`
		CustomID string   `json:"custom_id"`
	} `json:"data"`
}

type option struct {
	Name    string          `json:"name"`
	Value   json.RawMessage `json:"value"`
	Options []option        `json:"options"` // of a subcommand
}
