package bot

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"familiar/internal/context/prompt"
	"familiar/internal/context/turn"
	"familiar/internal/discord/rest"
	"familiar/internal/llm"
	"familiar/internal/providers/character"
	"familiar/internal/reply"
	"familiar/internal/test/llmtest"
	"familiar/internal/web/clean"
)

// call is one call of a door.
type call struct {
	at     time.Duration
	method string    // "post", "edit", "delete", "react" or "thread"
	id     string    // of the message; empty for a post
	name   string    // the emoji, or the thread's name
	post   turn.Post // of an edit: its text, its buttons and Final
	failed bool
}

// recorder is a door that records its calls. fail decides whether the nth call fails.
type recorder struct {
	start time.Time
	fail  func(n int, c call) error
	mute  map[string]bool // channels where the bot may not post

	mu    sync.Mutex
	calls []call          // guarded by mu
	typed []time.Duration // guarded by mu
}

func (r *recorder) record(c call) error {
	r.mu.Lock()
	c.at = time.Since(r.start)
	r.calls = append(r.calls, c)
	n := len(r.calls)
	r.mu.Unlock()
	if r.fail == nil {
		return nil
	}
	err := r.fail(n, c)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.calls[n-1].failed = err != nil
	return err
}

func (r *recorder) Post(_ context.Context, p turn.Post) (string, error) {
	return "post" + p.Nonce[len(p.Nonce)-1:], r.record(call{method: "post", post: p})
}

func (r *recorder) Edit(_ context.Context, e turn.Edit) error {
	if err := e.Validate(); err != nil {
		return err
	}
	return r.record(call{method: "edit", id: e.ID, post: turn.Post{ChannelID: e.ChannelID, Text: e.Text, Buttons: e.Buttons, Final: e.Final}})
}

func (r *recorder) Delete(_ context.Context, ref turn.Ref) error {
	if err := ref.Validate(); err != nil {
		return err
	}
	return r.record(call{method: "delete", id: ref.ID})
}

func (r *recorder) React(_ context.Context, ref turn.Ref, emoji string) error {
	return r.record(call{method: "react", id: ref.ID, name: emoji})
}

func (r *recorder) MayPost(channelID string) bool { return !r.mute[channelID] }

func (r *recorder) OpenThread(_ context.Context, ref turn.Ref, name string) (string, error) {
	return ref.ID, r.record(call{method: "thread", id: ref.ID, name: name})
}

func (r *recorder) Typing(context.Context, string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.typed = append(r.typed, time.Since(r.start))
	return nil
}

func (r *recorder) Respond(context.Context, turn.Command, turn.Answer) error { return nil }

// all returns the calls so far.
func (r *recorder) all() []call {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.calls)
}

// texts returns the posted and edited texts, sorted, without those of failed calls.
func (r *recorder) texts() (all []string) {
	for _, c := range r.all() {
		if !c.failed {
			all = append(all, c.post.Text)
		}
	}
	slices.Sort(all)
	return all
}

var sage = &Actor{Character: &character.Character{Name: "Sage"}}

var sageAlone = &Cast{Default: sage}

// speaking runs script with a delivery in virtual time.
func speaking(t *testing.T, door *recorder, script func(d *delivery) deliveryResult) {
	synctest.Test(t, func(t *testing.T) {
		door.start = time.Now()
		b := &Bot{Door: door, Log: slog.New(slog.DiscardHandler), Cast: sageAlone, Pace: Pace{First: 200 * time.Millisecond, Every: 1200 * time.Millisecond, Units: 2000}}
		d := &delivery{
			bot: b, actor: sage, lane: &lane{}, replyTo: "question", began: time.Now(), attempt: t.Context(),
			request: turn.Request{ID: "01HZZZZZZZZZZZZZZZZZZZZZZZ", ChannelID: "general", Message: turn.Message{Author: turn.Author{ID: "ana"}}},
			wake:    make(chan struct{}, 1), final: make(chan string, 1), done: make(chan struct{}),
			show: func(context.Context, string) error { return nil },
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

// A failure while a reply is streamed loses nothing of the reply.
func TestFinalTextLandsAfterAPanic(t *testing.T) {
	door := &recorder{fail: func(n int, _ call) error {
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
	door = &recorder{fail: func(int, call) error { panic("a bug") }}
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
	text := b.answer(t.Context(), record, prompt.Prompt{Messages: []turn.Rendered{{Role: "user", Text: "go on"}}}, d, func() {})
	if n := len(text); n < longestAnswer-20 || n > longestAnswer+200 || d.raw.Len() > longestAnswer {
		t.Errorf("%d bytes, %d of them streamed", n, d.raw.Len())
	}
	if record.Finish != "length" || !strings.Contains(record.Err, "had not ended") || !strings.Contains(text, string(reply.TooLong)) {
		t.Errorf("finish %q, err %q, text %q", record.Finish, record.Err, text[max(0, len(text)-200):])
	}
}

// A model that hangs does not keep the bot from stopping. The reply says that it was cut off.
func TestStopWhileTheModelHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := llmtest.InMemory(t)
		srv.Reply = func(llmtest.Request) llmtest.Reply {
			return llmtest.Reply{llmtest.Chunk("Half an answer."), llmtest.Hold()}
		}
		transport := &http.Transport{DialContext: srv.Dial}
		defer transport.CloseIdleConnections()
		b := &Bot{Log: slog.New(slog.DiscardHandler), Cast: sageAlone, Redact: clean.NewRedactor()}
		actor := &Actor{Character: sage.Character, Model: &llm.Client{HTTP: &http.Client{Transport: transport}, BaseURL: srv.URL, Model: "main"}}
		d := &delivery{bot: b, actor: actor, wake: make(chan struct{}, 1)}
		time.AfterFunc(5*time.Second, b.onStop())
		ctx, cancel := until(t.Context(), b.cut)
		defer cancel()
		record, began := &turn.Trace{}, time.Now()
		text := b.answer(ctx, record, prompt.Prompt{Messages: []turn.Rendered{{Role: "user", Text: "go on"}}}, d, func() {})
		if took := time.Since(began); took != 5*time.Second+stopPatience {
			t.Errorf("it took %v", took)
		}
		if !strings.HasPrefix(text, "Half an answer.") || !strings.Contains(text, string(reply.CutOff)) || !record.Cut || !strings.Contains(record.Err, "asked to stop") {
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

func edits(err error) func(int, call) error {
	return func(_ int, c call) error {
		if c.method == "edit" {
			return err
		}
		return nil
	}
}

func TestFinalTextLandsWhenEditsAreRefused(t *testing.T) {
	door := &recorder{fail: edits(&rest.Error{Kind: rest.Rejected})}
	got := halfAnAnswer(t, door, "Half an answer.")
	last, cleared := door.calls[len(door.calls)-2], door.calls[len(door.calls)-1]
	if got.err != nil || last.method != "post" || last.post.Text != "Half an answer." || cleared.method != "delete" || cleared.id != "post0" {
		t.Errorf("err %v, last calls %+v, %+v", got.err, last, cleared)
	}
	if first := door.calls[0].post; first.Nonce == last.post.Nonce {
		t.Errorf("two messages with the nonce %q: the second would be lost", first.Nonce)
	}
}

func TestAnAnswerThatAPersonDeletedStaysDeleted(t *testing.T) {
	door := &recorder{fail: edits(&rest.Error{Kind: rest.Gone})}
	got := halfAnAnswer(t, door, strings.Repeat("Half an answer. ", 300))
	created := 0
	for _, c := range door.calls {
		if c.method == "post" {
			created++
		}
	}
	if got.err == nil || created != 1 {
		t.Errorf("err %v, %d messages", got.err, created)
	}
}

func TestLastPassRetries(t *testing.T) {
	for _, trouble := range []error{&rest.Error{Kind: rest.Unavailable, Status: 503}, errors.New("connection reset")} {
		door := &recorder{}
		door.fail = func(_ int, c call) error {
			if c.method == "edit" && time.Since(door.start) < 8*time.Second {
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
			if c.method == "post" {
				created++
			}
		}
		if created != 2 {
			t.Errorf("%v: %d messages: one of them is double", trouble, created)
		}
	}
}

func TestSurplusPostsAreDeleted(t *testing.T) {
	door := &recorder{}
	var got deliveryResult
	speaking(t, door, func(d *delivery) deliveryResult {
		d.add(strings.Repeat("A long beginning. ", 200))
		time.Sleep(2 * time.Second)
		got = d.finish("Short.")
		return got
	})
	last := door.calls[len(door.calls)-1]
	if len(got.posts) != 1 || got.posts[0].text != "Short." || last.method != "delete" || last.id == "" {
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
		if got, _ := reply.Unlabelled(text, "Moss", "", "Sage"); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestAPostThatMayHaveLandedKeepsItsNonce(t *testing.T) {
	door := &recorder{fail: func(n int, _ call) error {
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
		if c.method != "post" || reply.Units(c.post.Text) > 2000 || (c.post.ReplyTo != "") != (i == 0) || c.post.Final != (i == len(door.calls)-1) {
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
			bot: &Bot{Door: door, Log: slog.New(slog.DiscardHandler), Cast: sageAlone}, actor: sage, request: turn.Request{ID: "x"}, began: time.Now(),
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

func TestSlowDoorMakesEditsRarer(t *testing.T) {
	const wait = 3 * time.Second // the door waits for Discord's 429 to pass
	door := &recorder{fail: func(n int, _ call) error {
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

// An edit without a text fails at once. It deletes nothing and is not retried.
func TestAnEditWithoutATextFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		door := &recorder{start: time.Now()}
		b := &Bot{Door: door, Log: slog.New(slog.DiscardHandler)}
		ref := turn.Ref{ChannelID: "general", ID: "post0"}
		if err := b.sendEdit(t.Context(), turn.Edit{Ref: ref, Final: true}, true); !errors.Is(err, turn.ErrIncomplete) {
			t.Errorf("edit: %v", err)
		}
		if err := b.sendDelete(t.Context(), turn.Ref{ChannelID: "general"}); !errors.Is(err, turn.ErrIncomplete) {
			t.Errorf("delete: %v", err)
		}
		if took := time.Since(door.start); took > 0 || len(door.calls) > 0 {
			t.Errorf("%v, calls %+v", took, door.calls)
		}
	})
}

const threeSentences = "Owls eat mice, and voles, and now and then a beetle that did not look where it was going, poor thing. "

// A reply that imitates a voice comes in short posts, with typing in the pauses.
func TestSpokenIsPaced(t *testing.T) {
	door := &recorder{}
	speaking(t, door, func(d *delivery) deliveryResult {
		d.spoken = true
		r := d.finish(strings.TrimSpace(strings.Repeat(threeSentences, 8)))
		if r.err != nil || r.unsaid || len(r.posts) < 2 || len(r.posts) > 5 {
			t.Errorf("%+v", r)
		}
		return r
	})
	if len(door.typed) != len(door.calls)-1 {
		t.Errorf("typing %d times between %d posts", len(door.typed), len(door.calls))
	}
	for i, c := range door.calls[1:] {
		if gap := c.at - door.calls[i].at; gap < pauseLeast || gap > pauseMost {
			t.Errorf("post %d after %v", i+1, gap)
		}
	}
	if all := door.calls[len(door.calls)-1].at; all > pausesMost {
		t.Errorf("took %v", all)
	}
}

// A new message of the author stops the rest of the reply. A message of somebody else does not.
func TestSpokenIsInterrupted(t *testing.T) {
	for author, whole := range map[string]bool{"ana": false, "ben": true} {
		door := &recorder{}
		speaking(t, door, func(d *delivery) deliveryResult {
			d.spoken = true
			go func() {
				time.Sleep(time.Second)
				d.lane.put(arrival{Event: turn.Event{Kind: turn.Created, Message: turn.Message{Author: turn.Author{ID: author}}}})
			}()
			r := d.finish(strings.TrimSpace(strings.Repeat(threeSentences, 8)))
			if r.err != nil || r.unsaid == whole || !whole && len(r.posts) != 1 {
				t.Errorf("%s: %d posts, unsaid %v, %v", author, len(r.posts), r.unsaid, r.err)
			}
			return r
		})
	}
}
