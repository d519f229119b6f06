package card

import (
	"io/fs"
	"maps"
	"path"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"familiar/internal/character/lorebook"
)

// updateBook writes the lorebooks of the folder into the card. Entries that are as they came stay to the last field; of the others, what
// nothing here knows stays. It returns what could not be written.
func (c *Card) updateBook(folder fs.FS) (notes []string) {
	top, err := c.Data.object("character_book")
	if err != nil {
		top = object{}
	}
	came, _, err := book(top, false)
	raws := map[string]object{}
	if err == nil {
		for i, o := range top.objects("entries") {
			raws[came.Entries[i].ID] = o
		}
	}
	b, found, notes := folderBook(folder, len(raws) > 0)
	if !found || sameBook(came, b) {
		return notes
	}
	entries := make([]object, 0, len(b.Entries))
	for _, e := range b.Entries {
		o := raws[e.ID]
		if i := slices.IndexFunc(came.Entries, func(was lorebook.Entry) bool { return was.ID == e.ID }); o == nil || !reflect.DeepEqual(came.Entries[i], e) {
			o = specOf(e, o)
		}
		entries = append(entries, o)
	}
	top = maps.Clone(top)
	top["entries"] = raw(entries)
	top["recursive_scanning"] = raw(b.Recursive)
	for field, value := range map[string]any{"name": b.Name, "description": b.Description, "scan_depth": b.ScanDepth, "token_budget": b.TokenBudget} {
		if v := reflect.ValueOf(value); !v.IsZero() {
			top[field] = raw(value)
		}
	}
	if top["extensions"] == nil {
		top["extensions"] = raw(object{})
	}
	c.Data["character_book"] = raw(top)
	return notes
}

// folderBook is what of a folder's lorebooks belongs into the card: that of the card or, where it came with none, all of them.
func folderBook(folder fs.FS, came bool) (b lorebook.Book, found bool, notes []string) {
	dir := path.Dir(BookFile)
	entries, _ := fs.ReadDir(folder, dir) // without any, there is nothing to write
	for _, e := range entries {
		file := path.Join(dir, e.Name())
		if !strings.HasSuffix(file, ".toml") {
			continue
		}
		if came && file != BookFile {
			notes = append(notes, file+" is not in the card, which has a lorebook of its own")
			continue
		}
		data, err := fs.ReadFile(folder, file)
		one, wrong := lorebook.Parse("", data)
		if err != nil || len(wrong) > 0 {
			notes = append(notes, file+" could not be read")
			continue
		}
		all := b.Entries
		if !found {
			b = one
		}
		b.Entries, found = append(all, one.Entries...), true
	}
	return b, found, notes
}

// sameBook reports whether two books say the same.
func sameBook(a, b lorebook.Book) bool {
	x, errX := a.Encode()
	y, errY := b.Encode()
	if errX != nil || errY != nil || len(a.Entries) != len(b.Entries) {
		return false
	}
	return string(x) == string(y)
}

// specOf writes an entry as the specifications and SillyTavern have it, over what it was.
func specOf(e lorebook.Entry, was object) object {
	o := maps.Clone(was)
	if o == nil {
		o = object{}
	}
	ext, err := o.object("extensions")
	if err != nil {
		ext = object{}
	}
	position := max(0, slices.Index(positions, cmpPosition(e.Position)))
	for field, value := range map[string]any{
		"keys": listOf(e.Keys), "secondary_keys": listOf(e.Secondary), "selective": len(e.Secondary) > 0, "content": e.Content, "enabled": !e.Off, "constant": e.Constant,
		"insertion_order": e.Order, "comment": e.Comment, "use_regex": e.Regex, "case_sensitive": e.CaseSensitive, "priority": e.Priority,
		"position": map[bool]string{true: "before_char", false: "after_char"}[position == 0],
	} {
		o[field] = raw(value)
	}
	if e.CaseSensitive == nil {
		delete(o, "case_sensitive")
	}
	if e.Priority == nil {
		delete(o, "priority")
	}
	if number, err := strconv.Atoi(e.ID); err == nil {
		o["id"] = raw(number)
	} else {
		o["id"] = raw(e.ID)
	}
	for field, value := range map[string]any{
		"position": position, "depth": or(e.Depth, 4), "role": max(0, slices.Index([]lorebook.Role{lorebook.System, lorebook.User, lorebook.Assistant}, e.Role)),
		"selectiveLogic": max(0, slices.Index(logics, e.Logic)), "exclude_recursion": e.NonRecursable, "prevent_recursion": e.PreventRecursion, "delay_until_recursion": e.DelayUntilRecursion,
		"probability": or(e.Probability, 100), "useProbability": true, "group": strings.Join(e.Groups, ","), "group_override": e.GroupFirst, "group_weight": or(e.GroupWeight, 100),
		"use_group_scoring": e.GroupScoring, "scan_depth": e.ScanDepth, "match_whole_words": e.WholeWords, "case_sensitive": e.CaseSensitive, "sticky": e.Sticky, "cooldown": e.Cooldown, "delay": e.Delay,
		"ignore_budget": e.IgnoreBudget, "outlet_name": e.Outlet,
	} {
		ext[field] = raw(value)
	}
	for i, key := range []string{"match_character_description", "match_character_personality", "match_scenario", "match_character_depth_prompt"} {
		ext[key] = raw(slices.Contains(e.Match, lorebook.Fields()[i]))
	}
	o["extensions"] = raw(ext)
	return o
}

// logics are SillyTavern's, by number.
var logics = []lorebook.Logic{lorebook.AndAny, lorebook.NotAll, lorebook.NotAny, lorebook.AndAll}

func cmpPosition(p lorebook.Position) lorebook.Position {
	switch p {
	case "":
		return lorebook.BeforeChar
	case lorebook.InPersonality, lorebook.InScenario: // which only decorators say
		return lorebook.AfterChar
	}
	return p
}

func listOf(all []string) []string { return append([]string{}, all...) }
