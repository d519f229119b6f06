package card

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dlclark/regexp2/v2"
)

// PatternTime is how long patterns run at most where the caller sets no limit. It is for one scan, or for the scripts over one text.
const PatternTime = 50 * time.Millisecond

// Clock says how long patterns may still run: until Spent has reached Most. Goroutines may share Spent. The zero Clock has [PatternTime].
type Clock struct {
	Spent *atomic.Int64 // nanoseconds for which patterns have run
	Most  time.Duration
}

func (c Clock) set() Clock {
	if c.Spent == nil {
		return Clock{new(atomic.Int64), PatternTime}
	}
	return c
}

// over reports whether no search may begin. The last one may take some more time.
func (c Clock) over() bool { return c.Spent.Load() >= int64(c.Most-searchTime-clockPeriod) }

const (
	maxPattern  = 4000                 // bytes
	searchTime  = 5 * time.Millisecond // of one search. The usual pattern takes some microseconds
	clockPeriod = time.Millisecond     // after which a search sees that its time is over
)

// patternLiteral splits /pattern/flags. It reports false for any other text: a slash inside must be escaped, and the
// flags must be JavaScript's.
func patternLiteral(s string) (pattern, flags string, ok bool) {
	end := strings.LastIndexByte(s, '/')
	if end < 2 || s[0] != '/' || strings.Trim(s[end+1:], "dgimsuvy") != "" {
		return "", "", false
	}
	pattern, flags = s[1:end], s[end+1:]
	for i := 0; i < len(pattern); i++ {
		switch pattern[i] {
		case '\\':
			i++
		case '/':
			return "", "", false
		}
	}
	return pattern, flags, true
}

// Filling says what becomes of macros in a pattern.
type Filling string

// The ways of filling in macros.
const (
	Escaped  Filling = ""     // their values stand for themselves
	Raw      Filling = "raw"  // their values are a part of the pattern, except those that people choose
	Unfilled Filling = "none" // they are a part of the pattern
)

var fillings = []Filling{Escaped, Raw, Unfilled}

// pattern is a pattern that may hold macros.
type pattern struct {
	source, flags string
	fill          Filling
	re            *regexp2.Regexp // nil: it has macros
}

var patternMacros = regexp.MustCompile(`\{\{[^{}]+\}\}`)

// aboutPeople reports whether people choose the value of a macro.
func aboutPeople(macro string) bool {
	name, _ := macroName(macro[2 : len(macro)-2])
	m, _ := lookup(name)
	return m.variable || m.people
}

// newPattern makes a pattern ready as far as it has no macros. The error says what is wrong with it.
func newPattern(source, flags string, fill Filling) (*pattern, error) {
	p := &pattern{source: source, flags: flags, fill: fill}
	if fill != Unfilled && strings.Contains(source, "{{") {
		_, err := p.ready(func(string) string { return "x" })
		return p, err
	}
	re, err := compilePattern(source, flags)
	p.re = re
	return p, err
}

// ready returns the compiled pattern. Nobody can write a pattern by taking a name.
func (p *pattern) ready(expand func(string) string) (*regexp2.Regexp, error) {
	if p.re != nil {
		return p.re, nil
	}
	source := patternMacros.ReplaceAllStringFunc(p.source, func(macro string) string {
		value := expand(macro)
		if p.fill == Raw && !aboutPeople(macro) {
			return value
		}
		return regexp2.Escape(value)
	})
	return compilePattern(source, p.flags)
}

// setClock makes the engine look at the time often enough for searchTime.
var setClock = sync.OnceFunc(func() { regexp2.SetTimeoutCheckPeriod(clockPeriod) })

// compilePattern compiles a pattern of JavaScript. The engine backtracks, so a search is given up after searchTime.
func compilePattern(pattern, flags string) (*regexp2.Regexp, error) {
	if len(pattern) > maxPattern {
		return nil, fmt.Errorf("the pattern has %d bytes, at most %d are read", len(pattern), maxPattern)
	}
	setClock()
	options := regexp2.ECMAScript
	for flag, option := range map[string]regexp2.RegexOptions{"i": regexp2.IgnoreCase, "m": regexp2.Multiline, "s": regexp2.Singleline, "u": regexp2.Unicode, "v": regexp2.Unicode} {
		if strings.Contains(flags, flag) {
			options |= option
		}
	}
	re, err := regexp2.Compile(pattern, options, regexp2.OptionMaintainCaptureOrder())
	if err != nil {
		return nil, errors.New(strings.TrimPrefix(err.Error(), "error parsing regexp: "))
	}
	re.MatchTimeout = searchTime
	return re, nil
}

// search runs a search that takes its time from a clock. It reports false, without a search, if the time is over. A search that takes too
// long runs once more, because the machine may have been busy. Then it finds nothing. What the machine takes for others is not counted.
func search(clock Clock, do func() error) (inTime bool) {
	err := errors.New("no time")
	for range 2 {
		if clock.over() {
			break
		}
		began := time.Now()
		err = do()
		if clock.Spent.Add(int64(min(time.Since(began), searchTime+clockPeriod))); err == nil {
			break
		}
	}
	return err == nil
}
