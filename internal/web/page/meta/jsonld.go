package meta

import (
	"encoding/json"
	"strings"

	"familiar/internal/web/page/dom"
)

// object is one object of JSON-LD in the vocabulary of schema.org, reduced to the properties that are used.
type object struct {
	isArticle  bool // it describes the text, not only the page
	properties map[string]string
}

// How much JSON-LD of a page is read: in bytes, in objects, and how deep into each.
const (
	maxJSONLD  = 512 << 10
	maxObjects = 50
	maxDepth   = 6
)

var propertyNames = [...]string{"datePublished", "dateCreated", "dateModified", "author", "publisher", "inLanguage"}

// readJSONLD reads the scripts that hold JSON-LD and leaves out what is not valid.
func (s *source) readJSONLD() {
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

func (s *source) collectObjects(value any, depth int) {
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
		if s.product.Name == "" && describesProduct(types) {
			s.product = readProduct(v)
		}
		if isArticle, ok := describesPage(types); ok {
			o := object{isArticle: isArticle, properties: map[string]string{}}
			for _, name := range propertyNames {
				o.properties[name] = dom.Line(nameOf(v[name]))
			}
			s.objects = append(s.objects, o)
		}
		for _, inside := range [...]string{"@graph", "mainEntity", "mainEntityOfPage"} {
			s.collectObjects(v[inside], depth-1)
		}
	}
}

// typeNames returns the first few types of an object, as they are written.
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

// describesPage reports whether an object of these types is about the page as a whole, and if so, whether it describes
// its text.
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

// property returns a property from JSON-LD. Objects that describe the text come before others.
func (s *source) property(name string) string {
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

// nameOf returns the text of a property: its value, the name of the object that it is, or the names of several.
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
