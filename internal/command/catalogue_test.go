package command

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/pelletier/go-toml/v2"

	"familiar/characters"
	"familiar/internal/context/turn"
	"familiar/internal/reply"
	"familiar/internal/view"
)

// TestCatalogue compares the sentences in the code with the catalogue. No language may lack one or have one too many, and a translation
// takes the values of its sentence.
func TestCatalogue(t *testing.T) {
	if got := strings.Join(reply.Languages(), " "); got != "de es fr ja pt" {
		t.Fatalf("languages %s", got)
	}
	said := everySentence(t)
	for _, language := range reply.Languages() {
		translated := map[string]string{}
		for _, s := range reply.Translated(language) {
			translated[s] = reply.Sentence(s).In(language)
		}
		for _, fault := range faults(said, translated) {
			t.Errorf("%s: %s", language, fault)
		}
	}
}

// TestFaults puts each fault into translations that have none.
func TestFaults(t *testing.T) {
	t.Parallel()
	said := []string{"Hello, %s.", "Bye.", "%d of %s"}
	for name, change := range map[string]func(map[string]string){
		"none":         func(map[string]string) {},
		"missing":      func(in map[string]string) { delete(in, "Bye.") },
		"nobody says":  func(in map[string]string) { in["Good night."] = "Gute Nacht." },
		"takes [1s]":   func(in map[string]string) { in["Hello, %s."] = "Hallo." },
		"takes []":     func(in map[string]string) { in["Bye."] = "Bis %s." },
		"takes [1d 2s": func(in map[string]string) { in["%d of %s"] = "%s von %d" },
		"is empty":     func(in map[string]string) { in["Bye."] = " " },
		"is a note":    func(in map[string]string) { in["Bye."] = "-# Bis bald." },
		"two lines":    func(in map[string]string) { in["Bye."] = "Bis\nbald." },
	} {
		in := map[string]string{"Hello, %s.": "Hallo, %s.", "Bye.": "Bis bald.", "%d of %s": "Von %[2]s: %[1]d"}
		change(in)
		got := faults(said, in)
		if name == "none" && len(got) > 0 || name != "none" && (len(got) != 1 || !strings.Contains(got[0], name)) {
			t.Errorf("%s: found %q", name, got)
		}
	}
}

// faults compares sentences with their translations into one language.
func faults(said []string, translated map[string]string) []string {
	var all []string
	for _, s := range said {
		if _, ok := translated[s]; !ok {
			all = append(all, fmt.Sprintf("%q is missing", s))
		}
	}
	for s, in := range translated {
		switch got, want := verbs(in), verbs(s); {
		case !slices.Contains(said, s):
			all = append(all, fmt.Sprintf("%q is there, which nobody says", s))
		case !slices.Equal(got, want):
			all = append(all, fmt.Sprintf("%q takes %v, and %q takes %v", s, want, in, got))
		case strings.TrimSpace(in) == "" || in != strings.TrimSpace(in):
			all = append(all, fmt.Sprintf("%q is empty or has space around it", s))
		case strings.Contains(in, "\n"):
			all = append(all, fmt.Sprintf("%q has two lines", s))
		case strings.HasPrefix(in, reply.SmallType):
			all = append(all, fmt.Sprintf("%q is a note by itself", s))
		}
	}
	return all
}

// everySentence collects what the code says. That is constants of the type sentence, commands, and titles and failures of pages. It is also
// framings of quotes and why the web is off. The texts of characters that have none of their own belong to it.
func everySentence(t *testing.T) []string {
	files, err := filepath.Glob("../*/*.go")
	if err != nil {
		t.Fatal(err)
	}
	all := []string{reply.Undated, reply.AddressTooLong}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			spec, ok := n.(*ast.ValueSpec)
			if typ, is := (*ast.Ident)(nil), false; ok && spec.Type != nil {
				if typ, is = spec.Type.(*ast.Ident); is && typ.Name == "sentence" {
					for _, v := range spec.Values {
						text, err := strconv.Unquote(v.(*ast.BasicLit).Value)
						if err != nil {
							t.Fatal(err)
						}
						all = append(all, text)
					}
				}
			}
			return true
		})
	}
	var own struct{ Texts map[string]string }
	data, err := characters.FS.ReadFile("_default/character.toml")
	if err != nil || toml.Unmarshal(data, &own) != nil {
		t.Fatal(err)
	}
	for key, text := range own.Texts {
		all = slices.DeleteFunc(all, func(s string) bool { return s == key }) // say replaces it by the character's text
		if key != "placeholder" {
			all = append(all, text)
		}
	}
	all = append(all, view.Titles()...)
	all = append(all, failuresOfPages(t)...)
	for _, r := range []turn.OffReason{turn.OffMode, turn.OffCharacter, turn.OffChannel, turn.OffOperator, turn.OffTopic, turn.OffQuota, turn.OffRoom, turn.OffNobody} {
		all = append(all, r.Words())
	}
	all = append(all, framings()...)
	for _, c := range commands() {
		all = append(all, c.Name, c.Description)
		for _, o := range c.Options {
			all = append(all, o.Name, o.Description)
			for _, choice := range o.Choices {
				all = append(all, choice.Name)
			}
		}
	}
	all = slices.DeleteFunc(all, func(s string) bool { return s == "" || slices.Contains(turn.Modes(), turn.Mode(s)) })
	slices.Sort(all)
	return slices.Compact(all)
}

// failuresOfPages returns the words for every code.
func failuresOfPages(t *testing.T) []string {
	file, err := parser.ParseFile(token.NewFileSet(), "../context/turn/codes.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	ast.Inspect(file, func(n ast.Node) bool {
		if text, ok := n.(*ast.BasicLit); ok && text.Kind == token.STRING {
			code := turn.Code(strings.Trim(text.Value, `"`))
			all = append(all, turn.Page{Failure: code}.Why(), turn.Page{Reason: code}.Why())
		}
		return true
	})
	if len(all) < 100 {
		t.Fatalf("found %d codes", len(all)/2)
	}
	return all
}

// framings returns the words for what a quote is on its page.
func framings() []string {
	var all []string
	collect := func(format string, _ ...any) string {
		all = append(all, format)
		return format
	}
	plain := func(s string) string { return s }
	for _, r := range []turn.Role{turn.RoleQuotation, turn.RoleComment, turn.RoleFiction, turn.RoleSatire, turn.RoleSponsored, turn.RoleApril} {
		turn.Framing{Role: r, Question: "q", Under: "u", Header: "h"}.Note(plain, collect)
	}
	for _, d := range []turn.Denial{turn.DeniedByHeading, turn.DeniedByList, turn.DeniedByLabel, turn.DeniedByVerdict, turn.DeniedByAnswer, turn.DeniedBySentence} {
		turn.Framing{Denied: d}.Note(plain, collect)
	}
	return all
}

var verb = regexp.MustCompile(`%(?:\[(\d)\])?[-+# 0-9.]*([a-zA-Z%])`)

// verbs returns the verbs of a format in the order of the values.
func verbs(format string) []string {
	var all []string
	for n, found := range verb.FindAllStringSubmatch(format, -1) {
		if found[1] == "" {
			found[1] = strconv.Itoa(n + 1)
		}
		all = append(all, found[1]+found[2])
	}
	slices.Sort(all)
	return all
}

// TestCommandsInAllLanguages checks the limits and the alphabet that Discord sets to commands.
func TestCommandsInAllLanguages(t *testing.T) {
	taken := map[string]bool{}
	for _, c := range definitions() {
		for _, fault := range commandFaults(c) {
			t.Error(fault)
		}
		if c.Kind == turn.UserMenu && len(c.Names) != 12 {
			t.Errorf("%s has names in %d languages besides English", c.Name, len(c.Names))
		}
		for language, name := range c.Names {
			key := fmt.Sprint(language, c.Kind, name)
			if taken[key] {
				t.Errorf("%s: two commands are called %s", language, name)
			}
			taken[key] = true
		}
	}
}

// TestCommandFaults puts each fault into a command that has none.
func TestCommandFaults(t *testing.T) {
	t.Parallel()
	in := func(text string) turn.Localized {
		all := turn.Localized{}
		for _, language := range reply.Languages() {
			all[language] = text
		}
		return all
	}
	for fault, change := range map[string]func(*turn.Definition){
		"none":               func(*turn.Definition) {},
		"two options":        func(c *turn.Definition) { c.Options[1].Names["de"] = "frage" },
		"\"Nachschlagen\"":   func(c *turn.Definition) { c.Names["de"] = "Nachschlagen" },
		"\"nach schlagen\"":  func(c *turn.Definition) { c.Names["de"] = "nach schlagen" },
		"33 characters":      func(c *turn.Definition) { c.Names["ja"] = strings.Repeat("調", 33) },
		"101 characters":     func(c *turn.Definition) { c.Descriptions["fr"] = strings.Repeat("é", 101) },
		"es: \"\" for \"q\"": func(c *turn.Definition) { delete(c.Options[0].Names, "es") },
		"102 characters":     func(c *turn.Definition) { c.Options[0].Descriptions["pt"] = strings.Repeat("a", 102) },
	} {
		c := turn.Definition{Kind: turn.ChatInput, Name: "lookup", Names: in("suche"), Description: "Look", Descriptions: in("Suche"), Options: []turn.Option{
			{Name: "q", Names: in("frage"), Description: "What", Descriptions: in("Was")}, {Name: "site", Names: in("seite"), Description: "Where", Descriptions: in("Wo")}}}
		change(&c)
		got := commandFaults(c)
		if fault == "none" && len(got) > 0 || fault != "none" && (len(got) != 1 || !strings.Contains(got[0], fault)) {
			t.Errorf("%s: found %q", fault, got)
		}
	}
}

// commandFaults says what Discord would refuse in the translations of a command.
func commandFaults(c turn.Definition) []string {
	var all []string
	name := regexp.MustCompile(`^[-_'\pL\pN]{1,32}$`)
	check := func(english string, in turn.Localized, typed bool, limit int) {
		for _, language := range reply.Languages() {
			text := in[language]
			if n := utf8.RuneCountInString(text); n < 1 || n > limit || typed && (!name.MatchString(text) || text != strings.ToLower(text)) {
				all = append(all, fmt.Sprintf("%s: %q for %q, %d characters", language, text, english, n))
			}
		}
	}
	check(c.Name, c.Names, c.Kind == turn.ChatInput, 32)
	if c.Kind == turn.ChatInput {
		check(c.Description, c.Descriptions, false, 100)
	}
	for language := range c.Names {
		seen := map[string]bool{}
		for _, o := range c.Options {
			if seen[o.Names[language]] {
				all = append(all, fmt.Sprintf("/%s has two options %s in %s", c.Name, o.Names[language], language))
			}
			seen[o.Names[language]] = true
		}
	}
	for _, o := range c.Options {
		check(o.Name, o.Names, true, 32)
		check(o.Description, o.Descriptions, false, 100)
		for _, choice := range o.Choices {
			if !slices.Contains(turn.Modes(), turn.Mode(choice.Value)) {
				check(choice.Name, choice.Names, false, 100)
			}
		}
	}
	return all
}
