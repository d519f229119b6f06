package forget

import (
	"testing"
	"time"

	"familiar/internal/memory"
	"familiar/internal/store"
)

// TestEverythingForgottenAfterADay has everything about a person forgotten. It can be undone for a day, then they are forgotten everywhere,
// even if the process ends in between. What they wrote since then stays.
func TestEverythingForgottenAfterADay(t *testing.T) {
	s, ctx := open(t), t.Context()
	write := func(id string, at time.Time) {
		t.Helper()
		if err := s.DB.Messages.Save(ctx, store.Message{ID: id, ChannelID: "c", GuildID: "g", AuthorID: "ada", AuthorName: "Ada", Text: "I keep bees " + id, At: at}); err != nil {
			t.Fatal(err)
		}
	}
	remember := func() {
		t.Helper()
		_, err := s.Memories.Save(ctx, memory.Statement{Kind: memory.Person, Subject: "ada", By: "ada", Text: "I keep bees", Sources: []string{"1"},
			Scope: memory.Scope{Kind: memory.ScopeChannel, ID: "c", GuildID: "g"}, SaidAt: noon, LearnedAt: noon})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Memories.SetCard(ctx, "ada", "name", "Queen", noon); err != nil {
			t.Fatal(err)
		}
	}
	kept := func() (statements, fields int) {
		t.Helper()
		all, err := s.Memories.Export(ctx)
		card, failed := s.Memories.Card(ctx, "ada")
		if err != nil || failed != nil {
			t.Fatal(err, failed)
		}
		return len(all), len(card)
	}
	write("1", noon)
	if statements, fields := kept(); statements+fields != 0 {
		t.Errorf("at first: %d statements, %d fields", statements, fields)
	}
	remember()
	if statements, fields := kept(); statements != 1 || fields != 1 {
		t.Errorf("remembered: %d statements, %d fields", statements, fields)
	}
	asked := noon.Add(time.Hour)
	if n, err := s.Memories.ForgetEverything(ctx, memory.Undo{TurnID: "t", PersonID: "ada", At: asked}); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	if statements, fields := kept(); statements+fields != 0 {
		t.Errorf("left: %d statements, %d fields", statements, fields)
	}
	if err := s.Memories.Undo(ctx, "t", "ben", asked); err == nil {
		t.Error("somebody else has undone it")
	}
	if err := s.Memories.Undo(ctx, "t", "ada", asked.Add(23*time.Hour)); err != nil {
		t.Fatal(err)
	}
	if statements, fields := kept(); statements != 1 || fields != 1 {
		t.Errorf("back: %d statements, %d fields", statements, fields)
	}
	if _, err := s.Memories.ForgetEverything(ctx, memory.Undo{TurnID: "u", PersonID: "ada", At: asked}); err != nil {
		t.Fatal(err)
	}
	write("2", asked.Add(time.Hour))
	for _, step := range []struct {
		at   time.Time
		want bool // message 1 is kept
	}{{asked.Add(23 * time.Hour), true}, {asked.Add(memory.UndoFor), false}, {asked.Add(memory.UndoFor), false}} {
		if err := s.Due(ctx, step.at); err != nil {
			t.Fatal(err)
		}
		_, first := s.DB.Messages.Get(ctx, "1")
		_, second := s.DB.Messages.Get(ctx, "2")
		if (first == nil) != step.want || second != nil {
			t.Errorf("%v: message of before %v, of after %v", step.at, first, second)
		}
	}
	if err := s.Memories.Undo(ctx, "u", "ada", asked); err == nil {
		t.Error("what is final was undone")
	}
}

// TestUndoBringsNothingDeletedBack undoes the forgetting of a statement whose message was deleted since.
func TestUndoBringsNothingDeletedBack(t *testing.T) {
	s, ctx := open(t), t.Context()
	if err := s.DB.Messages.Save(ctx, store.Message{ID: "1", ChannelID: "d", AuthorID: "ada", Text: "I keep bees", At: noon}); err != nil {
		t.Fatal(err)
	}
	m := memory.Statement{Kind: memory.Note, By: "ada", Text: "I keep bees", Sources: []string{"1"}, Scope: memory.Scope{Kind: memory.ScopeDM, ID: "d"}, SaidAt: noon, LearnedAt: noon}
	var err error
	if m.ID, err = s.Memories.Save(ctx, m); err != nil {
		t.Fatal(err)
	}
	if err := s.Memories.SaveUndo(ctx, memory.Undo{TurnID: "t", PersonID: "ada", At: noon, Reversal: memory.Reversal{Gone: []memory.Statement{m}}}); err != nil {
		t.Fatal(err)
	}
	if err := s.Memories.Forget(ctx, memory.FilterDM("d"), m.ID, store.By{ID: "ada", At: noon}); err != nil {
		t.Fatal(err)
	}
	if err := s.Messages(ctx, "1"); err != nil {
		t.Fatal(err)
	}
	if err := s.Memories.Undo(ctx, "t", "ada", noon); err != nil {
		t.Fatal(err)
	}
	if all, err := s.Memories.Export(ctx); len(all) != 0 || err != nil {
		t.Errorf("back: %v, %v", all, err)
	}
}
