package llmtest

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Script is a list of rules, read by [ParseScript].
type Script struct {
	rules []*rule
	alike map[string]string // words of one meaning, by word
}

type rule struct {
	when    []condition
	replies []Reply
	used    int // replies given; guarded by the server's lock
}

type condition struct {
	what string // "last", "model", "prompt" or "image"
	re   *regexp.Regexp
}

func (c condition) holds(r Request) bool {
	switch c.what {
	case "model":
		return c.re.MatchString(r.Model)
	case "prompt":
		return c.re.MatchString(r.Prompt())
	case "image":
		return slices.ContainsFunc(r.Images(), func(i Image) bool { return c.re.MatchString(i.Type) })
	}
	return c.re.MatchString(r.Last())
}

// fields are the words of one meaning.
func (s *Script) fields() map[string]string {
	if s == nil {
		return nil
	}
	return s.alike
}

func (s *Script) reply(req Request) (Reply, bool) {
	if s == nil {
		return nil, false
	}
next:
	for _, r := range s.rules {
		for _, c := range r.when {
			if !c.holds(req) {
				continue next
			}
		}
		reply := r.replies[min(r.used, len(r.replies)-1)]
		r.used++
		return reply, true
	}
	return nil, false
}

// ParseScript reads a script in the format of the package comment. Its errors name the line, and it reports all
// of them.
func ParseScript(text []byte) (*Script, error) {
	s := &Script{}
	var errs []error
	for i, line := range strings.Split(string(text), "\n") {
		line = strings.TrimLeft(strings.TrimRight(line, "\r"), " \t")
		if strings.TrimSpace(line) == "" || line[0] == '#' {
			continue
		}
		if err := s.add(line); err != nil {
			errs = append(errs, fmt.Errorf("line %d: %w", i+1, err))
		}
	}
	if len(errs) == 0 && len(s.rules) == 0 {
		errs = append(errs, errors.New("the script says nothing"))
	}
	if len(errs) > 0 {
		return nil, fmt.Errorf("parse script: %w", errors.Join(errs...))
	}
	return s, nil
}

func (s *Script) add(line string) error {
	word, rest, _ := strings.Cut(line, " ")
	if word == "when" {
		conditions, err := parseWhen(rest)
		s.rules = append(s.rules, &rule{when: conditions, replies: []Reply{nil}})
		return err
	}
	if word == "alike" {
		words := strings.Fields(strings.ToLower(rest))
		if len(words) < 2 {
			return errors.New(`want "alike WORD WORD"`)
		}
		if s.alike == nil {
			s.alike = map[string]string{}
		}
		for _, w := range words {
			s.alike[w] = words[0]
		}
		return nil
	}
	if len(s.rules) == 0 {
		s.rules = append(s.rules, &rule{replies: []Reply{nil}})
	}
	r := s.rules[len(s.rules)-1]
	if word == "next" {
		r.replies = append(r.replies, nil)
		return nil
	}
	steps, err := parseStep(word, rest)
	last := &r.replies[len(r.replies)-1]
	*last = append(*last, steps...)
	return err
}

// parseWhen reads conditions: an optional word, then a quoted regular expression.
func parseWhen(s string) ([]condition, error) {
	var out []condition
	for s = strings.TrimSpace(s); s != ""; s = strings.TrimSpace(s) {
		c := condition{what: "last"}
		if s[0] != '"' && s[0] != '`' {
			c.what, s, _ = strings.Cut(s, " ")
			if c.what != "last" && c.what != "model" && c.what != "prompt" && c.what != "image" {
				return out, fmt.Errorf("unknown condition %q: want last, model, prompt or image", c.what)
			}
			s = strings.TrimSpace(s)
		}
		var pattern string
		var err error
		if pattern, s, err = cutPattern(s); err != nil {
			return out, err
		}
		if c.re, err = regexp.Compile(pattern); err != nil {
			return out, err
		}
		out = append(out, c)
	}
	if len(out) == 0 {
		return out, errors.New(`"when" without a condition`)
	}
	return out, nil
}

var quoted = regexp.MustCompile("^(?:\"((?:[^\"\\\\]|\\\\.)*)\"|`([^`]*)`)")

// cutPattern takes a quoted regular expression off the front of s. Backslashes are the expression's own, \" is
// a quote.
func cutPattern(s string) (pattern, rest string, err error) {
	m := quoted.FindStringSubmatch(s)
	if m == nil {
		return "", "", fmt.Errorf("want a regular expression in quotes at %q", s)
	}
	return strings.ReplaceAll(m[1]+m[2], `\"`, `"`), s[len(m[0]):], nil
}

// parseStep reads one step.
func parseStep(word, rest string) ([]Step, error) {
	arg := strings.TrimSpace(rest)
	switch word {
	case "say":
		return []Step{Say(rest)}, nil
	case "reasoning":
		return []Step{ReasoningContent(rest)}, nil
	case "thinking":
		return []Step{Reasoning(rest)}, nil
	case "think":
		return []Step{Think(rest)}, nil
	case "raw":
		return []Step{Raw(rest)}, nil
	case "finish":
		return []Step{Finish(arg)}, nil
	case "header":
		key, value, ok := strings.Cut(rest, ":")
		if !ok {
			return nil, errors.New(`want "header Name: value"`)
		}
		return []Step{Header(key, value)}, nil
	case "hold":
		return []Step{Hold()}, nil
	case "cut":
		return []Step{Cut()}, nil
	case "end":
		return []Step{End()}, nil
	case "html":
		return []Step{HTML()}, nil
	case "json":
		return []Step{JSON(arg)}, nil
	case "hostile":
		return Hostile(arg), nil
	case "hostile-json":
		return HostileJSON(arg), nil
	}
	return parseNumbers(word, arg)
}

// parseNumbers reads the steps whose arguments may be malformed.
func parseNumbers(word, arg string) ([]Step, error) {
	switch word {
	case "wait", "gap":
		d, err := time.ParseDuration(arg)
		if word == "gap" {
			return []Step{Gap(d)}, err
		}
		return []Step{Wait(d)}, err
	case "chunk":
		text, err := strconv.Unquote(arg)
		if err != nil {
			err = fmt.Errorf("want a quoted Go string, not %q", arg)
		}
		return []Step{Chunk(text)}, err
	case "comment":
		n, err := strconv.Atoi(arg)
		return []Step{Comments(n)}, err
	case "error":
		status, body, _ := strings.Cut(arg, " ")
		n, err := strconv.Atoi(status)
		return []Step{Error(n, strings.TrimSpace(body))}, err
	case "usage":
		var u [3]int
		for i, f := range strings.Fields(arg) {
			n, err := strconv.Atoi(f)
			if err != nil || i >= len(u) {
				return nil, fmt.Errorf("want up to three numbers, not %q", arg)
			}
			u[i] = n
		}
		return []Step{Usage(u[0], u[1], u[2])}, nil
	}
	return nil, fmt.Errorf("unknown step %q", word)
}
