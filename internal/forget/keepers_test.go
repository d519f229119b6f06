package forget

import (
	"cmp"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"familiar/internal/store"
	"familiar/internal/test/postgres"
	"familiar/internal/test/storetest"
)

// TestEveryColumnIsOnTheList compares the list with the schema of each engine. A new table or column needs a decision about what it holds of
// people and what happens to that.
func TestEveryColumnIsOnTheList(t *testing.T) {
	t.Run("SQLite", func(t *testing.T) {
		s := keptIn(storetest.OpenFile(t, t.TempDir()))
		key := ""
		for _, k := range s.keepers() {
			if err := s.DB.Read().QueryRow(`SELECT coalesce(group_concat(name, ', '), '') FROM (SELECT name FROM pragma_table_info(?) WHERE pk ORDER BY pk)`, k.table).Scan(&key); err != nil {
				t.Fatal(err)
			}
			if k.key != "" && k.key != key && key != "" {
				t.Errorf("the key of table %s is %q, not %q", k.table, key, k.key)
			}
		}
		compareList(t, s, nil, `SELECT t.name, c.name FROM pragma_table_list t, pragma_table_info(t.name) c
			WHERE t.type IN ('table', 'virtual') AND t.schema = 'main' AND t.name NOT LIKE 'sqlite\_%' ESCAPE '\' AND t.name NOT LIKE 'goose\_%' ESCAPE '\'`)
	})
	t.Run("PostgreSQL", func(t *testing.T) {
		postgres.Needed(t)
		compareList(t, open(t), map[string]string{"message_words": "words", "trace_words": "words", "memory_words": "words size"},
			`SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = 'public' AND table_name <> 'goose_db_version' AND column_name <> 'rowid'`)
	})
}

// compareList compares the list with the columns that a query returns with their tables. indexes are tables that have other columns in this
// engine.
func compareList(t *testing.T, s kept, indexes map[string]string, query string) {
	schema, listed := map[string][]string{}, map[string][]string{} // by table
	rows, err := s.DB.Read().Query(query)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var table, column string
		if err := rows.Scan(&table, &column); err != nil {
			t.Fatal(err)
		}
		schema[table] = append(schema[table], column)
	}
	for _, k := range s.keepers() {
		columns := cmp.Or(indexes[k.table], k.people+" "+k.other)
		if !k.onServer || indexes != nil {
			listed[k.table] = append(listed[k.table], strings.Fields(columns)...)
		}
	}
	for table, columns := range schema {
		if listed[table] == nil {
			t.Errorf("table %s is not on the list: say in keepers.go what of people it holds, and what happens to that", table)
		}
		for _, column := range columns {
			if !slices.Contains(listed[table], column) {
				t.Errorf("column %s of table %s is not on the list in keepers.go", column, table)
			}
		}
	}
	for table, columns := range listed {
		if schema[table] == nil && table != "caches" {
			t.Errorf("there is no table %s", table)
		}
		for i, column := range columns {
			if !slices.Contains(schema[table], column) || slices.Contains(columns[:i], column) {
				t.Errorf("column %s of table %s is not there, or listed twice", column, table)
			}
		}
	}
}

// TestEveryKeeperSaysWhatHappens checks that each table has a rule, or a reason, for each case.
func TestEveryKeeperSaysWhatHappens(t *testing.T) {
	for _, k := range open(t).keepers() {
		if k.people != "" && (len(k.person) == 0 || len(k.server) == 0 || k.optedOut == "") {
			t.Errorf("table %s holds something of people: what happens when a person is forgotten, has opted out, and when the bot has left the server?", k.table)
		}
		if slices.Contains(strings.Fields(k.other), "guild_id") && len(k.server) == 0 {
			t.Errorf("table %s holds something of servers: what happens when the bot has left one?", k.table)
		}
		if k.kind != "" && !slices.Contains(Kinds(), k.kind) {
			t.Errorf("table %s: there is no kind %q", k.table, k.kind)
		}
		for _, r := range slices.Concat(k.message, k.person, k.server, k.old) {
			n := 0
			for _, set := range []bool{r.where != "", r.do != nil, r.why != ""} {
				if set {
					n++
				}
			}
			if n != 1 {
				t.Errorf("table %s: a rule has a condition, or a function, or a reason: %+v", k.table, r)
			}
			if r.where != "" && k.onServer {
				t.Errorf("table %s: a rule has a condition, and SQLite has no such table", k.table)
			}
			if r.where != "" && k.key == "" {
				t.Errorf("table %s: a rule has a condition, and nothing names a row", k.table)
			}
		}
	}
}

// TestServer fills every table that names servers: the rows of one server go, and the rows of another stay.
func TestServer(t *testing.T) {
	s := open(t)
	var tables []string
	for _, guild := range []string{"g", "h"} {
		tr := record("v"+guild, noon, "a page of "+guild)
		tr.Request.GuildID = guild
		save(t, s, tr)
	}
	for _, k := range s.keepers() {
		if !slices.Contains(strings.Fields(k.other), "guild_id") || k.table == "traces" {
			continue
		}
		tables = append(tables, k.table)
		for _, guild := range []string{"g", "h"} {
			insert(t, s, k.table, guild)
		}
	}
	if len(tables) < 15 {
		t.Fatalf("only %v", tables)
	}
	if err := s.Server(t.Context(), "g"); err != nil {
		t.Fatal(err)
	}
	for _, table := range append(tables, "traces") {
		var of, other int
		if err := s.DB.Read().QueryRow(`SELECT count(*) FILTER (WHERE guild_id = 'g'), count(*) FILTER (WHERE guild_id = 'h') FROM `+table).Scan(&of, &other); err != nil {
			t.Fatal(err)
		}
		if of != 0 || other != 1 {
			t.Errorf("%s: %d rows of the server, %d of another", table, of, other)
		}
	}
}

// insert puts a row of a server into a table. Each of its texts is "v" and the server.
func insert(t *testing.T, s kept, table, guild string) {
	t.Helper()
	if table == "messages" { // messages have an index in another table
		if err := s.DB.Messages.Save(t.Context(), store.Message{ID: "v" + guild, GuildID: guild, At: noon}); err != nil {
			t.Fatal(err)
		}
		return
	}
	types := `SELECT name, type FROM pragma_table_info(?)`
	if postgres.Used() {
		types = `SELECT column_name, CASE data_type WHEN 'text' THEN 'TEXT' WHEN 'boolean' THEN 'BOOLEAN' WHEN 'bigint' THEN CASE column_name WHEN 'id' THEN 'INTEGER' ELSE 'BIGINT' END ELSE 'BLOB' END
			FROM information_schema.columns WHERE table_name = CAST(? AS TEXT) AND column_name <> 'rowid'`
	}
	rows, err := s.DB.Read().Query(types, table)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var columns, values []string
	for rows.Next() {
		var column, kind string
		if err := rows.Scan(&column, &kind); err != nil {
			t.Fatal(err)
		}
		value := "'v" + guild + "'"
		switch {
		case column == "guild_id":
			value = "'" + guild + "'"
		case column == "sentences":
			value = "'[]'"
		case column == "superseded": // indexes hold only the others
			value = "TRUE"
		case column == "id" && kind == "INTEGER":
			continue
		case kind == "BOOLEAN":
			value = "FALSE"
		case kind == "BLOB":
			value = "''"
		case kind != "TEXT":
			value = "0"
		}
		columns, values = append(columns, column), append(values, value)
	}
	err = s.DB.Write(t.Context(), func(tx *sql.Tx) error {
		_, err := tx.Exec(`INSERT INTO ` + table + ` (` + strings.Join(columns, ", ") + `) VALUES (` + strings.Join(values, ", ") + `)`)
		return err
	})
	if err != nil {
		t.Fatalf("%s: %v", table, err)
	}
}

// TestOld deletes what is older than the limit of its class. A class without a limit stays.
func TestOld(t *testing.T) {
	s, ctx := open(t), t.Context()
	for i, at := range []time.Time{noon, noon.Add(time.Hour)} {
		id := fmt.Sprint(i)
		s.DB.Now = func() time.Time { return at }
		_, err := s.DB.Messages.SaveIncoming(ctx, store.Incoming{Message: store.Message{ID: id, ChannelID: "c", GuildID: "g", AuthorID: "u" + id, AuthorName: "Ada", Text: "words", At: at}})
		if err == nil {
			err = s.DB.Ratings.SaveFeedback(ctx, store.Feedback{Domain: id + ".org", At: at})
		}
		if err != nil {
			t.Fatal(err)
		}
		save(t, s, record("T"+id, at, "page "+id))
		_, err = s.DB.Claims.Claim(ctx, "claim "+id)
		if err == nil {
			err = s.DB.Claims.SavePost(ctx, "", "T"+id, 0, store.Post{ID: "post " + id})
		}
		if err == nil {
			err = s.DB.Changes.Record(ctx, store.Change{By: store.By{At: at}, Kind: store.ChangeFiles, To: id})
		}
		if err == nil {
			err = s.DB.Quotas.AddUsage(ctx, at.AddDate(0, 0, i), store.Party{}, store.Used{Turns: 1})
		}
		if err == nil {
			err = s.DB.Write(ctx, func(tx *store.Tx) error { return s.DB.Privacy.LeaveUnkept(tx, id) })
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	middle := noon.Add(30 * time.Minute)
	removed, err := s.Old(ctx, Limits{Messages: middle, Records: middle})
	if got := fmt.Sprint(removed); got != "[{traces 1} {messages 1}]" || err != nil {
		t.Errorf("%s, %v", got, err)
	}
	records, messages, err := s.Forgetter.Oldest(ctx, 1, Limits{Records: middle, Messages: noon.Add(2 * time.Hour)})
	if records != 0 || messages != 1 || err != nil {
		t.Errorf("of the oldest, %d records and %d messages, %v", records, messages, err)
	}
	day := noon.AddDate(0, 0, 1)
	removed, err = s.Old(ctx, Limits{Answered: middle, Feedback: middle, Usage: day, Changes: middle, Unkept: time.Now().Add(time.Minute)})
	if got := fmt.Sprint(removed); got != "[{claims 2} {posts 1} {feedback 1} {usage 1} {changes 1} {unkept_turns 2}]" || err != nil {
		t.Errorf("of the rest, %s, %v", got, err)
	}
	for table, want := range map[string]int{"traces": 1, "messages": 0, "feedback": 1, "people": 2, "claims": 2, "posts": 1} {
		if n, err := s.DB.CountRows(ctx, table, `TRUE`, nil); n != want || err != nil {
			t.Errorf("%d rows in %s, want %d, %v", n, table, want, err)
		}
	}
}

// TestErasureEmptiesCaches checks that an erasure is not finished before the caches are empty.
func TestErasureEmptiesCaches(t *testing.T) {
	s, ctx := open(t), t.Context()
	broken := errors.New("the disk is full")
	s.Caches = func() error { return broken }
	if _, err := s.Person(ctx, "u", false, noon); !errors.Is(err, broken) {
		t.Error(err)
	}
	if all, err := s.DB.Privacy.Erasures(ctx); len(all) != 1 || err != nil {
		t.Errorf("%v, %v", all, err)
	}
	broken = nil
	if err := s.Resume(ctx); err != nil {
		t.Error(err)
	}
	if all, err := s.DB.Privacy.Erasures(ctx); len(all) != 0 || err != nil {
		t.Errorf("%v, %v", all, err)
	}
}
