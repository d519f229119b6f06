package memory

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"familiar/internal/store"
	"familiar/internal/test/storetest"
)

var middle = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

// meaning returns a noisy vector of n dimensions, near to all others of the same field.
func meaning(random *rand.Rand, n, field int) Vector {
	components := make([]float32, n)
	for i := range components {
		components[i] = float32(random.NormFloat64())
	}
	if field >= 0 {
		components[field%n] += 40
	}
	return NewVector(components)
}

// embedAll gives every message a vector.
func embedAll(tb testing.TB, vectors *Vectors, model string, vector func(Unembedded) Vector) (n int) {
	tb.Helper()
	for next, more := int64(0), true; more; more = next > 0 {
		all, following, err := vectors.MissingMessages(tb.Context(), model, next)
		if err != nil {
			tb.Fatal(err)
		}
		var made []Embedded
		for _, u := range all {
			made = append(made, Embedded{u, vector(u)})
		}
		kept, err := vectors.Save(tb.Context(), model, made...)
		if err != nil {
			tb.Fatal(err)
		}
		n, next = n+kept, following
	}
	return n
}

func TestNearestMessages(t *testing.T) {
	db := storetest.Open(t)
	vectors := NewVectors(db)
	random := rand.New(rand.NewPCG(1, 2))
	begin := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	var all []store.Message
	for i := range 700 { // more than a page
		m := store.Message{ID: fmt.Sprintf("%06d", i), GuildID: "g", ChannelID: "open", AuthorID: "a", AuthorName: "Ada", Text: fmt.Sprint("word ", i), At: begin.Add(time.Duration(i) * time.Minute)}
		switch i {
		case 7, 10, 11, 13:
			m.Text = "the field"
		case 8:
			m.Text, m.ChannelID = "the field", "closed"
		case 9:
			m.Text, m.GuildID, m.ChannelID = "the field", "", "dm"
		case 12:
			m.Text = " "
		}
		all = append(all, m)
	}
	if err := db.Messages.Save(t.Context(), all...); err != nil {
		t.Fatal(err)
	}
	vector := func(u Unembedded) Vector {
		if u.Text == "the field" {
			return meaning(random, 96, 3)
		}
		return meaning(random, 96, -1)
	}
	if n := embedAll(t, vectors, "m1", vector); n != 699 {
		t.Fatalf("%d vectors", n)
	}
	find := func(q Nearest) (ids []string) {
		t.Helper()
		q.To = meaning(random, 96, 3)
		found, err := vectors.Nearest(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range found {
			if n.Apart {
				ids = append(ids, n.ID)
			}
		}
		slices.Sort(ids)
		return ids
	}
	want := func(ids []string, want ...string) {
		t.Helper()
		if !slices.Equal(ids, want) {
			t.Errorf("near are %v, want %v", ids, want)
		}
	}
	guild := Nearest{GuildID: "g", Channels: []string{"open"}, Model: "m1"}
	want(find(guild), "000007", "000010", "000011", "000013")
	want(find(Nearest{GuildID: "g", Channels: []string{"open", "closed", "dm"}, Model: "m1"}), "000007", "000008", "000010", "000011", "000013")
	want(find(Nearest{GuildID: "g", Model: "m1"}))
	want(find(Nearest{GuildID: "h", Channels: []string{"open"}, Model: "m1"}))
	want(find(Nearest{Channels: []string{"open"}, Model: "m1"}))
	want(find(Nearest{GuildID: "g", Channels: []string{"open"}, Model: "m2"}))
	if found, err := vectors.Nearest(t.Context(), Nearest{Channels: []string{"dm"}, Model: "m1", To: meaning(random, 96, 3)}); err != nil || len(found) != 1 || found[0].Apart {
		t.Errorf("in the direct message: %v, %v", found, err)
	}

	// Deleted, changed and old messages lose their vectors in the same transaction. A message gets no vector if it changed while the vector
	// was made.
	if err := db.Messages.Delete(t.Context(), "000007"); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Messages.Edit(t.Context(), "000010", "another field"); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Messages.Prune(t.Context(), all[12].At); err != nil {
		t.Fatal(err)
	}
	want(find(guild), "000013")
	if n, err := vectors.Save(t.Context(), "m1", Embedded{Unembedded{ID: "000013", Text: "what it said before"}, meaning(random, 96, 3)}); err != nil || n != 0 {
		t.Errorf("kept %d vectors of what was changed: %v", n, err)
	}
	want(find(guild), "000013")

	// Vectors of another model replace those of the old one.
	if n := embedAll(t, vectors, "m2", func(u Unembedded) Vector { return meaning(random, 32, len(u.Text)) }); n == 0 {
		t.Error("no vectors of the other model")
	}
	if n, err := vectors.Count(t.Context(), "m1"); err != nil || n != 0 {
		t.Errorf("%d vectors of the old model: %v", n, err)
	}
	if _, err := db.Messages.DeleteGuild(t.Context(), "g"); err != nil {
		t.Fatal(err)
	}
	if n, err := vectors.Count(t.Context(), "m2"); err != nil || n != 0 {
		t.Errorf("%d vectors of a server that was left: %v", n, err)
	}
}

func TestVector(t *testing.T) {
	for _, c := range [][]float32{nil, {0, 0}, {float32(math.NaN()), 1}, {float32(math.Inf(1)), 1}} {
		if v := NewVector(c); v != nil {
			t.Errorf("%v makes %v", c, v)
		}
	}
	a, b := NewVector([]float32{3, 4, 0, 0, 0}), NewVector([]float32{0.4, 0.3, 0, 0, 0})
	if c := a.Cosine(b); c < 0.95 || c > 0.97 || a.Cosine(a) < 0.999 || a.Cosine(NewVector([]float32{1})) != 0 {
		t.Errorf("cosine %v", c)
	}
}

func BenchmarkDot(b *testing.B) {
	random := rand.New(rand.NewPCG(1, 2))
	x, y := meaning(random, 384, -1), meaning(random, 384, -1)
	for b.Loop() {
		dot(x[vectorHead:], y[vectorHead:])
	}
}

// BenchmarkNearest compares a question with 20,000 messages of a server.
func BenchmarkNearest(b *testing.B) {
	db := storetest.Open(b)
	vectors := NewVectors(db)
	for i := range 20_000 / 100 {
		var some []store.Message
		for n := range 100 {
			some = append(some, store.Message{ID: fmt.Sprintf("1%018d", i*100+n), ChannelID: fmt.Sprintf("2%018d", n), GuildID: "3", Text: fmt.Sprint("word ", i), At: middle.Add(time.Duration(i) * time.Second)})
		}
		if err := db.Messages.Save(b.Context(), some...); err != nil {
			b.Fatal(err)
		}
	}
	random := rand.New(rand.NewPCG(1, 2))
	embedAll(b, vectors, "m", func(Unembedded) Vector { return meaning(random, 384, -1) })
	q := Nearest{GuildID: "3", Model: "m", To: meaning(random, 384, -1)}
	for i := range 100 {
		q.Channels = append(q.Channels, fmt.Sprintf("2%018d", i))
	}
	if _, err := vectors.Nearest(b.Context(), q); err != nil { // fills the cache
		b.Fatal(err)
	}
	for b.Loop() {
		if found, err := vectors.Nearest(b.Context(), q); err != nil || len(found) != nearestDefault {
			b.Fatal(len(found), err)
		}
	}
}

// TestMoveToThread finds a moved message at its new place, by its words and by its meaning. It is not at the old one.
func TestMoveToThread(t *testing.T) {
	db, ctx := storetest.Open(t), t.Context()
	vectors := NewVectors(db)
	m := store.Message{ID: "1", ChannelID: "general", GuildID: "g", AuthorID: "a", AuthorName: "Ada", Text: "the kitten", At: middle}
	if err := db.Messages.Save(ctx, m); err != nil {
		t.Fatal(err)
	}
	v := NewVector([]float32{1, 2, 3})
	if _, err := vectors.Save(ctx, "m", Embedded{Unembedded: Unembedded{ID: "1", Text: m.Text}, Vector: v}); err != nil {
		t.Fatal(err)
	}
	found := func(channel string) (words, recalled, near int) {
		t.Helper()
		bySearch, err := db.Messages.Search(ctx, store.Query{GuildID: "g", Channels: []string{channel}, Words: "kitten", Limit: 9})
		if err != nil {
			t.Fatal(err)
		}
		byRecall, err := db.Messages.Recall(ctx, store.Recall{GuildID: "g", Channels: []string{channel}, Words: [][]string{{"kitten"}}})
		if err != nil {
			t.Fatal(err)
		}
		nearest, err := vectors.Nearest(ctx, Nearest{GuildID: "g", Channels: []string{channel}, Model: "m", To: v, Limit: 9})
		if err != nil {
			t.Fatal(err)
		}
		return len(bySearch), len(byRecall.Messages), len(nearest)
	}
	if a, b, c := found("general"); a != 1 || b != 1 || c != 1 {
		t.Errorf("before: %d %d %d", a, b, c)
	}
	if err := db.Threads.MoveMessage(ctx, "1", "", "thread", "g", "", middle); err != nil {
		t.Fatal(err)
	}
	if a, b, c := found("general"); a+b+c != 0 {
		t.Errorf("where it was: %d %d %d", a, b, c)
	}
	if a, b, c := found("thread"); a != 1 || b != 1 || c != 1 {
		t.Errorf("where it is: %d %d %d", a, b, c)
	}
	vectors = NewVectors(db) // as after a restart
	if _, _, c := found("thread"); c != 1 {
		t.Errorf("where it is, after a restart: %d", c)
	}
	if err := db.Messages.Delete(ctx, "1"); err != nil {
		t.Fatal(err)
	}
	if a, b, c := found("thread"); a+b+c != 0 {
		t.Errorf("deleted: %d %d %d", a, b, c)
	}
}
