package card

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestApply(t *testing.T) {
	upper := func(s string) string { return strings.ReplaceAll(s, "{{char}}", "Moss") }
	for name, c := range map[string]struct {
		script   Script
		on       Place
		in, want string
	}{
		"all":            {Script{Find: "/o/g", Replace: "0", On: []Place{OnReply}}, OnReply, "foo bor", "f00 b0r"},
		"first":          {Script{Find: "/o/", Replace: "0", On: []Place{OnReply}}, OnReply, "foo", "f0o"},
		"case":           {Script{Find: "/MOSS/gi", Replace: "M", On: []Place{OnReply}}, OnReply, "moss", "M"},
		"groups":         {Script{Find: `/(\w+)@(\w+)/g`, Replace: "$2 of $1, $0 $& $$ $9 $x", On: []Place{OnReply}}, OnReply, "a@b", "b of a, a@b $& $$  $x"},
		"name":           {Script{Find: `/(?<who>\w+)!/g`, Replace: "$<who>? $<no>", On: []Place{OnReply}}, OnReply, "you!", "you? "},
		"match":          {Script{Find: "/x+/g", Replace: "({{match}})", On: []Place{OnReply}}, OnReply, "axxb", "a(xx)b"},
		"trim":           {Script{Find: `/\*.*?\*/g`, Replace: "$0", Trim: []string{"*"}, On: []Place{OnReply}}, OnReply, "*waves* hi", "waves hi"},
		"macro":          {Script{Find: "/I/g", Replace: "{{char}}", On: []Place{OnReply}}, OnReply, "I", "Moss"},
		"macro in words": {Script{Find: "/.+/g", Replace: "$0", On: []Place{OnReply}}, OnReply, "{{char}}", "{{char}}"},
		"name in find":   {Script{Find: "/{{char}}:/g", Replace: "", On: []Place{OnReply}}, OnReply, "Moss: hi", " hi"},
		"other place":    {Script{Find: "/o/g", Replace: "0", On: []Place{OnHistory}}, OnReply, "foo", "foo"},
		"too near":       {Script{Find: "/o/g", Replace: "0", On: []Place{OnHistory}, MinDepth: new(4)}, OnHistory, "foo", "foo"},
		"near enough":    {Script{Find: "/o/g", Replace: "0", On: []Place{OnHistory}, MaxDepth: new(4)}, OnHistory, "foo", "f00"},
		"too long":       {Script{Find: "/./g", Replace: strings.Repeat("x", 10_000), On: []Place{OnReply}}, OnReply, strings.Repeat("a", 20), strings.Repeat("a", 20)},
		"empty":          {Script{Find: "/x*/g", Replace: "-", On: []Place{OnReply}}, OnReply, "ab", "-a-b-"},
		"off":            {Script{Find: "/a/", Off: true, On: []Place{OnReply}}, OnReply, "a", "a"},
	} {
		t.Run(name, func(t *testing.T) {
			r, problems := NewRewriter([]Script{c.script})
			if got := r.Apply(c.on, c.in, 2, upper, Clock{}); got != c.want || len(problems) > 0 {
				t.Errorf("%q %v", got, problems)
			}
		})
	}
}

func TestRewriteProblems(t *testing.T) {
	scripts := []Script{{Find: "/a(?=b/g", On: []Place{OnReply}}}
	for range maxScripts + 1 {
		scripts = append(scripts, Script{Find: "x", On: []Place{OnReply}})
	}
	r, problems := NewRewriter(scripts)
	if len(r.rules) != maxScripts || len(problems) != 2 || !strings.Contains(problems[0].Text, "missing") {
		t.Error(len(r.rules), problems)
	}
}

func TestRewriteFile(t *testing.T) {
	all := []Script{{Name: "n", Find: `/"\\/g`, Replace: "a\r\n\"\"\"b\\", Trim: []string{"x"}, On: []Place{OnReply, OnLore}, MinDepth: new(0)}, {Find: "x", On: []Place{OnHistory}}}
	data, err := EncodeScripts(all)
	got, wrong := ParseScripts(data)
	if d := cmp.Diff(all, got); err != nil || d != "" || len(wrong) > 0 {
		t.Error(err, wrong, d)
	}
	for _, bad := range []string{"[[script]]\nfnd = 1", "[[script]]\nfind = 1", "=", "[[script]]\nfind = \"x\"\non = [\"people\"]"} {
		if _, wrong := ParseScripts([]byte(bad)); len(wrong) == 0 {
			t.Errorf("%q is fine", bad)
		}
	}
}
