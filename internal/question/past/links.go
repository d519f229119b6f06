package past

import (
	"strings"

	"familiar/internal/text"
)

// MessageLink is a link to a Discord message.
type MessageLink struct {
	Guild, Channel, Message string // ids; of a direct message there is no guild
	URL                     string // as typed
}

// messageLink matches the links of all Discord clients. A link into a direct message has "@me" in place of a server.
var messageLink = text.NewLazyRegexp(`https?://(?:(?:www|ptb|canary)\.)?discord(?:app)?\.com/channels/(\d{1,20}|@me)/(\d{1,20})/(\d{1,20})\b`)

// maxLinks is how many links of one message are followed.
const maxLinks = 5

// MessageLinks returns the messages that a text links to, each once.
func MessageLinks(s string) (all []MessageLink) {
	seen := map[string]bool{}
	for _, m := range messageLink.FindAllStringSubmatch(s, -1) {
		if !seen[m[3]] && len(all) < maxLinks {
			seen[m[3]] = true
			all = append(all, MessageLink{Guild: strings.TrimPrefix(m[1], "@me"), Channel: m[2], Message: m[3], URL: m[0]})
		}
	}
	return all
}

// MessageURL returns the address of a message.
func MessageURL(guildID, channelID, messageID string) string {
	return "https://discord.com/channels/" + guildID + "/" + channelID + "/" + messageID
}

// ChannelOf returns the channel id in the address of a message or channel, or "".
func ChannelOf(url string) string {
	if m := channelLink.FindStringSubmatch(url); m != nil {
		return m[1]
	}
	return ""
}

var channelLink = text.NewLazyRegexp(`^https://discord\.com/channels/\d{1,20}/(\d{1,20})(?:/\d{1,20})?$`)
