package meta

import (
	"strings"

	"golang.org/x/net/html"
)

// Types are what a page says of itself that may tell its kind. None of it is text, and none is believed alone: a
// page of a shop may call itself an article.
type Types struct {
	OpenGraph string          // og:type, in lower case
	kinds     map[string]bool // the schema.org types of its elements and of its JSON-LD
}

// maxKinds is how many types of one page are listened to.
const maxKinds = 64

// hear notes the type of an element.
func (h *Types) hear(n *html.Node) {
	for _, a := range n.Attr {
		if a.Key == "itemtype" {
			h.note(a.Val)
		}
	}
}

// note keeps the last part of a type's address.
func (h *Types) note(kind string) {
	kind = strings.TrimRight(strings.TrimSpace(kind), "/#")
	kind = kind[strings.LastIndexAny(kind, "/#:")+1:]
	if kind != "" && len(kind) < 40 && len(h.kinds) < maxKinds {
		if h.kinds == nil {
			h.kinds = map[string]bool{}
		}
		h.kinds[kind] = true
	}
}

func (h *Types) any(kinds ...string) bool {
	for _, kind := range kinds {
		if h.kinds[kind] {
			return true
		}
	}
	return false
}

// Article says that the page calls itself one text by someone.
func (h *Types) Article() bool {
	return h.any("NewsArticle", "BlogPosting", "Article", "ReportageNewsArticle", "OpinionNewsArticle", "TechArticle", "ScholarlyArticle", "Recipe")
}

// Thread says that the page calls itself a conversation.
func (h *Types) Thread() bool {
	return h.any("DiscussionForumPosting", "QAPage") || !h.any("FAQPage") && h.any("Question") && h.any("Answer") && h.kinds["Comment"]
}

// Product says that the page calls itself one thing that can be bought.
func (h *Types) Product() bool {
	return strings.HasPrefix(h.OpenGraph, "product") && h.OpenGraph != "product.group" ||
		h.any("Product", "ProductGroup", "IndividualProduct") && !h.any("ItemList", "CollectionPage", "OfferCatalog")
}
