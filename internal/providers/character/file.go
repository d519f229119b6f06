package character

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"

	"familiar/internal/text"
)

// spot is the place of a value.
type spot struct {
	file         string
	line, column int
}

// reading is the state of reading character.toml files, each over those before it.
type reading struct {
	config   config
	keys     []key
	spots    map[string]spot // where each key was last set, with elements of lists, such as "aliases[0]" and "docs[0].name"
	listed   bool            // the current file has a [[docs]]
	problems []Problem
}

func newReading() *reading {
	return &reading{keys: keys(), spots: make(map[string]spot)}
}

// entry is a key with its value, or a table header, in a file.
type entry struct {
	path   []string
	raw    []byte // `key = value`; nil for headers
	offset int    // of raw in the file
	prefix int    // number of parts of path that are not in raw
	at     spot
	kind   unstable.Kind // of the value; Table and ArrayTable for headers
	items  []spot        // elements of a list, if their places are known
}

// file reads a character.toml over what has been read so far. It reads key by key, so that one mistake hides no other and every problem
// has a place.
func (r *reading) file(name string, data []byte) {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	if p, ok := notUTF8(name, data); ok {
		r.problems = append(r.problems, p)
		return
	}
	var whole map[string]any
	if err := toml.Unmarshal(data, &whole); err != nil {
		r.problems = append(r.problems, syntaxProblem(name, err))
		return
	}
	r.listed = false
	unknown := map[string]bool{} // tables already reported
	for _, e := range entries(name, data) {
		r.entry(e, unknown)
	}
}

func (r *reading) entry(e entry, unknown map[string]bool) {
	name := strings.Join(e.path, ".")
	for i := 1; i < len(e.path); i++ {
		if unknown[strings.Join(e.path[:i], ".")] {
			return
		}
	}
	k, stranger := r.find(e.path)
	header := e.kind == unstable.Table || e.kind == unstable.ArrayTable || e.kind == unstable.InlineTable
	if len(e.path) > 1 && !r.listed && stranger == "" && k.optional { // docs.name without a [[docs]] before it
		k, name = r.keyOf(e.path[0]), e.path[0]
	}
	switch {
	case stranger != "":
		if header || stranger != name {
			unknown[stranger] = true
		}
		r.problem(e.at, stranger, "no such key", r.cure(stranger))
	case k.list && e.kind == unstable.ArrayTable:
		r.item(e.at)
	case k.list:
		unknown[name] = true
		r.problem(e.at, name, "wants "+k.wants(), "")
	case k.table && e.kind != unstable.Table && e.kind != unstable.InlineTable, !k.table && header:
		unknown[name] = true
		r.problem(e.at, name, "wants "+k.wants()+", not "+kindName(e.kind), "")
	case !header:
		r.value(e, k)
	}
}

// find returns the known key of a path, or the shortest unknown beginning of the path.
func (r *reading) find(path []string) (found key, stranger string) {
	for i := range path {
		name := strings.Join(path[:i+1], ".")
		if found = r.keyOf(name); found.name == "" {
			return key{}, name
		}
		if !found.table && !found.list {
			break
		}
	}
	return found, ""
}

// keyOf returns the known key of a dotted name; its name is empty if there is none.
func (r *reading) keyOf(name string) key {
	for _, k := range r.keys {
		if k.name == name {
			return k
		}
	}
	return key{}
}

// item begins the next element of docs, the only list of tables. A file's list replaces the lists of files before it.
func (r *reading) item(at spot) {
	if !r.listed {
		r.config.Docs, r.listed = nil, true
		maps.DeleteFunc(r.spots, func(name string, _ spot) bool { return strings.HasPrefix(name, "docs[") })
	}
	r.config.Docs = append(r.config.Docs, docsConfig{})
	r.spots[r.lastItem()] = at
}

func (r *reading) lastItem() string { return fmt.Sprintf("docs[%d]", len(r.config.Docs)-1) }

// value decodes one key over the configuration.
func (r *reading) value(e entry, k key) {
	var doc strings.Builder
	if e.prefix > 0 && !k.optional {
		fmt.Fprintf(&doc, "[%s]", strings.Join(e.path[:e.prefix], "."))
	}
	doc.WriteByte('\n') // the value is on line 2
	doc.Write(e.raw)
	next := r.config // a failure must not leave half a value
	name, into := k.name, any(&next)
	if k.optional {
		next.Docs = slices.Clone(next.Docs)
		name, into = r.lastItem()+strings.TrimPrefix(k.name, "docs"), &next.Docs[len(next.Docs)-1]
	}
	err := toml.Unmarshal([]byte(doc.String()), into)
	if k.typ == reflect.TypeFor[Duration]() && e.kind != unstable.String {
		err = errors.New("a bare number would be nanoseconds")
	}
	if err == nil {
		r.config, r.spots[name] = next, e.at
		for i, at := range e.items {
			r.spots[fmt.Sprintf("%s[%d]", name, i)] = at
		}
		return
	}
	if k.optional {
		r.spots[name] = e.at // it exists, though it is wrong
	}
	at := e.at
	var de *toml.DecodeError
	if e.kind == unstable.Array && errors.As(err, &de) { // the error is about an element
		row, column := de.Position()
		if row == 2 {
			column += at.column - 1
		}
		at.line, at.column = at.line+row-2, column
	}
	r.problem(at, k.name, "wants "+k.wants()+given(e.kind, k), "")
}

// given names the kind of a wrong value. It returns "" if the kind would confuse: an invalid duration is still a text.
func given(kind unstable.Kind, k key) string {
	if kind == unstable.Array || strings.Contains(k.wants(), "quotes") && kind == unstable.String {
		return ""
	}
	return ", not " + kindName(kind)
}

func (r *reading) problem(at spot, key, text, cure string) {
	r.problems = append(r.problems, Problem{File: at.file, Line: at.line, Column: at.column, Key: key, Text: text, Cure: cure})
}

func (r *reading) cure(stranger string) string {
	names := make([]string, len(r.keys))
	for i, k := range r.keys {
		names[i] = k.name
	}
	if n := text.Nearest(stranger, names); n != "" {
		return fmt.Sprintf("did you mean %s?", n)
	}
	return "known here: " + strings.Join(known(r.keys, stranger[:strings.LastIndexByte(stranger, '.')+1]), ", ")
}

// entries lists the keys and table headers of a valid file in order. Keys of inline tables follow their table.
func entries(file string, data []byte) []entry {
	var p unstable.Parser
	p.Reset(data)
	var all []entry
	var table []string
	for p.NextExpression() {
		n := p.Expression()
		switch n.Kind {
		case unstable.Table, unstable.ArrayTable:
			path, at := keyPath(&p, file, n)
			table = path
			all = append(all, entry{path: path, kind: n.Kind, at: at})
		case unstable.KeyValue:
			all = keyValue(all, &p, file, table, n)
		}
	}
	return all
}

func keyValue(all []entry, p *unstable.Parser, file string, table []string, n *unstable.Node) []entry {
	own, at := keyPath(p, file, n)
	path := append(append([]string(nil), table...), own...)
	v := n.Value()
	e := entry{path: path, prefix: len(table), raw: p.Raw(n.Raw), offset: int(n.Raw.Offset), at: at, kind: v.Kind}
	if v.Kind == unstable.Array {
		e.items = items(p, file, v)
	}
	all = append(all, e)
	if v.Kind == unstable.InlineTable {
		for it := v.Children(); it.Next(); {
			all = keyValue(all, p, file, path, it.Node())
		}
	}
	return all
}

func items(p *unstable.Parser, file string, array *unstable.Node) []spot {
	var spots []spot
	for it := array.Children(); it.Next(); {
		if it.Node().Raw.Length == 0 {
			return nil
		}
		spots = append(spots, spotOf(p, file, it.Node().Raw))
	}
	return spots
}

func keyPath(p *unstable.Parser, file string, n *unstable.Node) (path []string, at spot) {
	for it := n.Key(); it.Next(); {
		if len(path) == 0 {
			at = spotOf(p, file, it.Node().Raw)
		}
		path = append(path, string(it.Node().Data))
	}
	return path, at
}

func spotOf(p *unstable.Parser, file string, r unstable.Range) spot {
	start := p.Shape(r).Start
	return spot{file: file, line: start.Line, column: start.Column}
}

func kindName(k unstable.Kind) string {
	switch k {
	case unstable.String:
		return "a text"
	case unstable.Bool:
		return "true or false"
	case unstable.Integer:
		return "a whole number"
	case unstable.Float:
		return "a decimal number"
	case unstable.Array:
		return "a list"
	case unstable.Table, unstable.InlineTable:
		return "a table"
	case unstable.ArrayTable:
		return "a list of tables"
	}
	return "a date or a time"
}

func syntaxProblem(file string, err error) Problem {
	p := Problem{File: file, Text: strings.TrimPrefix(err.Error(), "toml: ")}
	var de *toml.DecodeError
	if errors.As(err, &de) {
		p.Line, p.Column = de.Position()
		p.Key = strings.Join(de.Key(), ".")
	}
	return p
}

func notUTF8(file string, data []byte) (Problem, bool) {
	if utf8.Valid(data) {
		return Problem{}, false
	}
	line, column := 1, 1
	for len(data) > 0 {
		r, size := utf8.DecodeRune(data)
		if r == utf8.RuneError && size == 1 {
			break
		}
		column += size
		if r == '\n' {
			line, column = line+1, 1
		}
		data = data[size:]
	}
	return Problem{File: file, Line: line, Column: column, Text: "not UTF-8 text", Cure: "save the file as UTF-8"}, true
}

// SetLists returns the text of a character.toml with new lists for some keys, such as "web.trusted.news". It changes nothing else and keeps
// comments. A new key comes first in its table, and a new table last in the file. The result is not checked; [Load] does that.
func SetLists(text string, lists map[string][]string) string {
	text = strings.TrimPrefix(text, "\ufeff")
	for _, name := range slices.Sorted(maps.Keys(lists)) {
		text = setList(text, strings.Split(name, "."), lists[name])
	}
	return text
}

func setList(text string, path []string, list []string) string {
	table, name := path[:len(path)-1], path[len(path)-1]
	header := 0 // line of the table's header
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

// listed returns a list of texts in TOML.
func listed(list []string) string {
	quoted := make([]string, len(list))
	for i, text := range list {
		quoted[i] = fmt.Sprintf("%q", text)
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}
