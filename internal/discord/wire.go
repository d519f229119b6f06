package discord

import (
	"cmp"
	"encoding/json"
	"reflect"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/bwmarrin/discordgo"

	"familiar/internal/discord/gateway"
	"familiar/internal/discord/rest"
)

// The gateway's payloads, with only the fields that the bot reads. Other fields cannot fail to parse and take no memory. So a message with
// a new kind of component or embed is not lost. A field of another type is left out, see [rest.Decode].
// https://discord.com/developers/docs/events/gateway-events

// list is a list whose elements are read one by one: one that cannot be read is left out.
type list[T any] []T

// UnmarshalJSON fails only if there is no list.
func (l *list[T]) UnmarshalJSON(data []byte) error { return readList(data, (*[]T)(l)) }

// readList reads a list into a pointer to a slice. It is not compiled once more for each type.
func readList(data []byte, into any) error {
	if json.Unmarshal(data, into) == nil {
		return nil
	}
	l := reflect.ValueOf(into).Elem()
	l.SetZero()
	var all []json.RawMessage
	err := json.Unmarshal(data, &all)
	for _, raw := range all {
		if one := reflect.New(l.Type().Elem()); rest.Decode(raw, one.Interface()) == nil {
			l.Set(reflect.Append(l, one.Elem()))
		}
	}
	return err
}

// stamp is a time. If it cannot be read, it is the zero time with the unread text.
type stamp struct {
	time.Time
	text string
}

func (s *stamp) UnmarshalJSON(data []byte) error {
	if s.Time.UnmarshalJSON(data) != nil {
		*s = stamp{text: string(data)}
	}
	return nil
}

// ready is what READY says of the bot and its servers.
type ready struct {
	User        user            `json:"user"`
	Application object          `json:"application"`
	Guilds      list[guildInfo] `json:"guilds"`
}

type object struct {
	ID string `json:"id"`
}

// ids is a list of ids. Other servers write them as numbers, or as objects with an id. It is nil, which means unknown, if it cannot be read.
type ids []string

// UnmarshalJSON never fails.
func (all *ids) UnmarshalJSON(data []byte) error {
	*all = nil
	var list []json.RawMessage
	if json.Unmarshal(data, &list) != nil || list == nil {
		return nil
	}
	read := make(ids, len(list))
	for i, one := range list {
		var o object
		if json.Unmarshal(one, &read[i]) != nil && rest.Decode(one, &o) == nil {
			read[i] = o.ID
		}
		if number := string(one); gateway.FlakeOf(number) > 0 {
			read[i] = number
		}
		if read[i] == "" {
			return nil
		}
	}
	*all = read
	return nil
}

type user struct {
	ID         string `json:"id"`
	Username   string `json:"username"`
	GlobalName string `json:"global_name"`
	Bot        bool   `json:"bot,omitempty"`
	System     bool   `json:"system,omitempty"`
}

// member is a user in a server. User is zero if the payload has the user in another field.
type member struct {
	User        user   `json:"user"`
	Nick        string `json:"nick"`
	Permissions string `json:"permissions"` // in interactions: a set of bits in decimal
	Roles       ids    `json:"roles"`       // without @everyone; nil: unknown
	Timeout     stamp  `json:"communication_disabled_until"`
}

// name returns what others see: the nickname in this server, the display name, or the account's name. Bidi controls are
// removed, because they would reverse the text around the name.
func (u user) name(m *member) string {
	nick := ""
	if m != nil {
		nick = withoutBidi(m.Nick)
	}
	return cmp.Or(nick, withoutBidi(u.GlobalName), u.Username)
}

func withoutBidi(name string) string {
	return strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Bidi_Control, r) {
			return -1
		}
		return r
	}, name)
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
	Timestamp  stamp                 `json:"timestamp"`
	Edited     *stamp                `json:"edited_timestamp"`
	WebhookID  string                `json:"webhook_id"`
	AppID      string                `json:"application_id"` // application that owns the webhook, if any
	Author     *user                 `json:"author"`
	Member     *member               `json:"member"`
	Mentions   list[mention]         `json:"mentions"`
	Roles      ids                   `json:"mention_roles"`
	Reference  *messageReference     `json:"message_reference"`
	Referenced *message              `json:"referenced_message"`

	Flags       discordgo.MessageFlags `json:"flags"`
	Attachments list[sentFile]         `json:"attachments"`
	Embeds      list[embed]            `json:"embeds"`
	Snapshots   list[snapshot]         `json:"message_snapshots"`
}

// sentFile is an attachment: https://discord.com/developers/docs/resources/message#attachment-object
type sentFile struct {
	ID          gateway.Flake `json:"id"`
	Filename    string        `json:"filename"`
	Description string        `json:"description"`
	ContentType string        `json:"content_type"`
	Size        int64         `json:"size"`
	URL         string        `json:"url"`
	Width       int           `json:"width"`
	Height      int           `json:"height"`
	Seconds     float64       `json:"duration_secs"`
	Waveform    string        `json:"waveform"`
}

// embed is a link preview or a bot's card: https://discord.com/developers/docs/resources/message#embed-object
type embed struct {
	Title       string           `json:"title"`
	Description string           `json:"description"`
	Provider    embedName        `json:"provider"`
	Author      embedName        `json:"author"`
	Fields      list[embedField] `json:"fields"`
}

type embedName struct {
	Name string `json:"name"`
}

type embedField struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// snapshot is a forwarded message as it was then. It does not name its author.
// https://discord.com/developers/docs/resources/message#message-snapshot-object
type snapshot struct {
	Message struct {
		Content     string                 `json:"content"`
		Flags       discordgo.MessageFlags `json:"flags"`
		Attachments list[sentFile]         `json:"attachments"`
		Embeds      list[embed]            `json:"embeds"`
		Mentions    list[mention]          `json:"mentions"`
	} `json:"message"`
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
	ID          string        `json:"id"`
	Name        string        `json:"name"`
	OwnerID     string        `json:"owner_id,omitempty"`
	Locale      string        `json:"preferred_locale,omitempty"`
	Unavailable bool          `json:"unavailable,omitempty"`
	Roles       list[role]    `json:"roles,omitempty"`
	Channels    list[channel] `json:"channels,omitempty"`
	Threads     list[channel] `json:"threads,omitempty"`
	Members     list[member]  `json:"members,omitempty"` // of a server that comes: the bot's own is among them
}

type role struct {
	ID          string      `json:"id"`
	Name        string      `json:"name"`
	Permissions permissions `json:"permissions,omitzero"`
	Tags        roleTags    `json:"tags,omitzero"`
}

type roleTags struct {
	BotID string `json:"bot_id"` // set if this is a bot's own role
}

type memberChange struct {
	GuildID string `json:"guild_id"`
	member
}

type roleChange struct {
	GuildID string `json:"guild_id"`
	Role    role   `json:"role"`
	RoleID  string `json:"role_id"` // of a deletion
}

// reaction is an emoji that was added to a message or removed from it.
type reaction struct {
	UserID    string  `json:"user_id"`
	ChannelID string  `json:"channel_id"`
	MessageID string  `json:"message_id"`
	GuildID   string  `json:"guild_id"`
	Member    *member `json:"member"` // only in a server, and only when the emoji was added
	Emoji     struct {
		Name string `json:"name"`
	} `json:"emoji"`
}

type channel struct {
	ID         string                `json:"id"`
	GuildID    string                `json:"guild_id,omitempty"`
	Type       discordgo.ChannelType `json:"type"`
	Name       string                `json:"name"`
	ParentID   string                `json:"parent_id,omitempty"`      // of a thread its channel; of a channel its category
	Last       gateway.Flake         `json:"last_message_id,omitzero"` // at the time when the channel was announced
	Topic      string                `json:"topic,omitempty"`
	Overwrites []overwrite           `json:"permission_overwrites,omitempty"` // empty for a thread, which has its parent's
}

func (c channel) thread() bool {
	switch c.Type {
	case discordgo.ChannelTypeGuildNewsThread, discordgo.ChannelTypeGuildPublicThread, discordgo.ChannelTypeGuildPrivateThread:
		return true
	}
	return false
}

// forum reports whether the channel is a forum or a media channel. Every thread there is a post, whose first message has
// the thread's id.
func (c channel) forum() bool {
	return c.Type == discordgo.ChannelTypeGuildForum || c.Type == discordgo.ChannelTypeGuildMedia
}

type threadList struct {
	GuildID string        `json:"guild_id"`
	Threads list[channel] `json:"threads"`
}

type interaction struct {
	ID          string                    `json:"id"`
	Type        discordgo.InteractionType `json:"type"`
	Token       string                    `json:"token"`
	GuildID     string                    `json:"guild_id"`
	ChannelID   string                    `json:"channel_id"`
	Locale      string                    `json:"locale"` // of the person's client
	GuildLocale string                    `json:"guild_locale"`
	Owners      map[string]string         `json:"authorizing_integration_owners"` // installation type → id of the server or the user
	Member      *member                   `json:"member"`                         // in a server
	User        *user                     `json:"user"`                           // in a direct message
	Message     *pressed                  `json:"message"`
	Data        struct {
		Type       discordgo.ApplicationCommandType `json:"type"`
		Name       string                           `json:"name"`
		Options    []option                         `json:"options"`
		CustomID   string                           `json:"custom_id"`
		TargetID   string                           `json:"target_id"`  // of a menu entry
		Components []formPart                       `json:"components"` // of a form that was submitted
		Resolved   struct {
			Messages    map[string]*message `json:"messages"`
			Attachments map[string]sentFile `json:"attachments"`
		} `json:"resolved"`
	} `json:"data"`
}

// visiting reports whether a person used the app in a place that has not installed it. If the platform sends no
// installations, the place counts as one that has.
func (i *interaction) visiting() bool {
	_, installed := i.Owners[strconv.Itoa(int(discordgo.ApplicationIntegrationGuildInstall))]
	_, brought := i.Owners[strconv.Itoa(int(discordgo.ApplicationIntegrationUserInstall))]
	return brought && !installed
}

// pressed is the message under which a button was pressed.
type pressed struct {
	ID    string                 `json:"id"`
	Flags discordgo.MessageFlags `json:"flags"`
}

type option struct {
	Name    string          `json:"name"`
	Value   json.RawMessage `json:"value"`
	Focused bool            `json:"focused"` // the option is being typed, and suggestions are asked for
	Options []option        `json:"options"` // of a subcommand
}
