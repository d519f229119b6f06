package discordtest

import (
	"encoding/json"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"
)

// The payloads as Discord sends them, with the fields that a bot may read. Callers must hold mu.

func (u *user) payload() object {
	return object{"id": u.id, "username": u.name, "global_name": nil, "bot": u.bot, "discriminator": "0", "avatar": nil}
}

func (c *channel) payload() object {
	p := object{"id": c.id, "type": c.kind, "name": c.name}
	if c.guild != "" {
		p["guild_id"] = c.guild
	}
	if c.parent != "" {
		p["parent_id"] = c.parent
		p["thread_metadata"] = object{"archived": c.archived, "locked": c.locked, "auto_archive_duration": 1440}
	}
	if c.topic != "" {
		p["topic"] = c.topic
	}
	if c.guild != "" && c.kind != 11 {
		p["permission_overwrites"] = c.overwritePayloads()
	}
	if len(c.messages) > 0 {
		p["last_message_id"] = c.messages[len(c.messages)-1].ID
	}
	if c.recipient != nil {
		p["recipients"] = []object{c.recipient.payload()}
	}
	return p
}

// readyPayloads returns READY for a session, and the events for the servers that it brings. It takes mu.
func (s *Server) readyPayloads(to *session) (ready object, brought [][]byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	guilds := []object{}
	for _, g := range s.guilds {
		if !g.away && g.born%uint64(to.of) == uint64(to.shard) {
			raw, _ := json.Marshal(s.guildPayload(g))
			guilds, brought = append(guilds, object{"id": g.id, "unavailable": true}), append(brought, raw)
		}
	}
	resume := s.gatewayURL()
	if s.resumeURL != nil {
		resume = *s.resumeURL
	}
	return object{
		"v": 10, "user": s.users[botID].payload(), "guilds": guilds, "private_channels": []object{}, "shard": []int{to.shard, to.of},
		"application": object{"id": appID, "flags": 0}, "resume_gateway_url": resume,
	}, brought
}

// joined returns the servers that the bot is in.
func (s *Server) joined() []*guild {
	return slices.DeleteFunc(slices.Clone(s.guilds), func(g *guild) bool { return g.away })
}

func (s *Server) guildPayload(g *guild) object {
	roles, channels, threads := []object{g.rolePayload(g.id)}, []object{}, []object{}
	for id := range g.roles {
		roles = append(roles, g.rolePayload(id))
	}
	for _, c := range g.channels {
		if c.kind == 11 {
			threads = append(threads, c.payload())
		} else {
			channels = append(channels, c.payload())
		}
	}
	return object{"id": g.id, "name": g.name, "unavailable": false, "member_count": len(s.users), "roles": roles, "channels": channels, "threads": threads}
}

func (g *guild) rolePayload(id string) object {
	role := object{"id": id, "name": g.roles[id], "permissions": fmt.Sprint(int64(g.may[id]))}
	if id == g.id {
		role["name"] = "@everyone"
	}
	if id == g.own {
		role["tags"], role["managed"] = object{"bot_id": botID}, true
	}
	return role
}

// member is the partial member that comes with a message.
func (s *Server) member(guildID, userID string) object {
	m := object{"roles": []string{}, "nick": nil, "joined_at": "2024-01-01T00:00:00+00:00"}
	g := s.guild(guildID)
	if g == nil {
		return m
	}
	if g.nicks[userID] != "" {
		m["nick"] = g.nicks[userID]
	}
	m["roles"] = append([]string{}, g.members[userID]...)
	return m
}

// payload returns the message object. In an event it includes the member and the server.
func (s *Server) payload(m *message, event bool) object {
	mentions := []object{}
	for _, u := range m.mentions {
		mention := u.payload()
		if event && m.channel.guild != "" {
			mention["member"] = s.member(m.channel.guild, u.id)
		}
		mentions = append(mentions, mention)
	}
	roles := []string{}
	for _, found := range roleMention.FindAllStringSubmatch(m.Text, -1) {
		roles = append(roles, found[1])
	}
	p := object{
		"id": m.ID, "channel_id": m.channel.id, "type": 0, "content": m.Text, "author": m.by.payload(),
		"timestamp": m.At.UTC().Format(time.RFC3339Nano), "edited_timestamp": nil, "mentions": mentions,
		"mention_roles": roles, "mention_everyone": false, "attachments": []object{}, "embeds": []object{},
		"pinned": false, "tts": false, "flags": m.Flags, "components": []any{},
	}
	if m.components != nil {
		p["components"] = m.components
	}
	if !m.EditedAt.IsZero() {
		p["edited_timestamp"] = m.EditedAt.UTC().Format(time.RFC3339Nano)
	}
	if m.Nonce != "" {
		p["nonce"] = m.Nonce
	}
	s.addFiles(p, m)
	if m.webhook != "" {
		p["webhook_id"] = m.webhook
		if m.application != "" {
			p["application_id"] = m.application
		}
	}
	if m.ReplyTo != "" {
		p["type"] = 19
		p["message_reference"] = object{"type": 0, "message_id": m.ReplyTo, "channel_id": m.channel.id}
		p["referenced_message"] = nil
		if above := s.messages[m.ReplyTo]; above != nil {
			inner := s.payload(above, false)
			delete(inner, "referenced_message")
			p["referenced_message"] = inner
		}
	}
	if event && m.channel.guild != "" {
		p["guild_id"], p["member"] = m.channel.guild, s.member(m.channel.guild, m.by.id)
	}
	return p
}

// CDN is the host of files.
const CDN = "cdn.discordapp.com"

// linkLife is how long a link to a file is valid.
const linkLife = 24 * time.Hour

// File is a file that a person attaches.
type File struct {
	Name    string
	Type    string // empty: by the name
	Alt     string
	Content []byte
	Width   int // of a picture
	Height  int
	Seconds float64 // of a voice message, which consists of one file
}

// Forward is a message that a person forwards.
type Forward struct{ Text string }

// Embed is a rich part of a message. Bots write embeds, and Discord makes them from links.
type Embed struct{ Site, Title, Text string }

type file struct {
	File
	id, channel string
	hits        int
}

// upload stores a file. The caller must hold mu.
func (s *Server) upload(m *message, f File) *file {
	kept := &file{File: f, id: s.newID(), channel: m.channel.id}
	if kept.Type == "" {
		kept.Type = mime.TypeByExtension(path.Ext(f.Name))
	}
	if f.Seconds > 0 {
		m.Flags |= isVoice
	}
	s.files[kept.id] = kept
	return kept
}

const (
	isVoice     = 1 << 13
	hasSnapshot = 1 << 14
)

// addFiles adds attachments, forwarded messages and embeds to a message's payload. The caller must hold mu.
func (s *Server) addFiles(p object, m *message) {
	sent := []object{}
	for _, f := range m.files {
		sent = append(sent, s.filePayload(f))
	}
	p["attachments"], p["embeds"] = sent, embedPayloads(m.embeds)
	if len(m.forwards) == 0 {
		return
	}
	var snapshots []object
	for _, f := range m.forwards {
		snapshots = append(snapshots, object{"message": object{
			"type": 0, "content": f.Text, "mentions": []object{}, "mention_roles": []string{}, "attachments": []object{}, "embeds": []object{},
			"timestamp": "2026-11-01T00:00:00+00:00", "edited_timestamp": nil, "flags": 0, "components": []any{},
		}})
	}
	p["message_snapshots"], p["flags"] = snapshots, m.Flags|hasSnapshot
	p["message_reference"] = object{"type": 1, "message_id": "100000000000000003", "channel_id": "100000000000000004"}
}

func embedPayloads(embeds []Embed) []object {
	all := []object{}
	for _, e := range embeds {
		all = append(all, object{"type": "rich", "title": e.Title, "description": e.Text, "provider": object{"name": e.Site, "url": nil}})
	}
	return all
}

// filePayload returns an attachment, with a link that is signed and expires. The caller must hold mu.
func (s *Server) filePayload(f *file) object {
	until := time.Now().Add(linkLife)
	if s.staleLinks {
		until = time.Now().Add(-time.Hour)
	}
	ex := strconv.FormatInt(until.Unix(), 16)
	link := url.URL{Scheme: "https", Host: CDN, Path: "/attachments/" + f.channel + "/" + f.id + "/" + safeName(f.Name), RawQuery: "ex=" + ex + "&is=0&hm=" + f.signature(ex)}
	p := object{"id": f.id, "filename": f.Name, "size": len(f.Content), "url": link.String(), "proxy_url": "https://media.discordapp.net" + link.Path, "content_type": f.Type}
	if f.Alt != "" {
		p["description"] = f.Alt
	}
	if f.Width > 0 {
		p["width"], p["height"] = f.Width, f.Height
	}
	if f.Seconds > 0 {
		p["duration_secs"], p["waveform"] = f.Seconds, "AAAA"
	}
	return p
}

// safeName returns the last part of a link. Discord removes punctuation from names.
func safeName(name string) string {
	return strings.Map(func(r rune) rune {
		if r < 0x80 && (r == '.' || r == '-' || r == '_' || '0' <= r && r <= '9' || 'A' <= r && r <= 'Z' || 'a' <= r && r <= 'z') {
			return r
		}
		return '_'
	}, name)
}

func (f *file) signature(ex string) string { return fmt.Sprintf("%x", f.id+ex) }

// ServeFile answers a request for a file, as the host of files does. Links that are expired or modified get no file.
func (s *Server) ServeFile(w http.ResponseWriter, r *http.Request) {
	parts := strings.Split(r.URL.Path, "/")
	s.mu.Lock()
	var f *file
	if len(parts) == 5 {
		f = s.files[parts[3]]
	}
	if f != nil {
		f.hits++
	}
	s.mu.Unlock()
	ex := r.URL.Query().Get("ex")
	until, err := strconv.ParseInt(ex, 16, 64)
	if f == nil || err != nil || r.URL.Query().Get("hm") != f.signature(ex) || time.Now().Unix() > until {
		http.Error(w, "This content is no longer available.", http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", f.Type)
	_, _ = w.Write(f.Content)
}

// FileHits counts the requests for files with a name, including those with invalid links.
func (s *Server) FileHits(name string) (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range s.files {
		if f.Name == name {
			n += f.hits
		}
	}
	return n
}
