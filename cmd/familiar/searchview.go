package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/web/clean"
	"familiar/internal/web/fetch"
)

// picture is what a thumbnail turned out to be, behind the guard.
type picture struct {
	Type  string `json:"type,omitempty"` // "image/png", "image/jpeg", "image/webp" or "image/gif"
	Bytes int    `json:"bytes,omitempty"`
	Error string `json:"error,omitempty"` // why it is not shown, in the codes for pages
}

func (i *picture) String() string {
	if i.Error != "" {
		return "not shown: " + i.Error
	}
	return fmt.Sprintf("%s, %d KiB", i.Type, (i.Bytes+1023)/1024)
}

// look fetches the thumbnails of hits, through the same rules as any page.
func (a *app) look(ctx context.Context, hits []pictured) {
	var fetching sync.WaitGroup
	for i := range hits {
		if hits[i].Thumbnail == "" {
			continue
		}
		fetching.Go(func() {
			got, err := a.reader.Fetcher.FetchImage(ctx, hits[i].Thumbnail, fetch.Options{Domains: a.domains})
			if e, failed := errors.AsType[*fetch.Error](err); failed {
				hits[i].Picture = &picture{Error: strings.ReplaceAll(string(e.Reason), "_", " ")}
				return
			}
			hits[i].Picture = &picture{Type: got.ContentType, Bytes: len(got.Body)}
		})
	}
	fetching.Wait()
}

// String is what was found, best first, and then who was asked.
func (s *searched) String() string {
	var b strings.Builder
	for i, hit := range s.Hits {
		fmt.Fprintf(&b, "%2d  %s\n    %s\n    %s\n", i+1, clean.Line(hit.Title, 120), line(hit.URL), provenance(hit.Hit))
		if hit.Snippet != "" {
			fmt.Fprintf(&b, "    %s\n", clean.Line(hit.Snippet, 300))
		}
		if hit.Media != "" {
			fmt.Fprintf(&b, "    media      %s\n", line(hit.Media))
		}
		if hit.Thumbnail != "" {
			fmt.Fprintf(&b, "    thumbnail  %s", line(hit.Thumbnail))
			if hit.Picture != nil {
				fmt.Fprintf(&b, " (%s)", hit.Picture)
			}
			b.WriteByte('\n')
		}
	}
	if len(s.Hits) > 0 {
		b.WriteByte('\n')
	}
	state := string(s.State)
	switch {
	case s.Stale > 0:
		state += fmt.Sprintf(", from %s ago, as nobody could look (%s)", s.Stale.Round(time.Second), s.Reason)
	case s.Reason != "":
		state += " (" + s.Reason + ")"
	}
	row(&b, "state", "%s, %d hits in %s", state, len(s.Hits), ms(s.Took))
	for i, a := range s.Asked {
		text := fmt.Sprintf("%s %s, %d hits, %s", a.Backend, a.Status, a.Hits, ms(a.Took))
		if a.Detail != "" {
			text += " (" + a.Detail + ")"
		}
		row(&b, first(i, "asked"), "%s", text)
	}
	return b.String()
}

// provenance is who found a page, where in their list, its score here, and its date.
func provenance(hit turn.Hit) string {
	text := fmt.Sprintf("%s #%d", hit.Backend, hit.Rank)
	if len(hit.Also) > 0 {
		text += ", also " + strings.Join(hit.Also, ", ")
	}
	text += fmt.Sprintf(" · score %.4f · ", hit.Score)
	if hit.Published.IsZero() {
		return text + "undated"
	}
	return text + hit.Published.UTC().Format(time.DateOnly)
}
