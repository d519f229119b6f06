// Package attachment offers what hangs on the turn's message, and on the one that it replies to: pictures (picture.go), the text
// of files (text.go), and what they forward or embed (quote.go).
//
// All of it is material and none of it an order, so each text stands between two tags whose name nobody could know before. A file
// is had from the hosts that keep Discord's files and from nowhere else (download.go), under limits of number and size. What is
// shown of it is cut at a line where it does not fit.
//
// [Note] names what hangs on a message in a few words, for the turns to come.
package attachment

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"

	"familiar/internal/context/turn"
	"familiar/internal/web/clean"
	"familiar/internal/web/fetch"
	"familiar/internal/web/guard"
	"familiar/internal/web/picture"
	"familiar/internal/web/seal"
)

const (
	maxPictures = 3
	maxTexts    = 4
	maxPicture  = 20 << 20 // bytes
	maxText     = 1 << 20  // bytes
)

// Priorities within the layer. What hangs on the message comes before what hangs on the one that it replies to.
const (
	quotePriority   = 90
	picturePriority = 80
	textPriority    = 70
	parentPenalty   = 30
)

// Provider offers what hangs on messages.
type Provider struct {
	*Files
	// Sees reports whether the model can be shown pictures, as far as is known.
	Sees func() bool
}

// Files reads what hangs on messages, for all characters.
type Files struct {
	Fetcher *fetch.Fetcher // nil: no file is read
	Hosts   guard.Domains  // that files may be had from
	// Reread reads a message again, for links that work. nil: there is no such thing.
	Reread func(ctx context.Context, channelID, messageID string) (turn.Message, error)

	pictures picture.Shrinker
}

// Name implements prompt.Provider.
func (p *Provider) Name() string { return "attachments" }

// Contribute implements prompt.Provider. What could not be had is told to the model, and is no error.
func (p *Provider) Contribute(ctx context.Context, req turn.Request) ([]turn.Contribution, error) {
	things, quotes := things(req)
	offered := make([]turn.Contribution, len(things))
	var busy sync.WaitGroup
	for i, t := range things {
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

// thing is a file that hangs on a message.
type thing struct {
	turn.Attachment
	where    string // "attached to the message"
	priority int
	picture  bool
	number   int       // of a picture, from 1
	refused  turn.Code // it is not even asked for
}

// things lists the files of the turn that are of interest, and the quotes, which need no reading.
func things(req turn.Request) (all []thing, quotes []turn.Contribution) {
	pictures, texts := 0, 0
	add := func(files []turn.Attachment, where string, penalty int) {
		for _, f := range files {
			t := thing{Attachment: f, where: where, priority: textPriority - penalty, picture: isPicture(f)}
			switch {
			case f.Voice:
				continue // its words are the message's text
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

func (t *thing) refuse(tooMany, tooLarge bool) {
	switch {
	case tooMany:
		t.refused = turn.CodeCap
	case tooLarge:
		t.refused = turn.CodeTooLarge
	}
}

// offer reads a file.
func (p *Provider) offer(ctx context.Context, req turn.Request, t thing) turn.Contribution {
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

// missing tells the model of a file that it is not shown, and why.
func (t thing) missing(why turn.Code) turn.Contribution {
	kind := "file"
	if t.picture {
		kind = "picture"
	}
	text := fmt.Sprintf("(The %s %q, %s, is not shown to you: %s.", kind, displayName(t.Name), t.where, reason(why))
	if alt := seal.Line(clean.Line(t.Alt, maxAlt), ""); alt != "" {
		text += fmt.Sprintf(" Its sender describes it: %q.", alt)
	}
	return turn.Contribution{
		Layer: turn.Attachments, Priority: t.priority, Source: "attachment:" + displayName(t.Name), Text: text + ")",
		Attached: &turn.Attached{MessageID: t.MessageID, Name: displayName(t.Name), Type: t.Type, Size: t.Size, Failure: why},
	}
}

// reason says in words why a file is not shown.
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

// isPicture reports whether a file says that it is a picture of a kind that is shown.
func isPicture(f turn.Attachment) bool {
	switch kind(f) {
	case "image/png", "image/jpeg", "image/jpg", "image/webp", "image/gif":
		return true
	case "":
		return slices.Contains([]string{".png", ".jpg", ".jpeg", ".webp", ".gif"}, strings.ToLower(path.Ext(f.Name)))
	}
	return false
}

// maybeText reports whether a file may be text, by what it says of itself.
func maybeText(f turn.Attachment) bool {
	of, _, _ := strings.Cut(kind(f), "/")
	switch of {
	case "image":
		return kind(f) == "image/svg+xml"
	case "video", "audio", "font", "model":
		return strings.HasSuffix(strings.ToLower(f.Name), ".ts") // which is video/mp2t to most, and TypeScript here
	}
	switch strings.ToLower(path.Ext(f.Name)) {
	case ".zip", ".gz", ".xz", ".zst", ".7z", ".rar", ".tar", ".pdf", ".exe", ".dll", ".docx", ".xlsx", ".pptx", ".odt", ".jar", ".apk", ".iso":
		return false
	}
	return true
}

// kind is a file's declared type without parameters.
func kind(f turn.Attachment) string {
	of, _, _ := strings.Cut(f.Type, ";")
	return strings.TrimSpace(of)
}

// share gives each text an equal part of what the pictures leave of the layer.
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
			a.Most = max(leastText, left/texts)
			trim(&offered[i])
		}
	}
}

// leastText is how many tokens a text has in any case, if there are so many.
const leastText = 200
