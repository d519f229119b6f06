package trace

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/store"

	"familiar/internal/test/storetest"
	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func open(tb testing.TB) *Store {
	tb.Helper()
	return &Store{DB: storetest.Open(tb), SearchTime: time.Minute}
}

var noon = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

// record returns an answered turn that looked up pages of these texts.
func record(id string, began time.Time, texts ...string) *turn.Trace {
	l := &turn.Lookup{State: turn.Found, Reason: "asked", Query: "otters", Began: began,
		Hits: []turn.Hit{{Backend: "searxng", Rank: 1, Title: "Otters <b>&amp;</b>", URL: "https://example.org/?a=1&b=2"}}}
	for i, text := range texts {
		l.Pages = append(l.Pages, turn.Page{N: i + 1, URL: fmt.Sprintf("https://example.org/%d", i), SHA256: "of the body", Text: text})
	}
	return &turn.Trace{
		Request: turn.Request{ID: id, Character: "sage", GuildID: "g", ChannelID: "c", Mode: turn.Text,
			Message: turn.Message{ID: "q" + id, Author: turn.Author{ID: "u", Name: "Ada"}, Text: "what do\notters eat?", At: began},
			Budget:  turn.Budget{Total: 100, Layers: map[turn.Layer]int{turn.Core: 10}}},
		Phase: turn.Answered,
		Outcomes: []turn.Outcome{
			{Provider: "character", Status: turn.OK, Contributions: []turn.Contribution{{Layer: turn.Core, Text: "You are Sage."}}},
			{Provider: "websearch", Status: turn.OK, Contributions: []turn.Contribution{{Layer: turn.Content, Web: true, Lookup: l}}},
		},
		Prompt: []turn.Rendered{{Role: "system", Text: "<you> are Sage"}},
		Model:  "m", Reply: "Fish [1].", ReplyIDs: []string{"r" + id, "s" + id}, Began: began, Took: 1500 * time.Millisecond,
	}
}

func count(t *testing.T, s *Store, table string) (n int) {
	t.Helper()
	if err := s.DB.Read().QueryRow(`SELECT count(*) FROM ` + table).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

func save(t *testing.T, s *Store, ts ...*turn.Trace) {
	t.Helper()
	for _, tr := range ts {
		if err := s.Save(t.Context(), tr); err != nil {
			t.Fatal(err)
		}
	}
}

func TestSaveAndGet(t *testing.T) {
	s := open(t)
	want := record("T1", noon, "page one", "", "page three", "page one")
	before, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	save(t, s, want)
	if after, err := json.Marshal(want); err != nil || string(after) != string(before) {
		t.Errorf("Save changed what it was given: %v", err)
	}
	got, err := s.Get(t.Context(), "T1")
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("Get: %v\n%s", err, diff)
	}
	_, packed, err := readBody(s.DB.Read().Query(bodyQuery))
	if err != nil {
		t.Fatal(err)
	}
	bare, err := s.packer.unpack(packed)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(bare, "page one") || !strings.Contains(bare, "<you> are Sage") || !strings.Contains(bare, "of the body") {
		t.Errorf("record: %s", bare)
	}
	h := sha256.Sum256([]byte("page one"))
	var body []byte
	if err := s.DB.Read().QueryRow(`SELECT body FROM texts WHERE sum = ?`, h[:]).Scan(&body); err != nil {
		t.Fatal(err)
	}
	if text, err := s.packer.unpack(body); err != nil || text != "page one" {
		t.Errorf("page: %q, %v", text, err)
	}
	if n := count(t, s, "texts"); n != 2 {
		t.Errorf("%d pages are kept", n)
	}
}

func TestPhases(t *testing.T) {
	s, whole := open(t), record("T1", noon, "page one", "page two")
	begun := *whole
	begun.Phase, begun.Outcomes, begun.Reply, begun.ReplyIDs, begun.Took, begun.Model = turn.Begun, nil, "", nil, 0, ""
	answering := *whole
	answering.Phase, answering.Reply, answering.ReplyIDs = turn.Answering, "", nil
	other := record("T1", noon, "page two", "page three")
	for _, tr := range []*turn.Trace{&begun, &answering, whole, whole, other} {
		save(t, s, tr)
		got, err := s.Get(t.Context(), "T1")
		if diff := cmp.Diff(tr, got); err != nil || diff != "" {
			t.Errorf("%s: %v\n%s", tr.Phase, err, diff)
		}
		all, err := s.Recent(t.Context(), "", 9)
		want := summarise(tr, tr.Request.Message.Text)
		if tr.Phase.Over() {
			want.Said = s.searchText(tr)
		}
		if err != nil || len(all) != 1 || all[0] != want {
			t.Errorf("%s: %v, %v", tr.Phase, all, err)
		}
	}
	if n := count(t, s, "texts"); n != 2 {
		t.Errorf("%d pages are kept, and one of them belongs to no record", n)
	}
}

// TestSecretAtTheCut keeps a question whose list line would end within a secret.
func TestSecretAtTheCut(t *testing.T) {
	s := open(t)
	const secret = "hunter2-correct-horse-battery"
	s.Redact = func(s string) string { return strings.ReplaceAll(s, secret, "[secret]") }
	tr := record("T1", noon)
	tr.Request.Message.Text = strings.Repeat("x ", 50) + "password " + secret + ", is it good?"
	save(t, s, tr)
	all, err := s.Recent(t.Context(), "", 1)
	if err != nil || len(all) != 1 || !strings.Contains(all[0].Question, "password [secret]") || strings.Contains(all[0].Question, "hunter2") {
		t.Errorf("%v, %v", all, err)
	}
}

// TestOldRecord reads a record from before records were compressed, with pages and without a shared text.
func TestOldRecord(t *testing.T) {
	s, want := open(t), record("T1", noon, "page one", "page two")
	bare := clone(want)
	for _, at := range pageTexts(&bare) {
		*at = ""
	}
	text, err := encode(&bare)
	if err != nil {
		t.Fatal(err)
	}
	err = s.DB.Write(t.Context(), func(tx *sql.Tx) error {
		_, err := tx.Exec(`INSERT INTO traces (`+summaryColumns+`, guild_id, record) VALUES ('T1', 0, 0, '', '', '', 'answered', '', '', '', '', 0, 0, 0, '', '', ?)`, text)
		if err == nil {
			_, err = tx.Exec(`INSERT INTO texts (sum, body) VALUES (?, ?), (?, ?)`, []byte{1}, []byte("page one"), []byte{2}, []byte("page two"))
		}
		if err == nil {
			_, err = tx.Exec(`INSERT INTO trace_texts (trace_id, n, text_id) SELECT 'T1', id - 1, id FROM texts`)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	got, err := s.Get(t.Context(), "T1")
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("Get: %v\n%s", err, diff)
	}
}

func TestByMessage(t *testing.T) {
	s := open(t)
	again := record("T3", noon.Add(time.Minute))
	again.Request.Message.ID = "qT1" // the question was edited and answered once more, in the same reply
	again.ReplyIDs = []string{"rT1"}
	save(t, s, again, record("T1", noon, "page one"), record("T2", noon))
	for id, want := range map[string]string{"qT1": "T3", "rT1": "T3", "sT1": "T1", "qT2": "T2", "rT2": "T2"} {
		got, err := s.ByMessage(t.Context(), id)
		if err != nil || got.Request.ID != want {
			t.Errorf("ByMessage(%s): %v, %v", id, got, err)
		}
	}
	if got, err := s.ByMessage(t.Context(), "sT1"); err != nil || got.Lookup().Pages[0].Text != "page one" {
		t.Errorf("pages of the record: %v, %v", got, err)
	}
	if _, err := s.ByMessage(t.Context(), "T1"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("unknown message: %v", err)
	}
}

func TestGetByPrefix(t *testing.T) {
	s := open(t)
	save(t, s, record("01ARZ3", noon), record("01ARZ3NDEK", noon), record("01ARY0", noon), record("01BX5Z", noon))
	for _, c := range []struct{ id, want, err string }{
		{"01BX", "01BX5Z", ""},
		{"01bx5", "01BX5Z", ""},
		{"01BX5Z", "01BX5Z", ""},
		{"01ARZ3", "01ARZ3", ""}, // whole, though another begins with it
		{"01ARZ3N", "01ARZ3NDEK", ""},
		{"01AR", "", "read trace 01AR: several traces begin with 01AR: 01ARY0, 01ARZ3, 01ARZ3NDEK"},
		{"01B", "", "read trace 01B: not found"}, // too short
		{"", "", "read trace : not found"},
		{"01BX5Z9", "", "read trace 01BX5Z9: not found"},
		{"01B%", "", "read trace 01B%: not found"},
	} {
		got, err := s.Get(t.Context(), c.id)
		if c.err != "" {
			if err == nil || err.Error() != c.err {
				t.Errorf("Get(%q): %v", c.id, err)
			}
			continue
		}
		if err != nil || got.Request.ID != c.want {
			t.Errorf("Get(%q) = %v, %v", c.id, got, err)
		}
	}
	_, err := s.Get(t.Context(), "01ar")
	var several *Ambiguous
	if !errors.As(err, &several) || len(several.IDs) != 3 {
		t.Errorf("Get(01ar): %v", err)
	}
}

func TestRecent(t *testing.T) {
	s := open(t)
	long := record("T2", noon.Add(2*time.Minute))
	long.Request.Message.Text = strings.Repeat("why, 🦉 ", 100)
	long.Phase, long.Err, long.Outcomes = turn.Broken, "no model", nil
	elsewhere := record("T9", noon.Add(time.Hour))
	elsewhere.Request.ChannelID = "d"
	save(t, s, record("T1", noon), elsewhere, long, record("T3", noon.Add(2*time.Minute)))
	list := func(channel string, n int) (ids []string) {
		all, err := s.Recent(t.Context(), channel, n)
		if err != nil {
			t.Fatal(err)
		}
		for _, one := range all {
			ids = append(ids, one.ID)
		}
		return ids
	}
	for _, c := range []struct {
		channel string
		n       int
		want    string
	}{
		{"c", 9, "[T3 T2 T1]"}, {"c", 2, "[T3 T2]"}, {"", 9, "[T9 T3 T2 T1]"}, {"d", 9, "[T9]"}, {"e", 9, "[]"},
	} {
		if got := fmt.Sprint(list(c.channel, c.n)); got != c.want {
			t.Errorf("Recent(%q, %d) = %s; want %s", c.channel, c.n, got, c.want)
		}
	}
	all, err := s.Recent(t.Context(), "c", 9)
	if err != nil {
		t.Fatal(err)
	}
	want := Summary{ID: "T1", Began: noon, Took: 1500 * time.Millisecond, ChannelID: "c", Author: "Ada", Question: "what do otters eat?",
		Phase: turn.Answered, Lookup: turn.Found, Model: "m", Character: "sage", Said: s.searchText(record("T1", noon))}
	if all[2] != want {
		t.Errorf("got %+v\nwant %+v", all[2], want)
	}
	if q := []rune(all[1].Question); len(q) != 120 || q[119] != '…' || all[1].Err != "no model" || all[1].Lookup != "" {
		t.Errorf("long question: %+v", all[1])
	}
}

func TestPrune(t *testing.T) {
	s := open(t)
	for i := range 60 {
		save(t, s, record(fmt.Sprintf("T%03d", i), noon.Add(time.Duration(i)*time.Minute), "shared by all", fmt.Sprint("page ", i/2)))
	}
	n, err := s.Prune(t.Context(), noon.Add(55*time.Minute))
	if n != 55 || err != nil {
		t.Errorf("Prune = %d, %v", n, err)
	}
	// Five records are left: the second half of page 27, and pages 28 and 29 whole.
	for table, want := range map[string]int{"traces": 5, "texts": 4, "trace_texts": 10, "trace_messages": 15} {
		if got := count(t, s, table); got != want {
			t.Errorf("%d rows in %s; want %d", got, table, want)
		}
	}
	got, err := s.Get(t.Context(), "T055")
	if err != nil || got.Lookup().Pages[0].Text != "shared by all" || got.Lookup().Pages[1].Text != "page 27" {
		t.Errorf("a record that stays: %v, %v", got, err)
	}
	if n, err := s.Prune(t.Context(), noon); n != 0 || err != nil {
		t.Errorf("Prune again = %d, %v", n, err)
	}
}

// TestDeleteGuild removes the records of a server, and the texts that no other record has.
func TestDeleteGuild(t *testing.T) {
	s := open(t)
	for i := range 2*5 + 5 {
		tr := record(fmt.Sprintf("T%03d", i), noon, "shared", "page of "+[]string{"g", "h"}[i%2])
		tr.Request.GuildID = []string{"g", "h"}[i%2]
		save(t, s, tr)
	}
	if n, err := s.DeleteGuild(t.Context(), "g"); err != nil || n != 5+3 {
		t.Fatal(n, err)
	}
	for table, want := range map[string]int{"traces": 5 + 2, "texts": 2, "record_parts": 5 + 2} {
		if n := count(t, s, table); n != want {
			t.Errorf("%d rows in %s, want %d", n, table, want)
		}
	}
}

func TestInterrupt(t *testing.T) {
	s := open(t)
	phases := []turn.Phase{turn.Begun, turn.Answering, turn.Answered, turn.Broken, turn.Interrupted}
	for _, p := range phases {
		tr := record("T-"+string(p), noon, "page")
		tr.Phase = p
		save(t, s, tr)
	}
	err := s.DB.Write(t.Context(), func(tx *sql.Tx) error {
		_, err := tx.Exec(`INSERT INTO traces (` + summaryColumns + `, guild_id, record)
			VALUES ('odd', 0, 0, '', '', '', 'begun', '', '', '', '', 0, 0, 0, '', '', 'no JSON')`)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if n, err := s.Interrupt(t.Context(), func(_, _ string) bool { return true }); n != 3 || err != nil {
		t.Errorf("Interrupt = %d, %v", n, err)
	}
	all, err := s.Recent(t.Context(), "", 9)
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range all {
		was := turn.Phase(strings.TrimPrefix(one.ID, "T-"))
		want, cause := was, ""
		if one.ID == "odd" || was == turn.Begun || was == turn.Answering {
			want, cause = turn.Interrupted, cutShort
		}
		if one.Phase != want || one.Err != cause {
			t.Errorf("%s is listed as %s, %q", one.ID, one.Phase, one.Err)
		}
		if one.ID == "odd" {
			continue
		}
		got, err := s.Get(t.Context(), one.ID)
		if err != nil || got.Phase != want || got.Err != cause || got.Lookup().Pages[0].Text != "page" {
			t.Errorf("%s: %v, %v", one.ID, got, err)
		}
	}
	if n, err := s.Interrupt(t.Context(), func(_, _ string) bool { return true }); n != 0 || err != nil {
		t.Errorf("Interrupt again = %d, %v", n, err)
	}
}

func TestSaveWithoutID(t *testing.T) {
	if err := open(t).Save(t.Context(), &turn.Trace{}); err == nil {
		t.Error("saved")
	}
}

func TestSaveAtOnce(t *testing.T) {
	s := open(t)
	done := make(chan error)
	for i := range 50 {
		go func() {
			done <- s.Save(context.Background(), record(fmt.Sprintf("T%02d", i), noon, "same", fmt.Sprint(i%5)))
		}()
	}
	for range 50 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	if n := count(t, s, "texts"); n != 6 {
		t.Errorf("%d pages", n)
	}
	all, err := s.Recent(t.Context(), "c", 99)
	if err != nil || len(all) != 50 || !slices.IsSortedFunc(all, func(a, b Summary) int { return strings.Compare(b.ID, a.ID) }) {
		t.Errorf("%d records, %v", len(all), err)
	}
}

// TestWordsArePreparedOnce takes a person who has written much out of several records. Their words are prepared only once, for the first record.
func TestWordsArePreparedOnce(t *testing.T) {
	const written = 3000
	r := &Redaction{Person: &Person{ID: "p"}}
	for n := range written {
		r.Words = append(r.Words, fmt.Sprintf("we walked all the way back for the %dth time", n))
	}
	apply := func() {
		if held := (&turn.Trace{Reply: "She said: " + r.Words[7]}); !r.Apply(held) || strings.Contains(held.Reply, "walked") {
			t.Errorf("left: %q", held.Reply)
		}
	}
	apply()
	if n := testing.AllocsPerRun(3, apply); n > written {
		t.Errorf("%v allocations for a record", n)
	}
}
