package forget

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/memory"
	"familiar/internal/store"
	"familiar/internal/test/bulk"
	"familiar/internal/test/postgres"
	"familiar/internal/test/storetest"
	"familiar/internal/trace"
)

// person is somebody whose id, name and words appear only in their own data.
type person struct{ id, name, words string }

// everybody are the people of a test. The ids of their messages and turns are a letter followed by their own id.
var everybody = []person{
	{"qada", "Adalheid", "the lighthouse of Ada burns at number"},
	{"qben", "Benedikt", "bicycles of Ben are painted green in"},
	{"qcy", "Cyprian", "cormorants of Cy dive for herring at"},
}

func (p person) direct() string       { return "D" + p.id }
func (p person) message(n int) string { return fmt.Sprintf("M%s-%d", p.id, n) }
func (p person) turn(n int) string    { return fmt.Sprintf("T%s-%d", p.id, n) }
func (p person) reply(n int) string   { return fmt.Sprintf("R%s-%d", p.id, n) }
func (p person) says(n int) string    { return fmt.Sprintf("%s %d.", p.words, n) }
func (p person) appearsIn(in string) bool {
	return strings.Contains(in, p.id) || strings.Contains(in, p.name) || strings.Contains(in, p.words)
}

// town is a store with people who use the bot.
type town struct {
	kept
	dir     string
	n       map[string]int  // messages of each person
	private map[string]bool // who wrote to the bot alone
	now     time.Time
}

func newTown(t *testing.T) *town {
	dir := t.TempDir()
	return townIn(storetest.OpenIn(t, dir), dir)
}

func townIn(db *store.DB, dir string) *town {
	return &town{kept: keptIn(db), dir: dir, n: map[string]int{}, private: map[string]bool{}, now: noon}
}

func (w *town) tick() time.Time { w.now = w.now.Add(time.Second); return w.now }

// write saves a message of somebody in a channel of the server, or to the bot alone.
func (w *town) write(p person, direct bool, event string) (turn.Message, error) {
	w.n[p.id]++
	n := w.n[p.id]
	m := turn.Message{ID: p.message(n), ChannelID: "C", Author: turn.Author{ID: p.id, Name: p.name}, Text: p.says(n), At: w.tick()}
	kept := store.Message{ID: m.ID, ChannelID: m.ChannelID, GuildID: "g", AuthorID: p.id, AuthorName: p.name, Text: m.Text, Note: "[image: " + p.name + ".png]", At: m.At}
	if direct {
		m.ChannelID, kept.ChannelID, kept.GuildID = p.direct(), p.direct(), ""
		w.private[p.id] = true
	}
	_, err := w.DB.Messages.SaveIncoming(context.Background(), store.Incoming{Message: kept, Claim: m.ID, Event: event})
	return m, err
}

// eventOf returns the event that is kept for a message until it is answered.
func eventOf(p person, reply *turn.Message) string {
	text, _ := json.Marshal(turn.Event{Kind: turn.Created, Message: turn.Message{ID: "m", Author: turn.Author{ID: p.id, Name: p.name}, Text: p.words, At: noon}, Reply: reply})
	return string(text)
}

// answer saves a turn that answers somebody, with earlier messages of others in the prompt.
func (w *town) answer(p person, m turn.Message, before []turn.Message, quotes bool) error {
	ctx := context.Background()
	n := w.n[p.id]
	tr := record(p.turn(n), w.tick(), "a page that "+p.turn(n)+" read about what "+p.says(n))
	tr.Request.Message, tr.Request.ChannelID, tr.ReplyIDs = m, m.ChannelID, []string{p.reply(n)}
	if tr.Request.GuildID = "g"; m.ChannelID != "C" {
		tr.Request.GuildID = ""
	}
	l := tr.Lookup()
	l.Question, l.Query, l.Block = m.Text, m.Text, "<web>"
	l.Pages[0].URL = "https://example.org/" + p.id
	tr.Reply = "So that is what you say, " + p.name + "."
	history := turn.Outcome{Provider: "history", Status: turn.OK}
	tr.Prompt = []turn.Rendered{{Role: "system", Text: strings.Repeat("You are Sage. ", 30) + "You talk to " + p.name + "."}}
	for i, b := range before {
		history.Contributions = append(history.Contributions, turn.Contribution{Layer: turn.RecentHistory, Source: "history:recent", Message: &before[i]})
		tr.Prompt = append(tr.Prompt, turn.Rendered{Role: "user", Name: b.Author.Name, Text: b.Author.Name + ": " + b.Text})
		if quotes {
			tr.Reply += " Somebody said: " + b.Text
		}
	}
	if len(before) > 0 && quotes {
		tr.Request.Parent, tr.Request.Chain = &before[0], slices.Clone(before[:1])
	}
	tr.Outcomes = append(tr.Outcomes, history)
	if err := w.Save(ctx, tr); err != nil {
		return err
	}
	err := w.DB.Write(ctx, func(tx *sql.Tx) error { // of before, when they were kept
		_, err := tx.Exec(`INSERT INTO buttons (key, turn_id, kind) VALUES (? || '-key', ?, 'why') ON CONFLICT DO NOTHING`, tr.Request.ID, tr.Request.ID)
		return err
	})
	if err != nil {
		return err
	}
	return w.DB.Messages.Save(ctx, store.Message{ID: p.reply(n), ChannelID: m.ChannelID, GuildID: tr.Request.GuildID, AuthorID: "sage", AuthorName: "Sage",
		Text: tr.Reply, ReplyTo: m.ID, TurnID: tr.Request.ID, At: w.tick(), Own: true})
}

// live does something at random that leaves a trace in the store.
func (w *town) live(r *rand.Rand, said []turn.Message) ([]turn.Message, error) {
	ctx := context.Background()
	p := pick(r, everybody)
	other := pick(r, everybody)
	last := said[max(0, len(said)-3):]
	switch r.IntN(13) {
	case 0, 1, 2:
		m, err := w.write(p, false, "")
		return append(said, m), err
	case 3:
		m, err := w.write(p, true, "")
		if err == nil {
			err = w.answer(p, m, nil, false)
		}
		return said, err
	case 4, 5:
		m, err := w.write(p, false, "")
		if err == nil {
			err = w.answer(p, m, slices.Clone(last), r.IntN(2) == 0)
		}
		return append(said, m), err
	case 6:
		var reply *turn.Message
		if len(last) > 0 {
			reply = &last[0]
		}
		m, err := w.write(p, false, eventOf(p, reply))
		return append(said, m), err
	case 7:
		return said, w.DB.Ratings.SaveFeedback(ctx, store.Feedback{Character: "sage", Domain: "example.org", Verdict: "wrong", By: p.id, GuildID: "g", At: w.tick()})
	case 8:
		if w.n[other.id] == 0 {
			return said, nil
		}
		err := w.DB.Ratings.SaveOpinion(ctx, store.Opinion{TurnID: other.turn(w.n[other.id]), By: p.id, GuildID: "g", Verdict: "good", At: w.tick()})
		if err == nil {
			err = w.Press(ctx, other.turn(w.n[other.id]), turn.Press{Kind: "delete", ByID: p.id, At: w.tick()})
		}
		return said, err
	case 9:
		_, err := w.DB.Quotas.TakeAllowances(ctx, time.Now(), store.Allowance{Name: "lookups/person/sage", Person: p.id, Span: time.Hour, Limit: 100})
		for _, day := range []time.Time{time.Now(), noon} {
			if err == nil {
				err = w.DB.Quotas.AddUsage(ctx, day, store.Party{Person: p.id, Channel: "C"}, store.Used{Turns: 1})
			}
		}
		return said, err
	case 10:
		_, err := w.DB.Characters.Change(ctx, store.CharacterChoice{ChannelID: "C" + p.name[:1], GuildID: "g", By: p.id, At: w.tick()}, nil, func([]string) []string { return []string{"sage"} })
		if err == nil {
			err = w.DB.Settings.SwitchOff(ctx, store.Switch{Kind: store.Lookups, Place: "C" + p.name[:1], GuildID: "g", By: p.id, At: w.tick()})
		}
		if err == nil {
			err = w.DB.Settings.SetBackdrop(ctx, store.Backdrop{ChannelID: "C" + p.name[:1], GuildID: "g", Text: p.words, ByID: p.id, ByName: p.name, At: w.tick()})
		}
		if err == nil && w.private[p.id] {
			_, err = w.DB.Settings.ChangeChannel(ctx, store.Channel{ID: p.direct()}, store.By{ID: p.id, At: w.tick()}, func(c *store.Channel) { c.Mode = "text" })
		}
		return said, err
	}
	if len(last) > 0 && r.IntN(2) == 0 {
		return said, w.summarise(last)
	}
	return said, w.remember(r, p, said)
}

// summarise saves a summary of messages, and the record of another's turn that was told the summary.
func (w *town) summarise(last []turn.Message) error {
	s := store.Summary{ChannelID: "C", GuildID: "g", FirstAt: last[0].At, LastAt: last[len(last)-1].At, LastID: last[len(last)-1].ID, Messages: len(last), Made: w.tick(), By: "extractive"}
	told := turn.Outcome{Provider: "history", Status: turn.OK}
	for _, m := range last {
		s.Sentences = append(s.Sentences, store.SummarySentence{Text: m.Author.Name + " says " + m.Text, Sources: []string{m.ID}})
		told.Contributions = append(told.Contributions, turn.Contribution{Layer: turn.HistorySummary, Source: "history:summary", Text: m.Author.Name + " says " + m.Text,
			Summary: &turn.Summary{ChannelID: "C", LastID: m.ID, Sources: []string{m.ID}}})
	}
	tr := record("S"+fmt.Sprint(w.now.Unix()), w.tick(), "a page of somebody else's")
	tr.Outcomes = append(tr.Outcomes, told)
	tr.Prompt = []turn.Rendered{{Role: "system", Text: "Before: " + told.Contributions[0].Text}}
	if err := w.Save(context.Background(), tr); err != nil {
		return err
	}
	return w.Traces.DB.Summaries.Save(context.Background(), s, time.Time{}, nil)
}

func (w *town) remember(r *rand.Rand, p person, said []turn.Message) error {
	ctx := context.Background()
	channel := memory.Scope{Kind: memory.ScopeChannel, ID: "C", GuildID: "g"}
	_, err := w.Memories.SetConsent(ctx, store.By{ID: p.id, At: w.tick()}, true)
	if err == nil {
		_, err = w.Memories.Save(ctx, memory.Statement{Kind: memory.Note, Scope: channel, Text: "note: " + p.words, By: p.id, Sources: []string{memory.CommandSource("c")}, SaidAt: w.tick()})
	}
	if err != nil || len(said) == 0 {
		return err
	}
	about := pick(r, said)
	_, err = w.Memories.Save(ctx, memory.Statement{Kind: memory.Topic, Subject: "of " + about.Author.Name, Scope: channel, Text: "topic: " + about.Text, Sources: []string{about.ID}, SaidAt: about.At})
	return err
}

// rows returns all rows of all tables, unpacked, and all records. It leaves out what a message replies to: the messages of others keep that.
func (w *town) rows(t *testing.T) map[string][]string {
	t.Helper()
	all := map[string][]string{}
	tableNames := `SELECT tablename FROM pg_tables WHERE schemaname = 'public' AND tablename NOT IN ('message_words', 'memory_words', 'trace_words', 'trace_words_progress', 'message_words_progress', 'record_parts', 'open_records', 'unkept_turns')`
	if !postgres.Used() {
		tableNames = `SELECT name FROM sqlite_schema WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%' AND name NOT LIKE '%\_words\_%' ESCAPE '\'
		AND name NOT IN ('record_parts', 'open_records', 'unkept_turns')`
	}
	names, err := w.DB.Read().Query(tableNames)
	if err != nil {
		t.Fatal(err)
	}
	defer names.Close()
	var tables []string
	for names.Next() {
		var name string
		if err := names.Scan(&name); err != nil {
			t.Fatal(err)
		}
		tables = append(tables, name)
	}
	unpack := unpacker(t)
	for _, table := range tables {
		rows, err := w.DB.Read().Query(`SELECT * FROM ` + table)
		if err != nil {
			t.Fatal(err)
		}
		columns, _ := rows.Columns()
		for rows.Next() {
			values := make([]sql.RawBytes, len(columns))
			into := make([]any, len(columns))
			for i := range values {
				into[i] = &values[i]
			}
			if err := rows.Scan(into...); err != nil {
				t.Fatal(err)
			}
			line := ""
			for i, v := range values {
				text := unpack(slices.Clone(v))
				if columns[i] != "rowid" && columns[i] != "reply_to" && columns[i] != "part" && columns[i] != "parts" {
					line += columns[i] + "=" + text + "|"
				}
			}
			all[table] = append(all[table], line)
		}
		rows.Close()
	}
	list, err := w.Recent(t.Context(), "", 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range list {
		whole, err := w.Get(t.Context(), one.ID)
		if err != nil {
			t.Fatal(err)
		}
		text, _ := json.Marshal(whole)
		all["records"] = append(all["records"], string(text))
	}
	return all
}

// words counts the rows of the full-text indexes with words of a person.
func (w *town) words(t *testing.T, p person) (n int) {
	t.Helper()
	for _, table := range []string{"message_words", "memory_words", "trace_words"} {
		for _, word := range append(strings.Fields(p.words)[:1:1], strings.Fields(p.words)[1]) {
			var found int
			if err := w.DB.Read().QueryRow(`SELECT count(*) FROM `+table+` WHERE `+table+` MATCH ?`, `"`+word+`" AND "`+strings.Fields(p.words)[2]+`"`).Scan(&found); err != nil {
				t.Fatal(err)
			}
			n += found
		}
	}
	return n
}

func pick[T any](r *rand.Rand, all []T) T { return all[r.IntN(len(all))] }

// TestEraseIsComplete fills the store at random and forgets one person. No row of any table holds their id, name or words. Every row that
// did not hold them is unchanged.
func TestEraseIsComplete(t *testing.T) {
	for seed := range uint64(bulk.Of(2, 5)) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(seed, 0))
			w := newTown(t)
			var said []turn.Message
			for range 20 + 12*seed {
				var err error
				if said, err = w.live(r, said); err != nil {
					t.Fatal(err)
				}
			}
			w.forgets(t, pick(r, everybody))
		})
	}
}

// forgets forgets somebody and compares the rows before and after.
func (w *town) forgets(t *testing.T, p person) {
	if err := w.IndexWords(t.Context()); err != nil {
		t.Fatal(err)
	}
	before := w.rows(t)
	surveyed, err := w.Survey(t.Context(), p.id)
	if err != nil {
		t.Fatal(err)
	}
	e, err := w.Person(t.Context(), p.id, false, w.tick())
	if err != nil {
		t.Fatal(err)
	}
	if fmt.Sprint(surveyed) != fmt.Sprint(e.Before) {
		t.Errorf("counted before %v, then %v", surveyed, e.Before)
	}
	if e.Left() != 0 {
		t.Errorf("left: %v of %v", e.After, e.Before)
	}
	after := w.rows(t)
	for table, rows := range after {
		for _, row := range rows {
			if p.appearsIn(row) {
				t.Errorf("%s: %s", table, row)
			}
		}
	}
	for table, rows := range before {
		for _, row := range rows {
			if !p.appearsIn(row) && !slices.Contains(after[table], row) && !slices.Contains([]string{"texts", "trace_texts", "memory_sources", "summaries"}, table) {
				t.Errorf("%s: changed or gone: %s", table, row)
			}
		}
	}
	if n := w.words(t, p); n > 0 {
		t.Errorf("%d rows of the indexes", n)
	}
}

// TestEraseLeavesNoBytes looks for a person's words in the files of the database. Meanwhile turns are saved: one of that person, which ends later,
// and others that were shown their words.
func TestEraseLeavesNoBytes(t *testing.T) {
	dir := t.TempDir()
	w := townIn(storetest.OpenFile(t, dir), dir)
	gone, other := everybody[0], everybody[1]
	ctx, many := t.Context(), bulk.Of(40, 100)
	for range many {
		m, err := w.write(gone, false, "")
		if err == nil {
			_, err = w.write(other, false, "")
		}
		if err == nil && w.n[gone.id]%10 == 0 {
			err = w.answer(gone, m, nil, false)
		}
		if err == nil && w.n[gone.id]%10 == 5 {
			err = w.answer(other, turn.Message{ID: other.message(w.n[other.id]), ChannelID: "C", Author: turn.Author{ID: other.id, Name: other.name}, Text: other.words, At: w.now}, []turn.Message{m}, true)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if n := w.bytesOf(t, gone); n == 0 {
		t.Fatal("the test has nothing to look for")
	}
	var writing sync.WaitGroup
	stop, began, wrote := make(chan struct{}), make(chan struct{}), make(chan struct{})
	running := record(gone.turn(9999), time.Now(), "a page of a turn that goes on")
	running.Phase, running.Request.GuildID = turn.Begun, "g"
	running.Request.Message = turn.Message{ID: gone.message(9999), ChannelID: "C", Author: turn.Author{ID: gone.id, Name: gone.name}, Text: gone.says(9999), At: w.now}
	theirs := running.Request.Message
	shown := record(other.turn(8888), time.Now(), "a page of another turn")
	shown.Phase = turn.Begun
	shown.Request.Message = turn.Message{ID: other.message(8888), ChannelID: "C", Author: turn.Author{ID: other.id, Name: other.name}, Text: "what was that?", At: w.now}
	shown.Outcomes = append(shown.Outcomes, turn.Outcome{Provider: "history", Contributions: []turn.Contribution{{Layer: turn.RecentHistory, Message: &theirs}}})
	shown.Prompt = []turn.Rendered{{Role: "user", Text: gone.name + ": " + gone.says(9999)}}
	writing.Go(func() {
		for n := 0; ; n++ {
			if n == 3 {
				close(began)
			}
			select {
			case <-stop:
				return
			case wrote <- struct{}{}:
			default:
			}
			for _, err := range []error{
				w.Save(ctx, running), w.Save(ctx, shown),
				w.DB.Claims.SavePost(ctx, "", running.Request.ID, n%3, store.Post{ID: gone.reply(9999), Text: "You said: " + gone.says(9999)}),
				w.DB.Messages.Save(ctx, store.Message{ID: gone.reply(9999), ChannelID: "C", GuildID: "g", Text: "You said: " + gone.says(9999), Own: true, TurnID: running.Request.ID, At: time.Now()},
					store.Message{ID: gone.message(9999), ChannelID: "C", GuildID: "g", AuthorID: gone.id, AuthorName: gone.name, Text: gone.says(9999), At: noon}),
			} {
				if err != nil {
					t.Error(err)
				}
			}
		}
	})
	<-began
	e, err := w.Person(ctx, gone.id, false, time.Now())
	if err != nil || e.Left() > 0 || e.Before[KindMessages] != many+1 {
		t.Errorf("%+v, %v", e, err)
	}
	<-wrote
	<-wrote // others have gone through one whole round since
	close(stop)
	writing.Wait()
	running.Phase = turn.Answered
	if err := w.Save(ctx, running); err != nil {
		t.Error(err)
	}
	if err := w.DB.Scrub(ctx); err != nil {
		t.Error(err)
	}
	if n := w.bytesOf(t, gone); n > 0 {
		t.Errorf("%d places of the files hold them", n)
	}
	if n := w.bytesOf(t, other); n == 0 {
		t.Error("others are gone, too")
	}
	if left, err := w.Survey(ctx, gone.id); err != nil || (Erased{After: left}).Left() > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}

// bytesOf counts the places in the files of the database that hold somebody's id, name or words. Ids of turns do not count.
func (w *town) bytesOf(t *testing.T, p person) (n int) {
	t.Helper()
	for _, name := range []string{"familiar.db", "familiar.db-wal", "familiar.db-shm"} {
		content, err := os.ReadFile(filepath.Join(w.dir, name))
		if err != nil {
			t.Fatal(err)
		}
		content = bytes.ReplaceAll(content, []byte("T"+p.id), nil)
		for _, theirs := range []string{p.words, p.name, p.id} {
			for at := bytes.Index(content, []byte(theirs)); at >= 0; at = bytes.Index(content, []byte(theirs)) {
				if n++; n < 3 {
					t.Logf("%s: %q", name, content[max(0, at-60):min(len(content), at+60)])
				}
				content = content[at+len(theirs):]
			}
		}
	}
	return n
}

// TestOptedOut saves turns of somebody who opted out, and of another person who replies to them. No record and no other row has their id,
// name or words, but their usage is counted. After they have opted in, everything is kept again.
func TestOptedOut(t *testing.T) {
	w := newTown(t)
	out, other := everybody[0], everybody[1]
	ctx := t.Context()
	if err := w.DB.Privacy.OptOut(ctx, out.id, true, noon); err != nil {
		t.Fatal(err)
	}
	m, err := w.write(out, false, eventOf(out, nil))
	if err == nil {
		err = w.answer(out, m, nil, false)
	}
	var question turn.Message
	if err == nil {
		question, err = w.write(other, false, eventOf(other, &m))
	}
	if err == nil {
		err = w.answer(other, question, []turn.Message{m}, true)
	}
	if err == nil {
		err = w.Press(ctx, other.turn(1), turn.Press{Kind: "delete", ByID: out.id, At: noon})
	}
	if err == nil {
		err = w.DB.Quotas.AddUsage(ctx, noon, store.Party{Person: out.id}, store.Used{Turns: 1})
	}
	if err == nil {
		err = w.DB.Settings.SwitchOff(ctx, store.Switch{Kind: store.Answers, Place: "C", GuildID: "g", By: out.id, At: noon})
	}
	if err == nil {
		err = w.DB.Ratings.SaveOpinion(ctx, store.Opinion{TurnID: other.turn(1), By: out.id, Verdict: "good", At: noon})
	}
	if err != nil {
		t.Fatal(err)
	}
	for what, err := range map[string]error{
		"feedback": w.DB.Ratings.SaveFeedback(ctx, store.Feedback{Character: "sage", Domain: "example.org", Verdict: "wrong", By: out.id, At: noon}),
		"memory": func() error {
			_, err := w.Memories.Save(ctx, memory.Statement{Kind: memory.Note, Scope: memory.Scope{Kind: memory.ScopeDM, ID: "D"}, Text: out.words, By: out.id, Sources: []string{memory.CommandSource("c")}, SaidAt: noon})
			return err
		}(),
		"consent": func() error { _, err := w.Memories.SetConsent(ctx, store.By{ID: out.id, At: noon}, true); return err }(),
	} {
		if !errors.Is(err, store.ErrOptedOut) {
			t.Errorf("%s: %v", what, err)
		}
	}
	for table, rows := range w.rows(t) {
		for _, row := range rows {
			if strings.HasPrefix(row, "id="+other.reply(1)) { // what the bot says to others it says
				continue
			}
			row = strings.ReplaceAll(strings.ReplaceAll(row, "M"+out.id, ""), "T"+out.id, "") // ids of messages and turns are kept
			if out.appearsIn(strings.ReplaceAll(row, "R"+out.id, "")) {
				t.Errorf("%s: %s", table, row)
			}
		}
	}
	if got, err := w.Get(ctx, out.turn(1)); err != nil || got.Err != optedOut || got.Phase != turn.Answered || got.Request.Message.Author.ID != w.DB.Privacy.Pseudonym(out.id) {
		t.Errorf("record %+v, %v", got, err)
	}
	if got, err := w.Get(ctx, other.turn(1)); err != nil || got.Request.Message.Text != other.says(1) || !strings.Contains(got.Reply, deleted) {
		t.Errorf("record %+v, %v", got, err)
	}
	if used, err := w.DB.Quotas.Usage(ctx, noon, store.Party{Person: out.id}); err != nil || used[store.OfPerson].Turns != 1 {
		t.Errorf("used %+v, %v", used, err)
	}
	if err := w.DB.Privacy.OptOut(ctx, out.id, false, noon); err != nil {
		t.Fatal(err)
	}
	if m, err = w.write(out, false, ""); err != nil {
		t.Fatal(err)
	}
	if kept, err := w.DB.Messages.Get(ctx, m.ID); err != nil || kept.Text != m.Text {
		t.Errorf("%+v, %v", kept, err)
	}
}

// TestEraseIsResumed finishes the erasure that an earlier process began.
func TestEraseIsResumed(t *testing.T) {
	w := newTown(t)
	p := everybody[0]
	if _, err := w.write(p, true, eventOf(p, nil)); err != nil {
		t.Fatal(err)
	}
	if err := w.DB.Privacy.BeginErasure(t.Context(), p.id, true, w.tick()); err != nil {
		t.Fatal(err)
	}
	if err := w.Resume(t.Context()); err != nil {
		t.Fatal(err)
	}
	for table, rows := range w.rows(t) {
		for _, row := range rows {
			if p.appearsIn(row) {
				t.Errorf("%s: %s", table, row)
			}
		}
	}
	acts, err := w.DB.Privacy.Acts(t.Context(), p.id)
	if err != nil || len(acts) != 1 || acts[0].Act != store.ActForget || !acts[0].ByOperator {
		t.Errorf("on record: %+v, %v", acts, err)
	}
	// A message from before comes again, as after a lost connection: it is neither kept nor answered.
	again := store.Message{ID: p.message(1), ChannelID: p.direct(), AuthorID: p.id, AuthorName: p.name, Text: p.says(1), At: noon}
	first, err := w.DB.Messages.SaveIncoming(t.Context(), store.Incoming{Message: again, Claim: again.ID, Event: eventOf(p, nil)})
	if err != nil || first[0] {
		t.Errorf("it is new: %v, %v", first, err)
	}
}

// TestErasureCoversWhatIsWrittenMeanwhile has another process save a record that quotes a person, when their records have been gone through.
func TestErasureCoversWhatIsWrittenMeanwhile(t *testing.T) {
	s, ctx := open(t), t.Context()
	said := turn.Message{ID: "M", ChannelID: "c", Text: "the old boathouse burned down in the spring of that year", At: noon.Add(-time.Minute)}
	keepMessage(t, s, said)
	late := record("T", noon)
	late.Request.Message.Author = turn.Author{ID: "v", Name: "Ben"}
	late.Reply = "As somebody said: " + said.Text
	beside := &trace.Store{DB: s.DB}
	s.Caches = func() error { return beside.Save(ctx, late) } // the last step of the walk
	if _, err := s.Person(ctx, "u", false, noon); err != nil {
		t.Fatal(err)
	}
	if kept, err := beside.Get(ctx, "T"); err != nil || strings.Contains(kept.Reply, "boathouse") || !strings.Contains(kept.Reply, deleted) {
		t.Errorf("%v: %q", err, kept.Reply)
	}
}
