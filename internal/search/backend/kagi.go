package backend

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/search"
)

// kagi is a search engine without advertisements: https://help.kagi.com/kagi/api/search.html. The account's settings
// rank its results.
type kagi struct {
	*service
	old atomic.Bool // the key belongs to the API before v1, and v1 rejects it
}

func newKagi(s *service) search.Backend {
	return &kagi{service: s.withKey(phrases(
		phrase{"unauthorized", turn.CodeUnauthorized},
		phrase{"insufficient credit", turn.CodeQuota}, phrase{"balance", turn.CodeQuota}, phrase{"billing", turn.CodeQuota},
	))}
}

type kagiResult struct {
	T                   int // v0: 0 is a page, 1 a list of related searches
	URL, Title, Snippet string
	Time, Published     string
	Image, Thumbnail    struct{ URL string }
}

// Limits well below the service's own: longer questions find nothing.
const (
	maxKagiQuery = 400
	maxKagiWords = 60
)

func (k *kagi) Search(ctx context.Context, q search.Query) (search.Reply, error) {
	if q.Text = withoutBangs(q.Text); q.Text == "" {
		return search.Reply{}, nil
	}
	if k.old.Load() {
		return k.legacy(ctx, q)
	}
	reply, err := k.current(ctx, q)
	if codeOf(err) != turn.CodeUnauthorized {
		return reply, err
	}
	older, olderErr := k.legacy(ctx, q)
	if codeOf(olderErr) == turn.CodeUnauthorized {
		return reply, err
	}
	k.old.Store(true)
	return older, olderErr
}

// withoutBangs removes operators, and the words that switch Kagi to another search engine.
func withoutBangs(text string) string {
	return eachWord(withoutCommands(withoutOperators(text)), func(word string) string { return strings.TrimRight(word, "!") })
}

func (k *kagi) current(ctx context.Context, q search.Query) (search.Reply, error) {
	_, region := locale(q.Language)
	filters := map[string]any{"region": strings.ToLower(region)}
	if oldest := k.since(q); !oldest.IsZero() {
		filters["after"] = oldest.UTC().Format(time.DateOnly)
	}
	body := map[string]any{
		"query": cutWords(q.Text, maxKagiQuery), "limit": q.Limit, "safe_search": q.Safe != "off",
		"workflow": cmp.Or(map[turn.Intent]string{turn.IntentNews: "news", turn.IntentImage: "images", turn.IntentVideo: "videos"}[q.Intent], "search"),
		"filters":  fields(filters), "lens": fields(map[string]any{"sites_included": q.Include, "sites_excluded": q.Exclude}),
	}
	var reply struct {
		Error json.RawMessage
		Data  *struct{ News, Image, Video, Search []kagiResult }
	}
	left, err := k.ask(ctx, request{path: "/v1/search", body: fields(body), language: q.Language, header: bearer(k.secret())}, &reply)
	var hits []turn.Hit
	if d := reply.Data; d != nil {
		hits = slices.Concat(k.hits(d.News, false), k.hits(d.Image, true), k.hits(d.Video, false), k.hits(d.Search, false))
	}
	return outcome(hits, left, k.expect(reply.Data != nil, noFields, k.orFailure(err, reply.Error)))
}

// legacy asks v0, which has only web pages and no filters other than operators in the query.
func (k *kagi) legacy(ctx context.Context, q search.Query) (search.Reply, error) {
	var reply struct {
		Error json.RawMessage
		Data  []kagiResult
	}
	left, err := k.ask(ctx, request{
		path: "/v0/search", params: url.Values{"q": {withSites(q, maxKagiQuery, maxKagiWords)}, "limit": {strconv.Itoa(q.Limit)}},
		language: q.Language, header: http.Header{"Authorization": {"Bot " + k.secret()}},
	}, &reply)
	return outcome(k.hits(reply.Data, false), left, k.expect(reply.Data != nil, noFields, k.orFailure(err, reply.Error)))
}

// orFailure returns err, or the failure that a reply with a good status reports.
func (k *kagi) orFailure(err error, failure json.RawMessage) error {
	if err == nil && complaint(failure) != "" {
		return k.fail(k.failureOf(http.StatusOK, failure))
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
