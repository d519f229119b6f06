package card

import (
	"strconv"
	"strings"
)

// decorators is what the @@ lines at the beginning of an entry's text say. They come from the specification of Character
// Card V3, and some from RisuAI. https://github.com/kwaroran/character-card-spec-v3
type decorators struct {
	activate, dontActivate      bool
	constant                    bool
	keepAfterMatch, onceOnly    bool
	onlyAfter, onlyEvery        *int // messages of the character
	greeting                    *int
	depth, scanDepth            *int
	role                        Role
	position                    Position
	additionalKeys, excludeKeys [][]string // a list for each line
	excludeAll                  [][]string
	trimFirst                   bool // @@ignore_on_max_context: it is the first to go if there is no room
	wholeWords                  *bool
	probability, priority       *int
	preventRecursion            bool
	nonRecursable, recursive    bool
	silences                    []string // fields of the card that are left out while the entry fires
}

// decorate separates the decorators from an entry's text. A decorator that is unknown or has a wrong value is replaced. The first known one
// of the @@@ lines below takes its place. If a decorator is repeated, the first one counts; only lists of keys add up, as in RisuAI.
func decorate(content string) (text string, d decorators) {
	rest := strings.TrimLeft(content, "\r\n")
	if !strings.HasPrefix(rest, "@@") {
		return strings.TrimSpace(content), d
	}
	seen := map[string]bool{}
	settled := true // no fallback is needed
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
			_, adds := d.field(name).(*[][]string)
			seen[name] = !adds
		}
	}
	return strings.TrimSpace(rest), d
}

// set sets a decorator. It reports whether the decorator is known and its value is allowed.
func (d *decorators) set(name, value string) bool {
	switch to := d.field(name).(type) {
	case *bool:
		*to = true
		return true
	case **int:
		n, err := strconv.Atoi(value)
		if err != nil || n < 0 || n == 0 && name == "activate_only_every" {
			return false
		}
		*to = &n
		return true
	case *[][]string:
		keys := splitCommas(value)
		if len(keys) > 0 {
			*to = append(*to, keys)
		}
		return len(keys) > 0
	}
	switch name {
	case "end":
		d.depth = new(int)
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

// field returns the field of a decorator without a value, with a number or with a list. It returns nil for all others.
func (d *decorators) field(name string) any {
	return map[string]any{
		"activate": &d.activate, "dont_activate": &d.dontActivate, "constant": &d.constant,
		"keep_activate_after_match": &d.keepAfterMatch, "dont_activate_after_match": &d.onceOnly,
		"ignore_on_max_context": &d.trimFirst, "unrecursive": &d.preventRecursion,
		"no_recursive_search": &d.nonRecursable, "recursive": &d.recursive,

		"depth": &d.depth, "scan_depth": &d.scanDepth, "activate_only_after": &d.onlyAfter, "activate_only_every": &d.onlyEvery,
		"is_greeting": &d.greeting, "probability": &d.probability, "priority": &d.priority,

		"additional_keys": &d.additionalKeys, "exclude_keys": &d.excludeKeys, "exclude_keys_all": &d.excludeAll,
	}[name]
}

// ignoredDecorators returns the lines of an entry's text that are decorators without an effect.
func ignoredDecorators(content string) (ignored []string) {
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
