package text

import (
	"regexp"
	"sync"
)

// LazyRegexp is a regular expression that is compiled on first use. A process that reads no page thus saves
// milliseconds of startup and a megabyte. Its methods are those of [regexp.Regexp]. It is safe for concurrent use.
type LazyRegexp struct {
	expr     string
	words    func() string // makes the expression; nil: it is expr
	once     sync.Once
	compiled *regexp.Regexp // written by once
}

// NewLazyRegexp returns an expression. If it is invalid, its first use panics, so a test must use it. It is inlined, so that the expressions
// of a package are data and need no work before main.
func NewLazyRegexp(expr string) *LazyRegexp { return &LazyRegexp{expr: expr} }

// LazyRegexpOf returns an expression that is also put together on first use. One with words of the tables must be.
func LazyRegexpOf(expr func() string) *LazyRegexp { return &LazyRegexp{words: expr} }

func (r *LazyRegexp) compile() *regexp.Regexp {
	r.once.Do(func() {
		if r.words != nil {
			r.expr = r.words()
		}
		r.compiled = regexp.MustCompile(r.expr)
	})
	return r.compiled
}

// String returns the expression.
func (r *LazyRegexp) String() string { return r.compile().String() }

// MatchString reports whether s holds a match.
func (r *LazyRegexp) MatchString(s string) bool { return r.compile().MatchString(s) }

// FindString returns the first match in s.
func (r *LazyRegexp) FindString(s string) string { return r.compile().FindString(s) }

// FindStringIndex returns the position of the first match in s.
func (r *LazyRegexp) FindStringIndex(s string) []int { return r.compile().FindStringIndex(s) }

// FindStringSubmatch returns the first match in s and its groups.
func (r *LazyRegexp) FindStringSubmatch(s string) []string { return r.compile().FindStringSubmatch(s) }

// FindAllString returns the first n matches in s, or all if n is negative.
func (r *LazyRegexp) FindAllString(s string, n int) []string { return r.compile().FindAllString(s, n) }

// FindAllStringIndex returns the positions of the first n matches in s, or all if n is negative.
func (r *LazyRegexp) FindAllStringIndex(s string, n int) [][]int {
	return r.compile().FindAllStringIndex(s, n)
}

// FindAllStringSubmatch returns the first n matches in s and their groups, or all if n is negative.
func (r *LazyRegexp) FindAllStringSubmatch(s string, n int) [][]string {
	return r.compile().FindAllStringSubmatch(s, n)
}

// FindStringSubmatchIndex returns the positions of the first match in s and of its groups.
func (r *LazyRegexp) FindStringSubmatchIndex(s string) []int {
	return r.compile().FindStringSubmatchIndex(s)
}

// FindAllStringSubmatchIndex returns the positions of the first n matches in s and of their groups. It returns all if n is negative.
func (r *LazyRegexp) FindAllStringSubmatchIndex(s string, n int) [][]int {
	return r.compile().FindAllStringSubmatchIndex(s, n)
}

// ReplaceAllString replaces the matches in s by with, in which $1 means the first group.
func (r *LazyRegexp) ReplaceAllString(s, with string) string {
	return r.compile().ReplaceAllString(s, with)
}

// ReplaceAllStringFunc replaces each match in s by the result of replace.
func (r *LazyRegexp) ReplaceAllStringFunc(s string, replace func(string) string) string {
	return r.compile().ReplaceAllStringFunc(s, replace)
}
