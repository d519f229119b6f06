package forget

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/store"
	"familiar/internal/test/postgres"
)

// secretWords are deleted by a person.
const secretWords = "my sister's address is 12 Mill Lane"

// keepMessage stores a message as the bot does when it arrives.
func keepMessage(t *testing.T, s kept, m turn.Message) {
	t.Helper()
	if _, err := s.DB.Messages.SaveIncoming(t.Context(), store.Incoming{Message: store.Message{ID: m.ID, ChannelID: m.ChannelID, GuildID: "g", AuthorID: "u", AuthorName: "Ada", Text: m.Text, At: m.At}}); err != nil {
		t.Fatal(err)
	}
}

// everything returns all records, texts and messages in the file, unpacked.
func everything(t *testing.T, s kept) string {
	t.Helper()
	var b strings.Builder
	unpack := unpacker(t)
	all, err := s.Recent(t.Context(), "", 1000)
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range all {
		whole, err := s.Get(t.Context(), one.ID)
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(whole)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "%+v %s\n", one, text)
	}
	asBytes := func(column string) string {
		if postgres.Used() {
			return `SELECT convert_to(` + column + `, 'UTF8')`
		}
		return `SELECT ` + column
	}
	rows, err := s.DB.Read().Query(`SELECT body FROM texts UNION ALL ` + asBytes(`text`) + ` FROM messages UNION ALL ` + asBytes(`text`) + ` FROM forgetting`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var body []byte
		if err := rows.Scan(&body); err != nil {
			t.Fatal(err)
		}
		b.WriteString(unpack(body) + "\n")
	}
	return b.String()
}

// asking is a turn whose question is m, with pages and everything that is derived from it.
func asking(id string, m turn.Message) *turn.Trace {
	tr := record(id, m.At.Add(time.Second), "a page about "+secretWords, "another")
	tr.Request.Message = m
	l := tr.Lookup()
	l.Query, l.Question, l.Block = m.Text, m.Text, "<web> "+m.Text
	tr.Prompt = append(tr.Prompt, turn.Rendered{Role: "user", Text: "Ada: " + m.Text})
	return tr
}

// remembering is a turn whose history holds m.
func remembering(id string, m turn.Message, minute int) *turn.Trace {
	tr := record(id, m.At.Add(time.Duration(minute)*time.Minute), "page of "+id)
	tr.Outcomes = append(tr.Outcomes, turn.Outcome{Provider: "history", Status: turn.OK, Contributions: []turn.Contribution{{Layer: turn.RecentHistory, Source: "history:recent", Message: &m}}})
	tr.Prompt = append(tr.Prompt, turn.Rendered{Role: "user", Name: "Ada", Text: "Ada: " + m.Text}, turn.Rendered{Role: "user", Text: "Bo: and what now?"})
	tr.Request.Message.Text, tr.Reply = "and what now of "+id+"?", "You said: "+m.Text+". Fish."
	return tr
}

func TestForget(t *testing.T) {
	s := open(t)
	m := turn.Message{ID: "77", ChannelID: "c", Author: turn.Author{ID: "u", Name: "Ada"}, Text: secretWords, At: noon}
	keepMessage(t, s, m)
	other := remembering("T5", m, 5)
	other.Request.ChannelID = "elsewhere" // nothing reads that channel
	save(t, s, asking("T1", m), remembering("T2", m, 1), remembering("T3", m, 90), record("T4", noon.Add(time.Minute), "innocent page"))
	before := everything(t, s)
	if strings.Count(before, secretWords) < 10 {
		t.Fatalf("the test holds nothing to forget:\n%s", before)
	}
	if err := s.Messages(t.Context(), m.ID); err != nil {
		t.Fatal(err)
	}
	after := everything(t, s)
	if strings.Contains(after, secretWords) || strings.Contains(after, "Mill Lane") {
		t.Errorf("left:\n%s", after)
	}
	for _, want := range []string{"innocent page", "page of T2", "page of T3", "and what now of T2?", "You said: (deleted). Fish.", "Ada: (deleted)", questionDeleted} {
		if !strings.Contains(after, want) {
			t.Errorf("%q is gone too", want)
		}
	}
	got, err := s.ByMessage(t.Context(), m.ID)
	if err != nil || got.Request.ID != "T1" || got.Phase != turn.Answered || got.Took == 0 || got.Request.Message.Text != deleted || got.Reply != deleted || len(got.ReplyIDs) != 2 {
		t.Errorf("skeleton: %+v, %v", got, err)
	}
	if all, err := s.Recent(t.Context(), "c", 9); err != nil || len(all) != 4 || all[len(all)-1].Question != deleted {
		t.Errorf("list: %+v, %v", all, err)
	}
	if left, err := s.DB.Messages.PendingDeletions(t.Context()); err != nil || len(left) > 0 {
		t.Errorf("left to do: %v, %v", left, err)
	}
	if err := s.Messages(t.Context(), m.ID, "unknown"); err != nil {
		t.Errorf("again: %v", err)
	}
}

// TestForgetWhileAnswering deletes the question of a running turn, and a message of its history. The turn does not bring them back.
func TestForgetWhileAnswering(t *testing.T) {
	s := open(t)
	m := turn.Message{ID: "77", ChannelID: "c", Author: turn.Author{ID: "u", Name: "Ada"}, Text: secretWords, At: noon}
	keepMessage(t, s, m)
	own, later := asking("T1", m), remembering("T2", m, 1)
	for _, tr := range []*turn.Trace{own, later} {
		tr.Phase = turn.Answering
		save(t, s, tr)
	}
	if err := s.Messages(t.Context(), m.ID); err != nil {
		t.Fatal(err)
	}
	own.Phase, later.Phase = turn.Interrupted, turn.Answered
	save(t, s, own, later, remembering("T3", m, 2))
	if after := everything(t, s); strings.Contains(after, "Mill Lane") || !strings.Contains(after, "page of T3") {
		t.Errorf("left:\n%s", after)
	}
	if own.Request.Message.Text != secretWords {
		t.Error("Save changed what it was given")
	}
}

// TestForgetGoesOn finishes a deletion that an earlier process began.
func TestForgetGoesOn(t *testing.T) {
	s := open(t)
	m := turn.Message{ID: "77", ChannelID: "c", Text: "ok", At: noon}
	keepMessage(t, s, m)
	save(t, s, remembering("T2", m, 1))
	if err := s.DB.Messages.Delete(t.Context(), m.ID); err != nil {
		t.Fatal(err)
	}
	stopped, stop := context.WithCancel(t.Context())
	stop()
	if err := s.Messages(stopped); err == nil {
		t.Error("Forget with an ended context succeeded")
	}
	if err := keptIn(s.DB).Messages(t.Context()); err != nil {
		t.Fatal(err)
	}
	got, err := s.Get(t.Context(), "T2")
	if err != nil || got.Prompt[1].Text != "Ada: (deleted)" || got.Prompt[2].Text != "Bo: and what now?" {
		t.Errorf("%+v, %v", got.Prompt, err)
	}
}

// TestForgetReply deletes a reply: its question stays.
func TestForgetReply(t *testing.T) {
	s := open(t)
	tr := record("T1", noon, "page")
	tr.Reply = "Fish, mostly, and now and then a crab."
	save(t, s, tr)
	if err := s.Messages(t.Context(), "rT1"); err != nil {
		t.Fatal(err)
	}
	got, err := s.Get(t.Context(), "T1")
	if err != nil || got.Reply != deleted || got.Request.Message.Text != tr.Request.Message.Text || got.Lookup().Pages[0].Text != "page" {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestForgetAtOnce saves turns while messages are deleted: nothing of the messages is left.
func TestForgetAtOnce(t *testing.T) {
	s := open(t)
	done := make(chan error)
	for i := range 20 {
		m := turn.Message{ID: fmt.Sprint(1000 + i), ChannelID: "c", Text: fmt.Sprintf("private words number %d of somebody", i), At: noon}
		keepMessage(t, s, m)
		go func() { done <- s.Save(context.Background(), asking(fmt.Sprintf("A%02d", i), m)) }()
		go func() { done <- s.Save(context.Background(), remembering(fmt.Sprintf("B%02d", i), m, i)) }()
		go func() { done <- s.Messages(context.Background(), m.ID) }()
	}
	for range 60 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	if after := everything(t, s); strings.Contains(after, "private words") {
		t.Errorf("left: %s", after)
	}
}

// TestForgetRecalled: a memory that was told in another channel goes with the message that it comes from.
func TestForgetRecalled(t *testing.T) {
	s := open(t)
	m := turn.Message{ID: "77", ChannelID: "c", Text: "remember that " + secretWords, At: noon}
	keepMessage(t, s, m)
	tr := record("T1", noon.Add(time.Hour), "page of T1")
	tr.Request.ChannelID = "elsewhere"
	told := "What Ada told you before:\n- “" + secretWords + "”"
	tr.Outcomes = append(tr.Outcomes, turn.Outcome{Provider: "memory", Contributions: []turn.Contribution{{Layer: turn.Content, Text: told,
		Recalled: []turn.Recalled{{ID: 1, Text: secretWords, Sources: []string{"76", "77"}}}}}})
	tr.Prompt = append(tr.Prompt, turn.Rendered{Role: "system", Text: "You are Sage.\n\n" + told})
	save(t, s, tr)
	if err := s.Messages(t.Context(), m.ID); err != nil {
		t.Fatal(err)
	}
	if after := everything(t, s); strings.Contains(after, "Mill Lane") || !strings.Contains(after, "page of T1") || !strings.Contains(after, "You are Sage.") {
		t.Errorf("left:\n%s", after)
	}
}

// TestForgetTarget: the record of a command that was given for a message goes with that message.
func TestForgetTarget(t *testing.T) {
	s := open(t)
	m := turn.Message{ID: "77", ChannelID: "c", Author: turn.Author{ID: "u", Name: "Ada"}, Text: secretWords, At: noon}
	keepMessage(t, s, m)
	tr := asking("T1", turn.Message{ID: "command", ChannelID: "c", Author: turn.Author{ID: "v", Name: "Bo"}, Text: secretWords, At: noon.Add(time.Minute)})
	tr.Request.Target = &m
	save(t, s, tr)
	if err := s.Messages(t.Context(), m.ID); err != nil {
		t.Fatal(err)
	}
	if after := everything(t, s); strings.Contains(after, "Mill Lane") || !strings.Contains(after, questionDeleted) {
		t.Errorf("left:\n%s", after)
	}
}
