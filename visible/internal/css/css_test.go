package css

import (
	"fmt"
	"strings"
	"testing"
)

// outline returns the items of a block or a sheet.
func outline(t *Text, items func(func(Item) bool)) string {
	var parts []string
	for item := range items {
		switch {
		case !item.IsRule:
			mark := ""
			if item.Important {
				mark = "!"
			}
			parts = append(parts, fmt.Sprintf("%s=%s%s", item.Name, t.Between(item.Value), mark))
		case item.HasBlock:
			parts = append(parts, fmt.Sprintf("%s[%s]{%s}", item.Name, t.Between(t.Trim(item.Prelude)), outline(t, t.Block(item.Block))))
		default:
			parts = append(parts, fmt.Sprintf("%s[%s]", item.Name, t.Between(t.Trim(item.Prelude))))
		}
	}
	return strings.Join(parts, " ")
}

// sheet returns the outline of a style sheet that is read rule by rule.
func sheet(source string) string {
	var parts []string
	for t, item := range Sheet(source) {
		parts = append(parts, outline(t, func(yield func(Item) bool) { yield(item) }))
	}
	return strings.Join(parts, " ")
}

func TestSheets(t *testing.T) {
	for source, want := range map[string]string{
		".a{b:c}":                               "[.a]{b=c}",
		"<!-- a{b:c} -->":                       "[a]{b=c}",
		"a{b:c;d;e:f}":                          "[a]{b=c e=f}",
		"a{b:{c};d:e}":                          "[a]{b={c} d=e}",
		"a{b:c{d:e}f:g}":                        "[a]{[b:c]{d=e} f=g}",
		"a{&:hover{b:c}d:e}":                    "[a]{[&:hover]{b=c} d=e}",
		"a{b:'}';c:d}":                          "[a]{b='}' c=d}",
		"a{b:'x\n;c:d}":                         "[a]{b='x c=d}",
		"a{b:url(x{y);c:d}":                     "[a]{b=url(x{y) c=d}",
		"a{b:(;c:d}e{f:g}":                      "[a]{b=(;c:d}e{f:g}}",
		"} a{b:c} d{e:f}":                       "[} a]{b=c} [d]{e=f}",
		"a{b:c":                                 "[a]{b=c}",
		"a{B:C!IMPORTANT;--X:Y}":                "[a]{b=C! --X=Y}",
		"@media x{a{b:c}}@import y;d{e:f}":      "media[x]{[a]{b=c}} import[y] [d]{e=f}",
		"a{@media x{b:c}}":                      "[a]{media[x]{b=c}}",
		"a/*{*/{b/**/:/*;*/c}":                  "[a]{b=c}",
		"--a:b{c:d} e{f:g}":                     "[e]{f=g}",
		`a{\62:c;d\i:e}`:                        "[a]{b=c di=e}",
		"u+a{b:c}":                              "[u+a]{b=c}",
		"a{b:c;;;*d:e;f:g}":                     "[a]{b=c f=g}",
		"a{b:c!x;d:e ! important;f:!important}": "[a]{b=c!x d=e! f=!}",
	} {
		text := Tokenize(source)
		if got := outline(text, text.Rules(text.All())); got != want {
			t.Errorf("%q is read as %s, not %s", source, got, want)
		}
		if got := sheet(source); got != want {
			t.Errorf("%q is read rule by rule as %s, not %s", source, got, want)
		}
	}
}

func TestNames(t *testing.T) {
	for source, want := range map[string]string{`\61 b`: "ab", `\000061b`: "ab", `a\.b`: "a.b", `\0`: "\uFFFD", `"a\
b"`: "ab", `#\31 2`: "12", `url( x\)y )`: "x)y", `a\`: `a`} {
		text := Tokenize(source)
		if got := text.Name(0); got != want {
			t.Errorf("%q is the name %q, not %q", source, got, want)
		}
	}
}

func FuzzTokenize(f *testing.F) {
	for _, seed := range []string{"a{b:c}", "<!--@media(", `\`, "url(\"", "-\\", "1e+", "/*"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, source string) {
		text := Tokenize(source)
		last := int32(0)
		for i, one := range text.Tokens {
			if one.Start < last || one.End <= one.Start || int(one.End) > len(source) {
				t.Fatalf("token %d of %q: %v", i, source, one)
			}
			last = one.End
			if one.Kind != Delim && one.Kind != Space {
				_ = text.Raw(i)
			}
		}
		if got, want := sheet(source), outline(text, text.Rules(text.All())); got != want {
			t.Fatalf("%q is read rule by rule as %q, not %q", source, got, want)
		}
		_ = outline(text, text.Block(text.All()))
	})
}
