// Package attachment offers the attachments of the turn's message and of the message that it replies to.
//
//   - attachment.go has the [Provider]. Its [Note] names attachments in a few words, for later turns.
//   - attachment.go downloads files, only from the hosts of Discord's files and within limits of number and size.
//   - picture.go makes pictures small and removes metadata. header.go reads their sizes first.
//   - text.go shows text files, forwarded messages and embeds.
//   - voice.go lets a service transcribe voice messages, and say a reply aloud.
//
// All of this is material that the model must not obey. So each text is between two tags with an unpredictable name.
package attachment

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/web/clean"
	"familiar/internal/web/fetch"
)

const (
	maxPictures = 3
	maxTexts    = 4
	maxPicture  = 20 << 20 // bytes
	maxText     = 1 << 20  // bytes
)

// Priorities within the layer. Attachments of the message come before attachments of its parent.
const (
	quotePriority   = 90
	picturePriority = 80
	textPriority    = 70
	parentPenalty   = 30
)

// Provider is the context provider "attachments".
type Provider struct {
	*Files
	// Sees reports whether the model is known to accept pictures; nil: it does not.
	Sees func() bool
}

// Files reads attachments. All characters share it.
type Files struct {
	Fetcher *fetch.Fetcher // nil: no file is read
	Hosts   clean.Domains  // hosts from which files may be downloaded
	// Reread reads a message again, to get new links. nil: expired links are not replaced.
	Reread func(ctx context.Context, channelID, messageID string) (turn.Message, error)

	pictures Shrinker
}

// Name implements prompt.Provider.
func (p *Provider) Name() string { return "attachments" }

// Contribute implements prompt.Provider. A file that cannot be shown is not an error: the contribution tells the model why.
func (p *Provider) Contribute(ctx context.Context, req turn.Request) ([]turn.Contribution, error) {
	items, quotes := items(req)
	offered := make([]turn.Contribution, len(items))
	var busy sync.WaitGroup
	for i, t := range items {
		busy.Go(func() {
			defer func() {
				if v := recover(); v != nil {
					offered[i] = t.missing(turn.CodePanic)
				}
			}()
			offered[i] = p.offer(ctx, req, t)
		})
	}
	busy.Wait()
	share(req, offered)
	return append(quotes, offered...), ctx.Err()
}

// item is an attached file.
type item struct {
	turn.Attachment
	where    string // "attached to the message"
	priority int
	picture  bool
	number   int       // of a picture, from 1
	refused  turn.Code // why it is not downloaded; empty: it is
}

// items lists the files of the turn, and its quotes, which need no download.
func items(req turn.Request) (all []item, quotes []turn.Contribution) {
	pictures, texts := 0, 0
	add := func(files []turn.Attachment, where string, penalty int) {
		for _, f := range files {
			t := item{Attachment: f, where: where, priority: textPriority - penalty, picture: IsPicture(f)}
			switch {
			case f.Voice:
				continue // its transcript is the message's text
			case t.picture:
				pictures++
				t.number, t.priority = pictures, picturePriority-penalty
				t.refuse(pictures > maxPictures, f.Size > maxPicture)
			case !maybeText(f):
				t.refused = turn.CodeBadType
			default:
				texts++
				t.refuse(texts > maxTexts, f.Size > maxText)
			}
			all = append(all, t)
		}
	}
	of := func(m *turn.Message, what string, penalty int) {
		if m == nil || m.Own {
			return
		}
		add(m.Files, "attached to "+what, penalty)
		for _, q := range m.Quotes {
			add(q.Files, "attached to the message that "+what+" forwards", penalty)
		}
		if len(m.Quotes) > 0 {
			quotes = append(quotes, quoted(*m, what, quotePriority-penalty))
		}
	}
	of(&req.Message, "the message", 0)
	of(req.Parent, "the message that is being replied to", parentPenalty)
	return all, quotes
}

func (t *item) refuse(tooMany, tooLarge bool) {
	switch {
	case tooMany:
		t.refused = turn.CodeCap
	case tooLarge:
		t.refused = turn.CodeTooLarge
	}
}

// offer downloads and shows a file.
func (p *Provider) offer(ctx context.Context, req turn.Request, t item) turn.Contribution {
	switch {
	case t.refused != "":
		return t.missing(t.refused)
	case t.picture && (p.Sees == nil || !p.Sees()):
		return t.missing(turn.CodeBlind)
	case p.Fetcher == nil:
		return t.missing(turn.CodeNoFetcher)
	}
	most := int64(maxText)
	if t.picture {
		most = maxPicture
	}
	data, err := p.download(ctx, req.ChannelID, t.Attachment, most)
	if err != nil {
		return t.missing(codeOf(err))
	}
	if t.picture {
		return p.show(ctx, t, data)
	}
	return read(t, req.Message.Author.Name, data)
}

// missing tells the model that a file is not shown, and why.
func (t item) missing(why turn.Code) turn.Contribution {
	kind := "file"
	if t.picture {
		kind = "picture"
	}
	text := fmt.Sprintf("(The %s %q, %s, is not shown to you: %s.", kind, displayName(t.Name), t.where, reason(why))
	if alt := clean.InertLine(clean.Line(t.Alt, maxAlt), ""); alt != "" {
		text += fmt.Sprintf(" Its sender describes it: %q.", alt)
	}
	return turn.Contribution{
		Layer: turn.Attachments, Priority: t.priority, Source: "attachment:" + displayName(t.Name), Text: text + ")",
		Attached: &turn.Attached{MessageID: t.MessageID, Name: displayName(t.Name), Type: t.Type, Size: t.Size, Failure: why},
	}
}

// reason describes why a file is not shown.
func reason(why turn.Code) string {
	switch why {
	case turn.CodeBlind:
		return "you cannot see pictures"
	case turn.CodeTooLarge, turn.CodeResponseTooLarge, turn.CodeDecompressionBomb:
		return "it is too large"
	case turn.CodeCap:
		return "there are too many of them"
	case turn.CodeBadType, turn.CodeBadCharset, turn.CodeEmpty:
		return "there is no text in it that can be read"
	case turn.CodeBadImage:
		return "it cannot be read as a picture"
	}
	return "it could not be loaded"
}

func codeOf(err error) turn.Code {
	if failed, ok := errors.AsType[*fetch.Error](err); ok {
		if failed.Reason != "" {
			return failed.Reason
		}
		return failed.Code
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return turn.CodeTimeout
	}
	return turn.CodeUnreachable
}

// IsPicture reports whether a file claims to be a picture of a supported kind.
func IsPicture(f turn.Attachment) bool {
	switch kind(f) {
	case "image/png", "image/jpeg", "image/jpg", "image/webp", "image/gif":
		return true
	case "":
		return slices.Contains([]string{".png", ".jpg", ".jpeg", ".webp", ".gif"}, strings.ToLower(path.Ext(f.Name)))
	}
	return false
}

// maybeText reports whether a file may be text, by its declared type and its name.
func maybeText(f turn.Attachment) bool {
	of, _, _ := strings.Cut(kind(f), "/")
	switch of {
	case "image":
		return kind(f) == "image/svg+xml"
	case "video", "audio", "font", "model":
		return strings.HasSuffix(strings.ToLower(f.Name), ".ts") // usually TypeScript here, though its type is video/mp2t
	}
	switch strings.ToLower(path.Ext(f.Name)) {
	case ".zip", ".gz", ".xz", ".zst", ".7z", ".rar", ".tar", ".pdf", ".exe", ".dll", ".docx", ".xlsx", ".pptx", ".odt", ".jar", ".apk", ".iso":
		return false
	}
	return true
}

// kind returns a file's declared type without parameters.
func kind(f turn.Attachment) string {
	of, _, _ := strings.Cut(f.Type, ";")
	return strings.TrimSpace(of)
}

// share divides the room that pictures leave in the layer equally among the texts.
func share(req turn.Request, offered []turn.Contribution) {
	left, texts := req.Budget.Layers[turn.Attachments], 0
	for _, c := range offered {
		switch {
		case c.Attached.Image != nil:
			left -= c.Attached.Image.Tokens
		case c.Attached.CutNote != "":
			texts++
		}
	}
	for i := range offered {
		if a := offered[i].Attached; a.CutNote != "" {
			a.Most = max(minTextTokens, left/texts)
			trim(&offered[i])
		}
	}
}

// minTextTokens is the smallest share of a text.
const minTextTokens = 200

const (
	maxName  = 80  // characters of a file's name
	maxAlt   = 300 // characters of a description
	maxNotes = 6   // attachments that a note names
)

// Note names the attachments of a message: "[image: cat.png] [forwarded message]". by is the service that transcribed a voice message; it
// may be empty.
func Note(m turn.Message, by string) string {
	var all []string
	files := func(files []turn.Attachment) {
		for _, f := range files {
			all = append(all, noteOf(f, by))
		}
	}
	files(m.Files)
	for _, q := range m.Quotes {
		if q.Kind == turn.Forwarded {
			all = append(all, "[forwarded message]")
		} else {
			all = append(all, "[embed"+after(": ", displayName(q.From))+"]")
		}
		files(q.Files)
	}
	if len(all) > maxNotes {
		all = append(all[:maxNotes], fmt.Sprintf("[and %d more]", len(all)-maxNotes))
	}
	return strings.Join(all, " ")
}

func noteOf(f turn.Attachment, by string) string {
	switch {
	case f.Voice && by != "":
		return fmt.Sprintf("[voice message, %.0f s, written down by %s]", math.Ceil(f.Seconds), displayName(by))
	case f.Voice:
		return fmt.Sprintf("[voice message, %.0f s]", math.Ceil(f.Seconds))
	case IsPicture(f):
		return "[image: " + displayName(f.Name) + "]"
	}
	return "[file: " + displayName(f.Name) + "]"
}

func after(sign, name string) string {
	if name == "" {
		return ""
	}
	return sign + name
}

// displayName returns a name on one line that cannot close a bracket or a quotation.
func displayName(name string) string {
	return strings.NewReplacer(`"`, "'", "`", "'", `\`, "/").Replace(clean.Name(clean.Line(name, maxName), maxName))
}

// linkMargin is the time before its expiry at which a link counts as expired.
const linkMargin = time.Minute

var errNoLink = errors.New("no working link to the file")

// Download downloads a file of a limited size in bytes from the allowed hosts. If its link has expired or is refused, it reads the message again
// for a new link, once.
func (p *Files) Download(ctx context.Context, channelID string, f turn.Attachment, most int64) ([]byte, error) {
	if p.Fetcher == nil {
		return nil, errNoLink
	}
	return p.download(ctx, channelID, f, most)
}

func (p *Files) download(ctx context.Context, channelID string, f turn.Attachment, most int64) ([]byte, error) {
	link, fresh := f.URL, false
	if !works(link, time.Now()) {
		var err error
		if link, err = p.relink(ctx, channelID, f); err != nil {
			return nil, err
		}
		fresh = true
	}
	data, err := p.get(ctx, link, most)
	if fresh || !gone(err) {
		return data, err
	}
	if link, err = p.relink(ctx, channelID, f); err != nil {
		return nil, err
	}
	return p.get(ctx, link, most)
}

func (p *Files) get(ctx context.Context, link string, most int64) ([]byte, error) {
	if u, err := url.Parse(link); err != nil || u.Scheme != "https" {
		return nil, errNoLink
	}
	doc, err := p.Fetcher.FetchFile(ctx, link, most, fetch.Options{Domains: p.Hosts})
	if err != nil {
		return nil, err
	}
	return doc.Body, nil
}

// works reports whether a link exists and has not expired. Discord signs links; "ex" is the expiry in hexadecimal seconds
// (https://discord.com/developers/docs/reference#signed-attachment-cdn-urls).
func works(link string, now time.Time) bool {
	u, err := url.Parse(link)
	if link == "" || err != nil {
		return false
	}
	end, err := strconv.ParseInt(u.Query().Get("ex"), 16, 64)
	return err != nil || now.Add(linkMargin).Unix() < end
}

// gone reports whether a host refused a link, as it does for expired links.
func gone(err error) bool {
	failed, ok := errors.AsType[*fetch.Error](err)
	return ok && (failed.Status == http.StatusForbidden || failed.Status == http.StatusNotFound || failed.Status == http.StatusGone)
}

// relink reads the message of a file again and returns the file's new link.
func (p *Files) relink(ctx context.Context, channelID string, f turn.Attachment) (string, error) {
	if p.Reread == nil {
		return "", errNoLink
	}
	m, err := p.Reread(ctx, channelID, f.MessageID)
	if err != nil {
		return "", fmt.Errorf("find link: %w", err)
	}
	files := m.Files
	for _, q := range m.Quotes {
		files = append(files, q.Files...)
	}
	for _, again := range files {
		if again.ID == f.ID && works(again.URL, time.Now()) {
			return again.URL, nil
		}
	}
	return "", errNoLink
}
