package card

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"familiar/internal/character/lorebook"
)

// Book makes a lorebook of one that stands alone, and says what has no counterpart.
func (l *Lorebook) Book() (lorebook.Book, []string, error) {
	top := l.Top
	if !l.World && top["spec"] != nil {
		top, _ = top.object("data") // Read has looked
	}
	return book(top, l.World)
}

// book reads a lorebook of a card, or world info of SillyTavern, whose keys have other names.
func book(top object, world bool) (lorebook.Book, []string, error) {
	b := lorebook.Book{
		Name: top.text("name"), Description: top.text("description"), ScanDepth: top.whole("scan_depth", 0, 1000), TokenBudget: or(top.whole("token_budget", 0, 1_000_000), 0),
		Recursive: top["recursive_scanning"] == nil || string(top["recursive_scanning"]) == "null" || top.is("recursive_scanning"),
	}
	var r gaps
	entries := top.objects("entries")
	if len(entries) > lorebook.MostEntries {
		return b, nil, fmt.Errorf("the lorebook has %d entries; at most %d are read: split it", len(entries), lorebook.MostEntries)
	}
	ids := map[string]bool{}
	tavern := 0
	for i, o := range entries {
		e := lorebook.Entry{}
		ext, _ := o.object("extensions")
		if world {
			e = worldEntry(o, &r)
			tavern++
		} else {
			e = specEntry(o, ext, &r)
			tavern += flag(ext["selectiveLogic"] != nil || ext["display_index"] != nil)
		}
		if e.ID == "" || ids[e.ID] {
			e.ID = unused(ids, i)
		}
		ids[e.ID] = true
		b.Entries = append(b.Entries, e)
	}
	b.WholeWords = tavern > 0 // as SillyTavern does where an entry does not say
	if ext, err := top.object("extensions"); err == nil && len(ext) > 0 {
		r.add("the lorebook's own extensions", "")
	}
	return b, r.lines(), nil
}

func unused(ids map[string]bool, i int) string {
	for ids[strconv.Itoa(i)] {
		i += 100_000
	}
	return strconv.Itoa(i)
}

// gaps counts what has no counterpart in entries.
type gaps struct {
	names []string
	n     map[string]int
	first map[string]string
}

func (g *gaps) add(what, entry string) {
	if g.n == nil {
		g.n, g.first = map[string]int{}, map[string]string{}
	}
	if g.n[what]++; g.n[what] == 1 {
		g.names = append(g.names, what)
		g.first[what] = entry
	}
}

func (g *gaps) lines() (all []string) {
	for _, what := range g.names {
		line := what
		if entry := g.first[what]; entry != "" {
			line = fmt.Sprintf("%s (%d entries, the first is %s)", what, g.n[what], entry)
			if g.n[what] == 1 {
				line = fmt.Sprintf("%s (entry %s)", what, entry)
			}
		}
		all = append(all, line)
	}
	return all
}

// specEntry reads an entry as the specifications have it, with SillyTavern's extensions.
func specEntry(o, ext object, g *gaps) lorebook.Entry {
	tavern := ext["selectiveLogic"] != nil || ext["display_index"] != nil
	e := lorebook.Entry{
		ID: ident(o["id"]), Comment: cmp.Or(o.text("comment"), o.text("name")), Off: o.truth("enabled") != nil && !o.is("enabled"), Keys: o.texts("keys"),
		Constant: o.is("constant"), Order: or(o.whole("insertion_order", -1_000_000, 1_000_000), 0), Priority: o.whole("priority", -1_000_000, 1_000_000),
		Regex:         o.is("use_regex") && !tavern, // SillyTavern writes it always: its keys may be /patterns/
		CaseSensitive: o.truth("case_sensitive"), Content: o.text("content"),
	}
	if o.is("selective") || o["selective"] == nil {
		e.Secondary = o.texts("secondary_keys")
	}
	switch o.text("position") {
	case "before_char":
		e.Position = lorebook.BeforeChar
	case "after_char", "":
		e.Position = lorebook.AfterChar
	default:
		g.add("the position "+short(o.text("position")), e.ID)
		e.Position = lorebook.AfterChar
	}
	if ext != nil {
		tavernFields(&e, ext, names{
			position: "position", depth: "depth", role: "role", logic: "selectiveLogic", nonRecursable: "exclude_recursion", prevent: "prevent_recursion",
			delayed: "delay_until_recursion", probability: "probability", useProbability: "useProbability", group: "group", groupFirst: "group_override", weight: "group_weight",
			scoring: "use_group_scoring", scanDepth: "scan_depth", caseSensitive: "case_sensitive", wholeWords: "match_whole_words", sticky: "sticky", cooldown: "cooldown", delay: "delay",
			ignoreBudget: "ignore_budget", vectorized: "vectorized", automation: "automation_id", outlet: "outlet_name", triggers: "triggers",
			match: []string{"match_character_description", "match_character_personality", "match_scenario", "match_character_depth_prompt", "match_persona_description", "match_creator_notes"},
		}, g)
	}
	decorated(&e, g)
	return e
}

// worldEntry reads an entry of SillyTavern's world info.
func worldEntry(o object, g *gaps) lorebook.Entry {
	e := lorebook.Entry{
		ID: ident(o["uid"]), Comment: o.text("comment"), Off: o.is("disable"), Keys: o.texts("key"), Constant: o.is("constant"),
		Order: or(o.whole("order", -1_000_000, 1_000_000), 100), Content: o.text("content"),
	}
	if o["selective"] == nil || o.is("selective") {
		e.Secondary = o.texts("keysecondary")
	}
	tavernFields(&e, o, names{
		position: "position", depth: "depth", role: "role", logic: "selectiveLogic", nonRecursable: "excludeRecursion", prevent: "preventRecursion", delayed: "delayUntilRecursion",
		probability: "probability", useProbability: "useProbability", group: "group", groupFirst: "groupOverride", weight: "groupWeight", scoring: "useGroupScoring",
		scanDepth: "scanDepth", caseSensitive: "caseSensitive", wholeWords: "matchWholeWords", sticky: "sticky", cooldown: "cooldown", delay: "delay",
		ignoreBudget: "ignoreBudget", vectorized: "vectorized", automation: "automationId", outlet: "outletName", triggers: "triggers",
		match: []string{"matchCharacterDescription", "matchCharacterPersonality", "matchScenario", "matchCharacterDepthPrompt", "matchPersonaDescription", "matchCreatorNotes"},
	}, g)
	if filter, err := o.object("characterFilter"); err == nil {
		if list := filter.texts("names"); filter.is("isExclude") {
			e.Except = list
		} else {
			e.Characters = list
		}
		if len(filter.texts("tags")) > 0 {
			g.add("the choice of characters by tags", e.ID)
		}
	}
	decorated(&e, g)
	return e
}

// names are what SillyTavern calls the fields of an entry, in world info and in the extensions of cards.
type names struct {
	position, depth, role, logic, nonRecursable, prevent, delayed, probability, useProbability, group, groupFirst, weight, scoring, scanDepth, caseSensitive, wholeWords string
	sticky, cooldown, delay, ignoreBudget, vectorized, automation, outlet, triggers                                                                                      string
	match                                                                                                                                                                []string // of Fields, then those that are not there
}

// positions are SillyTavern's, by number.
var positions = []lorebook.Position{
	lorebook.BeforeChar, lorebook.AfterChar, lorebook.NoteTop, lorebook.NoteBottom, lorebook.AtDepth, lorebook.BeforeExamples, lorebook.AfterExamples,
	lorebook.InOutlet,
}

// tavernFields reads what SillyTavern has beyond the specifications.
func tavernFields(e *lorebook.Entry, o object, n names, g *gaps) {
	if at := o.whole(n.position, 0, 1000); at != nil {
		if *at < len(positions) {
			e.Position = positions[*at]
		} else {
			g.add("a position that is not known: the entry is off", e.ID)
			e.Off = true
		}
	}
	if e.Position == lorebook.InOutlet {
		if e.Outlet = strings.TrimSpace(o.text(n.outlet)); e.Outlet == "" {
			g.add("an outlet without a name: the entry is off", e.ID)
			e.Position, e.Off = "", true
		}
	}
	if e.Position == lorebook.AtDepth {
		e.Depth = o.whole(n.depth, 0, 1000)
		e.Role = []lorebook.Role{lorebook.System, lorebook.User, lorebook.Assistant}[or(o.whole(n.role, 0, 2), 0)]
	}
	if len(e.Secondary) > 0 { // the numbers are SillyTavern's
		e.Logic = logics[or(o.whole(n.logic, 0, 3), 0)]
	}
	e.NonRecursable, e.PreventRecursion = o.is(n.nonRecursable), o.is(n.prevent)
	e.DelayUntilRecursion = or(o.whole(n.delayed, 0, 100), 0)
	if p := o.whole(n.probability, 0, 100); p != nil && *p != 100 && (o[n.useProbability] == nil || o.is(n.useProbability)) {
		e.Probability = p
	}
	e.Groups = commas(o.text(n.group))
	if len(e.Groups) > 0 {
		e.GroupFirst, e.GroupScoring = o.is(n.groupFirst), o.truth(n.scoring)
		if w := o.whole(n.weight, 0, 1_000_000); w != nil && *w != 100 {
			e.GroupWeight = w
		}
	}
	e.ScanDepth = o.whole(n.scanDepth, 0, 1000)
	if b := o.truth(n.caseSensitive); b != nil {
		e.CaseSensitive = b
	}
	e.WholeWords = o.truth(n.wholeWords)
	e.Sticky, e.Cooldown, e.Delay = or(o.whole(n.sticky, 0, 10_000), 0), or(o.whole(n.cooldown, 0, 10_000), 0), or(o.whole(n.delay, 0, 1_000_000), 0)
	e.IgnoreBudget = o.is(n.ignoreBudget)
	for i, key := range n.match {
		switch fields := []string{"description", "personality", "scenario", "depth"}; {
		case !o.is(key):
		case i < len(fields):
			e.Match = append(e.Match, fields[i])
		default:
			g.add("looking for keys in what is known of the user, or in the creator's notes", e.ID)
		}
	}
	if o.is(n.vectorized) {
		g.add("finding entries by likeness (vectorized): keys alone count", e.ID)
	}
	if o.text(n.automation) != "" {
		g.add("starting scripts (automation id): scripts are never run", e.ID)
	}
	if len(o.texts(n.triggers)) > 0 {
		g.add("kinds of answers (triggers): the entry counts for all", e.ID)
	}
}

func decorated(e *lorebook.Entry, g *gaps) {
	for _, d := range lorebook.Decorators(e.Content) {
		name, _, _ := strings.Cut(d, " ")
		g.add("the decorator "+short(name), e.ID)
	}
}

// ident is an entry's id, which is a number or a text.
func ident(raw []byte) string {
	o := object{"id": raw}
	if s := o.text("id"); s != "" {
		return short(s)
	}
	if n, ok := o.number("id"); ok {
		return strconv.FormatFloat(n, 'f', -1, 64)
	}
	return ""
}

func or(p *int, otherwise int) int {
	if p != nil {
		return *p
	}
	return otherwise
}

func flag(b bool) int {
	if b {
		return 1
	}
	return 0
}

// inOrder are the keys of an object of entries: numbers by their value.
func inOrder(o object) (keys []string) {
	for k := range o {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b string) int {
		x, errX := strconv.Atoi(a)
		y, errY := strconv.Atoi(b)
		if errX == nil && errY == nil {
			return cmp.Compare(x, y)
		}
		return cmp.Or(flag(errX != nil)-flag(errY != nil), cmp.Compare(a, b))
	})
	return keys
}
