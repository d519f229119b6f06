package store

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"familiar/internal/test/postgres"
)

// found returns the ids of the messages that a search finds, newest first.
func found(t *testing.T, db *DB, q Query) string {
	t.Helper()
	if q.GuildID == "" {
		q.GuildID = "g"
	}
	if q.Channels == nil {
		q.Channels = []string{"c"}
	}
	q.Limit = 10
	ms, err := db.Messages.Search(t.Context(), q)
	if err != nil {
		t.Fatalf("%q: %v", q.Words, err)
	}
	var all []string
	for _, m := range ms {
		all = append(all, m.ID)
	}
	return strings.Join(all, " ")
}

func chat(id, channel, author, text string, at int) Message {
	return Message{ID: id, GuildID: "g", ChannelID: channel, AuthorID: author, AuthorName: author, Text: text, At: time.Unix(int64(1_700_000_000+at), 0)}
}

func come(t *testing.T, db *DB, ms ...Message) {
	t.Helper()
	for _, m := range ms {
		if _, err := arrive(t.Context(), db, m, ""); err != nil {
			t.Fatal(err)
		}
	}
}

func TestSearch(t *testing.T) {
	db := open(t, t.TempDir())
	other := chat("x", "c", "ada", "the deploy of another server", 0)
	other.GuildID = "h"
	direct := chat("d", "c", "ada", "the deploy in private", 0)
	direct.GuildID = ""
	come(t, db, other, direct,
		chat("1", "c", "ada", "The Deploys failed again, see https://ci.example.org/run/77", 10),
		chat("2", "c", "bob", "who broke the remplaçant?", 20),
		chat("3", "staff", "ada", "deploy on friday, but tell nobody", 30),
		chat("4", "c", "ada", "来週の東京出張について話しましょう", 40),
		chat("5", "c", "li", "我们决定用新的数据库", 50),
		chat("6", "c", "som", "วันนี้กินข้าวที่ไหน", 60),
		chat("7", "c", "ada", "C++ isn't (NOT) \"quoted\" AND dull", 70))
	for _, c := range []struct {
		q    Query
		want string
	}{
		{Query{Words: "deploy"}, "1"},
		{Query{Words: "remplacant"}, "2"},
		{Query{Words: "rempla"}, ""},
		{Query{Words: "rempla", Begin: true}, "2"},
		{Query{Words: "DEPLOYED failing"}, "1"},
		{Query{Words: "deploy", Channels: []string{"c", "staff"}}, "3 1"},
		{Query{Words: "deploy", Channels: []string{"none"}}, ""},
		{Query{Words: "deploy", GuildID: "h"}, "x"},
		{Query{Words: "run 77"}, "1"},
		{Query{Words: "東京"}, "4"},
		{Query{Words: "出張について"}, "4"},
		{Query{Words: "京東"}, ""},
		{Query{Words: "数据库"}, "5"},
		{Query{Words: "กินข้าว"}, "6"},
		{Query{Words: `c++ "quoted" (not)`}, "7"},
		{Query{Authors: []string{"ada"}}, "7 4 1"},
		{Query{Authors: []string{"ada"}, From: time.Unix(1_700_000_020, 0), To: time.Unix(1_700_000_060, 0)}, "4"},
		{Query{To: time.Unix(1_700_000_020, 0)}, "1"},
	} {
		if got := found(t, db, c.q); got != c.want {
			t.Errorf("%+v: %q, want %q", c.q, got, c.want)
		}
	}
	if last, err := db.Messages.LastBy(t.Context(), "g", "ada", time.Unix(1_700_000_070, 0), "c"); err != nil || last.ID != "4" {
		t.Errorf("ada's last message: %v, %v", last, err)
	}
	if _, err := db.Messages.LastBy(t.Context(), "g", "eve", time.Now(), "c"); !errors.Is(err, ErrNotFound) {
		t.Error(err)
	}
}

// TestIndexFollows checks that every way to change or delete a message reaches the index. Nothing of it remains in the file.
func TestIndexFollows(t *testing.T) {
	ctx := t.Context()
	for name, gone := range map[string]func(*DB) error{
		"edited":       func(db *DB) error { _, err := db.Messages.Edit(ctx, "1", "nothing"); return err },
		"written down": func(db *DB) error { return db.Messages.SetTranscript(ctx, "1", "nothing", "") },
		"saved":        func(db *DB) error { return db.Messages.Save(ctx, chat("1", "c", "ada", "nothing", 1)) },
		"deleted": func(db *DB) error {
			return errors.Join(db.Messages.Delete(ctx, "1"), db.Messages.FinishDeletion(ctx, "1"))
		},
		"pruned": func(db *DB) error { _, err := db.Messages.Prune(ctx, time.Unix(1_700_000_005, 0)); return err },
		"left":   func(db *DB) error { _, err := db.Messages.DeleteGuild(ctx, "g"); return err },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			db := open(t, dir)
			come(t, db, chat("1", "c", "ada", "the zanzibarian password", 1), chat("2", "c", "ada", "something else", 10))
			if got := found(t, db, Query{Words: "zanzibarian"}); got != "1" {
				t.Fatalf("not found at all: %q", got)
			}
			if err := gone(db); err != nil {
				t.Fatal(err)
			}
			if got := found(t, db, Query{Words: "zanzibarian"}); got != "" {
				t.Errorf("still found: %q", got)
			}
			if err := db.Write(ctx, checkIndex); err != nil {
				t.Errorf("index and messages differ: %v", err)
			}
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
			if postgres.Used() {
				return
			}
			file, err := os.ReadFile(filepath.Join(dir, fileName))
			if err != nil || bytes.Contains(file, []byte("zanzibar")) {
				t.Errorf("still in the file (%v)", err)
			}
		})
	}
}

// TestIndexDue checks that an index with outdated words is rebuilt in the background, newest messages first. Messages written, changed or
// deleted meanwhile are indexed as they are.
func TestIndexDue(t *testing.T) {
	dir, ctx := t.TempDir(), t.Context()
	db := open(t, dir)
	come(t, db, chat("1", "c", "ada", "an old word", 1), chat("2", "c", "ada", "another old word", 2), chat("3", "c", "ada", "a third old word", 3))
	if _, err := db.Exec(ctx, "make the index another's", `UPDATE message_words_progress SET made = 'other'`); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	db = open(t, dir)
	db.indexing.running.Wait()
	if got := found(t, db, Query{Words: "old"}); got != "3 2 1" {
		t.Errorf("found %q", got)
	}
	if err := db.Change(ctx, "empty the index", emptyIndex); err != nil || found(t, db, Query{Words: "old"}) != "" {
		t.Errorf("emptied: %v", err)
	}
	come(t, db, chat("4", "c", "ada", "no old word", 4))
	_, err := db.Messages.Edit(ctx, "1", "an old word, edited")
	if err := errors.Join(err, db.Messages.Delete(ctx, "2")); err != nil {
		t.Fatal(err)
	}
	if got := found(t, db, Query{Words: "old"}); got != "4" {
		t.Errorf("of those that are due there is %q", got)
	}
	if err := db.Messages.indexDue(ctx); err != nil {
		t.Fatal(err)
	}
	if got := found(t, db, Query{Words: "old"}) + ", " + found(t, db, Query{Words: "edited"}); got != "4 3 1, 1" {
		t.Errorf("after building it again: %q", got)
	}
	if err := db.Write(ctx, checkIndex); err != nil {
		t.Errorf("index and messages differ: %v", err)
	}
}

// TestForms finds a word by its other forms, in the language of the search or in an unknown one. In scripts without spaces it finds it
// anywhere.
func TestForms(t *testing.T) {
	db := open(t, t.TempDir())
	for i, c := range []struct{ language, said, word, other string }{
		{"de", "Die Häuser am See sind teuer", "Haus", "Maus"},
		{"de", "habt ihr das Haus gesehen", "Häusern", "Hausflur"},
		{"ru", "я купил новую книгу", "книги", "кино"},
		{"uk", "купив машину", "машини", "миша"},
		{"tr", "evlerimizden çok uzak", "ev", "av"},
		{"tr", "kitabım nerede", "kitaplar", "kite"},
		{"fr", "les chevaux ont faim", "cheval", "chemin"},
		{"es", "compramos dos gatos", "gata", "goma"},
		{"it", "ho visto le tue amiche", "amico", "amaro"},
		{"pt", "as reuniões foram longas", "reunião", "região"},
		{"nl", "we hebben twee katten", "kat", "kast"},
		{"pl", "nowe książki przyszły", "książka", "księżyc"},
		{"en", "we decided on a name", "deciding", "decent"},
		{"ja", "明日は京都へ行く", "京都", "東京"},
		{"zh", "我们决定用新的数据库", "数据", "据点"},
		{"ko", "한국어공부를 했어", "공부", "공원"},
		{"ko", "오늘은 우리집", "집", "짐"},
	} {
		id := fmt.Sprint(i)
		come(t, db, chat(id, "c"+id, "ada", c.said, i))
		for _, language := range []string{c.language, ""} {
			q := Query{Channels: []string{"c" + id}, Words: c.word, Language: language}
			if got := found(t, db, q); got != id {
				t.Errorf("%s in %q: %q", c.word, c.said, got)
			}
			if q.Words = c.other; found(t, db, q) != "" {
				t.Errorf("%s in %q", c.other, c.said)
			}
		}
	}
}

// FuzzSearch searches for arbitrary text. A search is never an error, and a message is found by its own words.
func FuzzSearch(f *testing.F) {
	for _, s := range []string{"", `"`, `a" OR b:*`, "NEAR(a b, 5)", "-x ^y {z}: *", "don't :) C#", "東京 タワー", "ก็", "\x00\xff", "words : (tags)", "e\u0301\u0302", "ﬁ ß İ"} {
		f.Add(s)
	}
	db := open(f, f.TempDir())
	n := 0
	f.Fuzz(func(t *testing.T, s string) {
		n++
		m := chat(fmt.Sprint(n), "c", fmt.Sprint("p", n), s, n)
		come(t, db, m)
		found, err := db.Messages.Search(context.Background(), Query{GuildID: "g", Channels: []string{"c"}, Authors: []string{m.AuthorID}, Words: s, Limit: 1})
		if err != nil || len(found) != 1 {
			t.Errorf("%q as %s: %d, %v", s, match(s, "", false), len(found), err)
		}
	})
}

// checkIndex has FTS5 check the index for damage.
func checkIndex(tx *sql.Tx) error {
	if postgres.Used() {
		var odd int
		err := tx.QueryRow(`SELECT count(*) FROM messages m FULL JOIN message_words w ON w.rowid = m.rowid WHERE m.rowid IS NULL OR w.rowid IS NULL AND m.guild_id <> ''`).Scan(&odd)
		if err == nil && odd > 0 {
			err = fmt.Errorf("%d rows differ", odd)
		}
		return err
	}
	_, err := tx.Exec(`INSERT INTO message_words (message_words) VALUES ('integrity-check')`)
	return err
}

// TestTidyIndexLeavesTheLargestPart checks that a few new messages are not merged with all older ones, and that many are.
func TestTidyIndexLeavesTheLargestPart(t *testing.T) {
	if postgres.Used() {
		t.Skip("a server merges by itself")
	}
	db, ctx := open(t, t.TempDir()), t.Context()
	saved := 0
	save := func(n int) {
		var all []Message
		for range n {
			saved++
			all = append(all, Message{ID: fmt.Sprint(saved), ChannelID: "c", GuildID: "g", Text: fmt.Sprintf("owl%[1]d reads%[1]d chapter%[1]d spectacles%[1]d shelf%[1]d", saved), At: time.Now()})
		}
		if err := db.Messages.Save(ctx, all...); err != nil {
			t.Fatal(err)
		}
	}
	tidied := func() (largest, parts int) {
		if err := db.Messages.TidyIndex(ctx); err != nil {
			t.Fatal(err)
		}
		err := db.Read().QueryRow(`SELECT segid, count(*) OVER () FROM message_words_idx GROUP BY segid ORDER BY count(*) DESC LIMIT 1`).Scan(&largest, &parts)
		if err != nil {
			t.Fatal(err)
		}
		return largest, parts
	}
	save(2000)
	if _, err := db.Exec(ctx, "merge all", `INSERT INTO message_words (message_words) VALUES ('optimize')`); err != nil {
		t.Fatal(err)
	}
	before, _ := tidied()
	save(1)
	if after, parts := tidied(); after != before || parts != 2 {
		t.Errorf("after one more message the largest of %d parts is %d, was %d", parts, after, before)
	}
	save(1000)
	if _, parts := tidied(); parts != 1 {
		t.Errorf("after half as many again there are %d parts", parts)
	}
}

// TestRecall gathers messages with the words and their neighbours, only from readable channels. Newer messages with a word in other
// channels do not matter.
func TestRecall(t *testing.T) {
	db := open(t, t.TempDir())
	begin := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	var all []Message
	add := func(guild, channel, text string) {
		n := len(all)
		all = append(all, Message{ID: fmt.Sprintf("%06d", n), GuildID: guild, ChannelID: channel, AuthorID: "a", AuthorName: "Ada", Text: text, At: begin.Add(time.Duration(n) * time.Minute)})
	}
	add("g", "open", "what shall we call the kitten?")
	add("g", "open", "Biscuit, of course")
	add("g", "closed", "the kitten of the boss is called Swordfish")
	for range perWord + 50 {
		add("h", "other", "a kitten")
	}
	if err := db.Messages.Save(t.Context(), all...); err != nil {
		t.Fatal(err)
	}
	q := Recall{GuildID: "g", Channels: []string{"open"}, Words: [][]string{{"kittens"}, {"absent"}}}
	got, err := db.Messages.Recall(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, m := range got.Messages {
		ids = append(ids, m.ID)
	}
	slices.Sort(ids)
	if !slices.Equal(ids, []string{"000000", "000001"}) {
		t.Errorf("gathered %v", ids)
	}
	if got.Weights[1] <= got.Weights[0] {
		t.Errorf("weights %v: the rarer word is worth more", got.Weights)
	}
	if err := db.Messages.Delete(t.Context(), "000000"); err != nil {
		t.Fatal(err)
	}
	if got, err = db.Messages.Recall(t.Context(), q); err != nil || len(got.Messages) > 0 {
		t.Errorf("after the deletion: %v, %v", got.Messages, err)
	}
	if err := db.Messages.TidyIndex(t.Context()); err != nil {
		t.Error(err)
	}
	q.Channels = nil
	if got, err = db.Messages.Recall(t.Context(), q); err != nil || len(got.Messages) > 0 {
		t.Errorf("without channels: %v, %v", got.Messages, err)
	}
}

// TestKoreanWords finds a word with its suffixes.
func TestKoreanWords(t *testing.T) {
	db := open(t, t.TempDir())
	err := db.Messages.Save(t.Context(),
		Message{ID: "1", GuildID: "g", ChannelID: "c", Text: "우리 강아지가 양탄자를 먹었어", At: noon}, Message{ID: "2", GuildID: "g", ChannelID: "c", Text: "회의가 길었어", At: noon})
	if err != nil {
		t.Fatal(err)
	}
	for _, word := range []string{"강아지", "강아"} {
		got, err := db.Messages.Recall(t.Context(), Recall{GuildID: "g", Channels: []string{"c"}, Words: [][]string{{word}}})
		if err != nil || len(got.Messages) == 0 || got.Messages[0].ID != "1" {
			t.Errorf("%s: %v, %v", word, got.Messages, err)
		}
		found, err := db.Messages.Search(t.Context(), Query{GuildID: "g", Channels: []string{"c"}, Words: word, Limit: 9})
		if err != nil || len(found) != 1 {
			t.Errorf("%s: %v, %v", word, found, err)
		}
	}
}

// TestRecallOfATime gathers messages of the time asked about, even without a word of the question. It gathers none that may not be read.
func TestRecallOfATime(t *testing.T) {
	db := open(t, t.TempDir())
	var all []Message
	for i := range 200 {
		m := Message{ID: fmt.Sprintf("%04d", i), GuildID: "g", ChannelID: "open", Text: fmt.Sprint("words ", i), At: noon.AddDate(0, 0, i)}
		if i%2 == 1 {
			m.ChannelID = "closed"
		}
		all = append(all, m)
	}
	if err := db.Messages.Save(t.Context(), all...); err != nil {
		t.Fatal(err)
	}
	got, err := db.Messages.Recall(t.Context(), Recall{GuildID: "g", Channels: []string{"open"}, Words: [][]string{{"absent"}}, From: noon.AddDate(0, 0, 100), To: noon.AddDate(0, 0, 109)})
	var ids []string
	for _, m := range got.Messages {
		ids = append(ids, m.ID)
	}
	if slices.Sort(ids); err != nil || !slices.Equal(ids, []string{"0100", "0102", "0104", "0106", "0108"}) {
		t.Errorf("gathered %v, %v", ids, err)
	}
}
