package card

import (
	"bytes"
	"maps"
	"path"
	"slices"
)

// rest says what of the card nothing is made of.
func (f *folderOf) rest() {
	data := f.card.Data
	known := []string{"name", "nickname", "first_mes", "alternate_greetings", "group_only_greetings", "character_book", "extensions", "assets"}
	for _, p := range parts {
		known = append(known, p.field)
	}
	about := map[string]string{
		"creator_notes": "notes of its creator, which no prompt holds", "creator_notes_multilingual": "the same in other languages", "tags": "", "creator": "", "character_version": "", "source": "",
		"creation_date": "", "modification_date": "",
	}
	for _, field := range slices.Sorted(maps.Keys(data)) {
		if slices.Contains(known, field) || empty(data[field]) {
			continue
		}
		why, spoken := about[field]
		switch {
		case !spoken:
			why = ": no field of a specification"
		case why != "":
			why = ": " + why
		}
		f.kept("%s%s", short(field), why)
	}
	for _, field := range slices.Sorted(maps.Keys(f.card.Top)) {
		if field != "spec" && field != "spec_version" && data[field] == nil && !empty(f.card.Top[field]) {
			f.kept("%s: it stands beside the card", short(field))
		}
	}
	ext, _ := data.object("extensions")
	for _, key := range slices.Sorted(maps.Keys(ext)) {
		switch {
		case key == "depth_prompt", key == "regex_scripts", empty(ext[key]):
		case key == "world":
			f.kept("extensions.world: the card goes with the lorebook %q; import that, too", short(ext.text(key)))
		case key == "talkativeness", key == "fav":
			f.kept("extensions.%s: a setting of SillyTavern's", key)
		default:
			f.kept("extensions.%s: it is another program's; its scripts are never run", short(key))
		}
	}
}

func empty(raw []byte) bool {
	return slices.Contains([]string{"", "null", `""`, "[]", "{}", "false"}, string(bytes.TrimSpace(raw)))
}

// original keeps the card as it is.
func (f *folderOf) original() error {
	whole := maps.Clone(f.card.Top)
	if whole == nil {
		whole = object{}
	}
	whole["data"] = rawOf(f.card.Data)
	if f.card.Version == 1 {
		whole["spec"] = raw("chara_card_v1")
	}
	data, err := encode(whole)
	if err != nil {
		return err
	}
	f.Files[jsonFile] = data
	if f.card.Image != nil {
		f.Files[imageFile] = f.card.Image
	}
	for p, body := range f.card.Files {
		f.Files[path.Join(filesDir, p)] = body
	}
	return nil
}
