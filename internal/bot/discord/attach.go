package discord

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"path"
	"strings"
	"unicode"

	"github.com/bwmarrin/discordgo"

	"familiar/internal/context/turn"
)

const (
	isVoice    = 1 << 13 // of a message's flags: it is a recording
	maxName    = 100     // characters of a file's name that are kept
	maxAlt     = 1000    // of its description; Discord allows 1,024
	maxQuoted  = 4000    // of a forwarded message or an embed; Discord's longest message has as many
	maxQuotes  = 5       // quotes of one message; Discord allows 10 embeds
	maxOnQuote = 4       // files of a forwarded message
)

// files are the attachments of a message with these flags, as far as they have an id to be found by.
func files(messageID string, sent []sentFile, flags discordgo.MessageFlags) (all []turn.Attachment) {
	for _, a := range sent {
		if a.ID == 0 {
			continue
		}
		all = append(all, turn.Attachment{
			ID: a.ID.String(), MessageID: messageID, Name: fileName(a.Filename), Type: strings.ToLower(head(a.ContentType, maxName)), Size: max(0, a.Size), Alt: head(a.Description, maxAlt),
			Width: max(0, a.Width), Height: max(0, a.Height), URL: a.URL,
			Seconds: max(0, a.Seconds), Voice: flags&isVoice != 0 && (a.Seconds > 0 || a.Waveform != ""),
		})
	}
	return all
}

// fileName is the last part of a name as people see it: on one line, without folders, control characters and bidi controls.
func fileName(name string) string {
	name = strings.Map(func(r rune) rune {
		switch {
		case r == '\\':
			return '/'
		case unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Zl, r) || unicode.Is(unicode.Zp, r):
			return -1
		}
		return r
	}, strings.ToValidUTF8(name, ""))
	name = strings.TrimSpace(path.Base(strings.TrimRight(name, "/")))
	if strings.Trim(name, "./") == "" {
		return "file"
	}
	if r := []rune(name); len(r) > maxName { // its end says what it is
		end := []rune(path.Ext(name))
		if len(end) > maxName/2 {
			end = nil
		}
		name = string(r[:maxName-len(end)]) + string(end)
	}
	return name
}

// quotes are what a message forwards, and the embeds on it, which bots write and Discord makes of links.
func (s *Session) quotes(m *message) (all []turn.Quote) {
	for _, snap := range m.Snapshots {
		was := message{GuildID: m.GuildID, ChannelID: m.ChannelID, Content: snap.Message.Content, Mentions: snap.Message.Mentions}
		text, _ := s.readable(&was)
		sent := files(m.ID, snap.Message.Attachments, snap.Message.Flags&^isVoice)
		all = append(all, turn.Quote{Kind: turn.Forwarded, Text: head(text, maxQuoted), Files: sent[:min(len(sent), maxOnQuote)]})
		all = append(all, embeds(snap.Message.Embeds)...)
	}
	all = append(all, embeds(m.Embeds)...)
	return all[:min(len(all), maxQuotes)]
}

func embeds(sent []embed) (all []turn.Quote) {
	for _, e := range sent {
		var lines []string
		if e.Description != "" {
			lines = append(lines, e.Description)
		}
		for _, f := range e.Fields {
			lines = append(lines, f.Name+": "+f.Value)
		}
		q := turn.Quote{
			Kind: turn.Embedded, From: head(cmp.Or(e.Provider.Name, e.Author.Name), maxName), Title: head(e.Title, 300), Text: head(strings.Join(lines, "\n"), maxQuoted),
		}
		if q.Title != "" || q.Text != "" {
			all = append(all, q)
		}
	}
	return all
}

// head returns at most the first n characters of s.
func head(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}

// Message reads a message again, as for links to its files, which expire.
func (s *Session) Message(ctx context.Context, channelID, messageID string) (turn.Message, error) {
	body, err := s.call(ctx, request{method: http.MethodGet, url: discordgo.EndpointChannelMessage(channelID, messageID), rank: rankCreate})
	if err != nil {
		return turn.Message{}, fmt.Errorf("read message again: %w", err)
	}
	var m message
	if err = decode(body, &m); err != nil {
		return turn.Message{}, fmt.Errorf("read message again: %w", err)
	}
	if m.ID != messageID || m.Author == nil {
		return turn.Message{}, fmt.Errorf("read message again: the answer is another")
	}
	return s.message(&m, nil), nil
}
