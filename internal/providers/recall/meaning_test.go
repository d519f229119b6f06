package recall

import (
	"context"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/llm"
	"familiar/internal/memory"
	"familiar/internal/store"
	"familiar/internal/test/llmtest"
	"familiar/internal/test/postgres"
)

// marks matches the random parts of a block.
var marks = regexp.MustCompile(`recalled-messages-\w+|\p{Co}`)

// embedded gives a provider an embedding service and embeds everything in its store.
func embedded(t *testing.T, p *MemoryProvider) *llmtest.Server {
	t.Helper()
	server := llmtest.New(t)
	script, err := llmtest.ParseScript([]byte("alike broken ruptured\nalike knee meniscus\nsay x"))
	if err != nil {
		t.Fatal(err)
	}
	server.Play(script)
	if p.Embeddings, err = memory.NewEmbedder(memory.EmbedderConfig{BaseURL: server.URL, Model: "m", Client: func(string) *http.Client { return http.DefaultClient }}); err != nil {
		t.Fatal(err)
	}
	messages, _, err := p.Vectors.MissingMessages(t.Context(), "m", 0)
	if err != nil {
		t.Fatal(err)
	}
	statements, err := p.Vectors.MissingMemories(t.Context(), "m", 64)
	if err != nil {
		t.Fatal(err)
	}
	for _, u := range slices.Concat(messages, statements) {
		v, err := p.Embeddings.Batch(t.Context(), []string{u.Text})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.Vectors.Save(t.Context(), "m", memory.Embedded{Unembedded: u, Vector: v[0]}); err != nil {
			t.Fatal(err)
		}
	}
	return server
}

// quoted returns the text that is offered, and the record of the embedding.
func quoted(t *testing.T, p *MemoryProvider, r turn.Request) (text string, sent *turn.Embedding) {
	t.Helper()
	cs, err := p.Contribute(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range cs {
		text += c.Text
		if c.Embedding != nil {
			sent = c.Embedding
		}
	}
	return marks.ReplaceAllString(text, " "), sent
}

// TestNearInMeaning checks that a message near in meaning is found in a direct conversation. The side model may remove it, and words decide
// if the service fails.
func TestNearInMeaning(t *testing.T) {
	var all []store.Message
	for i, channel := range []string{"dm", "another"} {
		all = append(all, written(100*i, channel, 40, "My ruptured meniscus hurts in "+channel))
		for n := range 25 {
			all = append(all, written(100*i+10+n, channel, 1, fmt.Sprintf("word%d thing%d", n, n)))
		}
	}
	for i := range all {
		all[i].GuildID = ""
	}
	p := provider(t, all...)
	server := embedded(t, p)
	ask := request("", "dm", "who has a broken knee?")
	text, sent := quoted(t, p, ask)
	if !strings.Contains(text, "hurts in dm") || strings.Contains(text, "another") {
		t.Errorf("recalled\n%s", text)
	}
	if sent == nil || sent.Failure != "" || sent.Model != "m" || sent.Host == "" {
		t.Errorf("recorded %+v", sent)
	}
	ask.Message.Text = "that knee looked broken today" // asks nothing
	if text, _ := quoted(t, p, ask); text != "" {
		t.Errorf("recalled for no question\n%s", text)
	}
	side := llmtest.New(t)
	script, err := llmtest.ParseScript([]byte(`say {"out":[1]}`))
	if err != nil {
		t.Fatal(err)
	}
	side.Play(script)
	p.Side = &llm.Client{HTTP: http.DefaultClient, BaseURL: side.URL, Model: "side"}
	ask.Message.Text = "who has a broken knee?"
	if text, sent := quoted(t, p, ask); text != "" || sent == nil {
		t.Errorf("removed by the side model but still offered: %+v\n%s", sent, text)
	}
	p.Side = nil
	before := len(server.Embeddings())
	ask.Message.Text = "thanks!"
	if _, sent := quoted(t, p, ask); sent != nil || len(server.Embeddings()) != before {
		t.Errorf("sent without need: %+v", sent)
	}

	server.Embed = func(llmtest.Embedding) llmtest.Reply { return llmtest.Reply{llmtest.Error(500, "")} }
	ask.Message.Text = "does the meniscus hurt?"
	text, sent = quoted(t, p, ask)
	if !strings.Contains(text, "hurts in dm") || sent == nil || sent.Failure != turn.CodeUpstream {
		t.Errorf("without the service: %+v\n%s", sent, text)
	}
	p.Embeddings = nil
	without, _ := quoted(t, p, ask)
	if without != text {
		t.Errorf("with a failing service\n%s\nwithout a service\n%s", text, without)
	}
}

// TestNotesNearInMeaning checks that notes in other words are found, but only where they may be read.
func TestNotesNearInMeaning(t *testing.T) {
	p := provider(t)
	for i := range 30 {
		text := fmt.Sprintf("word%d thing%d", i, i)
		if i == 3 {
			text = "Ada ruptured her meniscus"
		}
		_, err := p.Memories.Save(t.Context(), memory.Statement{
			Kind: memory.Note, Scope: memory.Scope{Kind: memory.ScopeChannel, ID: "general", GuildID: "g"}, Text: text, Sources: []string{fmt.Sprint("command:", i)}, By: "7", SaidAt: memoryNow, LearnedAt: memoryNow,
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	server := embedded(t, p)
	if text, _ := quoted(t, p, request("g", "general", "who has a broken knee?")); !strings.Contains(text, "meniscus") || strings.Contains(text, "thing") {
		t.Errorf("offered\n%s", text)
	}
	p.Servers = &Servers{Platform: rooms{open: []string{"elsewhere"}}}
	if text, _ := quoted(t, p, request("g", "elsewhere", "who has a broken knee?")); text != "" {
		t.Errorf("offered in another channel\n%s", text)
	}
	if len(server.Embeddings()) == 0 {
		t.Error("nothing was sent")
	}
}

// slow is a service that fails after some time.
type slow time.Duration

func (s slow) RoundTrip(r *http.Request) (*http.Response, error) {
	select {
	case <-time.After(time.Duration(s)):
	case <-r.Context().Done():
		return nil, r.Context().Err()
	}
	return &http.Response{StatusCode: http.StatusBadGateway, Body: http.NoBody, Request: r}, nil
}

// TestSlowServices checks that messages are recalled in time even if the embedding service and the side model are slow.
func TestSlowServices(t *testing.T) {
	postgres.Off(t)
	for _, limit := range []time.Duration{3 * time.Second, time.Second, 400 * time.Millisecond, 100 * time.Millisecond} {
		p, _ := filtering(t, "say x")
		synctest.Test(t, func(t *testing.T) {
			var err error
			service := &http.Client{Transport: slow(time.Minute)}
			p.Side = &llm.Client{HTTP: service, BaseURL: "http://side", Model: "side"}
			if p.Embeddings, err = memory.NewEmbedder(memory.EmbedderConfig{BaseURL: "http://vectors", Model: "m", Client: func(string) *http.Client { return service }}); err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), limit)
			defer cancel()
			began := time.Now()
			cs, err := p.Contribute(ctx, request("g", "general", "what did the miller say about the mill?"))
			recalled := 0
			for _, c := range cs {
				recalled += len(c.Recalled)
			}
			if took := time.Since(began); err != nil || recalled != maxQuoted+1 || took > serviceLimit || took > max(0, limit-spareTime) {
				t.Errorf("within %v: %d recalled after %v, %v", limit, recalled, took, err)
			}
		})
	}
}
