package main

import (
	"context"
	"errors"
	"slices"
	"time"

	"familiar/internal/bot"
)

// markInterrupted marks what an earlier process left unfinished. It ends before the first turn begins, which would be marked too.
func (a *app) markInterrupted(ctx context.Context) {
	if n, err := a.traces.Interrupt(ctx); err != nil && ctx.Err() == nil {
		a.log.Error("mark interrupted turns", "err", err)
	} else if n > 0 {
		a.log.Info("an earlier run was interrupted", "turns", n)
	}
}

// upkeep deletes what is not to be kept any longer, now and then, and logs what the store has to say. Servers lists those that
// the bot is in, once that is known; nil where there are none.
func (a *app) upkeep(ctx context.Context, servers func() (ids []string, known bool)) {
	ticks := time.NewTicker(upkeepEvery)
	defer ticks.Stop()
	for {
		a.tidy(ctx, servers)
		for waiting := true; waiting; {
			select {
			case <-ctx.Done():
				return
			case notice := <-a.store.Notices():
				a.log.Error("store", "notice", notice)
			case <-ticks.C:
				waiting = false
			}
		}
	}
}

const (
	eraseEvery = time.Second     // that another process may wait for
	eraseAgain = 5 * time.Minute // after a failure
)

// eraseOnRequest takes notice of what another process writes beside this one, and forgets whom one of them, `familiar erase`, asks to be
// forgotten, until ctx is done.
func (a *app) eraseOnRequest(ctx context.Context, b *bot.Bot) {
	ticks := time.NewTicker(eraseEvery)
	defer ticks.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticks.C:
		}
		err := a.store.Refresh(ctx)
		all, failed := a.store.Erasures(ctx)
		err = errors.Join(err, failed)
		for _, one := range all {
			if one.ByOperator && err == nil {
				_, err = b.Forget(ctx, one)
			}
		}
		a.tidied(ctx, "forget whom the operator wants to be forgotten", err)
		if err != nil {
			ticks.Reset(eraseAgain)
		} else {
			ticks.Reset(eraseEvery)
		}
	}
}

// tidy deletes what is not to be kept any longer.
func (a *app) tidy(ctx context.Context, servers func() (ids []string, known bool)) {
	messages, records := a.config.count("FAMILIAR_KEEP_MESSAGES"), a.config.count("FAMILIAR_KEEP_RECORDS")
	now := time.Now()
	for _, kept := range []struct {
		what  string
		days  int
		prune func(context.Context, time.Time) (int, error)
	}{
		{"sentences of summaries", messages, a.store.PruneSummaries}, // before the messages that they rest on
		{"messages", messages, a.store.PruneMessages},
		{"memories", a.config.count("FAMILIAR_KEEP_MEMORY"), a.store.PruneMemories},
		{"names of people", messages, a.store.PrunePeople},
		{"records", records, a.traces.Prune},
		{"claims", records, a.store.PruneClaims},
		{"posts", records, a.store.PrunePosts},
		{"feedback", a.config.count("FAMILIAR_KEEP_FEEDBACK"), a.store.PruneFeedback},
		{"usage", a.config.count("FAMILIAR_KEEP_USAGE"), a.store.PruneUsage},
		{"turns that are not kept", 1, a.store.PruneUnkept},
		{"changes of settings", a.config.count("FAMILIAR_KEEP_CHANGES"), a.store.PruneChanges},
	} {
		n, err := kept.prune(ctx, now.AddDate(0, 0, -kept.days))
		a.tidied(ctx, "remove old "+kept.what, err)
		if n > 0 {
			a.log.Debug("removed what was old", "what", kept.what, "rows", n)
		}
	}
	a.tidied(ctx, "delete what is of servers that were left", a.deleteServers(ctx, servers))
	a.tidied(ctx, "take deleted messages out of the records", a.traces.Forget(ctx))
	a.tidied(ctx, "keep the database within its size", a.withinSize(ctx, now))
	a.tidied(ctx, "merge the parts of the index", a.store.TidyIndex(ctx))
	a.tidied(ctx, "index the words of records", a.traces.IndexWords(ctx))
	a.tidied(ctx, "go on to forget people", a.traces.Unerased(ctx))
	a.tidied(ctx, "give space back", a.store.Shrink(ctx))
	a.tidied(ctx, "index the words of replies of before", a.traces.IndexReplies(ctx))
}

func (a *app) tidied(ctx context.Context, what string, err error) {
	if err != nil && ctx.Err() == nil {
		a.log.Error(what, "err", err)
	}
}

// deleteServers deletes what is of servers that the bot left some time ago. Which it left, or came back to, while it was away it
// finds by what is kept.
func (a *app) deleteServers(ctx context.Context, servers func() (ids []string, known bool)) error {
	if servers == nil {
		return nil
	}
	in, known := servers()
	if !known {
		return nil
	}
	now := time.Now()
	kept, err := a.store.Guilds(ctx)
	if err != nil {
		return err
	}
	gone, err := a.store.LeftGuilds(ctx, now)
	for _, id := range kept {
		_, present := slices.BinarySearch(in, id)
		switch noted := slices.Contains(gone, id); {
		case err != nil:
		case present && noted:
			err = a.store.ReturnGuild(ctx, id)
		case !present && !noted:
			err = a.store.LeaveGuild(ctx, id, now)
		}
	}
	if err != nil {
		return err
	}
	left, err := a.store.LeftGuilds(ctx, now.Add(-a.config.span("FAMILIAR_LEFT_SERVER_GRACE")))
	for _, id := range left {
		if err := a.traces.DeleteGuild(ctx, id); err != nil {
			return err
		}
		if err := a.store.DeleteGuild(ctx, id); err != nil {
			return err
		}
		a.log.Info("deleted what was kept of a server that was left", "server", id)
	}
	return err
}
