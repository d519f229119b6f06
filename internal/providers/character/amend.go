package character

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2/unstable"
)

// SetLists returns the text of a character.toml in which some keys, such as "web.trusted.news", have other lists. All else stays as it is,
// comments too. A new key stands first in its table, and a new table at the end. Whether a character can be made of it, Load says.
func SetLists(text string, lists map[string][]string) string {
	text = strings.TrimPrefix(text, "\ufeff")
	for _, name := range slices.Sorted(maps.Keys(lists)) {
		text = setList(text, strings.Split(name, "."), lists[name])
	}
	return text
}

func setList(text string, path []string, list []string) string {
	table, name := path[:len(path)-1], path[len(path)-1]
	header := 0 // line of the table's
	for _, e := range entries("", []byte(text)) {
		switch {
		case e.kind == unstable.Table && slices.Equal(e.path, table):
			header = e.at.line
		case e.raw != nil && slices.Equal(e.path, path):
			key := e.raw[:bytes.IndexByte(e.raw, '=')]
			return text[:e.offset] + string(key) + "= " + listed(list) + text[e.offset+len(e.raw):]
		}
	}
	line := name + " = " + listed(list) + "\n"
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	if header == 0 {
		return fmt.Sprintf("%s\n[%s]\n%s", text, strings.Join(table, "."), line)
	}
	lines := strings.SplitAfter(text, "\n")
	return strings.Join(slices.Insert(lines, header, line), "")
}

// listed writes a list of texts.
func listed(list []string) string {
	quoted := make([]string, len(list))
	for i, text := range list {
		quoted[i] = fmt.Sprintf("%q", text)
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}
