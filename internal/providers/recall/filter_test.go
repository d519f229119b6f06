package recall

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"familiar/internal/context/turn"
	"familiar/internal/llm"
	"familiar/internal/memory"
	"familiar/internal/store"
	"familiar/internal/test/llmtest"
)

// filtering returns a provider that knows more about the mill than fits. Its side model answers by a script.
func filtering(t *testing.T, script string) (*MemoryProvider, *llmtest.Server) {
	t.Helper()
	var all []store.Message
	for n := range 9 {
		all = append(all, written(n, "general", 100-n, fmt.Sprintf("The miller said %d things about the mill.", n)))
	}
	for n := range 5 {
		all = append(all, written(100+n, "general", 1, "so it goes"))
	}
	p := provider(t, all...)
	p.Lore = newLibrary(CutPassages("lore/town.md", "# The town\n## The mill\nThe miller keeps a dog.\n\n## The harbour\nIt opens at six."))
	srv := llmtest.New(t)
	parsed, err := llmtest.ParseScript([]byte(script))
	if err != nil {
		t.Fatal(err)
	}
	srv.Play(parsed)
	p.Side = &llm.Client{HTTP: http.DefaultClient, BaseURL: srv.URL, Model: "side"}
	return p, srv
}

func offered(t *testing.T, p *MemoryProvider, message string) (recalled []turn.Recalled, f *turn.RecallFilter) {
	t.Helper()
	cs, err := p.Contribute(t.Context(), request("g", "general", message))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range cs {
		recalled = append(recalled, c.Recalled...)
		if c.Filter != nil {
			f = c.Filter
		}
	}
	return recalled, f
}

// TestFilter checks that the side model is asked once about what was found. The numbers in its answer are removed.
func TestFilter(t *testing.T) {
	p, srv := filtering(t, `say {"out":[1,99,-3]}`)
	recalled, f := offered(t, p, "what did the miller say about the mill?")
	if f == nil || f.Shown < maxQuoted+2 || !slices.Equal(f.Out, []string{"lore/town.md:3"}) || f.Err != "" || len(recalled) != maxQuoted {
		t.Errorf("%+v, %d recalled", f, len(recalled))
	}
	if asked := srv.Requests(); len(asked) != 1 || !strings.Contains(asked[0].Last(), "1. The town › The mill: The miller keeps a dog.") {
		t.Errorf("%+v", asked)
	}
	// The side model is not asked about a sure find that fits.
	recalled, f = offered(t, p, "when does the harbour open?")
	if f != nil || len(recalled) != 1 || recalled[0].File != "lore/town.md" || recalled[0].Heading != "The town › The harbour" || recalled[0].Line != 6 {
		t.Errorf("%+v, %+v", recalled, f)
	}
	p.Side = nil
	if recalled, f = offered(t, p, "what did the miller say about the mill?"); f != nil || len(recalled) != maxQuoted+1 {
		t.Errorf("without a side model: %d, %+v", len(recalled), f)
	}
}

// TestFilterFails checks that nothing is removed if the side model fails, is late or gives an invalid answer.
func TestFilterFails(t *testing.T) {
	p, srv := filtering(t, "say ?")
	for _, script := range []string{"error 400", "say They all look fine to me.", `say {"keep":[1]}`, `say {"out":"all"}`, `say {"out":[1],"in":["the treasure is in the well"]}`, "wait 20s\nsay {\"out\":[1]}"} {
		parsed, err := llmtest.ParseScript([]byte(script))
		if err != nil {
			t.Fatal(err)
		}
		srv.Play(parsed)
		recalled, f := offered(t, p, "what did the miller say about the mill?")
		if f == nil || f.Err == "" || len(f.Out) > 0 || len(recalled) != maxQuoted+1 {
			t.Errorf("%s: %d, %+v", script, len(recalled), f)
		}
	}
}

// TestOrder checks that pinned statements come first, then new ones that match the question.
func TestOrder(t *testing.T) {
	q := readQuery("when is the rehearsal on Friday?", "8", nil, memoryNow)
	all := []memory.Statement{
		{ID: 1, Text: "The rehearsal was fun.", SaidAt: memoryNow.AddDate(0, 0, -9)},
		{ID: 2, Text: "The rehearsal on Friday is at six.", SaidAt: memoryNow.AddDate(0, 0, -2)},
		{ID: 3, Text: "Somebody fed the fish.", SaidAt: memoryNow.AddDate(0, 0, -8)},
		{ID: 4, Text: "The rehearsal needs chairs.", SaidAt: memoryNow.AddDate(-1, 0, 0), Pinned: true},
	}
	ordered := q.order(all, nil)
	share := map[int64]float64{}
	var ids []int64
	for _, m := range ordered {
		ids, share[m.ID] = append(ids, m.ID), m.share
	}
	if !slices.Equal(ids, []int64{4, 2, 1, 3}) || share[3] >= minNoteShare || share[2] < minNoteShare {
		t.Errorf("%v %v", ids, share)
	}
}

// TestNotes checks that the notes with enough words of a message are offered, and that learned notes are listed apart.
func TestNotes(t *testing.T) {
	p := provider(t)
	for _, m := range []memory.Statement{
		{Kind: memory.Note, Text: "The rehearsal on Friday is at six.", By: "7"},
		{Kind: memory.Session, Text: "Ada moved the rehearsal to Friday."},
		{Kind: memory.Note, Text: "On Friday the cat is fed.", By: "7"},
	} {
		m.Scope, m.SaidAt, m.LearnedAt = memory.Scope{Kind: memory.ScopeChannel, ID: "general", GuildID: "g"}, memoryNow, memoryNow
		message := written(len(m.Text), "general", 3, m.Text)
		if err := p.Store.Messages.Save(t.Context(), message); err != nil {
			t.Fatal(err)
		}
		m.Sources = []string{message.ID}
		if _, err := p.Memories.Save(t.Context(), m); err != nil {
			t.Fatal(err)
		}
	}
	p.Off = true
	cs, err := p.Contribute(t.Context(), request("g", "general", "is there a rehearsal on Friday?"))
	if err != nil || len(cs) != 2 || !strings.Contains(cs[0].Text, "had you note") || !strings.Contains(cs[1].Text, "earlier conversations") {
		t.Fatalf("%+v, %v", cs, err)
	}
	if cs[0].Recalled[0].Text != "The rehearsal on Friday is at six." || len(cs[1].Recalled) != 1 {
		t.Errorf("%+v", cs)
	}
}
