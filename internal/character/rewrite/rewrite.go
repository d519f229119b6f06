// Package rewrite is the find-and-replace scripts of a character, rewrites.toml in its folder: those that character cards bring along as
// regex scripts. They change what the character says, its own earlier words in the prompt, or entries of lorebooks, and nothing that
// people say. Patterns run in RE2, and what a script makes of a text is bounded; there are no other scripts.
package rewrite

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"familiar/internal/text/jsregexp"

	"github.com/pelletier/go-toml/v2"
)

const (
	mostScripts = 50
	mostText    = 64 << 10 // bytes of a text that scripts have made
)

// Script is one, as its file says it.
type Script struct {
	Name    string   `toml:"name,omitempty"`
	Off     bool     `toml:"off,omitempty"`
	Find    string   `toml:"find"` // /pattern/flags, or a pattern
	Replace string   `toml:"replace,multiline"`
	Trim    []string `toml:"trim,omitempty"` // taken out of what is found, before it is put in
	On      []Place  `toml:"on"`
	// MinDepth and MaxDepth bound OnHistory: 0 is the newest message of the conversation.
	MinDepth *int `toml:"min_depth,omitempty"`
	MaxDepth *int `toml:"max_depth,omitempty"`
}

// Place is what a script changes.
type Place string

// The places.
const (
	OnReply   Place = "reply"   // what the character says, before anybody sees it
	OnHistory Place = "history" // its own earlier words, as the model is shown them
	OnLore    Place = "lore"    // entries of lorebooks
)

// Places lists all places.
func Places() []Place { return []Place{OnReply, OnHistory, OnLore} }

type file struct {
	Scripts []Script `toml:"script"`
}

// Encode writes the file of some scripts.
func Encode(all []Script) ([]byte, error) {
	data, err := toml.Marshal(file{all})
	if err != nil {
		return nil, fmt.Errorf("write scripts: %w", err)
	}
	return data, nil
}

// Mistake is what is wrong with the file, and where.
type Mistake struct {
	Line, Column int
	Key, Text    string
}

// Parse reads the file. It is strict.
func Parse(data []byte) ([]Script, []Mistake) {
	var f file
	err := toml.NewDecoder(bytes.NewReader(bytes.TrimPrefix(data, []byte("\ufeff")))).DisallowUnknownFields().Decode(&f)
	var strict *toml.StrictMissingError
	var broken *toml.DecodeError
	var wrong []Mistake
	switch {
	case errors.As(err, &strict):
		for _, e := range strict.Errors {
			line, column := e.Position()
			wrong = append(wrong, Mistake{line, column, strings.Join(e.Key(), "."), "no such key"})
		}
		return nil, wrong
	case errors.As(err, &broken):
		line, column := broken.Position()
		return nil, []Mistake{{line, column, strings.Join(broken.Key(), "."), strings.TrimPrefix(broken.Error(), "toml: ")}}
	case err != nil:
		return nil, []Mistake{{Text: strings.TrimPrefix(err.Error(), "toml: ")}}
	}
	for i, s := range f.Scripts {
		for _, on := range s.On {
			if !slices.Contains(Places(), on) {
				wrong = append(wrong, Mistake{Key: fmt.Sprintf("script[%d].on", i), Text: fmt.Sprintf("%q is not allowed; use reply, history, lore", on)})
			}
		}
	}
	return f.Scripts, wrong
}

// Rules are scripts that can run. They are never changed.
type Rules struct{ rules []rule }

type rule struct {
	Script
	find  *regexp.Regexp
	every bool // all that is found, not the first alone
}

// Problem is a script that cannot run.
type Problem struct{ Script, Text, Cure string }

// Compile makes scripts ready for a character of that name. What cannot run is left out, with a problem.
func Compile(all []Script, name string) (*Rules, []Problem) {
	r := &Rules{}
	var problems []Problem
	for i, s := range all {
		if s.Name == "" {
			s.Name = strconv.Itoa(i + 1)
		}
		if s.Off || s.Find == "" {
			continue
		}
		if len(r.rules) == mostScripts {
			problems = append(problems, Problem{s.Name, fmt.Sprintf("is one too many: there may be %d", mostScripts), "take out what is not needed"})
			break
		}
		pattern, flags, literal := jsregexp.Literal(s.Find)
		if !literal {
			pattern = s.Find
		}
		find, err := jsregexp.Compile(strings.ReplaceAll(pattern, "{{char}}", regexp.QuoteMeta(name)), flags)
		if err != nil {
			problems = append(problems, Problem{s.Name, "is not run: " + err.Error(), "write it as RE2 can, see https://go.dev/s/re2syntax"})
			continue
		}
		r.rules = append(r.rules, rule{Script: s, find: find, every: strings.Contains(flags, "g")})
	}
	return r, problems
}

// Runs reports whether a script changes what is in a place.
func (r *Rules) Runs(on Place) bool {
	return r != nil && slices.ContainsFunc(r.rules, func(s rule) bool { return slices.Contains(s.On, on) })
}

// Apply runs the scripts of a place over a text, one after the other. expand fills in the macros of what they put in; nil: they stay.
// A script that makes a text too long is left out.
func (r *Rules) Apply(on Place, text string, depth int, expand func(string) string) string {
	if !r.Runs(on) {
		return text
	}
	for _, s := range r.rules {
		if slices.Contains(s.On, on) && (on != OnHistory || s.reaches(depth)) {
			if next := s.run(text, expand); len(next) <= max(mostText, len(text)) {
				text = next
			}
		}
	}
	return text
}

func (s *rule) reaches(depth int) bool {
	return (s.MinDepth == nil || *s.MinDepth < 0 || depth >= *s.MinDepth) && (s.MaxDepth == nil || *s.MaxDepth < 0 || depth <= *s.MaxDepth)
}

func (s *rule) run(text string, expand func(string) string) string {
	n := 1
	if s.every {
		n = -1
	}
	found := s.find.FindAllStringSubmatchIndex(text, n)
	if found == nil {
		return text
	}
	replace := s.Replace
	if expand != nil { // before what was found is put in, whose macros are somebody's words
		replace = expand(matched.Replace(replace))
	}
	var b strings.Builder
	last := 0
	for _, at := range found {
		b.WriteString(text[last:at[0]])
		s.put(&b, replace, text, at)
		if last = at[1]; b.Len() > mostText {
			break
		}
	}
	b.WriteString(text[last:])
	return b.String()
}

// matched is SillyTavern's word for all that was found.
var matched = strings.NewReplacer("{{match}}", "$0", "{{Match}}", "$0", "{{MATCH}}", "$0")

// put writes the replacement of what was found, with JavaScript's signs: $0 or $&, $1 and so on, $<name>, $$.
func (s *rule) put(b *strings.Builder, replace, text string, at []int) {
	group := func(i int) {
		if 2*i+1 < len(at) && at[2*i] >= 0 {
			part := text[at[2*i]:at[2*i+1]]
			for _, cut := range s.Trim {
				if cut != "" {
					part = strings.ReplaceAll(part, cut, "")
				}
			}
			b.WriteString(part)
		}
	}
	for {
		i := strings.IndexByte(replace, '$')
		if i < 0 || i+1 == len(replace) {
			b.WriteString(replace)
			return
		}
		b.WriteString(replace[:i])
		sign := replace[i+1]
		replace = replace[i+2:]
		switch {
		case sign == '$':
			b.WriteByte('$')
		case sign == '&':
			group(0)
		case '0' <= sign && sign <= '9':
			n := int(sign - '0')
			if replace != "" && '0' <= replace[0] && replace[0] <= '9' && 2*(10*n+int(replace[0]-'0')) < len(at) {
				n, replace = 10*n+int(replace[0]-'0'), replace[1:]
			}
			group(n)
		case sign == '<':
			name, rest, ok := strings.Cut(replace, ">")
			if n := s.find.SubexpIndex(name); ok && n >= 0 {
				group(n)
				replace = rest
				continue
			}
			b.WriteString("$<")
		default:
			b.WriteByte('$')
			b.WriteByte(sign)
		}
	}
}
