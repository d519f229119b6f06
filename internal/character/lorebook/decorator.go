package lorebook

import (
	"strconv"
	"strings"
)

// decorators are what the lines in front of an entry's text say. They are those of the Character Card specification, version 3, and some
// of RisuAI's. https://github.com/kwaroran/character-card-spec-v3
type decorators struct {
	activate, dontActivate      bool
	constant                    bool
	keepAfterMatch, onceOnly    bool
	onlyAfter, onlyEvery        *int // messages of the character
	greeting                    *int
	depth, scanDepth            *int
	role                        Role
	position                    Position
	additionalKeys, excludeKeys []string
	excludeAll                  []string
	trimFirst                   bool // @@ignore_on_max_context: the first to go when there is no room
	wholeWords                  *bool
	probability, priority       *int
	preventRecursion            bool
	nonRecursable, recursive    bool
	silences                    []string // texts of the card that are left out while the entry is in: system_prompt, post_history_instructions
}

// decorate takes the decorators off an entry's text. Of those that are not known, or whose value is wrong, the first fallback that is
// known counts: the lines with @@@ that follow. Of several of one name the first counts.
func decorate(content string) (text string, d decorators) {
	rest := strings.TrimLeft(content, "\r\n")
	if !strings.HasPrefix(rest, "@@") {
		return strings.TrimSpace(content), d
	}
	seen := map[string]bool{}
	settled := true // no fallback is waited for
	for strings.HasPrefix(rest, "@@") {
		line, after, _ := strings.Cut(rest, "\n")
		rest = strings.TrimLeft(after, "\r\n")
		body, fallback := strings.CutPrefix(line, "@@@")
		if !fallback {
			body = strings.TrimPrefix(line, "@@")
			settled = false
		}
		if settled {
			continue
		}
		name, value, _ := strings.Cut(strings.TrimSpace(body), " ")
		name = strings.ToLower(name)
		if settled = seen[name] || d.set(name, strings.TrimSpace(value)); settled {
			seen[name] = true
		}
	}
	return strings.TrimSpace(rest), d
}

// set takes a decorator, and reports whether it is known and its value makes sense.
func (d *decorators) set(name, value string) bool {
	if flag := d.flag(name); flag != nil {
		*flag = true
		return true
	}
	if number := d.number(name); number != nil {
		n, err := strconv.Atoi(value)
		if err != nil || n < 0 || (n == 0 && name == "activate_only_every") {
			return false
		}
		*number = &n
		return true
	}
	switch name {
	case "end":
		zero := 0
		d.depth = &zero
	case "role":
		switch Role(value) {
		case System, User, Assistant:
			d.role = Role(value)
		default:
			return false
		}
	case "position":
		position, ok := map[string]Position{"after_desc": AfterChar, "before_desc": BeforeChar, "personality": InPersonality, "scenario": InScenario}[value]
		if !ok {
			return false
		}
		d.position = position
	case "additional_keys":
		d.additionalKeys = commas(value)
		return len(d.additionalKeys) > 0
	case "exclude_keys":
		d.excludeKeys = commas(value)
		return len(d.excludeKeys) > 0
	case "exclude_keys_all":
		d.excludeAll = commas(value)
		return len(d.excludeAll) > 0
	case "match_full_word", "match_partial_word":
		whole := name == "match_full_word"
		d.wholeWords = &whole
	case "disable_ui_prompt":
		if value != "system_prompt" && value != "post_history_instructions" {
			return false
		}
		d.silences = append(d.silences, value)
	default:
		return false
	}
	return true
}

// flag is where a decorator without a value is kept; nil: it is none.
func (d *decorators) flag(name string) *bool {
	switch name {
	case "activate":
		return &d.activate
	case "dont_activate":
		return &d.dontActivate
	case "constant":
		return &d.constant
	case "keep_activate_after_match":
		return &d.keepAfterMatch
	case "dont_activate_after_match":
		return &d.onceOnly
	case "ignore_on_max_context":
		return &d.trimFirst
	case "unrecursive":
		return &d.preventRecursion
	case "no_recursive_search":
		return &d.nonRecursable
	case "recursive":
		return &d.recursive
	}
	return nil
}

// number is where a decorator with a number is kept; nil: it is none.
func (d *decorators) number(name string) **int {
	switch name {
	case "depth":
		return &d.depth
	case "scan_depth":
		return &d.scanDepth
	case "activate_only_after":
		return &d.onlyAfter
	case "activate_only_every":
		return &d.onlyEvery
	case "is_greeting":
		return &d.greeting
	case "probability":
		return &d.probability
	case "priority":
		return &d.priority
	}
	return nil
}

func commas(list string) (items []string) {
	for item := range strings.SplitSeq(list, ",") {
		if item = strings.TrimSpace(item); item != "" {
			items = append(items, item)
		}
	}
	return items
}

// Decorators lists the decorators of an entry's text that nothing is made of, each with what stands in their place: a fallback, or "".
func Decorators(content string) (ignored []string) {
	var d decorators
	for line := range strings.Lines(strings.TrimLeft(content, "\r\n")) {
		line = strings.TrimSpace(line)
		if !strings.HasPrefix(line, "@@") {
			break
		}
		name, value, _ := strings.Cut(strings.TrimLeft(line, "@"), " ")
		if !d.set(strings.ToLower(name), strings.TrimSpace(value)) {
			ignored = append(ignored, line)
		}
	}
	return ignored
}
