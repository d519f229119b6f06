package bot

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"familiar/internal/bot/discord"
	"familiar/internal/bot/outgoing"
	"familiar/internal/context/prompt"
	"familiar/internal/context/turn"
	"familiar/internal/llm"
	"familiar/internal/llm/llmtest"
	"familiar/internal/providers/character"
	"familiar/internal/redact"
)

// call is one call of a door.
type call struct {
	at   time.Duration
	post turn.Post
}

// recorder is a door that remembers. fail decides the fate of a post.
type recorder struct {
	start time.Time
	calls []call          // the speech's writer alone calls Deliver
	typed []time.Duration // one goroutine alone calls Typing
	fail  func(n int, p turn.Post) error
}

func (r *recorder) Deliver(_ context.Context, p turn.Post) (string, error) {
	r.calls = append(r.calls, call{time.Since(r.start), p})
	if r.fail != nil {
		if err := r.fail(len(r.calls), p); err != nil {
			return "", err
		}
	}
	if p.ID != "" {
		return p.ID, nil
	}
	return "post" + p.Nonce[len(p.Nonce)-1:], nil
}

func (r *recorder) Typing(context.Context, string) error {
	r.typed = append(r.typed, time.Since(r.start))
	return nil
}

func (r *recorder) Respond(context.Context, turn.Command, turn.Answer) error { return nil }

var sage = &Actor{Character: &character.Character{Name: "Sage"}}

var sageAlone = &Cast{Default: sage}

// speaking runs script with a speech in virtual time.
func speaking(t *testing.T, door *recorder, script func(d *delivery) deliveryResult) {
	synctest.Test(t, func(t *testing.T) {
		door.start = time.Now()
		b := &Bot{Door: door, Log: slog.New(slog.DiscardHandler), Cast: sageAlone, Pace: Pace{First: 200 * time.Millisecond, Every: 1200 * time.Millisecond, Units: 2000}}
		d := &delivery{
			bot: b, actor: sage, lane: &lane{}, channel: "general", replyTo: "question", id: "01HZZZZZZZZZZZZZZZZZZZZZZZ", began: time.Now(),
			wake: make(chan struct{}, 1), final: make(chan string, 1), done: make(chan struct{}),
			show: func(context.Context, string) error { return nil }, attempt: t.Context(), author: "ana",
		}
		go d.write(t.Context())
		script(d)
	})
}

func TestSpeechIsPaced(t *testing.T) {
	door := &recorder{}
	speaking(t, door, func(d *delivery) deliveryResult {
		for range 50 {
			d.add("word ")
			time.Sleep(100 * time.Millisecond)
		}
		return d.finish(strings.Repeat("word ", 50))
	})
	if door.calls[0].at != 200*time.Millisecond {
		t.Errorf("first post after %v, want 200 ms from the first word", door.calls[0].at)
	}
	for i := 1; i < len(door.calls)-1; i++ {
		if gap := door.calls[i].at - door.calls[i-1].at; gap < time.Second {
			t.Errorf("edit %d came %v after the one before", i, gap)
		}
	}
	last := door.calls[len(door.calls)-1].post
	if want := strings.TrimSpace(strings.Repeat("word ", 50)); strings.TrimSpace(last.Text) != want {
		t.Errorf("last post %+v", last)
	}
	if n := len(door.calls); n < 4 || n > 7 {
		t.Errorf("%d posts and edits in five seconds", n)
	}
}

// What breaks while a reply is streamed costs none of it.
func TestFinalTextLandsAfterAPanic(t *testing.T) {
	door := &recorder{fail: func(n int, _ turn.Post) error {
		if n == 1 {
			panic("a bug")
		}
		return nil
	}}
	got := halfAnAnswer(t, door, "Half an answer.")
	last := door.calls[len(door.calls)-1].post
	if got.err != nil || len(door.calls) < 2 || last.Text != "Half an answer." || len(got.posts) != 1 {
		t.Errorf("err %v, posts %+v, last %+v", got.err, got.posts, last)
	}
	door = &recorder{fail: func(int, turn.Post) error { panic("a bug") }}
	if got := halfAnAnswer(t, door, "Half an answer."); got.err == nil {
		t.Errorf("a reply that did not land is on record as one that did")
	}
}

// A model that does not end is cut off, and the record says so.
func TestEndlessAnswer(t *testing.T) {
	srv := llmtest.New(t)
	srv.Reply = func(llmtest.Request) llmtest.Reply {
		return slices.Repeat(llmtest.Reply{llmtest.Chunk(strings.Repeat("and so on ", 100))}, 100)
	}
	b := &Bot{Log: slog.New(slog.DiscardHandler), Cast: sageAlone}
	actor := &Actor{Character: sage.Character, Model: &llm.Client{HTTP: http.DefaultClient, BaseURL: srv.URL, Model: "main"}}
	d := &delivery{bot: b, actor: actor, wake: make(chan struct{}, 1)}
	record := &turn.Trace{}
	text := b.answer(t.Context(), record, prompt.Prompt{Messages: []turn.Rendered{{Role: "user", Text: "go on"}}}, d)
	if n := len(text); n < longestAnswer-20 || n > longestAnswer+200 || d.raw.Len() > longestAnswer {
		t.Errorf("%d bytes, %d of them streamed", n, d.raw.Len())
	}
	if record.Finish != "length" || !strings.Contains(record.Err, "had not ended") || !strings.Contains(text, string(tooLong)) {
		t.Errorf("finish %q, err %q, text %q", record.Finish, record.Err, text[max(0, len(text)-200):])
	}
}

// A model that hangs does not keep the bot from stopping: what it said is told as cut off.
func TestStopWhileTheModelHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := llmtest.InMemory(t)
		srv.Reply = func(llmtest.Request) llmtest.Reply {
			return llmtest.Reply{llmtest.Chunk("Half an answer."), llmtest.Hold()}
		}
		transport := &http.Transport{DialContext: srv.Dial}
		defer transport.CloseIdleConnections()
		b := &Bot{Log: slog.New(slog.DiscardHandler), Cast: sageAlone, Redact: redact.New()}
		actor := &Actor{Character: sage.Character, Model: &llm.Client{HTTP: &http.Client{Transport: transport}, BaseURL: srv.URL, Model: "main"}}
		d := &delivery{bot: b, actor: actor, wake: make(chan struct{}, 1)}
		time.AfterFunc(5*time.Second, b.onStop())
		ctx, cancel := until(t.Context(), b.cut)
		defer cancel()
		record, began := &turn.Trace{}, time.Now()
		text := b.answer(ctx, record, prompt.Prompt{Messages: []turn.Rendered{{Role: "user", Text: "go on"}}}, d)
		if took := time.Since(began); took != 5*time.Second+stopPatience {
			t.Errorf("it took %v", took)
		}
		if !strings.HasPrefix(text, "Half an answer.") || !strings.Contains(text, string(cutOff)) || !record.Cut || !strings.Contains(record.Err, "asked to stop") {
			t.Errorf("text %q, err %q", text, record.Err)
		}
	})
}

// halfAnAnswer streams a little and then finishes.
func halfAnAnswer(t *testing.T, door *recorder, final string) (got deliveryResult) {
	speaking(t, door, func(d *delivery) deliveryResult {
		d.add("Half an ")
		time.Sleep(time.Second)
		got = d.finish(final)
		return got
	})
	return got
}

func edits(err error) func(int, turn.Post) error {
	return func(_ int, p turn.Post) error {
		if p.ID != "" {
			return err
		}
		return nil
	}
}

func TestFinalTextLandsWhenEditsAreRefused(t *testing.T) {
	door := &recorder{fail: edits(&discord.SendError{Kind: discord.Rejected})}
	got := halfAnAnswer(t, door, "Half an answer.")
	last := door.calls[len(door.calls)-1].post
	if got.err != nil || last.ID != "" || last.Text != "Half an answer." {
		t.Errorf("err %v, last post %+v", got.err, last)
	}
	if first := door.calls[0].post; first.Nonce == last.Nonce {
		t.Errorf("two messages with the nonce %q: the second would be lost", last.Nonce)
	}
}

func TestAnAnswerThatAPersonDeletedStaysDeleted(t *testing.T) {
	door := &recorder{fail: edits(&discord.SendError{Kind: discord.Gone})}
	got := halfAnAnswer(t, door, strings.Repeat("Half an answer. ", 300))
	created := 0
	for _, c := range door.calls {
		if c.post.ID == "" {
			created++
		}
	}
	if got.err == nil || created != 1 {
		t.Errorf("err %v, %d messages", got.err, created)
	}
}

func TestTheLastPassInsists(t *testing.T) {
	for _, trouble := range []error{&discord.SendError{Kind: discord.Unavailable, Status: 503}, errors.New("connection reset")} {
		door := &recorder{}
		door.fail = func(_ int, p turn.Post) error {
			if p.ID != "" && time.Since(door.start) < 8*time.Second {
				return trouble
			}
			return nil
		}
		got := halfAnAnswer(t, door, strings.Repeat("Half an answer, and the rest of it. ", 100))
		if got.err != nil || len(got.posts) != 2 || !strings.HasPrefix(got.posts[0].text, "Half an answer, and") {
			t.Errorf("%v: err %v, posts %+v", trouble, got.err, got.posts)
		}
		created := 0
		for _, c := range door.calls {
			if c.post.ID == "" {
				created++
			}
		}
		if created != 2 {
			t.Errorf("%v: %d messages: one of them is double", trouble, created)
		}
	}
}

func TestPostsThatTheFinalTextDoesNotFillAreTakenAway(t *testing.T) {
	door := &recorder{}
	var got deliveryResult
	speaking(t, door, func(d *delivery) deliveryResult {
		d.add(strings.Repeat("A long beginning. ", 200))
		time.Sleep(2 * time.Second)
		got = d.finish("Short.")
		return got
	})
	last := door.calls[len(door.calls)-1].post
	if len(got.posts) != 1 || got.posts[0].text != "Short." || last.ID == "" || last.Text != "" {
		t.Errorf("posts %+v, last %+v", got.posts, last)
	}
}

func TestTheModelsOwnLabelIsNeverShown(t *testing.T) {
	door := &recorder{}
	speaking(t, door, func(d *delivery) deliveryResult {
		for _, words := range []string{"[10:5", "3] ", "**Sa", "ge", "**", ": ", "Hello ", "there. "} {
			d.add(words)
			time.Sleep(2 * time.Second)
		}
		return d.finish("Hello there.")
	})
	for _, c := range door.calls {
		if !strings.HasPrefix(c.post.Text, "Hello") {
			t.Errorf("shown: %q", c.post.Text)
		}
	}
}

func TestUnlabelled(t *testing.T) {
	for text, want := range map[string]string{
		"Sage: Hello":             "Hello",
		"**Sage:** Hello":         "Hello",
		"**Sage**: Hello":         "Hello",
		"[10:53] Sage: Hello":     "Hello",
		"sage:Hello":              "Hello",
		"Sage advice is cheap":    "Sage advice is cheap",
		"[1] says so":             "[1] says so",
		"**Bold** words":          "**Bold** words",
		"[10:53] is the time":     "[10:53] is the time",
		"A list:\n- Sage: a herb": "A list:\n- Sage: a herb",
		"":                        "",
	} {
		if got, _ := unlabelled(text, "Sage"); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestAPostThatMayHaveLandedKeepsItsNonce(t *testing.T) {
	door := &recorder{fail: func(n int, _ turn.Post) error {
		if n == 1 {
			return errors.New("connection reset")
		}
		return nil
	}}
	speaking(t, door, func(d *delivery) deliveryResult {
		d.add("Hello ")
		time.Sleep(time.Second)
		return d.finish("Hello there.")
	})
	if len(door.calls) != 2 || door.calls[0].post.Nonce != door.calls[1].post.Nonce {
		t.Errorf("%+v", door.calls)
	}
}

func TestLongReplyIsPostedInOrder(t *testing.T) {
	door := &recorder{}
	text := strings.Repeat(strings.Repeat("word ", 30)+"end.\n\n", 40)
	speaking(t, door, func(d *delivery) deliveryResult { return d.finish(text) })
	if len(door.calls) < 3 {
		t.Fatalf("%d posts for %d characters", len(door.calls), len(text))
	}
	var all strings.Builder
	for i, c := range door.calls {
		all.WriteString(c.post.Text + " ")
		if c.post.ID != "" || outgoing.Units(c.post.Text) > 2000 || (c.post.ReplyTo != "") != (i == 0) || c.post.Final != (i == len(door.calls)-1) {
			t.Errorf("post %d: %+v", i, c.post)
		}
	}
	if strings.Join(strings.Fields(all.String()), " ") != strings.Join(strings.Fields(text), " ") {
		t.Error("words were lost or moved")
	}
}

func TestNothingUnrecordedIsPosted(t *testing.T) {
	door := &recorder{}
	synctest.Test(t, func(t *testing.T) {
		door.start = time.Now()
		d := &delivery{
			bot: &Bot{Door: door, Log: slog.New(slog.DiscardHandler), Cast: sageAlone}, actor: sage, id: "x", began: time.Now(),
			wake: make(chan struct{}, 1), final: make(chan string, 1), done: make(chan struct{}),
			show: func(context.Context, string) error { return errJoined },
		}
		go d.write(t.Context())
		d.add("secret ")
		time.Sleep(time.Second)
		if got := d.finish("secret"); !errors.Is(got.err, errJoined) || len(door.calls) != 0 {
			t.Errorf("err %v, posts %+v", got.err, door.calls)
		}
	})
}

func TestAPatientDoorMakesEditsRarer(t *testing.T) {
	const wait = 3 * time.Second // Discord's 429, waited out by the door
	door := &recorder{fail: func(n int, _ turn.Post) error {
		if n > 1 {
			time.Sleep(wait)
		}
		return nil
	}}
	speaking(t, door, func(d *delivery) deliveryResult {
		for range 300 {
			d.add("word ")
			time.Sleep(100 * time.Millisecond)
		}
		return d.finish("done")
	})
	for i := 2; i < len(door.calls)-1; i++ {
		if gap := door.calls[i].at - door.calls[i-1].at; gap < 3*wait {
			t.Errorf("edit %d came %v after one that took %v", i, gap, wait)
		}
	}
}

func TestTyping(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		door := &recorder{start: time.Now()}
		typing := (&Bot{Door: door, Log: slog.New(slog.DiscardHandler)}).typing(t.Context(), "general")
		time.Sleep(20 * time.Second)
		typing.stop()
		time.Sleep(20 * time.Second)
		want := []time.Duration{150 * time.Millisecond, 8150 * time.Millisecond, 16150 * time.Millisecond}
		if !slices.Equal(door.typed, want) {
			t.Errorf("typed at %v, want %v and never after the stop", door.typed, want)
		}
	})
}
