package discord

import (
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Everything in angle brackets that Discord's clients show as something else.
// https://discord.com/developers/docs/reference#message-formatting
var markup = regexp.MustCompile(`<(@!?|@&|#|a?:\w{1,32}:|/[^<>:]{1,100}:|t:)(-?\d{1,20})(?::[tTdDfFR])?>`)

// readable writes a message's text as a person sees it: names for ids. The bot's own mention is taken out, since it
// says only whom the text is for. Mentions are the names of people, roles and channels that stand in the text for ids.
func (s *Session) readable(m *message) (text string, mentions []string) {
	text = m.Content
	name := func(mention string) string {
		mentions = append(mentions, mention)
		return mention
	}
	if self := s.self.Load(); self != nil {
		text = self.strip.Replace(text)
	}
	text = markup.ReplaceAllStringFunc(text, func(found string) string {
		parts := markup.FindStringSubmatch(found)
		kind, id := parts[1], parts[2]
		switch {
		case kind == "@" || kind == "@!":
			return name("@" + m.mentionedUser(id))
		case kind == "@&":
			return name("@" + orElse(s.names.role(m.GuildID, id).Name, "unknown-role"))
		case kind == "#":
			c, _ := s.names.channel(id)
			return name("#" + orElse(c.Name, "unknown-channel"))
		case kind == "t:":
			seconds, _ := strconv.ParseInt(id, 10, 64)
			return time.Unix(seconds, 0).UTC().Format("2006-01-02 15:04 UTC")
		case kind[0] == '/':
			return strings.TrimSuffix(kind, ":")
		}
		return strings.TrimPrefix(kind, "a") // an emoji: :name:
	})
	return strings.TrimSpace(text), mentions
}

// mentionedUser returns the name of a user that the message mentions.
func (m *message) mentionedUser(id string) string {
	for _, u := range m.Mentions {
		if u.ID == id {
			return u.name(u.Member)
		}
	}
	return "unknown-user"
}

func orElse(s, fallback string) string {
	if s == "" {
		return fallback
	}
	return s
}

// identity is the bot's own user and application, from READY.
type identity struct {
	user  user
	app   string
	strip *strings.Replacer // takes the bot's mention out, with the space that it leaves over
}

func newIdentity(u user, app string) *identity {
	plain, nick := "<@"+u.ID+">", "<@!"+u.ID+">"
	return &identity{user: u, app: app, strip: strings.NewReplacer(
		" "+plain, "", " "+nick, "", plain+" ", "", nick+" ", "", plain, "", nick, "")}
}

func (s *Session) appID() string {
	if self := s.self.Load(); self != nil {
		return self.app
	}
	return ""
}

func (s *Session) selfID() string {
	if self := s.self.Load(); self != nil {
		return self.user.ID
	}
	return ""
}
