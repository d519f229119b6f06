package page

import (
	"encoding/json"
	"strings"

	"familiar/visible/dom"
)

// object is one JSON-LD object in the vocabulary of schema.org, reduced to the properties in propertyNames.
type object struct {
	isArticle  bool // it describes the text rather than the page
	properties map[string]string
}

// Limits of the JSON-LD of one page: bytes, objects, and levels of nesting.
const (
	maxJSONLD  = 512 << 10
	maxObjects = 50
	maxDepth   = 6
)

var propertyNames = [...]string{"datePublished", "dateCreated", "dateModified", "author", "publisher", "inLanguage"}

// readJSONLD reads the scripts with JSON-LD and skips invalid ones.
func (s *metaSource) readJSONLD() {
	size := 0
	for _, n := range s.elements.FilterMatcher(scripts).EachIter() {
		if !strings.EqualFold(strings.TrimSpace(n.AttrOr("type", "")), "application/ld+json") {
			continue
		}
		text := n.Text()
		if size += len(text); size > maxJSONLD || len(s.objects) >= maxObjects {
			return
		}
		var value any
		if json.Unmarshal([]byte(strings.TrimSpace(text)), &value) == nil {
			s.collectObjects(value, maxDepth)
		}
	}
}

func (s *metaSource) collectObjects(value any, depth int) {
	if depth == 0 || len(s.objects) >= maxObjects {
		return
	}
	switch v := value.(type) {
	case []any:
		for _, one := range v {
			s.collectObjects(one, depth-1)
		}
	case map[string]any:
		types := typeNames(v["@type"])
		for _, name := range types {
			s.types.add(name)
		}
		if s.product.Name == "" && isProductType(types) {
			s.product = readProduct(v)
		}
		if isArticle, ok := describesPage(types); ok {
			o := object{isArticle: isArticle, properties: map[string]string{}}
			for _, name := range propertyNames {
				o.properties[name] = dom.Line(propertyText(v[name]))
			}
			s.objects = append(s.objects, o)
		}
		for _, inside := range [...]string{"@graph", "mainEntity", "mainEntityOfPage"} {
			s.collectObjects(v[inside], depth-1)
		}
	}
}

// typeNames returns the first few types of an object, as written.
func typeNames(value any) []string {
	switch v := value.(type) {
	case string:
		return []string{v}
	case []any:
		var names []string
		for _, one := range v[:min(len(v), 5)] {
			if name, ok := one.(string); ok {
				names = append(names, name)
			}
		}
		return names
	}
	return nil
}

// describesPage reports whether an object of these types is about the page as a whole. isArticle says that it describes
// the text.
func describesPage(types []string) (isArticle, ok bool) {
	for _, t := range types {
		switch {
		case strings.HasSuffix(t, "Article"), strings.HasSuffix(t, "Posting"), t == "Report", t == "Recipe", t == "HowTo", t == "VideoObject", t == "QAPage", t == "Book", t == "Dataset", t == "Event":
			return true, true
		case strings.HasSuffix(t, "Page"), t == "CreativeWork":
			return false, true
		}
	}
	return false, false
}

// property returns a property from JSON-LD. It prefers objects that describe the text.
func (s *metaSource) property(name string) string {
	found := ""
	for _, o := range s.objects {
		value := o.properties[name]
		if value != "" && o.isArticle {
			return value
		}
		if found == "" {
			found = value
		}
	}
	return found
}

// propertyText returns the text of a property: its value, the name of its object, or several names joined by commas.
func propertyText(value any) string {
	switch v := value.(type) {
	case string:
		return v
	case map[string]any:
		return propertyText(v["name"])
	case []any:
		var names []string
		for _, one := range v {
			if name := propertyText(one); name != "" && len(names) < 5 {
				names = append(names, name)
			}
		}
		return strings.Join(names, ", ")
	}
	return ""
}
