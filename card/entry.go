package card

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// bookForm says which names the fields of a lorebook's entries have.
type bookForm int

const (
	inCard  bookForm = iota // the specifications, with SillyTavern's extensions
	inWorld                 // SillyTavern's world info
)

// A row says how one field of an [Entry] is written in the files of other programs. Reading and writing use the same row.
type row struct {
	spec  string // its key in an entry of the specifications; empty: none
	ext   string // its key in the extensions of such an entry, where SillyTavern writes; empty: none
	world string // its key in an entry of world info; empty: none
	value any    // where the field is: *string, *bool, *int, **int, **bool, *[]string, or a cell

	low, high int // bounds of a number; 0, 0: those of maxNumber
	blank     int // what is written for a **int that is nil; 0: null
}

// A cell is a field that other programs write in a form of their own.
type cell interface {
	read(o object, key string)
	write() any
}

// rows lists the fields of an entry. Later rows override earlier ones.
func (e *Entry) rows() []row {
	rows := []row{
		{spec: "id", world: "uid", value: (*ident)(&e.ID)},
		{spec: "comment", world: "comment", value: &e.Comment},
		{spec: "enabled", value: (*negated)(&e.Off)},
		{world: "disable", value: &e.Off},
		{spec: "keys", world: "key", value: &e.Keys},
		{spec: "secondary_keys", world: "keysecondary", value: &e.Secondary},
		{spec: "constant", world: "constant", value: &e.Constant},
		{spec: "insertion_order", world: "order", value: &e.Order, low: -maxNumber, high: maxNumber},
		{spec: "priority", value: &e.Priority, low: -maxNumber, high: maxNumber},
		{spec: "use_regex", value: &e.Regex},
		{spec: "content", world: "content", value: &e.Content},
		{spec: "case_sensitive", ext: "case_sensitive", world: "caseSensitive", value: &e.CaseSensitive},
		{spec: "position", value: (*namedPosition)(&e.Position)},

		{ext: "position", world: "position", value: numbered[Position]{&e.Position, tavernPositions, true}},
		{ext: "outlet_name", world: "outletName", value: &e.Outlet},
		{ext: "depth", world: "depth", value: &e.Depth, high: 1000, blank: 4},
		{ext: "role", world: "role", value: numbered[Role]{&e.Role, roles, false}},
		{ext: tavernMark, world: "selectiveLogic", value: numbered[Logic]{&e.Logic, logics, false}},
		{ext: "scan_depth", world: "scanDepth", value: &e.ScanDepth, high: 1000},
		{ext: "match_whole_words", world: "matchWholeWords", value: &e.WholeWords},
		{ext: "exclude_recursion", world: "excludeRecursion", value: &e.NonRecursable},
		{ext: "prevent_recursion", world: "preventRecursion", value: &e.PreventRecursion},
		{ext: "delay_until_recursion", world: "delayUntilRecursion", value: &e.DelayUntilRecursion, high: 100},
		{ext: "probability", world: "probability", value: &e.Probability, high: 100, blank: 100},
		{ext: "group", world: "group", value: (*commaList)(&e.Groups)},
		{ext: "group_override", world: "groupOverride", value: &e.GroupFirst},
		{ext: "group_weight", world: "groupWeight", value: &e.GroupWeight, blank: 100},
		{ext: "use_group_scoring", world: "useGroupScoring", value: &e.GroupScoring},
		{ext: "triggers", world: "triggers", value: (*triggers)(&e.Triggers)},
		{ext: "ignore_budget", world: "ignoreBudget", value: &e.IgnoreBudget},
		{ext: "sticky", world: "sticky", value: &e.Sticky, high: 10_000},
		{ext: "cooldown", world: "cooldown", value: &e.Cooldown, high: 10_000},
		{ext: "delay", world: "delay", value: &e.Delay},
	}
	for i, key := range [][2]string{
		{"match_character_description", "matchCharacterDescription"}, {"match_character_personality", "matchCharacterPersonality"},
		{"match_scenario", "matchScenario"}, {"match_character_depth_prompt", "matchCharacterDepthPrompt"},
	} {
		rows = append(rows, row{ext: key[0], world: key[1], value: member{&e.Match, Fields()[i]}})
	}
	return rows
}

// read sets the field from o, unless o says nothing of it.
func (r *row) read(o object, key string) {
	if key == "" || o[key] == nil {
		return
	}
	low, high := r.low, r.high
	if low == 0 && high == 0 {
		high = maxNumber
	}
	switch to := r.value.(type) {
	case cell:
		to.read(o, key)
	case *string:
		*to = o.text(key)
	case *[]string:
		*to = o.texts(key)
	case *bool:
		*to = o.is(key)
	case **bool:
		*to = cmp.Or(o.truth(key), *to)
	case *int:
		*to = or(o.whole(key, low, high), *to)
	case **int:
		*to = cmp.Or(o.whole(key, low, high), *to)
	}
}

// write returns what other programs should read.
func (r *row) write() any {
	switch from := r.value.(type) {
	case cell:
		return from.write()
	case *[]string:
		return append([]string{}, *from...) // a list, also if it is empty
	case **int:
		if *from == nil && r.blank != 0 {
			return r.blank
		}
	}
	return r.value
}

// ident is an id, which is a number or a text.
type ident string

func (id *ident) read(o object, key string) {
	if s := o.text(key); s != "" {
		*id = ident(short(s))
	} else if n, ok := o.number(key); ok {
		*id = ident(strconv.FormatFloat(n, 'f', -1, 64))
	}
}

func (id *ident) write() any {
	if n, err := strconv.Atoi(string(*id)); err == nil {
		return n
	}
	return string(*id)
}

// negated is a boolean that is written as its opposite.
type negated bool

func (b *negated) read(o object, key string) { *b = negated(!or(o.truth(key), true)) }
func (b *negated) write() any                { return !bool(*b) }

// commaList is a list that is written as one text.
type commaList []string

func (l *commaList) read(o object, key string) { *l = splitCommas(o.text(key)) }
func (l *commaList) write() any                { return strings.Join(*l, ",") }

// triggers is a list of causes; those that do not exist have no effect.
type triggers []string

func (l *triggers) read(o object, key string) {
	*l = slices.DeleteFunc(o.texts(key), func(name string) bool { return !slices.Contains(Triggers(), name) })
}
func (l *triggers) write() any { return append([]string{}, *l...) }

// member is a boolean that says whether a list has an item.
type member struct {
	list *[]string
	item string
}

func (m member) read(o object, key string) {
	if o.is(key) {
		*m.list = append(*m.list, m.item)
	}
}

func (m member) write() any { return slices.Contains(*m.list, m.item) }

// numbered is one of several values, written as its number. A number that is too high means the last one. Where later versions may have
// more values it means nothing.
type numbered[T ~string] struct {
	value *T
	all   []T
	open  bool // later versions may have more
}

func (n numbered[T]) read(o object, key string) {
	at := o.whole(key, 0, len(n.all))
	if at == nil || *at == len(n.all) && n.open {
		return
	}
	*n.value = n.all[min(*at, len(n.all)-1)]
}

func (n numbered[T]) write() any {
	return max(0, slices.Index(n.all, *n.value))
}

// namedPosition is a position as the specifications write it: before or after the character.
type namedPosition Position

func (p *namedPosition) read(o object, key string) {
	if *p = namedPosition(AfterChar); o.text(key) == string(BeforeChar) {
		*p = namedPosition(BeforeChar)
	}
}

func (p *namedPosition) write() any {
	if *p == "" || Position(*p) == BeforeChar {
		return BeforeChar
	}
	return AfterChar
}

// bookOf reads a lorebook, and returns what it asks for that a Book cannot say.
func bookOf(top object, form bookForm) (Book, []string, error) {
	b := Book{
		Name: top.text("name"), Description: top.text("description"), ScanDepth: top.whole("scan_depth", 0, 1000),
		TokenBudget: or(top.whole("token_budget", 0, maxNumber), 0),
		Recursive:   or(top.truth("recursive_scanning"), isNull(top["recursive_scanning"])),
	}
	entries := top.objects("entries")
	if len(entries) > maxEntries {
		return b, nil, fmt.Errorf("the lorebook has %d entries; at most %d are read: split it", len(entries), maxEntries)
	}
	var missing unsupported
	ids := map[string]bool{}
	for i, o := range entries {
		e := entryOf(o, form, &missing)
		if e.ID == "" || ids[e.ID] {
			e.ID = unusedID(ids, i)
		}
		ids[e.ID] = true
		b.Entries = append(b.Entries, e)
		b.WholeWords = b.WholeWords || form == inWorld || isTavern(o) // SillyTavern's default
	}
	if ext, err := top.object("extensions"); err == nil && len(ext) > 0 {
		missing.add("the lorebook's own extensions", "")
	}
	return b, missing.lines(), nil
}

// tavernMark is in the extensions of all entries that SillyTavern writes. Its use_regex says nothing.
const tavernMark = "selectiveLogic"

// isTavern reports whether SillyTavern wrote an entry of a card.
func isTavern(o object) bool {
	ext, _ := o.object("extensions")
	return ext[tavernMark] != nil || ext["display_index"] != nil
}

func unusedID(ids map[string]bool, i int) string {
	for ids[strconv.Itoa(i)] {
		i += 100_000
	}
	return strconv.Itoa(i)
}

// entryOf reads an entry.
func entryOf(o object, form bookForm, missing *unsupported) Entry {
	var e Entry
	from := o // the object with SillyTavern's fields
	if form == inWorld {
		e.Order = 100
	} else {
		e.Position = AfterChar
		from, _ = o.object("extensions")
	}
	for _, r := range e.rows() {
		if form == inWorld {
			r.read(o, r.world)
		} else {
			r.read(o, r.spec)
			r.read(from, r.ext)
		}
	}
	if !o.is("selective") { // its secondary keys count only with it
		e.Secondary = nil
	}
	if from["useProbability"] != nil && !from.is("useProbability") {
		e.Probability = nil
	}
	if form == inCard {
		e.Comment = cmp.Or(e.Comment, o.text("name"))
		e.Regex = e.Regex && !isTavern(o) // SillyTavern always sets it: its keys may be /patterns/
		if name := o.text("position"); name != "" && name != string(BeforeChar) && name != string(AfterChar) {
			missing.add("the position "+short(name), e.ID)
		}
	}
	if or(from.whole("position", 0, maxNumber), 0) >= len(tavernPositions) {
		missing.add("a position that is not known: the entry is off", e.ID)
		e.Off = true
	}
	e.settle(from != nil, missing)
	if form == inWorld {
		e.readFilter(o, missing)
	}
	missing.extras(from, e.ID)
	for _, d := range ignoredDecorators(e.Content) {
		name, _, _ := strings.Cut(d, " ")
		missing.add("the decorator "+short(name), e.ID)
	}
	return e
}

// settle removes what has no effect, so that a person who reads the entry sees only what counts. tavern says that
// SillyTavern's fields are there.
func (e *Entry) settle(tavern bool, missing *unsupported) {
	switch e.Outlet = strings.TrimSpace(e.Outlet); {
	case e.Position != InOutlet:
		e.Outlet = ""
	case e.Outlet == "":
		missing.add("an outlet without a name: the entry is off", e.ID)
		e.Position, e.Off = "", true
	}
	if e.Position == AtDepth {
		e.Role = cmp.Or(e.Role, System)
	} else {
		e.Depth, e.Role = nil, ""
	}
	switch {
	case len(e.Secondary) == 0:
		e.Logic = ""
	case tavern:
		e.Logic = cmp.Or(e.Logic, AndAny)
	}
	if or(e.Probability, 100) == 100 {
		e.Probability = nil
	}
	if len(e.Groups) == 0 {
		e.GroupFirst, e.GroupScoring, e.GroupWeight = false, nil, nil
	}
	if or(e.GroupWeight, 100) == 100 {
		e.GroupWeight = nil
	}
}

// readFilter reads which characters have an entry of world info.
func (e *Entry) readFilter(o object, missing *unsupported) {
	filter, err := o.object("characterFilter")
	if err != nil {
		return
	}
	if names := filter.texts("names"); filter.is("isExclude") {
		e.Except = names
	} else {
		e.Characters = names
	}
	if len(filter.texts("tags")) > 0 {
		missing.add("the choice of characters by tags", e.ID)
	}
}

// unsupported counts what entries ask for and an Entry cannot say.
type unsupported struct {
	names []string // in the order of their first use
	count map[string]int
	first map[string]string // the first entry that asks for it
}

func (u *unsupported) add(what, entry string) {
	if u.count == nil {
		u.count, u.first = map[string]int{}, map[string]string{}
	}
	if u.count[what]++; u.count[what] == 1 {
		u.names = append(u.names, what)
		u.first[what] = entry
	}
}

// extras adds what SillyTavern's fields ask for.
func (u *unsupported) extras(o object, entry string) {
	for _, key := range []string{"match_persona_description", "match_creator_notes", "matchPersonaDescription", "matchCreatorNotes"} {
		if o.is(key) {
			u.add("searching what is known of the user, or the creator's notes", entry)
		}
	}
	if o.is("vectorized") {
		u.add("finding entries by similarity (vectorized): only keys count", entry)
	}
	if o.text("automation_id") != "" || o.text("automationId") != "" {
		u.add("starting scripts (automation id): scripts are never run", entry)
	}
}

func (u *unsupported) lines() (all []string) {
	for _, what := range u.names {
		line := what
		if entry := u.first[what]; entry != "" {
			line = fmt.Sprintf("%s (%d entries, the first is %s)", what, u.count[what], entry)
			if u.count[what] == 1 {
				line = fmt.Sprintf("%s (entry %s)", what, entry)
			}
		}
		all = append(all, line)
	}
	return all
}

// entryIn writes an entry as the specifications and SillyTavern have it, over the one that came. Fields that did not
// change since, and fields that no row names, stay as they were. An entry that did not come is nil.
func entryIn(e Entry, came *Entry, was object) object {
	o := maps.Clone(was)
	if o == nil {
		o = object{}
	}
	ext, err := o.object("extensions")
	if err != nil {
		ext = object{}
	}
	if e.Position == InPersonality || e.Position == InScenario {
		e.Position = AfterChar
	}
	var before []row
	if came != nil {
		before = came.rows()
	}
	for i, r := range e.rows() {
		value := raw(r.write())
		if before != nil && string(value) == string(raw(before[i].write())) {
			continue
		}
		if r.ext != "" && !(e.Regex && r.ext == tavernMark) {
			ext[r.ext] = value
		}
		if r.spec != "" {
			if o[r.spec] = value; string(value) == "null" {
				delete(o, r.spec)
			}
		}
	}
	if came == nil || !slices.Equal(came.Secondary, e.Secondary) {
		o["selective"] = raw(len(e.Secondary) > 0)
	}
	if came == nil || or(came.Probability, 100) != or(e.Probability, 100) {
		ext["useProbability"] = raw(true)
	}
	o["extensions"] = raw(ext)
	return o
}

// updateBook writes a changed lorebook over the one that came with a card. Entries that did not change stay as they came. The others keep
// the fields that this package does not know.
func updateBook(top object, b Book) object {
	came, _, err := bookOf(top, inCard)
	number := map[string]int{} // of the entries that came, by their ids
	var originals []object
	if err == nil {
		originals = top.objects("entries")
		for i, e := range came.Entries {
			number[e.ID] = i
		}
	}
	entries := make([]object, 0, len(b.Entries))
	for _, e := range b.Entries {
		switch i, known := number[e.ID]; {
		case !known:
			entries = append(entries, entryIn(e, nil, nil))
		case reflect.DeepEqual(came.Entries[i], e):
			entries = append(entries, originals[i])
		default:
			entries = append(entries, entryIn(e, &came.Entries[i], originals[i]))
		}
	}
	top = maps.Clone(top)
	if top["entries"] == nil || b.Recursive != came.Recursive {
		top["recursive_scanning"] = raw(b.Recursive)
	}
	top["entries"] = raw(entries)
	for name, value := range map[string]any{"name": b.Name, "description": b.Description, "scan_depth": b.ScanDepth, "token_budget": b.TokenBudget} {
		if !reflect.ValueOf(value).IsZero() {
			top[name] = raw(value)
		}
	}
	if top["extensions"] == nil {
		top["extensions"] = raw(object{})
	}
	return top
}
