package forget

import (
	"bytes"
	"fmt"
	"os"
	"testing"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/memory"
	"familiar/internal/store"
	"familiar/internal/trace"

	"github.com/klauspost/compress/zstd"
	"go.uber.org/goleak"

	"familiar/internal/test/storetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// Words that records have in place of deleted ones.
const (
	deleted         = "(deleted)"
	questionDeleted = "the question was deleted, and what was known of it"
	optedOut        = "who asked has opted out, and nothing of theirs is kept"
)

// kept is a store with its records, and the forgetter of both.
type kept struct {
	*trace.Store
	*Forgetter
}

func open(tb testing.TB) kept {
	tb.Helper()
	return keptIn(storetest.Open(tb))
}

func keptIn(db *store.DB) kept {
	traces := &trace.Store{DB: db}
	return kept{traces, &Forgetter{Traces: traces, Memories: memory.New(db)}}
}

func save(t *testing.T, s kept, ts ...*turn.Trace) {
	t.Helper()
	for _, tr := range ts {
		if err := s.Save(t.Context(), tr); err != nil {
			t.Fatal(err)
		}
	}
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

// unpacker decompresses what the database holds.
func unpacker(t *testing.T) func(body []byte) string {
	t.Helper()
	dictionary, err := os.ReadFile("../trace/record1.dict")
	if err != nil {
		t.Fatal(err)
	}
	r, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderDictRaw(1, dictionary))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Close)
	return func(body []byte) string {
		if !bytes.HasPrefix(body, []byte{0x28, 0xb5, 0x2f, 0xfd}) {
			return string(body)
		}
		text, err := r.DecodeAll(body, nil)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
}
