package backend

import (
	"cmp"
	"context"
	"encoding/json"
	"net/url"
	"slices"
	"sort"
	"strconv"
	"sync"

	"familiar/internal/api"
	"familiar/internal/context/turn"
	"familiar/internal/search"
)

// wikipedia is the MediaWiki Action API of the Wikipedia in the query's language. It returns the introduction of every
// article, so that none needs fetching: https://www.mediawiki.org/wiki/API:Search, Extension:TextExtracts. The text is
// under CC BY-SA; a hit's title and address are the required attribution.
type wikipedia struct {
	*service

	mu    sync.Mutex
	wikis map[string]*service // guarded by mu; by language, made on first use
}

func newWikipedia(s *service) search.Backend {
	return &wikipedia{service: s, wikis: map[string]*service{}}
}

// wikiOf returns the language of the Wikipedia for a tag.
func wikiOf(tag string) string {
	base, _ := locale(tag)
	if base == "nb" {
		base = "no"
	}
	if api.HasWikipedia(base) {
		return base
	}
	return "en"
}

func (w *wikipedia) wiki(language string) (*service, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if s := w.wikis[language]; s != nil {
		return s, nil
	}
	s, err := newService(w.config, Entry{Name: w.name}, inLanguage(w.base, language))
	if err != nil {
		return nil, err
	}
	s.far.Explain = api.ExplainMediaWiki
	w.wikis[language] = s
	return s, nil
}

type wikipediaReply struct {
	BatchComplete, Continue json.RawMessage // every reply has one of them
	Query                   struct{ Pages []wikipediaPage }
}

type wikipediaPage struct {
	Title        string
	Index        int
	Extract      string
	CanonicalURL string
	FullURL      string
	PageProps    map[string]any
	Thumbnail    struct{ Source string }
}

// maxCirrus limits a search, in characters. Wikipedia's own limit is slightly higher.
const maxCirrus = 280

func (w *wikipedia) Search(ctx context.Context, q search.Query) (search.Reply, error) {
	words := cutWords(withoutFields(topic(q.Text, q.Language)), maxCirrus)
	language := wikiOf(languageOf(q.Language, q.Text))
	if words == "" || !q.Allows(language+".wikipedia.org") {
		return search.Reply{}, nil
	}
	s, err := w.wiki(language)
	if err != nil {
		return search.Reply{}, w.fail(turn.CodeNotConfigured, err.Error())
	}
	var reply wikipediaReply
	left, err := s.ask(ctx, request{path: "/w/api.php", language: language, params: url.Values{
		"action": {"query"}, "format": {"json"}, "formatversion": {"2"}, "maxlag": {"5"},
		"generator": {"search"}, "gsrsearch": {words}, "gsrlimit": {strconv.Itoa(min(q.Limit, 5))},
		"prop": {"extracts|info|pageprops|pageimages"}, "inprop": {"url"}, "ppprop": {"disambiguation"},
		"piprop": {"thumbnail"}, "pithumbsize": {"320"}, "pilimit": {"max"},
		"exintro": {"1"}, "explaintext": {"1"}, "exlimit": {"max"}, "redirects": {"1"},
	}}, &reply)
	ours := reply.BatchComplete != nil || reply.Continue != nil
	return outcome(reply.hits(language), left, s.expect(ours, "the reply is not one of the Action API", err))
}

// hits orders the articles, which arrive unordered, and drops disambiguation pages.
func (r *wikipediaReply) hits(language string) []turn.Hit {
	pages := slices.Clone(r.Query.Pages)
	sort.SliceStable(pages, func(i, j int) bool {
		a, b := pages[i], pages[j]
		return cmp.Compare(a.Index, b.Index) < 0
	})
	var hits []turn.Hit
	for _, p := range pages {
		if _, meanings := p.PageProps["disambiguation"]; meanings {
			continue
		}
		text := prose(p.Extract, maxProse)
		h := textHit(p.Title, cmp.Or(p.CanonicalURL, p.FullURL), text)
		h.Snippet, h.Language, h.Thumbnail = line(text, maxSnippet/2), language, picture(p.Thumbnail.Source)
		hits = append(hits, h)
	}
	return hits
}
