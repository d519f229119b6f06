package text

import (
	"flag"
	"io/fs"
	"maps"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"unicode"

	"familiar/internal/test/packed"
)

func TestCodes(t *testing.T) {
	codes := Languages()
	if codes[0] != "en" || !slices.IsSorted(codes[1:]) {
		t.Errorf("codes are %v, want English first and the others in order", codes)
	}
	for _, code := range codes {
		if !regexp.MustCompile(`^[a-z]{2,3}$`).MatchString(code) {
			t.Errorf("%s.toml is named by no ISO 639 code", code)
		}
	}
	if !reflect.DeepEqual(TablesOf("xx"), &Tables{}) {
		t.Error("a language that there is not has tables")
	}
}

// A table has the same keys in every language as in English. ownKeys lists the tables with keys of their own in each language. moreKeys
// lists the keys that other languages may add.
var (
	ownKeys  = []string{"Recall", "Grammar.Contractions", "Grammar.ChatForms", "Number.Units", "Time.WhichOther", "FollowUp.ArticlePrepositions", "Remind.Words"}
	moreKeys = map[string][]string{"Time.Calendar": {""}, "Time.FutureBefore": {"+"}, "Time.WhichDay": {"last", "this", "next"}}
)

// TestTables checks what the types cannot. A failure is a mistake in a file.
func TestTables(t *testing.T) {
	english := TablesOf("en")
	for _, code := range Languages() {
		l := TablesOf(code)
		for _, script := range l.Scripts {
			if unicode.Scripts[script] == nil {
				t.Errorf("%s.toml: %q is not a script of Unicode", code, script)
			}
		}
		for name, row := range map[string]struct {
			row Row
			n   int
		}{
			"months": {l.Time.Months, 12}, "short_months": {l.Time.ShortMonths, 12}, "weekdays": {l.Time.Weekdays, 7},
			"which_days": {l.Time.WhichDays, 7}, "seasons": {l.Time.Seasons, 4}, "counts": {l.Number.Counts, 10},
			"remind.weekdays": {l.Remind.Weekdays, 7}, "remind.months": {l.Remind.Months, 12}, "remind.numbers": {l.Remind.Numbers, 12},
		} {
			if n := len(strings.Fields(string(row.row))); n != 0 && n != row.n {
				t.Errorf("%s.toml: %s has %d names, want %d", code, name, n, row.n)
			}
		}
		if named := strings.Contains(l.Time.DateLayout+l.Time.MonthLayout, "January"); (l.Time.DateLayout == "") != (l.Time.MonthLayout == "") || named && l.Time.Months == "" {
			t.Errorf("%s.toml: dates cannot be written: both layouts are needed, and the names of the months", code)
		}
		eachTable(reflect.ValueOf(*l), "", func(path string, table reflect.Value) {
			if pattern, is := table.Interface().(Pattern); is {
				if _, err := regexp.Compile("(?:" + pattern.String() + ")"); err != nil {
					t.Errorf("%s.toml: %s: %v", code, path, err)
				}
			}
			if table.Kind() != reflect.Map || slices.Contains(ownKeys, path) {
				return
			}
			for _, key := range table.MapKeys() {
				if !fieldAt(english, path).MapIndex(key).IsValid() && !slices.Contains(moreKeys[path], key.String()) {
					t.Errorf("%s.toml: %s has no key %q", code, path, key)
				}
			}
		})
	}
}

// A table that no language fills is an error, because nobody could see what belongs there.
func TestEveryTableHasWords(t *testing.T) {
	eachTable(reflect.ValueOf(*AllTables()), "", func(path string, table reflect.Value) {
		filled := func(code string) bool { return !fieldAt(TablesOf(code), path).IsZero() }
		if !slices.ContainsFunc(Languages(), filled) {
			t.Errorf("no language has %s", path)
		}
	})
}

func TestBrokenFiles(t *testing.T) {
	for broken, want := range map[string]string{
		"# Esperanto\n[grammar]\nnegation = \"ne\"\n":                "eo.toml:3: there is no table grammar.negation",
		"# Esperanto\n[grammar]\nnegations = [\"ne\"]\n":             "eo.toml:3: ",
		"[grammar]\nnegations = \"ne\n":                              "eo.toml:2: ",
		"[need.topics]\nweather = \"vetero\"\nweather = \"pluvo\"\n": "eo.toml:3: ",
	} {
		_, err := load(fstest.MapFS{"en.toml": {}, "eo.toml": {Data: []byte(broken)}}, fstest.MapFS{})
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("load says %v of\n%swant %s", err, broken, want)
		}
	}
	if _, err := load(fstest.MapFS{"eo.toml": {}}, fstest.MapFS{}); err == nil {
		t.Error("languages without English were loaded")
	}
}

// A new file in the folder adds a language.
func TestNewLanguage(t *testing.T) {
	const esperanto = `
[grammar]
negations = "ne nenio"
pronouns = {he = "li ŝi"}
[number]
at_least = ["almenaŭ", "pli ol"]
[time]
months = "januaro februaro marto aprilo majo junio julio aŭgusto septembro oktobro novembro decembro"
[need.topics]
weather = "vetero, pluvas"
[follow_up]
owner_link = "de"
`
	folder := fstest.MapFS{"eo.toml": {Data: []byte(esperanto)}}
	for _, name := range must(fs.Glob(os.DirFS("lang"), "*.toml")) {
		folder[name] = &fstest.MapFile{Data: must(fs.ReadFile(os.DirFS("lang"), name))}
	}
	l := must(load(folder, os.DirFS("lang/speech")))
	all, before := l.all, AllTables()
	for what, is := range map[string]bool{
		"code":              slices.Contains(l.codes, "eo") && l.codes[0] == "en",
		"words":             all.Grammar.Negations.Has("nenio") && all.Grammar.Negations.Has("never"),
		"words by key":      all.Grammar.Pronouns["he"].Has("li") && all.Grammar.Pronouns["he"].Has("she"),
		"pattern":           strings.HasPrefix(all.Number.AtLeast.String(), "over|more than|") && strings.Contains(all.Number.AtLeast.String(), "|pli ol"),
		"row":               all.Time.Months.Name(1) == "February" && strings.Contains(string(all.Time.Months), "/februaro/"),
		"phrases by key":    strings.Contains(string(all.Need.Topics["weather"]), ", vetero, pluvas, "),
		"one language's":    l.of["eo"].FollowUp.OwnerLink == "de" && all.FollowUp.OwnerLink == "",
		"tables left alone": maps.Equal(all.Need.Times, before.Need.Times) && slices.Equal(all.FactCheck.SemanticFields, before.FactCheck.SemanticFields),
	} {
		if !is {
			t.Errorf("the %s of a new language did not come out as they are", what)
		}
	}
}

var update = flag.Bool("update", false, "pack the languages")

func TestPacked(t *testing.T) {
	packed.Hold(t, "lang.zip", *update, "lang/*.toml", "lang/speech/*.toml")
}

// eachTable calls look for every table of a language with its path.
func eachTable(v reflect.Value, path string, look func(path string, table reflect.Value)) {
	for i := range v.NumField() {
		if name := path + v.Type().Field(i).Name; v.Field(i).Kind() == reflect.Struct {
			eachTable(v.Field(i), name+".", look)
		} else {
			look(name, v.Field(i))
		}
	}
}

func fieldAt(l *Tables, path string) reflect.Value {
	v := reflect.ValueOf(*l)
	for name := range strings.SplitSeq(path, ".") {
		v = v.FieldByName(name)
	}
	return v
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
