package read

import (
	"cmp"
	"context"
	"encoding/json"
	"encoding/xml"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"familiar/internal/api"
	"familiar/internal/context/turn"
	"familiar/internal/text"
	"familiar/internal/web/page"
)

var (
	videoID      = text.NewLazyRegexp(`^[A-Za-z0-9_-]{11}$`)
	youtubeHosts = text.NewLazyRegexp(`^(?:(?:(?:www|m|music)\.)?youtube\.com|(?:www\.)?youtube-nocookie\.com)$`)
)

// findYouTube recognises the addresses of a video: watch?v=, youtu.be/, and the paths for short, live and embedded
// videos.
func findYouTube(u *url.URL, _ string) *request {
	id, host, parts := "", u.Hostname(), segments(u)
	switch {
	case strings.TrimPrefix(host, "www.") == "youtu.be" && len(parts) == 1:
		id = parts[0]
	case !youtubeHosts.MatchString(host):
		return nil
	case len(parts) == 1 && parts[0] == "watch":
		id = u.Query().Get("v")
	case len(parts) == 2 && slices.Contains([]string{"shorts", "live", "embed", "v"}, parts[0]):
		id = parts[1]
	}
	if !videoID.MatchString(id) || id == "videoseries" {
		return nil
	}
	return &request{
		final: "https://www.youtube.com/watch?v=" + id,
		read:  func(ctx context.Context, s *session) (page.Page, error) { return readYouTube(ctx, s, id) },
	}
}

// player is the data for the player in a video's page.
type player struct {
	PlayabilityStatus struct{ Status string }
	VideoDetails      struct{ VideoID, Title, Author, ShortDescription string }
	Microformat       struct {
		PlayerMicroformatRenderer struct{ PublishDate, UploadDate string }
	}
	Captions struct {
		PlayerCaptionsTracklistRenderer struct{ CaptionTracks []track }
	}
}

// track is one transcript. Its kind is "asr" if it is generated.
type track struct{ BaseURL, LanguageCode, Kind string }

// playerMark precedes that data in the page.
const playerMark = "ytInitialPlayerResponse = "

func readYouTube(ctx context.Context, s *session, id string) (page.Page, error) {
	text, err := s.text(ctx, api.Request{Path: "/watch", Params: url.Values{"v": {id}, "hl": {"en"}}, Header: http.Header{"Accept-Language": {"en"}}})
	if err != nil {
		return page.Page{}, err
	}
	_, text, found := strings.Cut(text, playerMark)
	var video player
	// The decoder stops at the end of the value, and the page continues.
	if !found || json.NewDecoder(strings.NewReader(text)).Decode(&video) != nil {
		return page.Page{}, malformed("the page has no data for its player")
	}
	details := video.VideoDetails
	switch {
	case details.Title == "" && video.PlayabilityStatus.Status == "LOGIN_REQUIRED":
		return page.Page{}, &api.Failure{Code: turn.CodeBlocked, Detail: "the service wants a person to sign in"}
	case details.Title == "":
		return page.Page{}, missing()
	case details.VideoID != id:
		return page.Page{}, malformed("the page belongs to another video")
	}
	dates := video.Microformat.PlayerMicroformatRenderer
	p := page.Page{
		Title: details.Title, Author: details.Author, Site: "YouTube", Type: "video", Published: parseTime(cmp.Or(dates.PublishDate, dates.UploadDate)),
		Markdown: strings.TrimSpace(details.ShortDescription),
	}
	if t, ok := chooseTrack(video.Captions.PlayerCaptionsTracklistRenderer.CaptionTracks, s.request.acceptLanguage); ok {
		ctx, cancel := context.WithTimeout(ctx, extrasTimeout)
		defer cancel()
		if words := transcript(ctx, s, t, id); words != "" {
			p.Language = t.LanguageCode
			p.Markdown += "\n\n## Transcript" + map[bool]string{true: " (made by a machine)"}[t.Kind == kindASR] + "\n\n" + words
		}
	}
	return p, nil
}

const kindASR = "asr"

// chooseTrack prefers transcripts by people to generated ones. Among these it prefers the preferred language, the spoken one, English, and
// then any other.
func chooseTrack(tracks []track, wanted string) (best track, ok bool) {
	base := func(tag string) string { tag, _, _ = strings.Cut(strings.ToLower(tag), "-"); return tag }
	spoken := ""
	for _, t := range tracks {
		if t.Kind == kindASR { // exists only in the spoken language
			spoken = base(t.LanguageCode)
		}
	}
	rank := func(t track) (n int) {
		if t.Kind != kindASR {
			n += 10
		}
		switch base(t.LanguageCode) {
		case base(wanted):
			n += 3
		case spoken:
			n += 2
		case "en":
			n++
		}
		return n
	}
	for _, t := range tracks {
		if !ok || rank(t) > rank(best) {
			best, ok = t, true
		}
	}
	return best, ok
}

// captionParams are the parameters in a transcript's address.
var captionParams = text.NewLazyRegexp(`^[a-z_]{1,16}$`)

// transcript returns the text of a track, or "" if it is not available. The service signs the address. So its parameters
// are sent back unchanged, but only to this path and for this video.
func transcript(ctx context.Context, s *session, t track, id string) string {
	u, err := url.Parse(t.BaseURL)
	if err != nil || len(t.BaseURL) > 4096 || u.Path != "/api/timedtext" || u.Host != "" && u.Scheme+"://"+u.Host != s.request.origin || u.Query().Get("v") != id {
		return ""
	}
	params := url.Values{}
	for name, values := range u.Query() {
		if captionParams.MatchString(name) {
			params.Set(name, values[0])
		}
	}
	params.Set("fmt", "json3")
	text, err := s.text(ctx, api.Request{Path: "/api/timedtext", Params: params})
	if err != nil {
		return ""
	}
	if strings.HasPrefix(strings.TrimSpace(text), "<") {
		return captionsXML(text)
	}
	return captionsJSON(text)
}

// captionsJSON parses the format "json3".
func captionsJSON(text string) string {
	var reply struct {
		Events []struct {
			TStartMs int64
			Segs     []struct{ UTF8 string }
		}
	}
	if json.Unmarshal([]byte(text), &reply) != nil {
		return ""
	}
	var w paragraphs
	for _, e := range reply.Events {
		line := ""
		for _, s := range e.Segs {
			line += s.UTF8
		}
		w.add(e.TStartMs, line)
	}
	return w.String()
}

// captionsXML parses the older format.
func captionsXML(text string) string {
	var reply struct {
		Text []struct {
			Start float64 `xml:"start,attr"`
			Words string  `xml:",chardata"`
		} `xml:"text"`
	}
	if xml.Unmarshal([]byte(text), &reply) != nil {
		return ""
	}
	var w paragraphs
	for _, e := range reply.Text {
		w.add(int64(e.Start*1000), e.Words)
	}
	return w.String()
}

// paragraphs joins lines of captions into paragraphs of about a minute.
type paragraphs struct {
	strings.Builder
	since int64 // start of the paragraph, in milliseconds
}

const paragraphLength = 60_000 // milliseconds

func (s *paragraphs) add(at int64, line string) {
	line = plainText(line)
	if line == "" || s.Len() > maxText {
		return
	}
	switch {
	case s.Len() == 0:
		s.since = at
	case at-s.since >= paragraphLength:
		s.WriteString("\n\n")
		s.since = at
	default:
		s.WriteByte(' ')
	}
	s.WriteString(line)
}
