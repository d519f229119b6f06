package recall

import "regexp"

// Link is a link to a message of Discord.
type Link struct {
	Guild, Channel, Message string // ids
	URL                     string // as it was typed
}

// A link to a message, of any of Discord's clients. One of a direct message has "@me" in place of a server and is none of ours.
var link = regexp.MustCompile(`https?://(?:(?:www|ptb|canary)\.)?discord(?:app)?\.com/channels/(\d{1,20})/(\d{1,20})/(\d{1,20})\b`)

// mostLinks is how many links of one message are followed.
const mostLinks = 5

// Links returns the messages that a text links to, each once.
func Links(s string) (all []Link) {
	seen := map[string]bool{}
	for _, m := range link.FindAllStringSubmatch(s, -1) {
		if !seen[m[3]] && len(all) < mostLinks {
			seen[m[3]] = true
			all = append(all, Link{Guild: m[1], Channel: m[2], Message: m[3], URL: m[0]})
		}
	}
	return all
}

// URL returns the address of a message.
func URL(guildID, channelID, messageID string) string {
	return "https://discord.com/channels/" + guildID + "/" + channelID + "/" + messageID
}

// ChannelOf returns the id of the channel that an address of a message or of a channel names, or "".
func ChannelOf(url string) string {
	if m := channelLink.FindStringSubmatch(url); m != nil {
		return m[1]
	}
	return ""
}

var channelLink = regexp.MustCompile(`^https://discord\.com/channels/\d{1,20}/(\d{1,20})(?:/\d{1,20})?$`)
