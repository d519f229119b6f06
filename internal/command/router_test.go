package command

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"familiar/internal/context/turn"
)

// TestPaths matches what people do with paths of each kind.
func TestPaths(t *testing.T) {
	t.Parallel()
	r := router{routes: new([]route)}
	took := ""
	to := func(name string) handler {
		return func(c *call, _ context.Context) turn.Answer {
			took = name
			return turn.Answer{}
		}
	}
	r.command("/mode buttons:{state}", to("buttons"))
	r.command("/mode mode:text", to("text"))
	r.command("/mode", to("mode"))
	r.command("/backdrop text:{text...}", to("scene"))
	r.command("/backdrop", to("show"))
	r.typing("/lookup site", to("sites"))
	r.menu("Look this up", to("menu"))
	r.button("context:{turn}:{page...}", to("context"))
	r.button("privacy:forget", to("forget"))
	r.button("{key}:{page...}", to("key"))
	sent := func(name string, options ...string) turn.Command {
		c := turn.Command{Name: name, Options: map[string]string{}}
		for i := 0; i < len(options); i += 2 {
			c.Options[options[i]] = options[i+1]
		}
		return c
	}
	typing := sent("lookup", "site", "exa")
	typing.Focused = "site"
	for _, c := range []struct {
		command   turn.Command
		takes     string
		variables map[string]string
	}{
		{sent("mode"), "mode", nil},
		{sent("mode", "mode", "text"), "text", nil},
		{sent("mode", "mode", "full_rp"), "mode", nil},
		{sent("mode", "mode", "text", "buttons", "on"), "buttons", map[string]string{"state": "on"}},
		{sent("mode", "buttons", ""), "mode", nil},
		{sent("backdrop"), "show", nil},
		{sent("backdrop", "text", ""), "scene", map[string]string{"text": ""}},
		{sent("lookup", "site", "exa"), "", nil},
		{typing, "sites", nil},
		{turn.Command{Kind: turn.MessageMenu, Name: "Look this up"}, "menu", nil},
		{sent("Look this up"), "", nil},
		{turn.Command{Button: "context:T:3:next"}, "context", map[string]string{"turn": "T", "page": "3:next"}},
		{turn.Command{Button: "context:T"}, "context", map[string]string{"turn": "T", "page": ""}},
		{turn.Command{Button: "context"}, "key", map[string]string{"key": "context", "page": ""}},
		{turn.Command{Button: "privacy:forget"}, "forget", nil},
		{turn.Command{Button: "privacy:forgets"}, "key", map[string]string{"key": "privacy", "page": "forgets"}},
		{turn.Command{Button: "abc.why.def", Name: "mode"}, "key", map[string]string{"key": "abc.why.def", "page": ""}},
	} {
		took = ""
		do, variables := r.find(&c.command)
		if do != nil {
			do(nil, t.Context())
		}
		if took != c.takes || !maps.Equal(variables, c.variables) {
			t.Errorf("%+v: %q %v, want %q %v", c.command, took, variables, c.takes, c.variables)
		}
	}
}

// TestChecksAreMadeInOrder expects the answer of the first check that refuses.
func TestChecksAreMadeInOrder(t *testing.T) {
	t.Parallel()
	r := router{routes: new([]route)}
	refuses := func(name string) check {
		return refuseUnless(sentence(name), func(c *call) bool { return c.variables[name] == "" })
	}
	r.with(refuses("first"), refuses("second")).with(refuses("third")).command("/x", says("done"), refuses("fourth"))
	for _, refused := range []string{"first second third fourth", "second third fourth", "third fourth", "fourth", ""} {
		c := &call{variables: map[string]string{}, language: "en"}
		for name := range strings.FieldsSeq(refused) {
			c.variables[name] = "yes"
		}
		do, _ := r.find(&turn.Command{Name: "x"})
		want, _, _ := strings.Cut(refused, " ")
		if want == "" {
			want = "done"
		}
		if got := do(c, t.Context()).Text; got != want {
			t.Errorf("refused by %q: %q answered", refused, got)
		}
	}
}

// TestEachCommandHasAPath compares the commands that doors offer with the paths. Each command leads somewhere, and each path belongs to a
// command and its options.
func TestEachCommandHasAPath(t *testing.T) {
	t.Parallel()
	offered := map[string]turn.Definition{}
	for _, d := range commands() {
		offered[fmt.Sprint(sourceOf(&turn.Command{Kind: d.Kind}), d.Name)] = d
		if do, _ := routes().find(&turn.Command{Kind: d.Kind, Name: d.Name}); do == nil {
			t.Errorf("%s has no path", d.Name)
		}
		for _, o := range d.Options {
			if do, _ := routes().find(&turn.Command{Name: d.Name, Focused: o.Name}); (do != nil) != o.Suggests {
				t.Errorf("/%s %s suggests: %t, and has a path: %t", d.Name, o.Name, o.Suggests, do != nil)
			}
		}
	}
	for _, r := range *routes().routes {
		if r.from == pressed {
			continue
		}
		d, ok := offered[fmt.Sprint(map[bool]source{true: typed, false: r.from}[r.from == typing], r.name)]
		if !ok {
			t.Errorf("no command %q is offered", r.name)
		}
		for _, s := range r.segments {
			formed := d.Form && s.option == backdropText
			if !formed && !slices.ContainsFunc(d.Options, func(o turn.Option) bool { return o.Name == s.option }) {
				t.Errorf("/%s has no option %q", r.name, s.option)
			}
		}
	}
}
