package card

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func env() *Macros {
	return &Macros{
		Char: "Moss", User: "Ada", Original: "the rules", Now: time.Date(2026, 11, 22, 15, 4, 5, 0, time.UTC), Idle: 3 * time.Hour, Message: "hello",
		LastMessage: "m1", LastUserMessage: "m2", LastCharMessage: "m3", Chat: "c", Turn: "t", Tokens: 9000,
		Field: func(name string) string { return "[" + name + " of {{char}} {{description}}]" },
	}
}

func TestExpand(t *testing.T) {
	for in, want := range map[string]string{
		"{{char}} and {{user}}":                       "Moss and Ada",
		"{{ CHAR }}{{User}}":                          "MossAda",
		"<USER> <bot> <Char> <b>":                     "Ada Moss Moss <b>",
		"a{{// {{user}} note}}b":                      "ab",
		"a{{comment: x}}b":                            "ab",
		"a{{hidden_key:x}}b":                          "ab",
		"{{reverse:Hello}}":                           "olleH",
		"{{reverse:{{char}}}}":                        "ssoM",
		"x{{newline}}y":                               "x\ny",
		"x\n\n{{trim}}\n\ny":                          "xy",
		"{{original}}!":                               "the rules!",
		"{{time}} {{date}}":                           "3:04 PM November 22, 2026",
		"{{isodate}}T{{isotime}}":                     "2026-11-22T15:04",
		"{{weekday}}":                                 "Sunday",
		"{{datetimeformat DD.MM.YYYY HH:mm [at] Do}}": "22.11.2026 15:04 at 22nd",
		"{{idle_duration}} {{idleDuration}}":          "3 hours 3 hours",
		"{{lastMessage}}{{lastUserMessage}}{{lastCharMessage}}": "m1m2m3",
		"{{input}} {{maxPrompt}}":                               "hello 9000",
		"{{random:a}}{{pick::b}}":                               "ab",
		`{{random:x\,y}}`:                                       "x,y",
		"{{random::{{user}}::Ada}}":                             "Ada",
		"{{roll:1}}{{roll d1}}":                                 "11",
		"{{roll:1d1+4}}":                                        "5",
		"{{roll:x}}":                                            "",
		"{{description}}":                                       "[description of Moss ]",
		"{{nosuch}} {{nosuch::{{char}}}}":                       "{{nosuch}} {{nosuch::Moss}}",
		"{{char":                                                "{{char",
		"{{{char}}}":                                            "{Moss}",
		"}}{{char}}":                                            "}}Moss",
		"no macros":                                             "no macros",
		"":                                                      "",
	} {
		if got := env().Expand(in); got != want {
			t.Errorf("%q: %q, not %q", in, got, want)
		}
	}
}

// Expand does not expand names and messages of people.
func TestValuesAreNotExpanded(t *testing.T) {
	e := env()
	e.User, e.LastMessage = "{{roll:6}} <BOT>, b::c", "{{char}}{{random:x,y}}"
	for in, want := range map[string]string{
		"{{user}}": e.User, "<user>": e.User, "{{lastMessage}}": e.LastMessage, "{{reverse:{{reverse:{{user}}}}}}": e.User,
		"{{random:{{user}}}}": e.User, "{{pick::{{user}}}}": e.User,
	} {
		if got := e.Expand(in); got != want {
			t.Errorf("%s: %q", in, got)
		}
	}
}

func TestHiddenKey(t *testing.T) {
	e := env()
	e.Hidden = true
	if got := e.Expand("a {{hidden_key:dragon}}{{comment:no}}"); got != "a dragon" {
		t.Error(got)
	}
}

// {{pick}} stays the same in a chat and {{random}} in a turn. Over many of them, both choose every item.
func TestChance(t *testing.T) {
	seen := map[string]bool{}
	for i := range 200 {
		e := env()
		e.Chat, e.Turn = strings.Repeat("c", i), strings.Repeat("t", i)
		one := e.Expand("{{pick:a,b,c}}{{random:d,e}}{{roll:4}}")
		if again := e.Expand("{{pick:a,b,c}}{{random:d,e}}{{roll:4}}"); one != again {
			t.Fatalf("%s, then %s", one, again)
		}
		e.Turn += "other"
		if again := e.Expand("{{pick:a,b,c}}{{random:d,e}}{{roll:4}}"); again[:1] != one[:1] {
			t.Fatalf("picked %s, then %s", one, again)
		}
		for _, letter := range one {
			seen[string(letter)] = true
		}
	}
	for _, want := range "abcde1234" {
		if !seen[string(want)] {
			t.Errorf("%c never came", want)
		}
	}
}

func TestMacrosIn(t *testing.T) {
	text := "{{char}} {{getvar::x}} {{setvar::y::{{getglobalvar::z}}}} {{time}} {{#if a}}{{getvar::x}}"
	want := MacroUse{Unknown: []string{"#if"}, Varying: []string{"time"}, Variables: []string{"getvar", "setvar", "getglobalvar"}}
	if d := cmp.Diff(want, MacrosIn(text)); d != "" {
		t.Error(d)
	}
}

// Texts share variables and set them from left to right. A variable that was never set is empty.
func TestVariables(t *testing.T) {
	for in, want := range map[string]string{
		"{{setvar::mood::sad}}{{getvar::mood}} {{getvar:: mood }}":                     "sad sad",
		"{{getvar::mood}}|{{setvar::mood::sad}}":                                       "|",
		"{{setvar::a::{{char}}::{{user}}}}{{getvar::a}}":                               "Moss::Ada",
		"{{incvar::n}} {{incvar::n}} {{decvar::n}} {{addvar::n::1.5}}{{getvar::n}}":    "1 2 1 2.5",
		"{{setvar::s::ab}}{{addvar::s::cd}}{{getvar::s}}":                              "abcd",
		"{{setvar::x::chat}}{{setglobalvar::x::all}}{{getvar::x}} {{getglobalvar::x}}": "chat all",
		"{{setvar::x::{{random::a}}}}{{setvar::{{getvar::x}}::1}}{{getvar::a}}":        "1",
		"{{setvar::x::{{user}}}}{{getvar::x}}":                                         "Ada",
		"{{setvar}}{{getvar}}{{setvar::::x}}":                                          "",
		"{{outlet::tavern}} {{outlet:: tavern }}{{outlet::none}}":                      "It smells of {{char}}. It smells of {{char}}.",
	} {
		e := env()
		e.Outlets = map[string]string{"tavern": "It smells of {{char}}."}
		if got := e.Expand(in); got != want {
			t.Errorf("%q: %q, not %q", in, got, want)
		}
	}
	e := env()
	e.Vars = &Variables{}
	e.Expand("{{setvar::x::1}}")
	before := e.Vars.Clone()
	e.Expand("{{incvar::x}}")
	if got := e.Expand("{{getvar::x}}"); got != "2" || before.values["x"] != "1" {
		t.Errorf("%q, before %v", got, before)
	}
	if e.User = "{{setvar::x::9}}"; e.Expand("{{user}}{{getvar::x}}") != "{{setvar::x::9}}2" {
		t.Error("a person's name sets a variable")
	}
	for n := range 10 * maxVariables { // neither many nor long ones
		e.Expand("{{setvar::v" + strings.Repeat("i", n) + "::x}}{{addvar::x::{{getvar::x}}{{getvar::x}}}}")
	}
	if len(e.Vars.values) > maxVariables || len(e.Vars.values["x"]) > maxVariable {
		t.Errorf("%d variables, one of %d bytes", len(e.Vars.values), len(e.Vars.values["x"]))
	}
}

// Hostile texts stay within the limits.
func TestHostile(t *testing.T) {
	e := env()
	e.Field = func(string) string { return strings.Repeat("x", 200<<10) }
	for _, text := range []string{
		strings.Repeat("{{", 50_000), strings.Repeat("{{", 50_000) + strings.Repeat("}}", 50_000), strings.Repeat("{{random::", 20_000) + strings.Repeat("}}", 20_000),
		strings.Repeat("{{description}}", 10_000), strings.Repeat("{{roll:6}}{{pick:a,b}}", 10_000), strings.Repeat("{{reverse:", 100) + strings.Repeat("}}", 100), strings.Repeat("{", 100_001), strings.Repeat("<", 100_000),
		strings.Repeat("{{if user}}", 20_000) + strings.Repeat("{{else}}{{/if}}", 20_000), strings.Repeat("{{reverse}}", 5_000) + strings.Repeat("{{/reverse}}", 5_000),
		strings.Repeat("{{//}}", 20_000) + strings.Repeat("{{///}}", 20_000), strings.Repeat("{{.a = {{.a}}b}}", 5_000),
	} {
		if got := e.Expand(text); len(got) > max(maxExpansion, len(text)) {
			t.Errorf("%.20s: %d bytes", text, len(got))
		}
	}
}

func TestProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOf(rapid.SampledFrom([]string{"{{", "}}", "{", "char", "user", "random", ":", "::", ",", `\`, " ", "trim", "\n", "é", "<user>", "//"})).Draw(t, "text"), "")
		got := env().Expand(text)
		if !utf8.ValidString(got) {
			t.Fatalf("%q: %q", text, got)
		}
		if !strings.Contains(text, "}}") && !strings.ContainsAny(text, `<\`) && got != text {
			t.Fatalf("%q has no macro and became %q", text, got)
		}
	})
}

func FuzzExpand(f *testing.F) {
	f.Add("{{random::{{user}}::b}}{{{char}}}{{// x}}")
	f.Fuzz(func(t *testing.T, text string) { env().Expand(text) })
}

// Some cards have texts that hold each other, or insert a variable again and again. They take a moment and little room in all of a turn.
func TestMacroBombs(t *testing.T) {
	fields := strings.Repeat("{{description}}", 1000)
	filled := "{{setvar::a::" + strings.Repeat("x", maxVariable) + "}}" + strings.Repeat("{{getvar::a}}", 60)
	env := Macros{Field: func(string) string { return fields }, Vars: &Variables{}}
	began, size := time.Now(), 0
	for range 2000 {
		size += len(env.Expand(fields)) + len(env.Expand(filled))
	}
	if took := time.Since(began); took > 5*time.Second || size > maxExpanded { // without a limit it would be minutes; the machine may be busy
		t.Errorf("%d bytes in %v", size, took)
	}
}
