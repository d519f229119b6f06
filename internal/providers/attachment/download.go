package attachment

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/web/fetch"
)

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
