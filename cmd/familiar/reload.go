package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"familiar/internal/bot"
	"familiar/internal/bot/discord"
	"familiar/internal/bot/outgoing"
	"familiar/internal/context/turn"
	"familiar/internal/store"

	"github.com/fsnotify/fsnotify"
)

// settled is how long the files must have been left alone before they are read: an editor writes in several steps.
const settled = 250 * time.Millisecond

// reloader keeps the cast as the characters' files are.
type reloader struct {
	app     *app
	program *program
	bot     *bot.Bot
	session *discord.Session
	faults  []string // that were told and are still there
	waiting []string // settings of .env that a restart would change

	wanted chan chan struct{} // who wants them read again, and waits for that
	ended  chan struct{}      // closed when nobody reads them any more
}

// run reads the files again whenever they change, until ctx is done. Where they cannot be watched it says so.
func (r *reloader) run(ctx context.Context) {
	defer close(r.ended)
	r.tell(ctx, r.news(r.app.cast.get().Faults)...)
	r.bot.DressAll(ctx)
	w, err := fsnotify.NewWatcher()
	if err == nil {
		defer w.Close()
		err = r.watch(w)
	} else {
		w = &fsnotify.Watcher{} // which never tells anything: what is wanted is read all the same
	}
	if err != nil {
		r.unwatched(err)
	}
	timer := time.NewTimer(time.Hour)
	timer.Stop()
	environment := false // .env is among what has changed
	for {
		select {
		case <-ctx.Done():
			return
		case done := <-r.wanted:
			r.read(ctx)
			close(done)
		case e, open := <-w.Events:
			if !open {
				return
			}
			switch {
			case r.concerns(e.Name):
			case e.Name == filepath.Join(dotenvPlace(r.program.env, r.program.dir), ".env"):
				environment = true
			default:
				continue
			}
			timer.Reset(settled)
		case err, open := <-w.Errors: // some events are lost: whatever has changed is read
			if !open {
				return
			}
			r.app.log.Warn("watch the characters", "err", err)
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
	return resolve(r.program.dir, r.app.config.get("FAMILIAR_CHARACTERS"))
}

// concerns reports whether a file is one of the characters', or their directory.
func (r *reloader) concerns(name string) bool {
	rel, err := filepath.Rel(r.root(), name)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// watch watches the directories, for an editor may put a new file in the place of the old one: those of the characters, the one
// that theirs is in, and the one with .env.
func (r *reloader) watch(w *fsnotify.Watcher) error {
	errs := []error{w.Add(r.program.dir), w.Add(dotenvPlace(r.program.env, r.program.dir))}
	if above := filepath.Dir(r.root()); above != r.program.dir {
		errs = append(errs, w.Add(above))
	}
	err := filepath.WalkDir(r.root(), func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil // it is gone again, or may not be read, of which the loader speaks
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
	r.app.log.Warn("the characters' directory cannot be watched as a whole: "+cure, "err", r.app.redact.String(err.Error()))
}

// read loads the characters again. Turns that have begun keep theirs.
func (r *reloader) read(ctx context.Context) {
	before := r.app.cast.get()
	next := r.app.load(r.program, before)
	changes := changes(before, next)
	if len(changes) > 0 || !slices.Equal(before.Faults, next.Faults) {
		r.app.cast.set(next, time.Now())
		r.bot.SetCast(next)
	}
	lines := r.news(next.Faults)
	if len(changes) > 0 {
		r.bot.DressAll(ctx)
		r.session.Offer(ctx, bot.Commands(next)) // there may be documentation now, or none any more
		r.app.log.Info("characters reloaded", "changes", strings.Join(changes, ", "))
		err := r.app.store.RecordChange(ctx, store.Change{By: store.By{At: time.Now()}, Kind: store.ChangeFiles, To: strings.Join(changes, ", ")})
		if err != nil && ctx.Err() == nil {
			r.app.log.Error("record a change", "err", err)
		}
		lines = append(lines, "Characters reloaded: "+strings.Join(changes, ", ")+".")
	}
	if len(before.Faults) > 0 && len(next.Faults) == 0 {
		r.app.log.Info("the characters' files are in order again")
		lines = append(lines, "The characters' files are in order again.")
	}
	r.tell(ctx, lines...)
}

// news logs the faults that were not there before, and returns them as lines for the operator.
func (r *reloader) news(faults []string) (lines []string) {
	for _, f := range faults {
		if !slices.Contains(r.faults, f) {
			r.app.log.Error("a character cannot be loaded; its last good version, if there is one, stays", "fault", f)
			lines = append(lines, "A character cannot be loaded; its last good version, if there is one, stays. "+f)
		}
	}
	r.faults = faults
	return lines
}

// changes are the differences between two casts.
func changes(before, next *bot.Cast) (all []string) {
	for _, actor := range everybody(next) {
		switch old := before.Actor(actor.ID); {
		case old == nil:
			all = append(all, actor.ID+" is new")
		case old != actor:
			all = append(all, actor.ID+" has changed")
		}
	}
	for _, old := range everybody(before) {
		if next.Actor(old.ID) == nil {
			all = append(all, old.ID+" is gone")
		}
	}
	return all
}

// readEnvironment says what of .env takes a restart, which is all of it: tokens, servers and the store are opened once.
func (r *reloader) readEnvironment(ctx context.Context) {
	next, err := readConfig(r.program.env, r.program.dir)
	if err != nil {
		text := r.app.redact.String(err.Error())
		r.app.log.Error(".env is wrong, and the next start will refuse it; what was read at the start holds", "fault", text)
		r.tell(ctx, ".env is wrong, and the next start will refuse it; what was read at the start holds. "+text)
		return
	}
	var names []string
	for _, v := range next.values {
		if v.text != r.app.config.get(v.name) {
			names = append(names, v.name)
		}
	}
	if slices.Equal(names, r.waiting) {
		return
	}
	if r.waiting = names; len(names) > 0 {
		r.app.log.Warn(".env has changed: this takes a restart", "settings", strings.Join(names, ", "))
		r.tell(ctx, ".env has changed. This takes a restart: "+strings.Join(names, ", ")+".")
	}
}

// tell writes lines to the operator's channel, if there is one.
func (r *reloader) tell(ctx context.Context, lines ...string) {
	channel := r.app.config.get("DISCORD_OPERATOR_CHANNEL")
	if channel == "" || len(lines) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	text := outgoing.Head(r.app.redact.String(fmt.Sprintf("```\n%s\n```", strings.ReplaceAll(strings.Join(lines, "\n"), "```", "'''"))), mostTold)
	if _, err := r.session.Deliver(ctx, turn.Post{ChannelID: channel, Text: text, Final: true}); err != nil && ctx.Err() == nil {
		r.app.log.Error("write to DISCORD_OPERATOR_CHANNEL", "err", err)
	}
}

// mostTold is how much is told at once, in UTF-16 units.
const mostTold = 1900
