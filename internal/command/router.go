package command

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"familiar/internal/context/turn"
)

// handler carries out what a person did, and returns the answer that only this person sees.
type handler func(*call, context.Context) turn.Answer

// check is middleware: it returns a handler that refuses what is not allowed, and hands everything else to the next one.
type check func(next handler) handler

// source is the kind of thing that a person used.
type source int

const (
	typed   source = iota // a command that was sent
	typing                // a command whose option is being typed
	menu                  // an entry in the menu of a message
	pressed               // a button
)

// sourceOf returns what a person used.
func sourceOf(c *turn.Command) source {
	switch {
	case c.Button != "":
		return pressed
	case c.Focused != "":
		return typing
	case cmp.Or(c.Kind, turn.ChatInput) == turn.ChatInput:
		return typed
	}
	return menu
}

// route leads what matches a path to a handler.
type route struct {
	from     source
	name     string // of the command or the menu's entry
	segments []segment
	do       handler
}

// segment is one condition of a path.
type segment struct {
	option   string // of a command
	value    string // what must be there, unless variable is set
	variable string // takes what is there
	rest     bool   // the variable takes all that follows, even nothing
}

// router finds the handler of what a person did. Paths are written as people and doors write them:
//
//	/pause state:{state}       a command with an option that is given; the variable takes its value
//	/memory action:show        a command with an option of that value
//	/lookup site               with typing: a command whose option is being typed
//	Look this up               an entry in the menu of a message
//	context:{turn}:{page...}   a button, by its id; the last variable takes what follows, even nothing
//
// Where several routes match, the first is taken.
type router struct {
	routes *[]route
	checks []check
}

// with returns a router that adds routes to the same table and puts checks before each of them. The first check is made first.
func (r router) with(checks ...check) router {
	return router{r.routes, slices.Concat(r.checks, checks)}
}

func (r router) command(path string, do handler, checks ...check) {
	name, rest, _ := strings.Cut(strings.TrimPrefix(path, "/"), " ")
	one := route{from: typed, name: name}
	for word := range strings.FieldsSeq(rest) {
		option, value, _ := strings.Cut(word, ":")
		p := segmentOf(value)
		p.option = option
		one.segments = append(one.segments, p)
	}
	r.add(one, do, checks)
}

func (r router) typing(path string, do handler, checks ...check) {
	name, option, _ := strings.Cut(strings.TrimPrefix(path, "/"), " ")
	r.add(route{from: typing, name: name, segments: []segment{{option: option}}}, do, checks)
}

func (r router) menu(name string, do handler, checks ...check) {
	r.add(route{from: menu, name: name}, do, checks)
}

func (r router) button(path string, do handler, checks ...check) {
	one := route{from: pressed}
	for id := range strings.SplitSeq(path, ":") {
		one.segments = append(one.segments, segmentOf(id))
	}
	r.add(one, do, checks)
}

func segmentOf(text string) segment {
	variable, ok := strings.CutPrefix(text, "{")
	if !ok {
		return segment{value: text}
	}
	variable, rest := strings.CutSuffix(strings.TrimSuffix(variable, "}"), "...")
	return segment{variable: variable, rest: rest}
}

func (r router) add(one route, do handler, checks []check) {
	one.do = checked(do, slices.Concat(r.checks, checks)...)
	*r.routes = append(*r.routes, one)
}

// checked puts checks before a handler. The first check is made first.
func checked(do handler, checks ...check) handler {
	for _, c := range slices.Backward(checks) {
		do = c(do)
	}
	return do
}

// find returns the handler of a command with the variables of its path, or nil.
func (r router) find(c *turn.Command) (do handler, variables map[string]string) {
	for _, one := range *r.routes {
		if variables, ok := one.match(c); ok {
			return one.do, variables
		}
	}
	return nil, nil
}

func (r route) match(c *turn.Command) (variables map[string]string, ok bool) {
	variables = map[string]string{}
	switch {
	case r.from != sourceOf(c), r.from != pressed && r.name != c.Name:
		return nil, false
	case r.from == typing:
		return variables, r.segments[0].option == c.Focused
	case r.from == pressed:
		return variables, matchID(r.segments, strings.Split(c.Button, ":"), variables)
	}
	for _, p := range r.segments {
		value, given := c.Options[p.option]
		if p.variable == "" && value != p.value || p.variable != "" && value == "" && !(given && p.rest) {
			return nil, false
		}
		if p.variable != "" {
			variables[p.variable] = value
		}
	}
	return variables, true
}

// matchID reports whether the segments of a button's id match those of a path, and fills in the variables.
func matchID(path []segment, id []string, variables map[string]string) bool {
	for i, p := range path {
		switch {
		case p.rest:
			variables[p.variable] = strings.Join(id[min(i, len(id)):], ":")
			return true
		case i >= len(id), p.variable == "" && p.value != id[i]:
			return false
		case p.variable != "":
			variables[p.variable] = id[i]
		}
	}
	return len(id) == len(path)
}
