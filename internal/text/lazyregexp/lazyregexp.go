// Package lazyregexp has regular expressions that are compiled when they are first used. What reads pages has dozens of them: a process
// that has no page to read need not spend milliseconds of its start, and a megabyte, on them.
package lazyregexp

import (
	"regexp"
	"sync"
)

// Regexp is an expression that may not be compiled yet. Its methods are those of [regexp.Regexp]; it may be used from many goroutines.
type Regexp struct {
	expr    string
	compile func() *regexp.Regexp
}

// New returns an expression, which panics when it is first used if it cannot be compiled: a test must use it.
func New(expr string) *Regexp {
	return &Regexp{expr, sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })}
}

// String returns the expression.
func (r *Regexp) String() string { return r.expr }

// MatchString reports whether s holds a match.
func (r *Regexp) MatchString(s string) bool { return r.compile().MatchString(s) }

// FindString returns the first match in s.
func (r *Regexp) FindString(s string) string { return r.compile().FindString(s) }

// FindStringIndex returns where the first match in s is.
func (r *Regexp) FindStringIndex(s string) []int { return r.compile().FindStringIndex(s) }

// FindStringSubmatch returns the first match in s and its groups.
func (r *Regexp) FindStringSubmatch(s string) []string { return r.compile().FindStringSubmatch(s) }

// FindAllString returns the first n matches in s, all if n is negative.
func (r *Regexp) FindAllString(s string, n int) []string { return r.compile().FindAllString(s, n) }

// FindAllStringIndex returns where the first n matches in s are, all if n is negative.
func (r *Regexp) FindAllStringIndex(s string, n int) [][]int {
	return r.compile().FindAllStringIndex(s, n)
}

// FindAllStringSubmatch returns the first n matches in s and their groups, all if n is negative.
func (r *Regexp) FindAllStringSubmatch(s string, n int) [][]string {
	return r.compile().FindAllStringSubmatch(s, n)
}

// ReplaceAllString returns s with with in place of the matches, where $1 stands for the first group.
func (r *Regexp) ReplaceAllString(s, with string) string {
	return r.compile().ReplaceAllString(s, with)
}

// ReplaceAllStringFunc returns s with what replace returns in place of the matches.
func (r *Regexp) ReplaceAllStringFunc(s string, replace func(string) string) string {
	return r.compile().ReplaceAllStringFunc(s, replace)
}
