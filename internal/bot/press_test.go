package bot

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/discord/rest"
	"familiar/internal/gate"
	"familiar/internal/reply"
	"familiar/internal/store"
)

// TestButtonsCostNoRequest streams the same reply with buttons and without.
func TestButtonsCostNoRequest(t *testing.T) {
	key := func(kind string) string {
		return map[string]string{reply.StopButton: "s", reply.WhyButton: "w", reply.DeleteButton: "d"}[kind]
	}
	said := func(key func(string) string) *recorder {
		door := &recorder{}
		speaking(t, door, func(d *delivery) deliveryResult {
			d.key = key
			for range 600 {
				d.add("word ")
				time.Sleep(10 * time.Millisecond)
			}
			return d.finish(strings.Repeat("word ", 600)+"\n\n-# sources: [1] example.org", reply.WhyButton, reply.DeleteButton)
		})
		return door
	}
	with, without := said(key), said(nil)
	if len(with.calls) != len(without.calls) {
		t.Errorf("%d requests with buttons, %d without", len(with.calls), len(without.calls))
	}
	under := map[string]string{} // buttons by post
	for i, c := range with.calls {
		id := c.id
		if id == "" {
			id = "post" + c.post.Nonce[len(c.post.Nonce)-1:]
		}
		under[id] = ""
		for _, b := range c.post.Buttons {
			under[id] += b.ID
		}
		if all := fmt.Sprint(under); strings.Count(all, ":s") > 1 || i == 0 && all != "map[post0:s]" {
			t.Errorf("after %d requests: %s", i+1, all)
		}
	}
	if got := fmt.Sprint(under); got != "map[post0: post1:wd]" {
		t.Errorf("in the end: %s", got)
	}
}

// TestPressSurvivesRestart presses buttons that ask for a turn, and kills the bot before its end. The next start knows what each press
// asked for.
func TestPressSurvivesRestart(t *testing.T) {
	b := resting(t, &recorder{})
	ctx := t.Context()
	e := asks("1", "general", "ana")
	if _, err := b.Store.Messages.SaveIncoming(ctx, store.Incoming{Message: b.stored(e, e.Message)}); err != nil {
		t.Fatal(err)
	}
	record := &turn.Trace{Request: turn.Request{ID: "01HZZZZZZZZZZZZZZZZZZZZZZZ", GuildID: "hall", ChannelID: "general", Message: e.Message},
		Phase: turn.Answered, Reply: "Half of it", ReplyIDs: []string{"2"}, Cut: true, Began: time.Now()}
	if err := b.save(ctx, record); err != nil {
		t.Fatal(err)
	}
	b.lanes.put(func(*lane) {}, arrival{Event: asks("3", "general", "ben")}) // a turn that does not end
	for _, kind := range []string{reply.RegenerateButton, reply.ContinueButton} {
		press := turn.Event{Kind: turn.Ordered, GuildID: "hall", Message: turn.Message{ChannelID: "general"}, Command: &turn.Command{By: turn.Author{ID: "ana"}}}
		if _, err := b.AnswerAgain(ctx, press, record, e.Message.Text, kind); err != nil {
			t.Fatal(err)
		}
	}
	open, err := b.Store.Claims.Open(ctx)
	if err != nil || len(open) != 2 {
		t.Fatalf("unanswered: %+v, %v", open, err)
	}
	for i, o := range open {
		if err := b.Store.Claims.SavePost(ctx, "", o.TurnID, 0, store.Post{ID: "4", Text: "Half an"}); err != nil {
			t.Fatal(err)
		}
		a, ok := b.reopened(ctx, o)
		if !ok || !a.pressed() || a.claim() != o.Claim || a.turnID != a.newID || a.earlier.Request.ID != record.Request.ID || a.goesOnWith != (i == 1) || a.Message.ID != "1" {
			t.Errorf("%+v became %+v", o, a)
		}
		again := &turn.Trace{Request: b.request(ctx, b.CurrentCast().Default, a.turnID, []arrival{a}), Phase: turn.Answered, Began: time.Now()}
		if err := b.save(ctx, again); err != nil {
			t.Fatal(err)
		}
	}
	if open, err := b.Store.Claims.Open(ctx); err != nil || len(open) != 0 {
		t.Errorf("unanswered: %+v, %v", open, err)
	}
}

// wall is a channel with the posts of a bot. It takes so many requests, and then no more: the bot is killed. If torn, the last of them takes effect, and
// the bot does not learn that.
type wall struct {
	recorder
	mu     sync.Mutex // guards all that follows
	posts  []turn.Post
	ids    []string
	nonces map[string]string
	takes  int
	torn   bool
	away   time.Time // until then Discord cannot be reached once it has taken enough
}

var errKilled = fmt.Errorf("killed: %w", context.Canceled)

// take makes a change, or not. The caller holds mu.
func (w *wall) take(change func()) error {
	w.takes--
	if w.takes >= 0 || w.takes == -1 && w.torn {
		change()
	}
	if w.takes < 0 && !w.away.IsZero() {
		if time.Now().After(w.away) {
			change()
			return nil
		}
		return &rest.Error{Kind: rest.Unavailable}
	}
	if w.takes < 0 {
		return errKilled
	}
	return nil
}

func (w *wall) Post(_ context.Context, p turn.Post) (id string, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	err = w.take(func() {
		if id = w.nonces[p.Nonce]; id == "" {
			id = strconv.Itoa(100 + len(w.nonces))
			w.nonces[p.Nonce], w.ids, w.posts = id, append(w.ids, id), append(w.posts, p)
		}
	})
	return id, err
}

func (w *wall) Edit(_ context.Context, e turn.Edit) error {
	return w.at(e.ID, func(i int) { w.posts[i].Text, w.posts[i].Buttons = e.Text, e.Buttons })
}

func (w *wall) Delete(_ context.Context, r turn.Ref) error {
	return w.at(r.ID, func(i int) { w.ids, w.posts = slices.Delete(w.ids, i, i+1), slices.Delete(w.posts, i, i+1) })
}

// at changes a post that must be there.
func (w *wall) at(id string, change func(i int)) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	i := slices.Index(w.ids, id)
	if i < 0 {
		return &rest.Error{Kind: rest.Gone}
	}
	return w.take(func() { change(i) })
}

// shows returns the first word of each post, and how many buttons it has.
func (w *wall) shows() (all string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, p := range w.posts {
		word, _, _ := strings.Cut(p.Text, " ")
		all += fmt.Sprintf("%s:%d ", word, len(p.Buttons))
	}
	return all
}

const unlimited = 1 << 20

// storyteller returns a bot that has told a long story, and a short one in its place. The long one is shown.
func storyteller(t *testing.T) (b *Bot, w *wall, long, short *turn.Trace) {
	t.Helper()
	w = &wall{nonces: map[string]string{}, takes: unlimited}
	b = resting(t, w)
	e := asks("1", "general", "ana")
	told := func(id string, words ...string) *turn.Trace {
		var parts []string
		for _, one := range words {
			parts = append(parts, strings.Repeat(one+" ", 300))
		}
		r := turn.Request{ID: id, GuildID: "hall", ChannelID: "general", Message: e.Message, Buttons: true}
		record := &turn.Trace{Request: r, Phase: turn.Answered, Reply: strings.Join(parts, "\n\n"), Began: time.Now(), ReplyIDs: []string{"100"}}
		if err := b.save(t.Context(), record); err != nil {
			t.Fatal(err)
		}
		return record
	}
	long, short = told("01HZZZZZZZZZZZZZZZZZZZZZZA", "one", "two", "three"), told("01HZZZZZZZZZZZZZZZZZZZZZZB", "brief")
	_, err := w.Post(t.Context(), turn.Post{Nonce: "first"})
	own := turn.Message{ID: "100", ChannelID: "general", Own: true, ReplyTo: "1", At: time.Now()}
	kept := b.stored(e, own)
	kept.TurnID = long.Request.ID
	if err := errors.Join(err, b.Store.Messages.Save(t.Context(), b.stored(e, e.Message), kept), b.show(t.Context(), long, []store.Post{{ID: "100"}})); err != nil {
		t.Fatal(err)
	}
	return b, w, long, short
}

// A bot is killed at any step of a change between two answers. After the next start it shows the chosen one whole, and goes on with it.
func TestAKilledSwipeLeavesNoHalf(t *testing.T) {
	const longStory, briefStory = "one:0 two:0 three:6 ", "brief:6 "
	for number, want := range []string{longStory, briefStory} {
		for _, torn := range []bool{false, true} {
			for takes := 0; ; takes++ {
				b, w, long, short := storyteller(t)
				ctx, from := t.Context(), long
				if number == 0 {
					if _, err := b.Swipe(ctx, long, 1, "ana"); err != nil {
						t.Fatal(err)
					}
					from = short
				}
				w.takes, w.torn = takes, torn
				done, err := b.Swipe(ctx, from, number, "ana")
				w.takes = unlimited
				b.markLeft(ctx, func(string, string) bool { return true })
				b.notices.posting.Wait()
				id := []*turn.Trace{long, short}[number].Request.ID
				recent, failed := b.Store.Messages.Recent(ctx, "general", 9)
				record, unread := b.Traces.Get(ctx, id)
				left, unknown := b.Store.Claims.Left(ctx)
				if err := errors.Join(failed, unread, unknown); err != nil {
					t.Fatal(err)
				}
				var ids []string
				for _, m := range recent[1:] {
					ids = append(ids, m.ID)
					if m.TurnID != id {
						t.Errorf("%s, killed after %d: %+v", want, takes, m)
					}
				}
				if w.shows() != want || !slices.Equal(ids, w.ids) || !slices.Equal(record.ReplyIDs, w.ids) || len(left) > 0 {
					t.Fatalf("%s, killed after %d, torn %v: %s, %v; kept %v, record %v, left %v", want, takes, torn, w.shows(), w.ids, ids, record.ReplyIDs, left)
				}
				for _, one := range []*turn.Trace{long, short} {
					if kept, err := b.Traces.Get(ctx, one.Request.ID); err != nil || kept.Reply != one.Reply {
						t.Fatalf("on record is %+v, %v", kept, err)
					}
				}
				if done {
					break
				}
				if !errors.Is(err, errKilled) {
					t.Fatal(err)
				}
			}
		}
	}
}

// Another answer was under way in the posts of a long one, and is given up. The long one comes back.
func TestAnAnswerInPlaceThatIsGivenUpBringsTheEarlierBack(t *testing.T) {
	b, w, long, _ := storyteller(t)
	ctx := t.Context()
	long, err := b.Traces.Get(ctx, long.Request.ID)
	if err != nil {
		t.Fatal(err)
	}
	w.posts[0].Text = "half of it"
	id, _ := w.Post(ctx, turn.Post{Nonce: "further", Text: "surplus"})
	a := arrival{Event: asks("1", "general", "ana"), earlier: long, newID: "01HZZZZZZZZZZZZZZZZZZZZZZC", turnID: "01HZZZZZZZZZZZZZZZZZZZZZZC"}
	for _, one := range w.ids {
		a.posts = append(a.posts, store.Post{ID: one})
	}
	b.markInterrupted(ctx, a)
	b.notices.posting.Wait()
	if got := w.shows(); got != "one:0 two:0 three:6 " || slices.Contains(w.ids, id) {
		t.Errorf("there is %s", got)
	}
}

// A post that an earlier process had deleted already is posted again, and is no reason to give up.
func TestAnAnswerComesBackWithoutItsLastPosts(t *testing.T) {
	b, w, long, _ := storyteller(t)
	for _, gone := range slices.Clone(w.ids[1:]) {
		if err := w.Delete(t.Context(), turn.Ref{ID: gone}); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.show(t.Context(), long, []store.Post{{ID: "100"}, {ID: "101"}, {ID: "102"}}); err != nil || w.shows() != "one:0 two:0 three:6 " {
		t.Errorf("there is %s: %v", w.shows(), err)
	}
}

// Where the bot may not post, a shorter answer can be shown, but no longer one.
func TestNoLongerAnswerWhereTheBotMayNotPost(t *testing.T) {
	b, w, long, short := storyteller(t)
	w.mute = map[string]bool{"general": true}
	if done, err := b.Swipe(t.Context(), long, 1, "ana"); !done || err != nil || w.shows() != "brief:6 " {
		t.Errorf("there is %s: %v, %v", w.shows(), done, err)
	}
	var no *gate.Refusal
	if done, err := b.Swipe(t.Context(), short, 0, "ana"); done || !errors.As(err, &no) || no.Why != gate.MayNotPost || w.shows() != "brief:6 " {
		t.Errorf("there is %s: %v, %v", w.shows(), done, err)
	}
}

// A change between two answers that Discord's outage divides is finished after it.
func TestASwipeIsFinishedAfterAnOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, w, long, _ := storyteller(t)
		defer b.Store.Close()
		b.onStop()
		w.takes, w.away = 1, time.Now().Add(20*time.Second)
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		if done, err := b.Swipe(ctx, long, 1, "ana"); done || err == nil || w.shows() != "brief:6 two:0 three:6 " {
			t.Errorf("there is %s: %v, %v", w.shows(), done, err)
		}
		b.notices.posting.Wait()
		if w.shows() != "brief:6 " {
			t.Errorf("there is %s", w.shows())
		}
	})
}

// What was written while a reply was being written stands below it, though its date is earlier.
func TestNoSwipeAboveWhatWasWrittenMeanwhile(t *testing.T) {
	b, w, long, _ := storyteller(t)
	e := asks("999", "general", "ben")
	e.Message.At = time.Now().Add(-time.Minute)
	if err := b.Store.Messages.Save(t.Context(), b.stored(e, e.Message)); err != nil {
		t.Fatal(err)
	}
	if done, err := b.Swipe(t.Context(), long, 1, "ana"); done || err != nil || w.shows() != "one:0 two:0 three:6 " {
		t.Errorf("there is %s: %v, %v", w.shows(), done, err)
	}
}
