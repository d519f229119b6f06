package macro

import (
	"maps"
	"strconv"
	"strings"
)

const (
	mostVars    = 200
	longestVar  = 4 << 10 // bytes of a value
	globalSpace = "\x00"  // before the names of variables that SillyTavern has for all chats
)

// Vars are the variables that texts of a card set and get. They last for one turn, in which the texts are expanded in the order of the
// prompt, behind the entries of lorebooks. The zero value is ready; it belongs to one goroutine.
type Vars struct{ values map[string]string }

// Clone returns a copy.
func (v *Vars) Clone() *Vars {
	if v == nil {
		return nil
	}
	return &Vars{maps.Clone(v.values)}
}

func (v *Vars) set(name, value string) {
	if _, there := v.values[name]; !there && len(v.values) >= mostVars {
		return
	}
	if v.values == nil {
		v.values = map[string]string{}
	}
	if len(value) > longestVar {
		value = strings.ToValidUTF8(value[:longestVar], "")
	}
	v.values[name] = value
}

// add adds to a number, or else puts a text behind a text.
func (v *Vars) add(name, value string) {
	old := v.values[name]
	a, err1 := strconv.ParseFloat(or(old, "0"), 64)
	b, err2 := strconv.ParseFloat(value, 64)
	if err1 != nil || err2 != nil {
		v.set(name, old+value)
		return
	}
	v.set(name, strconv.FormatFloat(a+b, 'f', -1, 64))
}

func or(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}

// variable is a macro for variables of a space. It gets the name and, where it takes one, the value, both expanded.
func variable(space string, do func(v *Vars, name, value string) string) macro {
	return macro{variable: true, apply2: func(x *expansion, name, value string) string {
		if name = strings.TrimSpace(name); name == "" {
			return ""
		}
		return do(x.env.Vars, space+name, value)
	}}
}

// variables adds the macros of SillyTavern for variables: of the chat, and of all chats, which are no other here.
func variables(table map[string]macro) {
	get := func(v *Vars, name, _ string) string { return v.values[name] }
	for infix, space := range map[string]string{"": "", "global": globalSpace} {
		table["get"+infix+"var"] = variable(space, get)
		table["set"+infix+"var"] = variable(space, func(v *Vars, name, value string) string { v.set(name, value); return "" })
		table["add"+infix+"var"] = variable(space, func(v *Vars, name, value string) string { v.add(name, value); return "" })
		table["inc"+infix+"var"] = variable(space, func(v *Vars, name, _ string) string { v.add(name, "1"); return v.values[name] })
		table["dec"+infix+"var"] = variable(space, func(v *Vars, name, _ string) string { v.add(name, "-1"); return v.values[name] })
	}
}

// Variables lists the macros for variables in a text, each once.
func Variables(text string) (names []string) {
	seen := map[string]bool{}
	for _, name := range all(text) {
		if table[name].variable && !seen[name] {
			seen[name] = true
			names = append(names, name)
		}
	}
	return names
}
