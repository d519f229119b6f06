package meta

import (
	"encoding/json"
	"strings"

	"familiar/internal/web/page/dom"
)

// linked is one object of JSON-LD (schema.org), reduced to the facts that are asked for.
type linked struct {
	rank  int
	facts map[string]string
}

// How much an object has to say about the page itself.
const (
	pageRank = iota
	articleRank
)

// linkedLimit is how much JSON-LD of a page is read, in bytes; linkedDepth how deep.
const (
	linkedLimit = 512 << 10
	linkedDepth = 6
)

var linkedFacts = [...]string{"datePublished", "dateCreated", "dateModified", "author", "publisher", "inLanguage"}

// readLinked reads one script. What cannot be read says nothing.
func (t *testimony) readLinked(script string) []linked {
	var value any
	if json.Unmarshal([]byte(strings.TrimSpace(script)), &value) != nil {
		return nil
	}
	var found []linked
	t.collectLinked(value, linkedDepth, &found)
	return found
}

func (t *testimony) collectLinked(value any, depth int, found *[]linked) {
	if depth == 0 || len(*found) >= 50 {
		return
	}
	switch v := value.(type) {
	case []any:
		for _, one := range v {
			t.collectLinked(one, depth-1, found)
		}
	case map[string]any:
		if noteTypes(v["@type"], &t.types); isProduct(v["@type"]) {
			t.product.hear(v)
		}
		if rank, ok := rankOf(v["@type"]); ok {
			l := linked{rank: rank, facts: map[string]string{}}
			for _, name := range linkedFacts {
				if fact := nameOf(v[name]); fact != "" {
					l.facts[name] = dom.Line(fact)
				}
			}
			*found = append(*found, l)
		}
		for _, inside := range [...]string{"@graph", "mainEntity", "mainEntityOfPage"} {
			t.collectLinked(v[inside], depth-1, found)
		}
	}
}

func noteTypes(kind any, h *Types) {
	switch k := kind.(type) {
	case string:
		h.note(k)
	case []any:
		for _, one := range k[:min(len(k), 5)] {
			if name, ok := one.(string); ok {
				h.note(name)
			}
		}
	}
}

func isProduct(kind any) bool {
	if kinds, ok := kind.([]any); ok && len(kinds) > 0 {
		kind = kinds[0]
	}
	name, _ := kind.(string)
	name = name[strings.LastIndexByte(name, '/')+1:]
	return name == "Product" || name == "ProductGroup" || name == "IndividualProduct"
}

// rankOf judges a type; objects that are not about the page as a whole are refused.
func rankOf(kind any) (int, bool) {
	switch k := kind.(type) {
	case []any:
		for _, one := range k {
			if rank, ok := rankOf(one); ok {
				return rank, true
			}
		}
	case string:
		switch {
		case strings.HasSuffix(k, "Article"), strings.HasSuffix(k, "Posting"), k == "Report", k == "Recipe", k == "HowTo", k == "VideoObject", k == "QAPage", k == "Book", k == "Dataset", k == "Event":
			return articleRank, true
		case strings.HasSuffix(k, "Page"), k == "CreativeWork":
			return pageRank, true
		}
	}
	return 0, false
}

// nameOf is a fact's text: itself, its name, or the names of several.
func nameOf(value any) string {
	switch v := value.(type) {
	case string:
		return v
	case map[string]any:
		return nameOf(v["name"])
	case []any:
		var names []string
		for _, one := range v {
			if name := nameOf(one); name != "" && len(names) < 5 {
				names = append(names, name)
			}
		}
		return strings.Join(names, ", ")
	}
	return ""
}
