package backends

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/search"
)

// kagi is a search without advertisements: https://help.kagi.com/kagi/api/search.html. What the account raises or
// blocks shows in its results.
type kagi struct {
	*keyed
	old atomic.Bool // the key is one of the API before v1, which v1 refuses
}

func newKagi(c Config, base string) (search.Backend, error) {
	k, err := newKeyed(c, "kagi", base, func(_ int, says string) turn.Code {
		switch {
		case contains(says, "unauthorized"):
			return turn.CodeUnauthorized
		case contains(says, "insufficient credit", "balance", "billing"):
			return turn.CodeQuota
		}
		return ""
	})
	return &kagi{keyed: k}, err
}

type kagiRequest struct {
	Query    string      `json:"query"`
	Workflow string      `json:"workflow"`
	Limit    int         `json:"limit"`
	Safe     bool        `json:"safe_search"`
	Filters  kagiFilters `json:"filters,omitzero"`
	Lens     kagiLens    `json:"lens,omitzero"`
}

type kagiFilters struct {
	Region string `json:"region,omitempty"`
	After  string `json:"after,omitempty"`
}

type kagiLens struct {
	Include []string `json:"sites_included,omitempty"`
	Exclude []string `json:"sites_excluded,omitempty"`
}

func (l kagiLens) IsZero() bool { return len(l.Include)+len(l.Exclude) == 0 }

type kagiResult struct {
	T                   int // v0: 0 is a page, 1 a list of related searches
	URL, Title, Snippet string
	Time, Published     string
	Image, Thumbnail    struct{ URL string }
}

// maxKagiQuery is well below what a request may hold: a longer question finds nothing.
const (
	maxKagiQuery = 400
	maxKagiWords = 60
)

func (k *kagi) Search(ctx context.Context, q search.Query) (search.Reply, error) {
	if bangless(bare(q.Text)) == "" {
		return search.Reply{}, nil
	}
	if k.old.Load() {
		return k.legacy(ctx, q)
	}
	reply, err := k.current(ctx, q)
	if !refused(err) {
		return reply, err
	}
	if older, olderErr := k.legacy(ctx, q); !refused(olderErr) {
		k.old.Store(true)
		return older, olderErr
	}
	return reply, err
}

// refused is whether the key was not let in.
func refused(err error) bool {
	var failed *search.Error
	return errors.As(err, &failed) && failed.Code == turn.CodeUnauthorized
}

// bangless takes out what Kagi would take for the order to use another search engine.
func bangless(text string) string {
	var kept []string
	for word := range strings.FieldsSeq(neutral(text)) {
		if word = strings.TrimRight(word, "!"); word != "" {
			kept = append(kept, word)
		}
	}
	return strings.Join(kept, " ")
}

func (k *kagi) current(ctx context.Context, q search.Query) (search.Reply, error) {
	body := kagiRequest{
		Query: cutWords(bangless(bare(q.Text)), maxKagiQuery), Limit: q.Limit, Safe: q.Safe != "off",
		Workflow: cmp.Or(map[turn.Intent]string{"news": "news", "image": "images", "video": "videos"}[q.Intent], "search"),
		Lens:     kagiLens{Include: q.Include, Exclude: q.Exclude},
	}
	_, region := locale(q.Language)
	body.Filters.Region = strings.ToLower(region)
	if oldest := since(k.now(), q.Fresh); !oldest.IsZero() {
		body.Filters.After = oldest.UTC().Format(time.DateOnly)
	}
	var reply struct {
		Error json.RawMessage
		Data  *struct{ News, Image, Video, Search []kagiResult }
	}
	left, err := k.ask(ctx, request{
		path: "/v1/search", body: body, language: q.Language, header: http.Header{"Authorization": {"Bearer " + k.secret}},
	}, &reply)
	if err = k.despite(err, reply.Error); reply.Data == nil {
		return k.outcome(nil, left, false, err)
	}
	hits := k.hits(reply.Data.News, false)
	hits = append(hits, k.hits(reply.Data.Image, true)...)
	hits = append(hits, k.hits(reply.Data.Video, false)...)
	hits = append(hits, k.hits(reply.Data.Search, false)...)
	return k.outcome(hits, left, true, err)
}

// legacy asks v0, which has web pages only, and no filters but what stands in the query.
func (k *kagi) legacy(ctx context.Context, q search.Query) (search.Reply, error) {
	q.Text = bangless(bare(q.Text))
	var reply struct {
		Error json.RawMessage
		Data  []kagiResult
	}
	left, err := k.ask(ctx, request{
		path: "/v0/search", params: url.Values{"q": {sited(q, maxKagiQuery, maxKagiWords)}, "limit": {strconv.Itoa(q.Limit)}},
		language: q.Language, header: http.Header{"Authorization": {"Bot " + k.secret}},
	}, &reply)
	return k.outcome(k.hits(reply.Data, false), left, reply.Data != nil, k.despite(err, reply.Error))
}

// despite is err, or the failure that a reply tells in spite of its status.
func (k *kagi) despite(err error, failure json.RawMessage) error {
	if err == nil && complaint(failure) != "" {
		return k.fail(k.verdict(http.StatusOK, failure))
	}
	return err
}

func (k *kagi) hits(results []kagiResult, images bool) []turn.Hit {
	var hits []turn.Hit
	for _, p := range results {
		if p.T != 0 {
			continue
		}
		h := k.hit(p.Title, p.URL, p.Snippet, p.Time, p.Published)
		if h.Thumbnail = picture(p.Thumbnail.URL, p.Image.URL); images {
			h.Media = picture(p.Image.URL, p.URL)
		}
		hits = append(hits, h)
	}
	return hits
}
