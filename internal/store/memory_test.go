package store

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var (
	inC   = Scope{Kind: ScopeChannel, ID: "c", GuildID: "g"}
	inDM  = Scope{Kind: ScopeDM, ID: "d"}
	seesC = FilterGuild("g", []string{"c"})
)

// learn saves a message for each source, and a statement with these sources.
func learn(t *testing.T, db *DB, m Memory) int64 {
	t.Helper()
	for _, id := range m.Sources {
		message := Message{ID: id, ChannelID: m.Scope.ID, GuildID: m.Scope.GuildID, AuthorID: "ada", Text: m.Text, At: noon}
		if err := db.Messages.Save(t.Context(), message); err != nil {
			t.Fatal(err)
		}
	}
	id, err := db.Memories.Save(t.Context(), m)
	if err != nil {
		t.Fatalf("%q: %v", m.Text, err)
	}
	return id
}

func about(text string, scope Scope, sources ...string) Memory {
	return Memory{Kind: MemoryPerson, Scope: scope, Subject: "ada", Text: text, By: "ada", Sources: sources, SaidAt: noon, LearnedAt: noon}
}

// texts returns the texts of statements, superseded ones in brackets.
func texts(t *testing.T, all []Memory, err error) string {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	var said []string
	for _, m := range all {
		if m.Superseded {
			m.Text = "(" + m.Text + ")"
		}
		said = append(said, m.Text)
	}
	return strings.Join(said, "; ")
}

func everything(t *testing.T, db *DB) string {
	t.Helper()
	all, err := db.Memories.Export(t.Context())
	return texts(t, all, err)
}

func TestRemember(t *testing.T) {
	db, ctx := open(t, t.TempDir()), t.Context()
	want := about("Is a vegetarian", inC, "1", "2")
	want.TraceID, want.Pinned = "turn", true
	want.ID = learn(t, db, want)
	got, err := db.Memories.Get(ctx, seesC, want.ID)
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Fatalf("%v\n%s", err, diff)
	}
	if id := learn(t, db, about("is a  VEGETARIAN.", inC, "3")); id != want.ID {
		t.Errorf("the same statement was saved again as %d", id)
	}
	if got, _ = db.Memories.Get(ctx, seesC, want.ID); !slices.Equal(got.Sources, []string{"1", "2", "3"}) {
		t.Errorf("sources: %v", got.Sources)
	}
	other := learn(t, db, about("Is a vegetarian", inDM, "4"))
	if other == want.ID {
		t.Error("a private statement was merged with another")
	}
	mine := about("Is a vegetarian", inC, "5")
	mine.By = "bob"
	if id := learn(t, db, mine); id == want.ID {
		t.Error("a statement has two owners")
	}
	if _, err := db.Memories.Get(ctx, seesC, 99); !errors.Is(err, ErrNotFound) {
		t.Errorf("no such statement: %v", err)
	}
}

// TestNotRemembered checks that a statement needs a source in its scope, and the person's consent.
func TestNotRemembered(t *testing.T) {
	db, ctx := open(t, t.TempDir()), t.Context()
	come(t, db, chat("1", "c", "ada", "hello", 0), chat("2", "other", "ada", "hello", 0))
	by := func(m Memory, change func(*Memory)) Memory { change(&m); return m }
	for name, c := range map[string]struct {
		m    Memory
		want error
	}{
		"no source":                {about("x", inC), ErrNoSource},
		"deleted source":           {about("x", inC, "99"), ErrNoSource},
		"source elsewhere":         {about("x", inC, "2"), ErrNoSource},
		"guild's source in public": {about("x", Scope{Kind: ScopePublic}, "1"), ErrNoSource},
		"private as a server's":    {about("x", Scope{Kind: ScopeGuild, ID: "g", GuildID: "g"}, "1"), ErrNoSource},
		"learned without consent":  {by(about("x", inC, "1"), func(m *Memory) { m.By = "" }), ErrNoConsent},
		"replaces what is not":     {by(about("x", inC, "1"), func(m *Memory) { m.Supersedes = 7 }), ErrNotFound},
		"no scope":                 {about("x", Scope{Kind: ScopeDM}, "1"), errNoScope},
		"a dm's of a server":       {about("x", Scope{Kind: ScopeDM, ID: "c", GuildID: "g"}, "1"), errNoScope},
	} {
		if _, err := db.Memories.Save(ctx, c.m); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
	for name, m := range map[string]Memory{
		"empty": about("  ", inC, "1"), "long": about(strings.Repeat("x", MaxMemoryText+1), inC, "1"),
		"no kind": by(about("x", inC, "1"), func(m *Memory) { m.Kind = "" }), "nobody": by(about("x", inC, "1"), func(m *Memory) { m.Subject = "" }),
	} {
		if _, err := db.Memories.Save(ctx, m); err == nil {
			t.Errorf("%s: was remembered", name)
		}
	}
	if got := everything(t, db); got != "" {
		t.Errorf("remembered: %s", got)
	}
	for i := range MostRemembered {
		if _, err := db.Memories.Save(ctx, about(fmt.Sprint("fact ", i), inC, "1")); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := db.Memories.Save(ctx, about("one more", inC, "1")); !errors.Is(err, ErrTooMany) {
		t.Errorf("too many: %v", err)
	}
}

// TestSupersede checks that a correction replaces a statement, which remains as history until the correction is deleted.
func TestSupersede(t *testing.T) {
	db, ctx := open(t, t.TempDir()), t.Context()
	replace := func(text, source string, id int64) int64 {
		m := about(text, inC, source)
		m.Supersedes = id
		return learn(t, db, m)
	}
	first := learn(t, db, about("Is a vegetarian", inC, "1"))
	if err := db.Memories.Pin(ctx, seesC, first, true, By{}); err != nil {
		t.Fatal(err)
	}
	second := replace("Is a vegan", "2", first)
	third := replace("Eats fish", "3", first) // it names history, so it replaces the second
	if same := replace("Eats fish", "4", third); same != third {
		t.Errorf("replaced by itself: %d", same)
	}
	history, err := db.Memories.History(ctx, seesC, third)
	if got := texts(t, history, err); got != "(Is a vegan); (Is a vegetarian)" {
		t.Errorf("history: %s", got)
	}
	now, err := db.Memories.About(ctx, seesC, []string{"ada"})
	if got := texts(t, now, err); got != "Eats fish" || !now[0].Pinned {
		t.Errorf("now: %s, pinned %v", got, now[0].Pinned)
	}
	for query, want := range map[string]string{"vegan": "", "fish": "Eats fish"} {
		all, err := db.Memories.Search(ctx, seesC, query, 5)
		if got := texts(t, all, err); got != want {
			t.Errorf("search for %q: %s", query, got)
		}
	}
	stranger := about("Is a pirate", inC, "5")
	stranger.Subject, stranger.Supersedes = "bob", third
	elsewhere := about("Is a pirate", inDM, "6")
	elsewhere.Supersedes = third
	for _, m := range []Memory{stranger, elsewhere} {
		come(t, db, Message{ID: m.Sources[0], ChannelID: m.Scope.ID, GuildID: m.Scope.GuildID, At: noon})
		if _, err := db.Memories.Save(ctx, m); !errors.Is(err, ErrNotFound) {
			t.Errorf("replaced from elsewhere: %v", err)
		}
	}
	// The middle of the history is deleted with its message, and the rest with the statement.
	if err := db.Messages.Delete(ctx, "2"); err != nil {
		t.Fatal(err)
	}
	if got := everything(t, db); got != "(Is a vegetarian); Eats fish" {
		t.Errorf("without the second: %s", got)
	}
	if err := db.Memories.Forget(ctx, seesC, first, By{}); !errors.Is(err, ErrNotFound) {
		t.Errorf("history was forgotten by itself: %v", err)
	}
	if err := db.Memories.Forget(ctx, seesC, third, By{}); err != nil || everything(t, db) != "" {
		t.Errorf("after all: %s, %v", everything(t, db), err)
	}
	_ = second
}

func TestSearchMemories(t *testing.T) {
	db, ctx := open(t, t.TempDir()), t.Context()
	for i, text := range []string{"Likes running marathons", "Runs a bakery in Köln", "来週東京に行く", "Plays C++ (NOT Java) OR \"Go\""} {
		learn(t, db, about(text, inC, fmt.Sprint(i)))
	}
	topic := Memory{Kind: MemoryTopic, Scope: inC, Subject: "beekeeping", Text: "Bob has three hives", Sources: []string{"t"}, SaidAt: noon, LearnedAt: noon}
	learn(t, db, topic)
	for query, want := range map[string]string{
		"run a marathon?":      "Likes running marathons; Runs a bakery in Köln",
		"koln":                 "Runs a bakery in Köln",
		"東京へ":                  "来週東京に行く",
		`"c++" -java AND (`:    `Plays C++ (NOT Java) OR "Go"`,
		"Beekeeping":           "Bob has three hives",
		"ada":                  "",
		"!?* ^ : {} near(x,y)": "",
		"":                     "",
	} {
		all, err := db.Memories.Search(ctx, seesC, query, 10)
		if got := texts(t, all, err); got != want {
			t.Errorf("%q: %s, want %s", query, got, want)
		}
	}
	if err := db.Write(ctx, db.Memories.reindex); err != nil {
		t.Fatal(err)
	}
	if all, err := db.Memories.Search(ctx, seesC, "bakery marathons", 1); texts(t, all, err) == "" {
		t.Error("nothing is found after the index was rebuilt")
	}
}

// TestSourcesGo checks that a statement is deleted with the last of its sources, in every way of deleting messages, and that others stay.
func TestSourcesGo(t *testing.T) {
	for name, remove := range map[string]func(*DB, context.Context) error{
		"deleted": func(db *DB, ctx context.Context) error { return db.Messages.Delete(ctx, "1") },
		"edited": func(db *DB, ctx context.Context) error {
			_, err := db.Messages.Edit(ctx, "1", "never mind")
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			db, ctx := open(t, t.TempDir()), t.Context()
			if err := db.Messages.Save(ctx, Message{ID: "1", ChannelID: "c", GuildID: "g", At: noon.Add(-time.Hour)}); err != nil {
				t.Fatal(err)
			}
			for _, m := range []Memory{about("the word shibboleth", inC, "1"), about("rests on two", inC, "1", "2")} {
				come(t, db, Message{ID: "2", ChannelID: "c", GuildID: "g", At: noon})
				if _, err := db.Memories.Save(ctx, m); err != nil {
					t.Fatal(err)
				}
			}
			learn(t, db, about("rests on another", inC, "3"))
			if err := remove(db, ctx); err != nil {
				t.Fatal(err)
			}
			all, err := db.Memories.Export(ctx)
			if got := texts(t, all, err); got != "rests on two; rests on another" || !slices.Equal(all[0].Sources, []string{"2"}) {
				t.Errorf("left: %s, which rests on %v", got, all[0].Sources)
			}
			if found, err := db.Memories.Search(ctx, seesC, "shibboleth", 5); texts(t, found, err) != "" {
				t.Error("it is still found")
			}
		})
	}
	t.Run("left server", func(t *testing.T) {
		db, ctx := open(t, t.TempDir()), t.Context()
		learn(t, db, about("said there", inC, "1"))
		server := about("holds there", Scope{Kind: ScopeGuild, ID: "g", GuildID: "g"}, CommandSource("7"))
		if _, err := db.Memories.Save(ctx, server); err != nil {
			t.Fatal(err)
		}
		learn(t, db, about("said in private", inDM, "2"))
		if _, err := db.Memories.DeleteGuild(ctx, "g"); err != nil || everything(t, db) != "said in private" {
			t.Errorf("left: %s, %v", everything(t, db), err)
		}
	})
}

func TestConsent(t *testing.T) {
	db, ctx := open(t, t.TempDir()), t.Context()
	agrees := func(want bool) {
		t.Helper()
		if got, err := db.Privacy.Consent(ctx, "ada"); got != want || err != nil {
			t.Errorf("agrees: %v, %v", got, err)
		}
	}
	agrees(false)
	if _, err := db.Privacy.SetConsent(ctx, By{ID: "ada", At: noon}, true); err != nil {
		t.Fatal(err)
	}
	agrees(true)
	noticed := about("Gets up late", inC, "1")
	noticed.By = ""
	id := learn(t, db, noticed)
	if again := learn(t, db, about("Gets up late", inC, "2")); again != id { // she now asks for it herself
		t.Errorf("statement %d", again)
	}
	noticed.Text = "Has a cat"
	learn(t, db, noticed)
	learn(t, db, about("Is a vegetarian", inC, "3"))
	if n, err := db.Privacy.SetConsent(ctx, By{ID: "ada", At: noon}, false); n != 1 || err != nil {
		t.Errorf("%d deleted, %v", n, err)
	}
	agrees(false)
	if got := everything(t, db); got != "Gets up late; Is a vegetarian" {
		t.Errorf("left: %s", got)
	}
}

// TestMemoryOutlastsMessages checks that requested statements outlive old messages, and that what the bot learned by itself is kept for its
// own time. The author of a message stays known until they are forgotten or delete the message.
func TestMemoryOutlastsMessages(t *testing.T) {
	db, ctx := open(t, t.TempDir()), t.Context()
	if _, err := db.Privacy.SetConsent(ctx, By{ID: "ada", At: noon}, true); err != nil {
		t.Fatal(err)
	}
	itself := about("Has a parrot", inC, "3")
	itself.By = ""
	for _, m := range []Memory{about("Is a vegetarian", inC, "1"), about("Lives in Lyon", inC, "2"), itself} {
		learn(t, db, m)
	}
	if n, err := db.Messages.Prune(ctx, noon.Add(time.Hour)); n != 3 || err != nil {
		t.Fatalf("%d messages pruned, %v", n, err)
	}
	if got := everything(t, db); got != "Is a vegetarian; Lives in Lyon; Has a parrot" {
		t.Errorf("after the messages went: %s", got)
	}
	if n, err := db.Memories.Prune(ctx, noon.Add(time.Hour)); n != 1 || err != nil {
		t.Errorf("%d memories pruned, %v", n, err)
	}
	if err := db.Messages.Delete(ctx, "2"); err != nil {
		t.Fatal(err)
	}
	if got := everything(t, db); got != "Is a vegetarian" {
		t.Errorf("after the deletion: %s", got)
	}
	if all, err := db.Memories.SourcesOf(ctx, "ada"); fmt.Sprint(all) != "[1]" || err != nil {
		t.Errorf("sources: %v, %v", all, err)
	}
	if err := db.Messages.Erase(ctx, []string{"1"}); err != nil {
		t.Fatal(err)
	}
	if got := everything(t, db); got != "" {
		t.Errorf("after its author was forgotten: %s", got)
	}
}

// TestEveryReadIsScoped reads this package and the whole program: a statement that reads memory and has no condition on scopes is a way
// out for what was said in private. What runs within a transaction changes what it reads and hands nothing out; what hands statements out
// takes a ScopeFilter.
func TestEveryReadIsScoped(t *testing.T) {
	reads := regexp.MustCompile(`(?i)\b(from|join)\s+(memories|memory_words|memory_sources)\b`)
	excepted := []string{ // the operator's, also what makes vectors, which servers there are, and ids of messages or of people alone
		"Memories.Export", "Memories.Browse", "Memories.CountByScope", "FilterOperator", "Vectors.MissingMemories", "Guilds.List", "Memories.readPlaces",
		"Memories.GuildsOf", "Memories.SourcesOf", "People.AllIDs",
	}
	seen := 0
	fset := token.NewFileSet()
	check := func(path string, own bool) {
		file, err := parser.ParseFile(fset, path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			f, isFunc := d.(*ast.FuncDecl)
			name, hasTx, hasFilter, hands, isScoped, isRead := "", false, false, false, false, false
			mentions := func(n ast.Node, want string) (found bool) {
				ast.Inspect(n, func(n ast.Node) bool {
					id, ok := n.(*ast.Ident)
					found = found || ok && id.Name == want
					return true
				})
				return found
			}
			if isFunc {
				name = f.Name.Name
				if f.Recv != nil {
					t := f.Recv.List[0].Type
					if p, ok := t.(*ast.StarExpr); ok {
						t = p.X
					}
					if id, ok := t.(*ast.Ident); ok {
						name = id.Name + "." + name
					}
				}
				hasTx, hasFilter = mentions(f.Type.Params, "Tx"), mentions(f.Type.Params, "ScopeFilter")
				hands = f.Type.Results != nil && mentions(f.Type.Results, "Memory") && f.Name.IsExported()
				isScoped = f.Body != nil && mentions(f.Body, "scoped") && mentions(f.Body, "args")
				isRead = f.Body != nil && (mentions(f.Body, "selectMemory") || mentions(f.Body, "memoriesWith"))
			}
			ast.Inspect(d, func(n ast.Node) bool {
				if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
					s, _ := strconv.Unquote(lit.Value)
					isRead = isRead || reads.MatchString(s)
				}
				return true
			})
			at := fset.Position(d.Pos())
			switch {
			case slices.Contains(excepted, name):
				continue
			case isRead && !own:
				t.Errorf("%s: reads memory past the store", at)
			case isRead && isFunc && !isScoped && (!hasTx || f.Name.IsExported()):
				t.Errorf("%s: %s reads memory without a condition on scopes", at, name)
			case own && hands && !hasFilter:
				t.Errorf("%s: %s hands out memory without a ScopeFilter", at, name)
			}
			if isRead && isScoped {
				seen++
			}
		}
	}
	err := filepath.WalkDir(filepath.Join("..", ".."), func(path string, d os.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go") {
			check(path, filepath.Dir(path) == filepath.Join("..", "..", "internal", "store"))
		}
		return err
	})
	if err != nil || seen < 5 {
		t.Fatalf("%d reads seen, %v", seen, err)
	}
}
