package discordtest

import (
	"net/http"
	"strings"
	"unicode/utf16"
)

// componentsV2 is the flag of a message whose text stands in components. It cannot be taken away again.
// https://discord.com/developers/docs/components/reference
const componentsV2 = 1 << 15

// Types of components.
const (
	actionRow   = 1
	textDisplay = 10
	fileShown   = 13
	separator   = 14
	container   = 17
)

// Limits of a message of components.
const (
	maxComponents = 40   // the inner ones included
	maxShown      = 4000 // UTF-16 units of all text together
)

// layout is what is in the components of a message.
type layout struct {
	texts   []string
	rows    []any
	files   []string // as they are named there
	count   int
	unknown bool
}

// lay looks through components, in the order in which they are shown.
func (l *layout) lay(components []any, inner bool) {
	for _, c := range components {
		part, _ := c.(object)
		kind, _ := part["type"].(float64)
		nested, _ := part["components"].([]any)
		l.count++
		switch int(kind) {
		case actionRow:
			l.rows, l.count = append(l.rows, c), l.count+len(nested)
		case textDisplay:
			text, _ := part["content"].(string)
			l.texts, l.unknown = append(l.texts, text), l.unknown || text == ""
		case fileShown:
			file, _ := part["file"].(object)
			url, _ := file["url"].(string)
			name, ok := strings.CutPrefix(url, "attachment://")
			l.files, l.unknown = append(l.files, name), l.unknown || !ok
		case separator:
		case container:
			l.unknown = l.unknown || inner || len(nested) == 0
			l.lay(nested, true)
		default:
			l.unknown = true
		}
	}
}

// checkShown looks for what Discord refuses in a message of components, and returns what is in them.
func (m *sent) checkShown(files map[string]string) (layout, answer, bool) {
	var l layout
	l.lay(m.Components, false)
	switch {
	case m.Content != nil || len(m.Embeds) > 0:
		return l, malformed("content", "MESSAGE_CANNOT_USE_LEGACY_FIELDS_WITH_COMPONENTS_V2", "The 'content' field cannot be used when using MessageFlags.IS_COMPONENTS_V2"), false
	case l.count == 0:
		return l, refusal(http.StatusBadRequest, 50006, "Cannot send an empty message"), false
	case l.count > maxComponents || l.unknown:
		return l, malformed("components", "BASE_TYPE_BAD_LENGTH", "Must be 40 or fewer in total, each of a known kind and with what it needs."), false
	case len(utf16.Encode([]rune(strings.Join(l.texts, "")))) > maxShown:
		return l, malformed("components", "COMPONENT_DISPLAYABLE_TEXT_SIZE_EXCEEDED", "The total size of displayable text exceeds 4000"), false
	}
	for _, name := range l.files {
		if _, there := files[name]; !there {
			return l, malformed("components", "COMPONENT_FILE_NOT_FOUND", "The file was not sent."), false
		}
	}
	no, ok := checkRows(l.rows)
	return l, no, ok
}
