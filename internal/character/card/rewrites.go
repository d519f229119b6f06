package card

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"familiar/internal/character/rewrite"
)

// rewrites makes scripts of the card's regex scripts.
func (f *folderOf) rewrites() {
	ext, err := f.card.Data.object("extensions")
	if err != nil {
		return
	}
	var all []rewrite.Script
	for i, o := range ext.objects("regex_scripts") {
		s, missing := script(o)
		name := cmp.Or(s.Name, fmt.Sprint(i+1))
		for _, m := range missing {
			f.kept("in the regex script %s: %s", short(name), m)
		}
		if len(s.On) > 0 && s.Find != "" {
			all = append(all, s)
		}
	}
	if len(all) == 0 {
		return
	}
	if data, err := rewrite.Encode(all); err == nil {
		f.Files[rewritesFile] = data
		f.used("extensions.regex_scripts → rewrites.toml (%d)", len(all))
	}
}

// script reads a regex script of SillyTavern.
func script(o object) (s rewrite.Script, missing []string) {
	s = rewrite.Script{
		Name: o.text("scriptName"), Off: o.is("disabled"), Find: o.text("findRegex"), Replace: o.text("replaceString"), Trim: o.texts("trimStrings"),
		MinDepth: o.whole("minDepth", -1, 10_000), MaxDepth: o.whole("maxDepth", -1, 10_000),
	}
	shown, sent := o.is("markdownOnly"), o.is("promptOnly")
	for _, place := range placements(o) {
		switch {
		case place == 2 || place == 0:
			if shown || !sent {
				s.On = append(s.On, rewrite.OnReply)
			}
			if sent {
				s.On = append(s.On, rewrite.OnHistory)
			}
		case place == 5 && (sent || !shown):
			s.On = append(s.On, rewrite.OnLore)
		case place == 1:
			missing = append(missing, "what people write is not rewritten")
		case place == 3:
			missing = append(missing, "there are no slash commands of that kind")
		default:
			missing = append(missing, fmt.Sprintf("the place %d is not there", place))
		}
	}
	if strings.Contains(s.Replace, "<") && strings.Contains(s.Replace, ">") && slices.Contains(s.On, rewrite.OnReply) {
		missing = append(missing, "Discord shows HTML as it is written")
	}
	return s, missing
}

func placements(o object) (all []int) {
	list := object{"n": o["placement"]}
	for _, raw := range list.rawList("n") {
		one := object{"n": raw}
		if n := one.whole("n", 0, 100); n != nil && !slices.Contains(all, *n) {
			all = append(all, *n)
		}
	}
	return all
}
