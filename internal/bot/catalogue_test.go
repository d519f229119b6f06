package bot

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"familiar/characters"
	"familiar/internal/bot/outgoing"
	"familiar/internal/bot/view"
	"familiar/internal/catalogue"
	"familiar/internal/context/turn"

	"github.com/pelletier/go-toml/v2"
)

// TestCatalogue compares what code says, wherever it stands, with what the catalogue has: nothing may be missing or left over in any
// language, and a translation takes the values of its sentence.
func TestCatalogue(t *testing.T) {
	if got := strings.Join(catalogue.Languages(), " "); got != "de es fr ja pt" {
		t.Fatalf("languages %s", got)
	}
	said := everySentence(t)
	for _, language := range catalogue.Languages() {
		translated := catalogue.Sentences(language)
		for _, s := range said {
			if !slices.Contains(translated, s) {
				t.Errorf("%s lacks %q", language, s)
			}
		}
		for _, s := range translated {
			in := catalogue.Say(language, s)
			if !slices.Contains(said, s) {
				t.Errorf("%s has %q, which nobody says", language, s)
			}
			if got, want := verbs(in), verbs(s); !slices.Equal(got, want) {
				t.Errorf("%s: %q takes %v, and %q takes %v", language, s, want, in, got)
			}
			if in == "" || in != strings.TrimSpace(in) || strings.Contains(in, "\n") || strings.HasPrefix(in, outgoing.SmallType) {
				t.Errorf("%s: %q", language, in)
			}
		}
	}
}

// everySentence collects what code says: constants of the type sentence, commands, pages of a record, and the texts of characters that have
// none of their own.
func everySentence(t *testing.T) []string {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	all := []string{outgoing.Undated, outgoing.AddressTooLong}
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
		all = slices.DeleteFunc(all, func(s string) bool { return s == key }) // say has the character's text in its place
		if key != "placeholder" {
			all = append(all, text)
		}
	}
	all = append(all, view.Titles()...)
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

var verb = regexp.MustCompile(`%(?:\[(\d)\])?[-+# 0-9.]*([a-zA-Z%])`)

// verbs are the verbs of a format in the order of the values.
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

// TestCommandsInAllLanguages looks at the limits and the alphabet that Discord sets to commands.
func TestCommandsInAllLanguages(t *testing.T) {
	name := regexp.MustCompile(`^[-_'\pL\pN]{1,32}$`)
	check := func(english string, in turn.Localized, typed bool, limit int) {
		for _, language := range catalogue.Languages() {
			text := in[language]
			if n := utf8.RuneCountInString(text); n < 1 || n > limit || typed && (!name.MatchString(text) || text != strings.ToLower(text)) {
				t.Errorf("%s: %q for %q, %d characters", language, text, english, n)
			}
		}
	}
	for _, c := range offered() {
		check(c.Name, c.Names, c.Kind == turn.ChatInput, 32)
		if c.Kind == turn.ChatInput {
			check(c.Description, c.Descriptions, false, 100)
		}
		for language := range c.Names {
			seen := map[string]bool{}
			for _, o := range c.Options {
				if seen[o.Names[language]] {
					t.Errorf("/%s has two options %s in %s", c.Name, o.Names[language], language)
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
	}
}

// TestNotesAreStripped has history forget what code wrote below a reply, in every language.
func TestNotesAreStripped(t *testing.T) {
	for _, language := range append(catalogue.Languages(), catalogue.English) {
		look := readPage()
		look.Reused = &turn.Reuse{Age: time.Hour}
		for _, buttons := range []bool{false, true} {
			record := &turn.Trace{Request: turn.Request{Language: language, Buttons: buttons}}
			b := resting(t, &board{})
			r := reply{bot: b, trace: record, lookup: look, rules: outgoing.RulesFor(turn.Request{}, look, nil), marker: &outgoing.Marker{Lookup: look}, away: true}
			text := r.compose("It is 1,280 metres long [1].", r.say(cutOff), r.say(onlyOutline), r.say(noModelNote))
			if got := outgoing.OwnWords(text); got != "It is 1,280 metres long." || strings.Count(text, "\n"+outgoing.SmallType) < 5 {
				t.Errorf("%s: history has %q of:\n%s", language, got, text)
			}
			if again, _ := r.rules.Guard(text); strings.Contains(again, outgoing.SmallType) {
				t.Errorf("%s: a model may write %q", language, again)
			}
		}
	}
}
