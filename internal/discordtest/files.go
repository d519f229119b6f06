package discordtest

import (
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"path"
	"strconv"
	"strings"
	"time"
)

// CDN is the host of files.
const CDN = "cdn.discordapp.com"

// linkLife is how long a link to a file works.
const linkLife = 24 * time.Hour

// File is a file that a person attaches.
type File struct {
	Name    string
	Type    string // "": by the name
	Alt     string
	Content []byte
	Width   int // of a picture
	Height  int
	Seconds float64 // of a voice message, which is one file and nothing else
}

// Forward is a message that a person forwards.
type Forward struct{ Text string }

// Embed is a rich part of a message, as bots write it and Discord makes of links.
type Embed struct{ Site, Title, Text string }

type file struct {
	File
	id, channel string
	hits        int
}

// upload keeps a file. Its caller holds mu.
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

// addFiles adds to a message's payload what hangs on it. Its caller holds mu.
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

// filePayload is an attachment, with a link that is signed and expires. Its caller holds mu.
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

// safeName is the last part of a link: Discord takes signs out of names.
func safeName(name string) string {
	return strings.Map(func(r rune) rune {
		if r < 0x80 && (r == '.' || r == '-' || r == '_' || '0' <= r && r <= '9' || 'A' <= r && r <= 'Z' || 'a' <= r && r <= 'z') {
			return r
		}
		return '_'
	}, name)
}

func (f *file) signature(ex string) string { return fmt.Sprintf("%x", f.id+ex) }

// ServeFile answers a request for a file, as the host of files does: with a link that has expired or was changed, not at all.
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

// FileHits is how often files of this name were asked for, with links that worked or not.
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
