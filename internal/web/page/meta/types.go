package meta

import (
	"slices"
	"strings"
)

// Types are the kinds of page that a page declares itself to be. None is enough alone: a page of a shop may call itself an
// article.
type Types struct {
	OpenGraph string          // og:type, in lower case
	schema    map[string]bool // the schema.org types of its elements and of its JSON-LD
}

// maxTypes is how many types of one page are kept.
const maxTypes = 64

// add keeps the last part of a type's address.
func (t *Types) add(address string) {
	address = strings.TrimRight(strings.TrimSpace(address), "/#")
	name := address[strings.LastIndexAny(address, "/#:")+1:]
	if name != "" && len(name) < 40 && len(t.schema) < maxTypes {
		if t.schema == nil {
			t.schema = map[string]bool{}
		}
		t.schema[name] = true
	}
}

func (t *Types) has(names ...string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return t.schema[name] })
}

// Article reports whether the page declares itself one text by someone.
func (t *Types) Article() bool {
	return t.has("NewsArticle", "BlogPosting", "Article", "ReportageNewsArticle", "OpinionNewsArticle", "TechArticle", "ScholarlyArticle", "Recipe")
}

// Thread reports whether the page declares itself a conversation.
func (t *Types) Thread() bool {
	return t.has("DiscussionForumPosting", "QAPage") || !t.has("FAQPage") && t.has("Question") && t.has("Answer") && t.has("Comment")
}

// Product reports whether the page declares itself to be about one thing that can be bought.
func (t *Types) Product() bool {
	return strings.HasPrefix(t.OpenGraph, "product") && t.OpenGraph != "product.group" ||
		t.has(productTypes[:]...) && !t.has("ItemList", "CollectionPage", "OfferCatalog")
}
