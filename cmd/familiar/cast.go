package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"sync"
	"time"

	"familiar/internal/bot"
	"familiar/internal/providers/character"
)

// cast is the characters that the program speaks as, and those that a reload took away, whose turns may not be over.
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

// longestTurn is more than a turn lasts with all of its limits.
const longestTurn = 15 * time.Minute

// openCast loads every other character that there is. One that cannot be loaded is left out: the program says so and goes on.
func (a *app) openCast(_ context.Context, p *program) error {
	a.cast.set(a.load(p, &bot.Cast{Default: a.actor}), time.Now())
	return nil
}

// load reads the characters' files. What is as it was before stays what it is, and so does a character whose files are wrong now:
// the last good version holds. The default character is there in any case.
func (a *app) load(p *program, before *bot.Cast) *bot.Cast {
	files := shelf(a.config, p.dir)
	ids, err := character.List(files)
	if err != nil {
		return &bot.Cast{Default: before.Default, Others: before.Others, Faults: []string{a.redact.String(err.Error())}}
	}
	c := &bot.Cast{}
	c.Default, c.Faults = a.reload(files, before.Default.ID, before.Default, p.far)
	for _, id := range ids {
		if id == before.Default.ID {
			continue
		}
		actor, faults := a.reload(files, id, before.Actor(id), p.far)
		if c.Faults = append(c.Faults, faults...); actor != nil {
			c.Others = append(c.Others, actor)
		}
	}
	return c
}

// reload returns a character as its files are now: old, if they are what they were or wrong. old may be nil.
func (a *app) reload(files fs.FS, id string, old *bot.Actor, far far) (*bot.Actor, []string) {
	loaded, err := character.Load(files, id)
	if err == nil && old != nil && old.Sum == loaded.Sum {
		return old, nil
	}
	if err == nil {
		var fresh *bot.Actor
		if fresh, err = a.actorOf(loaded, far); err == nil {
			return fresh, nil
		}
	}
	return old, a.faults(err)
}

// faults are what is wrong with a character, one by one.
func (a *app) faults(err error) (all []string) {
	var invalid *character.Invalid
	if !errors.As(err, &invalid) {
		return []string{a.redact.String(err.Error())}
	}
	for _, p := range invalid.Problems {
		all = append(all, a.redact.String(p.String()))
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

// set puts another cast in the place of the one before, and forgets those retired long ago.
func (c *cast) set(next *bot.Cast, now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.retired = slices.DeleteFunc(c.retired, func(r retired) bool { return now.Sub(r.since) > longestTurn })
	for _, old := range everybody(c.now) {
		if next.Actor(old.ID) != old {
			c.retired = append(c.retired, retired{old, now})
		}
	}
	c.now = next
}

// wait waits for what turns of any character have given up; first is the one that there is without a cast.
func (c *cast) wait(ctx context.Context, first *bot.Actor) error {
	c.mu.Lock()
	actors := append(everybody(c.now), first)
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

// everybody are the characters of a cast, which may be nil.
func everybody(c *bot.Cast) []*bot.Actor {
	if c == nil {
		return nil
	}
	return append([]*bot.Actor{c.Default}, c.Others...)
}

// names are those of a cast, for people.
func names(c *bot.Cast) (all []string) {
	for _, actor := range everybody(c) {
		all = append(all, fmt.Sprintf("%s (%s)", actor.Name, actor.ID))
	}
	return all
}
