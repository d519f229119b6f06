package card

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// object is a JSON object whose values stay as they were written. So what this package does not know survives.
type object map[string]json.RawMessage

// parseObject reads one JSON object of a file.
func parseObject(data []byte) (object, error) {
	data = bytes.TrimSpace(bytes.TrimPrefix(data, []byte("\ufeff")))
	switch {
	case len(data) > maxJSON:
		return nil, fmt.Errorf("the card has %d MiB of JSON; at most %d are read", len(data)>>20, maxJSON>>20)
	case len(data) == 0:
		return nil, errors.New("the file is empty")
	case data[0] != '{':
		return nil, errors.New("it is neither a PNG, nor a CHARX archive, nor a JSON object")
	case !utf8.Valid(data):
		return nil, errors.New("the JSON is not UTF-8 text; save it as UTF-8")
	}
	switch deepest, objects, values := shape(data); {
	case deepest > maxNesting:
		return nil, fmt.Errorf("the JSON is nested more than %d deep, which no card is", maxNesting)
	case objects > maxObjects:
		return nil, fmt.Errorf("the JSON has %d lists and objects; at most %d are read: split the lorebook", objects, maxObjects)
	case values > maxValues:
		return nil, fmt.Errorf("the JSON has %d values; at most %d are read: split the lorebook", values, maxValues)
	}
	var top object
	if err := json.Unmarshal(data, &top); err != nil {
		var syntax *json.SyntaxError
		if errors.As(err, &syntax) {
			return nil, fmt.Errorf("the JSON is broken at byte %d: %w", syntax.Offset, err)
		}
		return nil, fmt.Errorf("read JSON: %w", err)
	}
	return top, nil
}

// shape returns how deep a JSON text is nested, how many lists and objects it has, and how many values.
func shape(data []byte) (deepest, objects, values int) {
	depth, inText := 0, false
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case inText && c == '\\':
			i++
		case c == '"':
			inText = !inText
		case inText:
		case c == '{' || c == '[':
			objects++
			values++
			depth++
			deepest = max(deepest, depth)
		case c == '}' || c == ']':
			depth--
		case c == ',':
			values++
		}
	}
	return deepest, objects, values
}

// text returns a string, or "" for any other value.
func (o object) text(key string) string {
	var s string
	if json.Unmarshal(o[key], &s) != nil {
		return ""
	}
	return s
}

// number returns a number. Strings of digits count as numbers, and true counts as 1.
func (o object) number(key string) (float64, bool) {
	var n float64
	raw := bytes.Trim(o[key], `"`)
	switch {
	case string(raw) == "true":
		return 1, true
	case len(raw) == 0, string(raw) == "null", string(raw) == "false":
		return 0, false
	case json.Unmarshal(raw, &n) != nil:
		return 0, false
	}
	return n, true
}

// whole returns a whole number clamped to bounds, or nil if the value is not a number.
func (o object) whole(key string, low, high int) *int {
	n, ok := o.number(key)
	if !ok {
		return nil
	}
	i := int(min(max(n, float64(low)), float64(high)))
	return &i
}

// truth returns a boolean, or nil for any other value.
func (o object) truth(key string) *bool {
	var b *bool
	if json.Unmarshal(o[key], &b) != nil {
		return nil
	}
	return b
}

// is reports whether a value is true.
func (o object) is(key string) bool { return or(o.truth(key), false) }

// texts returns the strings of a list and skips its other values. A single string is split at its commas.
func (o object) texts(key string) (all []string) {
	var list []json.RawMessage
	if json.Unmarshal(o[key], &list) != nil {
		return splitCommas(o.text(key))
	}
	for _, raw := range list {
		var s string
		if json.Unmarshal(raw, &s) == nil {
			all = append(all, s)
		}
	}
	return all
}

// splitCommas splits a list at its commas, and drops empty items.
func splitCommas(list string) (items []string) {
	for item := range strings.SplitSeq(list, ",") {
		if item = strings.TrimSpace(item); item != "" {
			items = append(items, item)
		}
	}
	return items
}

// object returns an object.
func (o object) object(key string) (object, error) {
	var inner object
	if o[key] == nil {
		return nil, fmt.Errorf("%s is missing", key)
	}
	if err := json.Unmarshal(o[key], &inner); err != nil || inner == nil {
		return nil, fmt.Errorf("%s is not an object", key)
	}
	return inner, nil
}

func (o object) isObject(key string) bool {
	return bytes.HasPrefix(bytes.TrimSpace(o[key]), []byte("{"))
}

// objects returns the objects of a list, or of an object in the order of its keys. It skips other values.
func (o object) objects(key string) (all []object) {
	if o.isObject(key) {
		inner, _ := o.object(key)
		for _, k := range inner.keys() {
			if one, err := inner.object(k); err == nil {
				all = append(all, one)
			}
		}
		return all
	}
	var list []json.RawMessage
	if json.Unmarshal(o[key], &list) != nil {
		return nil
	}
	for _, raw := range list {
		var one object
		if json.Unmarshal(raw, &one) == nil && one != nil {
			all = append(all, one)
		}
	}
	return all
}

// keys returns the keys in order: numbers by their value, then the others.
func (o object) keys() (keys []string) {
	for k := range o {
		keys = append(keys, k)
	}
	slices.SortStableFunc(keys, func(a, b string) int {
		x, errX := strconv.Atoi(a)
		y, errY := strconv.Atoi(b)
		if errX == nil && errY == nil {
			return cmp.Compare(x, y)
		}
		return cmp.Or(toInt(errX != nil)-toInt(errY != nil), cmp.Compare(a, b))
	})
	return keys
}

func isNull(raw json.RawMessage) bool { return raw == nil || string(raw) == "null" }

// isEmpty reports whether a value says nothing.
func isEmpty(raw []byte) bool {
	return slices.Contains([]string{"", "null", `""`, "[]", "{}", "false"}, string(bytes.TrimSpace(raw)))
}

// encodeJSON writes indented JSON and escapes no more characters than JSON requires.
func encodeJSON(v any) ([]byte, error) {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(v); err != nil {
		return nil, fmt.Errorf("write JSON: %w", err)
	}
	return out.Bytes(), nil
}

// raw encodes a value of this package's own types, which cannot fail.
func raw(v any) json.RawMessage {
	data, _ := encodeJSON(v)
	return bytes.TrimSpace(data)
}

// or returns what p points to, or a default if p is nil.
func or[T any](p *T, otherwise T) T {
	if p != nil {
		return *p
	}
	return otherwise
}

func toInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// shorten puts a text on one line of at most limit characters.
func shorten(s string, limit int) string {
	s = strings.Join(strings.Fields(s), " ")
	if runes := []rune(s); len(runes) > limit {
		return string(runes[:limit]) + "…"
	}
	return s
}

// short returns the beginning of a text for a message.
func short(s string) string { return shorten(s, 80) }
