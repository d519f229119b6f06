package card

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// recursiveBook returns a book whose entries are recursive unless they say otherwise.
func recursiveBook(entries ...Entry) Book { return Book{File: "b", Recursive: true, Entries: entries} }

// fired returns the ids of the entries that fire, the last of the prompt first.
func fired(t *testing.T, b Book, c Chat) []string {
	t.Helper()
	if c.Budget == 0 {
		c.Budget = 10_000
	}
	s, _ := NewScanner([]Book{b}, "Moss")
	var ids []string
	for _, f := range s.Scan(t.Context(), c).Fired {
		ids = append(ids, f.Entry)
	}
	slices.Reverse(ids)
	return ids
}

func TestKeys(t *testing.T) {
	for name, c := range map[string]struct {
		entry Entry
		said  string
		want  bool
	}{
		"plain":             {Entry{Keys: []string{"dragon"}}, "A DRAGONfly", true},
		"case":              {Entry{Keys: []string{"Dragon"}, CaseSensitive: new(true)}, "a dragon", false},
		"whole word":        {Entry{Keys: []string{"ink"}, WholeWords: new(true)}, "a drink, inky", false},
		"whole word found":  {Entry{Keys: []string{"ink"}, WholeWords: new(true)}, "drink ink.", true},
		"whole word accent": {Entry{Keys: []string{"caf"}, WholeWords: new(true)}, "café", false},
		"whole words":       {Entry{Keys: []string{"old ink"}, WholeWords: new(true)}, "gold inkwell", true},
		"decomposed":        {Entry{Keys: []string{"caf\u00e9"}}, "cafe\u0301", true},
		"Japanese":          {Entry{Keys: []string{"竜"}, WholeWords: new(true)}, "赤い竜が来た", true},
		"Korean":            {Entry{Keys: []string{"용"}, WholeWords: new(true)}, "붉은 용이 왔다", true},
		"Chinese":           {Entry{Keys: []string{"巨龙"}, WholeWords: new(true)}, "他看见巨龙了", true},
		"pattern":           {Entry{Keys: []string{`/drag(on|ons)\b/i`}}, "two DRAGONS", true},
		"pattern no flag":   {Entry{Keys: []string{`/dragon/`}}, "DRAGON", false},
		"bad pattern":       {Entry{Keys: []string{`/dragon(?=s/`, "drake"}}, "dragons", false},
		"beside bad":        {Entry{Keys: []string{`/dragon(?=s/`, "drake"}}, "a drake", true},
		"regex":             {Entry{Keys: []string{`dr.gon`}, Regex: true}, "drigon", true},
		"regex constant":    {Entry{Keys: []string{`dr.gon`}, Regex: true, Constant: true}, "nothing", false},
		"macro":             {Entry{Keys: []string{"{{user}}'s hat"}}, "where is ada's hat?", true},
		"and any":           {Entry{Keys: []string{"a"}, Secondary: []string{"x", "y"}}, "a y", true},
		"and any none":      {Entry{Keys: []string{"a"}, Secondary: []string{"x", "y"}}, "a", false},
		"and all":           {Entry{Keys: []string{"a"}, Secondary: []string{"x", "y"}, Logic: AndAll}, "a y x", true},
		"and all one":       {Entry{Keys: []string{"a"}, Secondary: []string{"x", "y"}, Logic: AndAll}, "a y", false},
		"not any":           {Entry{Keys: []string{"a"}, Secondary: []string{"x", "y"}, Logic: NotAny}, "a", true},
		"not any one":       {Entry{Keys: []string{"a"}, Secondary: []string{"x", "y"}, Logic: NotAny}, "a y", false},
		"not all":           {Entry{Keys: []string{"a"}, Secondary: []string{"x", "y"}, Logic: NotAll}, "a y", true},
		"not all all":       {Entry{Keys: []string{"a"}, Secondary: []string{"x", "y"}, Logic: NotAll}, "a y x", false},
		"constant":          {Entry{Constant: true}, "", true},
		"off":               {Entry{Constant: true, Off: true}, "", false},
		"no keys":           {Entry{}, "x", false},
		"other character":   {Entry{Constant: true, Characters: []string{"Fern"}}, "", false},
		"this character":    {Entry{Constant: true, Characters: []string{"moss"}}, "", true},
		"except":            {Entry{Constant: true, Except: []string{"Moss"}}, "", false},
		"field":             {Entry{Keys: []string{"tavern"}, Match: []string{"scenario"}}, "", true},
		"never by chance":   {Entry{Keys: []string{"a"}, Probability: new(0)}, "a", false},
		"by chance":         {Entry{Keys: []string{"a"}, Probability: new(51)}, "a", true},
		"not by chance":     {Entry{Keys: []string{"a"}, Probability: new(50)}, "a", false},
		"delayed":           {Entry{Keys: []string{"a"}, Delay: 8}, "a", false},
		"delay over":        {Entry{Keys: []string{"a"}, Delay: 7}, "a", true},

		"@@activate":                  {Entry{Content: "@@dont_activate\n@@activate\nx"}, "", true},
		"@@dont_activate":             {Entry{Constant: true, Content: "@@dont_activate\nx"}, "", false},
		"@@constant":                  {Entry{Content: "@@constant\nx"}, "", true},
		"@@activate_only_after":       {Entry{Constant: true, Content: "@@activate_only_after 4\nx"}, "", false},
		"@@activate_only_after, then": {Entry{Constant: true, Content: "@@activate_only_after 3\nx"}, "", true},
		"@@activate_only_every":       {Entry{Constant: true, Content: "@@activate_only_every 2\nx"}, "", false},
		"@@activate_only_every, then": {Entry{Constant: true, Content: "@@activate_only_every 3\nx"}, "", true},
		"@@additional_keys":           {Entry{Keys: []string{"a"}, Content: "@@additional_keys x,y\n"}, "a", false},
		"@@additional_keys, then":     {Entry{Keys: []string{"a"}, Content: "@@additional_keys x, y\n"}, "a y", true},
		"@@exclude_keys":              {Entry{Keys: []string{"a"}, Content: "@@exclude_keys x,y\n"}, "a y", false},
		"@@exclude_keys, none":        {Entry{Keys: []string{"a"}, Content: "@@exclude_keys x,y\n"}, "a", true},
		"@@is_greeting":               {Entry{Constant: true, Content: "@@is_greeting 1\nx"}, "", true},
		"@@is_greeting, another":      {Entry{Constant: true, Content: "@@is_greeting 0\nx"}, "", false},
		"@@keep_activate_after_match": {Entry{ID: "old", Keys: []string{"a"}, Content: "@@keep_activate_after_match\nx"}, "", true},
		"@@dont_activate_after_match": {Entry{ID: "old", Keys: []string{"a"}, Content: "@@dont_activate_after_match\nx"}, "a", false},
		"@@match_full_word":           {Entry{Keys: []string{"ink"}, Content: "@@match_full_word\nx"}, "drink", false},
		"fallback":                    {Entry{Keys: []string{"a"}, Content: "@@risu_only 4\n@@@agn_only 4\n@@@activate\nx"}, "", true},
		"fallback of a known one":     {Entry{Keys: []string{"a"}, Content: "@@scan_depth 4\n@@@activate\nx"}, "", false},
		"fallback of a wrong value":   {Entry{Keys: []string{"a"}, Content: "@@depth deep\n@@@activate\nx"}, "", true},
		"first of one name":           {Entry{Constant: true, Content: "@@is_greeting 1\n@@is_greeting 0\nx"}, "", true},
	} {
		t.Run(name, func(t *testing.T) {
			chat := Chat{
				Messages: []string{c.said}, Fields: map[string]string{"scenario": "In a tavern."}, Length: 7, Own: 3, Greeting: 1,
				Fired:  map[string]Firing{"b/old": {Ago: 4, Before: true}},
				Chance: func(string) float64 { return 0.5 },
				Expand: func(s string) (string, string) { s = strings.ReplaceAll(s, "{{user}}", "Ada"); return s, s },
			}
			if got := fired(t, recursiveBook(c.entry), chat); (len(got) == 1) != c.want {
				t.Errorf("%v", got)
			}
		})
	}
}

func TestScanDepth(t *testing.T) {
	b := recursiveBook(Entry{ID: "deep", Keys: []string{"x"}, ScanDepth: new(3)}, Entry{ID: "usual", Keys: []string{"x"}}, Entry{ID: "never", Keys: []string{"x"}, ScanDepth: new(0)},
		Entry{ID: "decorated", Keys: []string{"x"}, Content: "@@scan_depth 3\ny"})
	if got := fired(t, b, Chat{Messages: []string{"a", "b", "x"}}); !slices.Equal(got, []string{"deep", "decorated"}) {
		t.Error(got)
	}
	b.ScanDepth = new(3)
	if got := fired(t, b, Chat{Messages: []string{"a", "b", "x"}}); !slices.Equal(got, []string{"deep", "usual", "decorated"}) {
		t.Error(got)
	}
}

// While too few entries fire, a scan searches older messages for entries without a depth of their own.
func TestMinActivations(t *testing.T) {
	b := recursiveBook(
		Entry{ID: "a", Keys: []string{"apple"}, Content: "An apple, and a cellar."}, Entry{ID: "b", Keys: []string{"bread"}}, Entry{ID: "c", Keys: []string{"cheese"}, NonRecursable: true},
		Entry{ID: "cellar", Keys: []string{"cellar"}}, Entry{ID: "fixed", Keys: []string{"cheese"}, ScanDepth: new(2)},
	)
	chat := Chat{Messages: []string{"hello", "well", "bread", "apple", "more bread", "cheese", "the end"}}
	for _, c := range []struct {
		least, deepest int
		want           []string
	}{
		{0, 0, nil}, {1, 0, []string{"b"}}, {2, 0, []string{"b", "a", "cellar"}}, {4, 0, []string{"b", "a", "cellar", "c"}}, {9, 0, []string{"b", "a", "cellar", "c"}}, {9, 4, []string{"b", "a", "cellar"}}, {9, 1, nil},
	} {
		b.MinActivations, b.MinActivationsDepth = c.least, c.deepest
		if got := fired(t, b, chat); !slices.Equal(got, c.want) {
			t.Errorf("at least %d within %d: %v", c.least, c.deepest, got)
		}
	}
	for deepest, want := range map[int]int{0: maxDepth, 7: 7, 1: 2, 1000: maxDepth} {
		b.MinActivationsDepth = deepest
		if s, _ := NewScanner([]Book{b}); s.Depth() != want {
			t.Errorf("%d messages are to be read, not %d", s.Depth(), want)
		}
	}
}

func TestRecursion(t *testing.T) {
	chat := Chat{Messages: []string{"tell me of the king"}}
	b := recursiveBook(
		Entry{ID: "king", Keys: []string{"king"}, Content: "The king has a sword."},
		Entry{ID: "sword", Keys: []string{"sword"}, Content: "The sword is of iron."},
		Entry{ID: "iron", Keys: []string{"iron"}, Content: "From the mine.", PreventRecursion: true},
		Entry{ID: "mine", Keys: []string{"mine"}, Content: "Deep."},
		Entry{ID: "shy", Keys: []string{"iron"}, NonRecursable: true},
		Entry{ID: "late", Keys: []string{"king"}, DelayUntilRecursion: 1},
		Entry{ID: "later", Keys: []string{"sword"}, DelayUntilRecursion: 2},
	)
	if got := fired(t, b, chat); !slices.Equal(got, []string{"king", "sword", "late", "iron", "later"}) {
		t.Error(got)
	}
	b.MaxSteps = 2
	if got := fired(t, b, chat); !slices.Equal(got, []string{"king", "sword", "late"}) {
		t.Error(got)
	}
	b.Recursive = false
	if got := fired(t, b, chat); !slices.Equal(got, []string{"king", "late"}) { // a second wait begins without recursion
		t.Error(got)
	}
}

// Entries that make one another fire do so once.
func TestRecursionEnds(t *testing.T) {
	var entries []Entry
	for i := range 10_000 {
		entries = append(entries, Entry{Keys: []string{fmt.Sprintf("word%d.", i)}, Content: fmt.Sprintf("word%d. word%d.", i+1, i-1)})
	}
	s, problems := NewScanner([]Book{recursiveBook(entries...)})
	r := s.Scan(t.Context(), Chat{Messages: []string{"word5000."}, Budget: 10_000})
	if len(problems) != 0 || r.Steps != maxRounds || len(r.Fired) != 2*maxRounds-1 || r.Cut {
		t.Errorf("%d problems, %d steps, %d fired", len(problems), r.Steps, len(r.Fired))
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if r := s.Scan(ctx, Chat{Messages: []string{"word5000."}, Budget: 10_000}); !r.Cut || len(r.Fired) != 0 {
		t.Errorf("%+v", r)
	}
}

func TestBudget(t *testing.T) {
	text := strings.Repeat("x", 40) // 10 tokens
	b := recursiveBook(
		Entry{ID: "low", Keys: []string{"a"}, Order: 1, Content: text},
		Entry{ID: "high", Keys: []string{"a"}, Order: 9, Content: text},
		Entry{ID: "constant", Constant: true, Order: 0, Content: text},
		Entry{ID: "priority", Keys: []string{"a"}, Order: 5, Priority: new(100), Content: text},
		Entry{ID: "first to go", Keys: []string{"a"}, Order: 900, Content: "@@ignore_on_max_context\n" + text},
		Entry{ID: "free", Keys: []string{"a"}, Order: -1, IgnoreBudget: true, Content: text},
	)
	for budget, want := range map[int][]string{
		20: {"free", "constant", "priority"}, 30: {"free", "constant", "priority", "high"}, 1000: {"free", "constant", "low", "priority", "high", "first to go"},
	} {
		s, _ := NewScanner([]Book{b})
		r := s.Scan(t.Context(), Chat{Messages: []string{"a"}, Budget: budget})
		var got []string
		for _, f := range r.Fired {
			got = append(got, f.Entry)
		}
		if !slices.Equal(got, want) || len(got)+len(r.Lost) != len(b.Entries) {
			t.Errorf("%d: %v, lost %+v", budget, got, r.Lost)
		}
		for _, l := range r.Lost {
			if l.Why != "no room" || l.Tokens != 10 {
				t.Errorf("%+v", l)
			}
		}
	}
	b.TokenBudget = 10
	if got := fired(t, b, Chat{Messages: []string{"a"}}); !slices.Equal(got, []string{"constant", "free"}) {
		t.Error(got)
	}
}

func TestGroups(t *testing.T) {
	chat := Chat{Messages: []string{"a b c"}, Chance: func(string) float64 { return 0.7 }, Fired: map[string]Firing{"b/stuck": {Ago: 1, Before: true}}}
	g := []string{"g"}
	for name, c := range map[string]struct {
		entries []Entry
		want    []string
	}{
		"weight":    {[]Entry{{ID: "1", Keys: []string{"a"}, Groups: g, GroupWeight: new(60)}, {ID: "2", Keys: []string{"a"}, Groups: g, GroupWeight: new(40)}}, []string{"2"}},
		"first":     {[]Entry{{ID: "1", Keys: []string{"a"}, Groups: g, GroupFirst: true}, {ID: "2", Keys: []string{"a"}, Groups: g, Order: 4, GroupFirst: true}, {ID: "3", Keys: []string{"a"}, Groups: g, Order: 9}}, []string{"2"}},
		"scoring":   {[]Entry{{ID: "1", Keys: []string{"a", "b"}, Groups: g, GroupScoring: new(true)}, {ID: "2", Keys: []string{"a"}, Groups: g, GroupScoring: new(true)}}, []string{"1"}},
		"secondary": {[]Entry{{ID: "1", Keys: []string{"a"}, Secondary: []string{"b", "c"}, Groups: g, GroupScoring: new(true)}, {ID: "2", Keys: []string{"a", "b"}, Groups: g, GroupScoring: new(true)}}, []string{"1"}},
		"sticky":    {[]Entry{{ID: "1", Keys: []string{"a"}, Groups: g, GroupFirst: true}, {ID: "stuck", Keys: []string{"z"}, Groups: g, Sticky: 3}}, []string{"stuck"}},
		"taken": {[]Entry{{ID: "1", Keys: []string{"a"}, Groups: g, Content: "zebra"}, {ID: "2", Keys: []string{"zebra"}, Groups: g}, {ID: "3", Keys: []string{"zebra"}}},
			[]string{"1", "3"}},
		"several": {[]Entry{{ID: "1", Keys: []string{"a"}, Groups: []string{"g", "h"}, GroupFirst: true}, {ID: "2", Keys: []string{"a"}, Groups: g}, {ID: "3", Keys: []string{"a"}, Groups: []string{"h"}}}, []string{"1"}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := fired(t, recursiveBook(c.entries...), chat); !slices.Equal(got, c.want) {
				t.Error(got)
			}
		})
	}
}

// Sticky counts messages since an entry fired, and cooldown those after that.
func TestTimes(t *testing.T) {
	b := recursiveBook(Entry{ID: "e", Keys: []string{"a"}, Sticky: 2, Cooldown: 3})
	for ago, want := range map[int][2]bool{ // without and with its key
		0: {false, true}, 1: {true, true}, 2: {false, false}, 4: {false, false}, 5: {false, true},
	} {
		for i, said := range []string{"nothing", "a"} {
			got := fired(t, b, Chat{Messages: []string{said}, Fired: map[string]Firing{"b/e": {Ago: ago, Before: true}}})
			if (len(got) == 1) != want[i] {
				t.Errorf("%d messages later, %q: %v", ago, said, got)
			}
		}
	}
	s, _ := NewScanner([]Book{b})
	r := s.Scan(t.Context(), Chat{Messages: []string{"a"}, Budget: 100, Fired: map[string]Firing{"b/e": {Ago: 3}}})
	if len(r.Lost) != 1 || r.Lost[0].Why != "cooldown for 2 more messages" {
		t.Errorf("%+v", r)
	}
}

func TestPlaces(t *testing.T) {
	b := recursiveBook(
		Entry{Constant: true, Content: "@@depth 2\n@@role assistant\n\nHm."},
		Entry{Constant: true, Content: "@@position scenario\n@@depth 2\nRain."},
		Entry{Constant: true, Content: "@@end\n@@disable_ui_prompt system_prompt\nLast."},
		Entry{Constant: true, Position: AtDepth, Content: "Deep."},
		Entry{Constant: true, Position: InOutlet, Outlet: " tavern ", Content: "Ale."},
		Entry{Constant: true, Content: "@@position nowhere\n@@@position after_desc\nAfter."},
	)
	s, problems := NewScanner([]Book{b})
	var got []string
	for _, f := range s.Scan(t.Context(), Chat{Budget: 100}).Fired {
		got = append(got, fmt.Sprintf("%s %d %s %s %v", f.Position, f.Depth, f.Role, f.Outlet+f.Text, f.Silences))
	}
	want := []string{
		"after_char 4 system After. []", "outlet 4 system tavernAle. []", "at_depth 4 system Deep. []", "at_depth 0 system Last. [system_prompt]", "scenario 4 system Rain. []", "at_depth 2 assistant Hm. []",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if len(problems) != 1 || !strings.Contains(problems[0].Text, "@@position nowhere") {
		t.Error(problems)
	}
}

func TestLorebookProblems(t *testing.T) {
	keys := make([]string, 300)
	for i := range keys {
		keys[i] = fmt.Sprint("key", i)
	}
	_, problems := NewScanner([]Book{{File: "b", Entries: []Entry{
		{ID: "x", Keys: []string{`/a(?=b/`}}, {ID: "x", Constant: true}, {ID: "many", Keys: keys}, {ID: "late", Keys: []string{"a"}, DelayUntilRecursion: 1},
	}}}, "Moss")
	var texts []string
	for _, p := range problems {
		texts = append(texts, p.Key+": "+p.Text)
	}
	for _, want := range []string{"entry x: the key /a(?=b/", "entry x: has no key", "entry x: has the id", "entry many: has more than", "entry late: waits"} {
		if !slices.ContainsFunc(texts, func(s string) bool { return strings.HasPrefix(s, want) }) {
			t.Errorf("nothing about %s in %q", want, texts)
		}
	}
}

// A book has at most so many entries, and all are scanned. BenchmarkScan measures the time.
func TestMany(t *testing.T) {
	var entries []Entry
	for i := range maxEntries + 1 {
		keys := []string{fmt.Sprint("word", i)}
		if i%200 == 0 {
			keys = append(keys, fmt.Sprintf("/other%d(a+)+$/i", i))
		}
		entries = append(entries, Entry{Keys: keys})
	}
	s, problems := NewScanner([]Book{recursiveBook(entries...)})
	if len(problems) == 0 || len(s.entries) != maxEntries {
		t.Errorf("%d problems, %d entries", len(problems), len(s.entries))
	}
	last := fmt.Sprint("word", maxEntries-1)
	found := s.Scan(t.Context(), Chat{Messages: []string{strings.Repeat("a word or two ", 200) + last}, Budget: 100})
	if len(found.Fired) == 0 || found.Fired[0].Why != "key "+last {
		t.Errorf("%+v", found.Fired)
	}
}

// ParseBook reads what Encode writes.
func TestLorebookFile(t *testing.T) {
	texts := rapid.StringOf(rapid.SampledFrom([]rune("a\"'\\\n\r\t\u0000\u0001{}é竜 #=[]\u2028\u007f")))
	rapid.Check(t, func(t *rapid.T) {
		b := Book{
			File: "b", Name: texts.Draw(t, "name"), Description: texts.Draw(t, "description"), ScanDepth: rapid.Ptr(rapid.IntRange(0, 9), true).Draw(t, "depth"),
			Entries: []Entry{{Keys: rapid.SliceOfN(texts, 1, 3).Draw(t, "keys"), Content: texts.Draw(t, "content"), Order: 5, WholeWords: new(false), Sticky: 2}, {Content: texts.Draw(t, "second")}},
		}
		data, err := b.Encode()
		if err != nil {
			t.Fatal(err)
		}
		got, wrong := ParseBook("b", data)
		if d := cmp.Diff(b, got); d != "" || len(wrong) > 0 {
			t.Fatalf("%v\n%s\n%s", wrong, d, data)
		}
	})
}

func TestMistakes(t *testing.T) {
	for in, want := range map[string]string{
		"[[entry]]\nkeyz = []":          "2:1 entry.keyz: no such key",
		"[[entry]]\nlogic = \"or\"":     `0:0 entry[0].logic: "or" is not allowed; use one of and_any, and_all, not_any, not_all`,
		"scan_depth = \"x\"":            "1:14 scan_depth:",
		"= 1":                           "1:1",
		"[[entry]]\nprobability = 101":  "0:0 entry[0].probability: 101 is out of range; use 0 to 100",
		"[[entry]]\nmatch = [\"nose\"]": "0:0 entry[0].match",
	} {
		_, wrong := ParseBook("b", []byte(in))
		if len(wrong) == 0 {
			t.Errorf("%q is fine", in)
			continue
		}
		m := wrong[0]
		if got := fmt.Sprintf("%d:%d %s: %s", m.Line, m.Column, m.Key, m.Text); !strings.HasPrefix(got, want) {
			t.Errorf("%q: %s", in, got)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte("[[entry]]\nkeys = [\"a\"]\ncontent = \"\"\"\n@@depth 1\n@@@x\ny\"\"\""))
	f.Fuzz(func(t *testing.T, data []byte) {
		b, wrong := ParseBook("b", data)
		if len(wrong) == 0 && len(b.Entries) < 100 {
			s, _ := NewScanner([]Book{b}, "Moss")
			s.Scan(t.Context(), Chat{Messages: []string{"a b c"}, Budget: 100})
		}
	})
}
