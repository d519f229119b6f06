package card

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/dlclark/regexp2/v2"
	"github.com/pelletier/go-toml/v2"
)

const (
	maxScripts    = 50
	maxScriptText = 64 << 10 // bytes of a text after a script
)

// Script is a find-and-replace script, which SillyTavern calls a regex script.
type Script struct {
	Name    string   `toml:"name,omitempty"` // empty: its number, from 1
	Off     bool     `toml:"off,omitempty"`
	Find    string   `toml:"find"`              // /pattern/flags as JavaScript writes it, or a pattern
	Replace string   `toml:"replace,multiline"` // may hold $0, $1, $<name>, {{match}} and macros
	Trim    []string `toml:"trim,omitempty"`    // removed from what is found before Replace inserts it; may hold macros
	Macros  Filling  `toml:"macros,omitempty"`  // what becomes of macros in Find
	On      []Place  `toml:"on"`

	// MinDepth and MaxDepth limit OnHistory to some messages: 0 is the newest. nil or a negative number is no limit.
	MinDepth *int `toml:"min_depth,omitempty"`
	MaxDepth *int `toml:"max_depth,omitempty"`
}

// Place is a text that a script changes.
type Place string

// The places.
const (
	OnReply   Place = "reply"   // what the character says, before anybody sees it
	OnHistory Place = "history" // its earlier words, as the model sees them
	OnLore    Place = "lore"    // entries of lorebooks
)

var places = []Place{OnReply, OnHistory, OnLore}

// scriptFile is the TOML form of scripts.
type scriptFile struct {
	Scripts []Script `toml:"script"`
}

// ParseScripts reads scripts in TOML. It is strict: unknown keys and places are problems.
func ParseScripts(data []byte) ([]Script, []Problem) {
	var f scriptFile
	if wrong := decodeTOML(data, &f); wrong != nil {
		return nil, wrong
	}
	var wrong []Problem
	for i, s := range f.Scripts {
		if !slices.Contains(fillings, s.Macros) {
			wrong = append(wrong, Problem{Key: fmt.Sprintf("script[%d].macros", i), Text: fmt.Sprintf("%q is not allowed; use raw or none", s.Macros)})
		}
		for _, on := range s.On {
			if !slices.Contains(places, on) {
				wrong = append(wrong, Problem{Key: fmt.Sprintf("script[%d].on", i), Text: fmt.Sprintf("%q is not allowed; use %s", on, joined(places))})
			}
		}
	}
	return f.Scripts, wrong
}

// EncodeScripts writes scripts as TOML, for [ParseScripts].
func EncodeScripts(all []Script) ([]byte, error) {
	data, err := toml.Marshal(scriptFile{all})
	if err != nil {
		return nil, fmt.Errorf("write scripts: %w", err)
	}
	return data, nil
}

// scriptOf reads a regex script of SillyTavern, and returns what has no counterpart.
func scriptOf(o object) (s Script, unsupported []string) {
	s = Script{
		Name: o.text("scriptName"), Off: o.is("disabled"), Find: o.text("findRegex"), Replace: o.text("replaceString"), Trim: o.texts("trimStrings"),
		MinDepth: o.whole("minDepth", -1, 10_000), MaxDepth: o.whole("maxDepth", -1, 10_000),
	}
	if strings.Contains(s.Find, "{{") {
		s.Macros = []Filling{Unfilled, Raw, Escaped}[or(o.whole("substituteRegex", 0, 2), 0)]
	}
	shown, sent := o.is("markdownOnly"), o.is("promptOnly")
	for _, place := range placements(o) {
		switch place {
		case 0, 2: // the character's words
			if shown || !sent {
				s.On = append(s.On, OnReply)
			}
			if sent {
				s.On = append(s.On, OnHistory)
			}
		case 5: // world info
			if sent || !shown {
				s.On = append(s.On, OnLore)
			} else {
				unsupported = append(unsupported, "entries of lorebooks are not shown to people")
			}
		case 1:
			unsupported = append(unsupported, "what people write is not rewritten")
		case 3:
			unsupported = append(unsupported, "there are no slash commands of that kind")
		default:
			unsupported = append(unsupported, fmt.Sprintf("the place %d does not exist", place))
		}
	}
	if strings.Contains(s.Replace, "<") && strings.Contains(s.Replace, ">") && slices.Contains(s.On, OnReply) {
		unsupported = append(unsupported, "Discord shows HTML as it is written")
	}
	return s, unsupported
}

// placements returns SillyTavern's numbers for the places of a script, each once.
func placements(o object) (all []int) {
	var list []json.RawMessage
	if json.Unmarshal(o["placement"], &list) != nil {
		return nil
	}
	for _, raw := range list {
		if n := (object{"n": raw}).whole("n", 0, 100); n != nil && !slices.Contains(all, *n) {
			all = append(all, *n)
		}
	}
	return all
}

// Rewriter applies scripts to texts. It never changes, so goroutines may share it. A nil Rewriter has no scripts.
type Rewriter struct{ rules []rule }

// rule is a script that is ready to run.
type rule struct {
	Script
	find  *pattern
	every bool // replace all that is found, not only the first
}

// NewRewriter makes scripts ready. Scripts that cannot run are left out, each with a problem.
func NewRewriter(scripts []Script) (*Rewriter, []Problem) {
	r := &Rewriter{}
	var problems []Problem
	problem := func(s Script, text, cure string) {
		problems = append(problems, Problem{Key: "script " + s.Name, Text: text, Cure: cure})
	}
	for i, s := range scripts {
		if s.Name == "" {
			s.Name = strconv.Itoa(i + 1)
		}
		if s.Off || s.Find == "" {
			continue
		}
		if len(r.rules) == maxScripts {
			problem(s, fmt.Sprintf("is one too many: there may be %d", maxScripts), "remove what is not needed")
			break
		}
		source, flags, literal := patternLiteral(s.Find)
		if !literal {
			source = s.Find
		}
		find, err := newPattern(source, flags, s.Macros)
		if err != nil {
			problem(s, "is not run: "+err.Error(), "correct the pattern; it is read as JavaScript reads it")
			continue
		}
		r.rules = append(r.rules, rule{Script: s, find: find, every: strings.Contains(flags, "g")})
	}
	return r, problems
}

// Applies reports whether a script changes texts of a place.
func (r *Rewriter) Applies(on Place) bool {
	return r != nil && slices.ContainsFunc(r.rules, func(s rule) bool { return slices.Contains(s.On, on) })
}

// Apply runs the scripts of a place over a text, one after the other. depth is the message's distance from the newest,
// for OnHistory. expand replaces the macros of the scripts; nil keeps them. A script whose result is longer than
// 64 KiB and than the text is skipped. A script is skipped when its pattern takes too long, and when the clock's time
// is over.
func (r *Rewriter) Apply(on Place, text string, depth int, expand func(string) string, clock Clock) string {
	if !r.Applies(on) {
		return text
	}
	clock = clock.set()
	for _, s := range r.rules {
		if slices.Contains(s.On, on) && (on != OnHistory || s.reaches(depth)) {
			if next := s.run(text, expand, clock); len(next) <= max(maxScriptText, len(text)) {
				text = next
			}
		}
	}
	return text
}

func (s *rule) reaches(depth int) bool {
	return depth >= or(s.MinDepth, 0) && (or(s.MaxDepth, -1) < 0 || depth <= *s.MaxDepth)
}

// run applies the script to a text.
func (s *rule) run(text string, expand func(string) string, clock Clock) string {
	if expand == nil {
		expand = func(text string) string { return text }
	}
	found, inTime := s.findAll(text, expand, clock)
	if !inTime || found == nil {
		return text
	}
	replace := expand(matched.Replace(s.Replace)) // before it inserts what was found, which is somebody's words
	cuts := make([]string, len(s.Trim))
	for i, cut := range s.Trim {
		cuts[i] = expand(cut)
	}
	var b strings.Builder
	last := 0
	for _, m := range found {
		at, n := m.ByteRange()
		b.WriteString(text[last:at])
		put(&b, replace, m, cuts)
		if last = at + n; b.Len() > maxScriptText {
			break
		}
	}
	b.WriteString(text[last:])
	return b.String()
}

// findAll returns the first that is found, or all, and whether the time sufficed.
func (s *rule) findAll(text string, expand func(string) string, clock Clock) (all []*regexp2.Match, inTime bool) {
	var m *regexp2.Match
	var re *regexp2.Regexp
	inTime = search(clock, func() (err error) {
		if re, err = s.find.ready(expand); err == nil {
			m, err = re.FindStringMatch(text)
		}
		return err
	})
	for m != nil && inTime {
		if all = append(all, m); !s.every {
			break
		}
		after := m
		inTime = search(clock, func() (err error) { m, err = re.FindNextMatch(after); return err })
	}
	return all, inTime
}

// matched replaces SillyTavern's macro for all that was found.
var matched = strings.NewReplacer("{{match}}", "$0", "{{Match}}", "$0", "{{MATCH}}", "$0")

// groups are the places of a replacement for what was found.
var groups = regexp.MustCompile(`\$(\d+)|\$<([^>]+)>`)

// put writes the replacement, as SillyTavern does: only $0, $1, $12 and $<name> stand for what was found.
func put(b *strings.Builder, replace string, m *regexp2.Match, cuts []string) {
	last := 0
	for _, at := range groups.FindAllStringSubmatchIndex(replace, -1) {
		b.WriteString(replace[last:at[0]])
		last = at[1]
		var g *regexp2.Group
		if at[2] >= 0 {
			n, _ := strconv.Atoi(replace[at[2]:at[3]]) // a number that is too long is not a group's
			g = m.GroupByNumber(n)
		} else {
			g = m.GroupByName(replace[at[4]:at[5]])
		}
		if g == nil {
			continue
		}
		part := g.String()
		for _, cut := range cuts {
			if cut != "" {
				part = strings.ReplaceAll(part, cut, "")
			}
		}
		b.WriteString(part)
	}
	b.WriteString(replace[last:])
}
