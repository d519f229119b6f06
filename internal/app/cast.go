package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/fsnotify/fsnotify"

	"familiar/internal/bot"
	"familiar/internal/command"
	"familiar/internal/context/turn"
	"familiar/internal/discord"
	"familiar/internal/gate"
	"familiar/internal/providers/character"
	"familiar/internal/reply"
	"familiar/internal/store"
)

// cast holds the characters that the program speaks as. It also holds those that a reload removed, whose turns may not be over.
type cast struct {
	mu      sync.Mutex
	now     *bot.Cast // guarded by mu; nil before openCast
	retired []retired // guarded by mu
}

// retired is a character that takes no new turns.
type retired struct {
	actor *bot.Actor
	since time.Time
}

// longestTurn is longer than any turn takes.
const longestTurn = 15 * time.Minute

// openCast loads all other characters. One that cannot be loaded is left out and reported.
func (a *App) openCast(_ context.Context, p *Process) error {
	a.cast.set(a.load(p, &bot.Cast{Default: a.Actor}), time.Now())
	return nil
}

// load reads the characters' files. A character whose files are unchanged or wrong keeps its last good version. The default character is always
// there.
func (a *App) load(p *Process, before *bot.Cast) *bot.Cast {
	files := Shelf(a.Config, p.Dir)
	ids, err := character.List(files)
	if err != nil {
		return &bot.Cast{Default: before.Default, Others: before.Others, Faults: []string{a.Redact.String(err.Error())}}
	}
	c := &bot.Cast{}
	c.Default, c.Faults = a.reload(files, before.Default.ID, before.Default, p.Far)
	for _, id := range ids {
		if id == before.Default.ID {
			continue
		}
		actor, faults := a.reload(files, id, before.Actor(id), p.Far)
		if c.Faults = append(c.Faults, faults...); actor != nil {
			c.Others = append(c.Others, actor)
		}
	}
	return c
}

// reload returns a character as its files are now, or old if they are unchanged or wrong. old may be nil.
func (a *App) reload(files fs.FS, id string, old *bot.Actor, far Far) (*bot.Actor, []string) {
	loaded, err := character.Load(files, id)
	if err == nil && old != nil && old.Sum == loaded.Sum {
		return old, nil
	}
	if err == nil {
		var fresh *bot.Actor
		if fresh, err = a.ActorOf(loaded, far); err == nil {
			return fresh, nil
		}
	}
	return old, a.faults(err)
}

// faults lists what is wrong with a character.
func (a *App) faults(err error) (all []string) {
	for _, p := range character.Problems(err) {
		all = append(all, a.Redact.String(p.String()))
	}
	return all
}

func (c *cast) get() *bot.Cast {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// actor returns the character with an id, or nil.
func (c *cast) actor(id string) *bot.Actor {
	if now := c.get(); now != nil {
		return now.Actor(id)
	}
	return nil
}

// set replaces the cast, and forgets characters that retired long ago.
func (c *cast) set(next *bot.Cast, now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.retired = slices.DeleteFunc(c.retired, func(r retired) bool { return now.Sub(r.since) > longestTurn })
	for _, old := range c.now.All() {
		if next.Actor(old.ID) != old {
			c.retired = append(c.retired, retired{old, now})
		}
	}
	c.now = next
}

// wait waits for providers that turns of any character have abandoned. first is the character that answers without a cast.
func (c *cast) wait(ctx context.Context, first *bot.Actor) error {
	c.mu.Lock()
	actors := append(c.now.All(), first)
	for _, r := range c.retired {
		actors = append(actors, r.actor)
	}
	c.mu.Unlock()
	var errs []error
	for _, actor := range actors {
		errs = append(errs, actor.Builder.Wait(ctx))
	}
	return errors.Join(errs...)
}

// names returns the names of a cast, for people.
func names(c *bot.Cast) (all []string) {
	for _, actor := range c.All() {
		all = append(all, fmt.Sprintf("%s (%s)", actor.Name, actor.ID))
	}
	return all
}

// settled is how long files must be unchanged before they are read: an editor writes in several steps.
const settled = 250 * time.Millisecond

// reloader keeps the cast in step with the characters' files.
type reloader struct {
	app     *App
	process *Process
	bot     *bot.Bot
	session *discord.Session
	faults  []string // that were reported and are still there
	waiting []string // settings of .env that a restart would change

	wanted chan chan struct{} // requests to read the files, closed when that is done
	ended  chan struct{}      // closed when the files are no longer read
}

// run reads the files whenever they change, until ctx is done. It reports files that cannot be watched.
func (r *reloader) run(ctx context.Context) {
	defer close(r.ended)
	r.tell(ctx, r.news(r.app.cast.get().Faults)...)
	command.DressAll(ctx, r.bot)
	w, err := fsnotify.NewWatcher()
	if err == nil {
		defer w.Close()
		err = r.watch(w)
	} else {
		w = &fsnotify.Watcher{} // it reports nothing; requests to read are served anyway
	}
	if err != nil {
		r.unwatched(err)
	}
	timer := time.NewTimer(time.Hour)
	timer.Stop()
	environment := false // .env has changed
	for {
		select {
		case <-ctx.Done():
			return
		case done := <-r.wanted:
			r.readEnvironment(ctx)
			r.read(ctx)
			close(done)
		case e, open := <-w.Events:
			if !open {
				return
			}
			switch {
			case r.concerns(e.Name):
			case e.Name == filepath.Join(DotenvDir(r.process.Env, r.process.Dir), ".env"):
				environment = true
			default:
				continue
			}
			timer.Reset(settled)
		case err, open := <-w.Errors: // some events are lost: all files are read
			if !open {
				return
			}
			r.app.Log.Warn("watch the characters", "err", err)
			timer.Reset(settled)
		case <-timer.C:
			if err := r.watch(w); err != nil {
				r.unwatched(err)
			}
			if environment {
				environment = false
				r.readEnvironment(ctx)
			}
			r.read(ctx)
		}
	}
}

func (r *reloader) root() string {
	return Resolve(r.process.Dir, r.app.Config.Get("FAMILIAR_CHARACTERS"))
}

// concerns reports whether a file is one of the characters', or their directory.
func (r *reloader) concerns(name string) bool {
	rel, err := filepath.Rel(r.root(), name)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// watch watches the directories of the characters, the one above them and the one with .env. It watches no files: an editor may replace
// a file by a new one.
func (r *reloader) watch(w *fsnotify.Watcher) error {
	errs := []error{w.Add(r.process.Dir), w.Add(DotenvDir(r.process.Env, r.process.Dir))}
	if above := filepath.Dir(r.root()); above != r.process.Dir {
		errs = append(errs, w.Add(above))
	}
	err := filepath.WalkDir(r.root(), func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil // it is gone again or unreadable, which the loader reports
		}
		if info, err := os.Stat(path); err == nil && info.IsDir() { // a link to a directory is one
			return w.Add(path)
		}
		return nil
	})
	for _, err := range append(errs, err) {
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

func (r *reloader) unwatched(err error) {
	cure := "changes of the characters' files take a restart"
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EMFILE) {
		cure += "; or raise fs.inotify.max_user_watches and fs.inotify.max_user_instances (sysctl)"
	}
	r.app.Log.Warn("the characters' directory cannot be watched as a whole: "+cure, "err", r.app.Redact.String(err.Error()))
}

// read loads the characters again. Turns that have begun keep their character.
func (r *reloader) read(ctx context.Context) {
	before := r.app.cast.get()
	next := r.app.load(r.process, before)
	changes := changes(before, next)
	if len(changes) > 0 || !slices.Equal(before.Faults, next.Faults) {
		r.app.cast.set(next, time.Now())
		r.bot.SetCast(next)
	}
	lines := r.news(next.Faults)
	if len(changes) > 0 {
		command.DressAll(ctx, r.bot)
		r.session.Offer(ctx, command.Definitions(next)) // characters' sites of documentation decide about /docs
		r.app.Log.Info("characters reloaded", "changes", strings.Join(changes, ", "))
		err := r.app.Store.Changes.Record(ctx, store.Change{By: store.By{At: time.Now()}, Kind: store.ChangeFiles, To: strings.Join(changes, ", ")})
		if err != nil && ctx.Err() == nil {
			r.app.Log.Error("record a change", "err", err)
		}
		lines = append(lines, "Characters reloaded: "+strings.Join(changes, ", ")+".")
	}
	if len(before.Faults) > 0 && len(next.Faults) == 0 {
		r.app.Log.Info("the characters' files are in order again")
		lines = append(lines, "The characters' files are in order again.")
	}
	r.tell(ctx, lines...)
}

// news logs faults that are new, and returns them as lines for the operator.
func (r *reloader) news(faults []string) (lines []string) {
	for _, f := range faults {
		if !slices.Contains(r.faults, f) {
			r.app.Log.Error("a character cannot be loaded; its last good version, if there is one, stays", "fault", f)
			lines = append(lines, "A character cannot be loaded; its last good version, if there is one, stays. "+f)
		}
	}
	r.faults = faults
	return lines
}

// changes lists the differences between two casts.
func changes(before, next *bot.Cast) (all []string) {
	for _, actor := range next.All() {
		switch old := before.Actor(actor.ID); {
		case old == nil:
			all = append(all, actor.ID+" is new")
		case old != actor:
			all = append(all, actor.ID+" has changed")
		}
	}
	for _, old := range before.All() {
		if next.Actor(old.ID) == nil {
			all = append(all, old.ID+" is gone")
		}
	}
	return all
}

// readEnvironment puts the quotas of .env in force, and reports its other changed settings. They take a restart: tokens, servers and the store
// are opened once.
func (r *reloader) readEnvironment(ctx context.Context) {
	next, err := ReadConfig(r.process.Env, r.process.Dir)
	if err != nil {
		text := r.app.Redact.String(err.Error())
		r.app.Log.Error(".env is wrong, and the next start will refuse it; the settings that were read at the start still apply", "fault", text)
		r.tell(ctx, ".env is wrong, and the next start will refuse it; the settings that were read at the start still apply. "+text)
		return
	}
	var names []string
	r.readQuotas(ctx, next.Get(quotasName))
	for _, v := range next.Values {
		if v.Text != r.app.Config.Get(v.Name) && v.Name != quotasName {
			names = append(names, v.Name)
		}
	}
	if slices.Equal(names, r.waiting) {
		return
	}
	if r.waiting = names; len(names) > 0 {
		r.app.Log.Warn(".env has changed: restart to apply it", "settings", strings.Join(names, ", "))
		r.tell(ctx, ".env has changed. This takes a restart: "+strings.Join(names, ", ")+".")
	}
}

const quotasName = "FAMILIAR_QUOTAS"

// readQuotas puts quotas in force that differ from those that are.
func (r *reloader) readQuotas(ctx context.Context, text string) {
	quotas, err := gate.ParseQuotas(text)
	if err != nil || slices.Equal(quotas, r.app.gate.Limits()) {
		return
	}
	r.app.gate.SetQuotas(quotas)
	r.app.Log.Info("quotas changed", "quotas", text)
	r.tell(ctx, "The quotas are in force: "+cmp.Or(text, "none")+".")
}

// tell writes lines to the operator's channel, if there is one.
func (r *reloader) tell(ctx context.Context, lines ...string) {
	if len(lines) == 0 {
		return
	}
	if err := r.post(ctx, strings.Join(lines, "\n")); err != nil && ctx.Err() == nil {
		r.app.Log.Error("write to DISCORD_OPERATOR_CHANNEL", "err", err)
	}
}

// post writes a text to the operator's channel, if there is one.
func (r *reloader) post(ctx context.Context, text string) error {
	channel := r.app.Config.Get("DISCORD_OPERATOR_CHANNEL")
	if channel == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	text = reply.Head(r.app.Redact.String(fmt.Sprintf("```\n%s\n```", strings.ReplaceAll(text, "```", "'''"))), mostTold)
	_, err := r.session.Post(ctx, turn.Post{ChannelID: channel, Text: text, Final: true})
	return err
}

// mostTold is the length of one message to the operator, in UTF-16 units.
const mostTold = 1900
