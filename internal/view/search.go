package view

import (
	"fmt"
	"strings"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/search"
	"familiar/internal/web/clean"
)

// Searched is the result of a search.
type Searched struct {
	State   turn.State    `json:"state"`
	Failure turn.Code     `json:"failure,omitempty"`
	Reason  string        `json:"reason,omitempty"`
	Cached  bool          `json:"cached,omitempty"`
	Stale   time.Duration `json:"stale,omitempty"`
	Took    time.Duration `json:"took"`
	Hits    []Pictured    `json:"hits"`
	Asked   []turn.Asked  `json:"asked"`
}

// Pictured is a hit with what is known of its thumbnail.
type Pictured struct {
	turn.Hit
	Picture *Picture `json:"picture,omitempty"`
}

// NewSearched describes the result of a search that took the given time.
func NewSearched(r search.Result, took time.Duration) *Searched {
	s := &Searched{State: r.State, Failure: r.Failure, Reason: r.Reason, Cached: r.Cached, Stale: r.Stale, Took: took, Asked: r.Asked, Hits: []Pictured{}}
	for _, hit := range r.Hits {
		s.Hits = append(s.Hits, Pictured{Hit: hit})
	}
	return s
}

// Picture is a thumbnail as the guarded fetcher found it.
type Picture struct {
	Type  string `json:"type,omitempty"` // "image/png", "image/jpeg", "image/webp" or "image/gif"
	Bytes int    `json:"bytes,omitempty"`
	Error string `json:"error,omitempty"` // why it is not shown, as a code for pages
}

func (i *Picture) String() string {
	if i.Error != "" {
		return "not shown: " + i.Error
	}
	return fmt.Sprintf("%s, %d KiB", i.Type, (i.Bytes+1023)/1024)
}

// String lists the hits, best first, and then the services that were asked.
func (s *Searched) String() string {
	var b writer
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
	b.row("state", "%s, %d hits in %s", state, len(s.Hits), Exact(s.Took))
	for i, a := range s.Asked {
		text := fmt.Sprintf("%s %s, %d hits, %s", a.Backend, a.Status, a.Hits, Exact(a.Took))
		if a.Detail != "" {
			text += " (" + a.Detail + ")"
		}
		b.item(i, "asked", "%s", text)
	}
	return b.String()
}

// provenance says which services found a page and at which rank, with its score and date.
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
