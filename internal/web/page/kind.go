package page

import (
	"regexp"
	"strings"

	"golang.org/x/net/html"

	"familiar/internal/web/page/dom"
)

// hints are what a page says of itself that may tell its kind. None of it is text, and none is believed alone: a
// page of a shop may call itself an article.
type hints struct {
	declared string          // og:type, in lower case
	kinds    map[string]bool // the schema.org types of its elements and of its JSON-LD
	goods    goods
}

// maxKinds is how many types of one page are listened to.
const maxKinds = 64

// hear notes the type of an element.
func (h *hints) hear(n *html.Node) {
	for _, a := range n.Attr {
		if a.Key == "itemtype" {
			h.note(a.Val)
		}
	}
}

// note keeps the last part of a type's address.
func (h *hints) note(kind string) {
	kind = strings.TrimRight(strings.TrimSpace(kind), "/#")
	kind = kind[strings.LastIndexAny(kind, "/#:")+1:]
	if kind != "" && len(kind) < 40 && len(h.kinds) < maxKinds {
		if h.kinds == nil {
			h.kinds = map[string]bool{}
		}
		h.kinds[kind] = true
	}
}

func (h *hints) any(kinds ...string) bool {
	for _, kind := range kinds {
		if h.kinds[kind] {
			return true
		}
	}
	return false
}

// article says that the page calls itself one text by someone.
func (h *hints) article() bool {
	return h.any("NewsArticle", "BlogPosting", "Article", "ReportageNewsArticle", "OpinionNewsArticle", "TechArticle", "ScholarlyArticle", "Recipe")
}

// thread says that the page calls itself a conversation.
func (h *hints) thread() bool {
	return h.any("DiscussionForumPosting", "QAPage") || !h.any("FAQPage") && h.any("Question") && h.any("Answer") && h.kinds["Comment"]
}

// product says that the page calls itself one thing that can be bought.
func (h *hints) product() bool {
	return strings.HasPrefix(h.declared, "product") && h.declared != "product.group" ||
		h.any("Product", "ProductGroup", "IndividualProduct") && !h.any("ItemList", "CollectionPage", "OfferCatalog")
}

// opinions are what a product's page carries beside the facts.
var opinions = surplus{
	names:    dom.WordSet("review reviews rating ratings testimonial testimonials comment comments opinions accessories addons"),
	headings: regexp.MustCompile(`(?i)^\W*(?:(?:\d+ )?(?:customer |user )?(?:reviews|ratings|testimonials|opinions)\b|what (?:our |other )?(?:customers|people|clients|users|players|critics) |(?:this is what )?customers who|choose your|accessories|bundles)`),
	most:     70,
}
