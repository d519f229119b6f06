package app

import (
	"context"
	"errors"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"sync"
	"time"

	"familiar/internal/bot"
	"familiar/internal/discord"
	"familiar/internal/forget"
)

// leads reports whether this process does what one of all processes must do. It is the one that holds shard 0.
func (a *App) leads() bool { return !a.Store.Leases.Shared() || a.Store.Leases.Holds(0) }

// leadEvery is how often a process looks whether it leads.
const leadEvery = time.Second

// leading runs a task until ctx is done, while this process leads.
func (a *App) leading(ctx context.Context, task func(context.Context)) {
	if !a.Store.Leases.Shared() {
		task(ctx)
		return
	}
	for waited(ctx, leadEvery) {
		if !a.leads() {
			continue
		}
		within, end := context.WithCancel(ctx)
		var running sync.WaitGroup
		running.Go(func() { task(within) })
		for a.leads() && waited(ctx, leadEvery) {
			continue
		}
		end()
		running.Wait()
	}
}

// waited waits for a time, and reports whether ctx left it that.
func waited(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}

// MarkInterrupted marks the turns that an earlier process left unfinished. It must end before the first turn begins.
func (a *App) MarkInterrupted(ctx context.Context) {
	if n, err := a.Traces.Interrupt(ctx, func(string, string) bool { return true }); err != nil && ctx.Err() == nil {
		a.Log.Error("mark interrupted turns", "err", err)
	} else if n > 0 {
		a.Log.Info("an earlier run was interrupted", "turns", n)
	}
}

// Upkeep deletes what has expired, every hour until ctx is done, and logs the store's notices. The session, which is nil without Discord, tells
// the time: nothing expires by a clock that is wrong. It also lists the servers that the bot is in.
func (a *App) Upkeep(ctx context.Context, session *discord.Session) {
	now, servers := time.Now, func() ([]string, bool) { return nil, false }
	at := make(chan struct{})
	close(at)
	told := (<-chan struct{})(at)
	if session != nil {
		now, servers, told = session.Now, session.Guilds, session.Clocked()
	}
	ticks := time.NewTicker(upkeepEvery)
	defer ticks.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case notice := <-a.Store.Notices():
			a.Log.Error("store", "notice", notice)
			continue
		case <-told:
			told = nil
		case <-ticks.C:
			if told != nil {
				continue
			}
		}
		if a.leads() {
			a.Tidy(ctx, now(), servers)
		}
	}
}

const (
	eraseEvery = time.Second     // another process may wait for it
	eraseAgain = 5 * time.Minute // after a failure

	vectorsStale = time.Minute // how long vectors that other processes made may be missing
)

// EraseOnRequest reads what other processes write to the store, until ctx is done. It forgets the people that `familiar erase` asks to
// forget.
func (a *App) EraseOnRequest(ctx context.Context, b *bot.Bot) {
	ticks := time.NewTicker(eraseEvery)
	defer ticks.Stop()
	var emptied time.Time
	for again := true; ; {
		select {
		case <-ctx.Done():
			return
		case <-ticks.C:
		}
		written, err := a.Store.Refresh(ctx)
		if !written && !again && err == nil {
			continue
		}
		if written && a.Store.Leases.Shared() {
			b.HearPauses(ctx)
			if time.Since(emptied) >= vectorsStale {
				emptied = time.Now()
				a.Vectors.Forget()
			}
		}
		all, failed := a.Store.Privacy.Erasures(ctx)
		err = errors.Join(err, a.Memories.Refresh(ctx), failed)
		for _, one := range all {
			if one.ByOperator && err == nil && a.leads() {
				_, err = b.Forget(ctx, one)
			}
		}
		a.tidied(ctx, "forget people for the operator", err)
		if again = err != nil; again {
			ticks.Reset(eraseAgain)
		} else {
			ticks.Reset(eraseEvery)
		}
	}
}

// Tidy deletes what has expired.
func (a *App) Tidy(ctx context.Context, now time.Time, servers func() (ids []string, known bool)) {
	messages, records := a.Config.Count("FAMILIAR_KEEP_MESSAGES"), a.Config.Count("FAMILIAR_KEEP_RECORDS")
	own := now // of what this machine dates, whose clock may be late
	if t := time.Now(); t.Before(own) {
		own = t
	}
	ago := func(now time.Time, days int) time.Time { return now.AddDate(0, 0, -days) }
	limits := forget.Limits{
		forget.Messages: ago(now, messages), forget.Names: ago(now, messages), forget.Memories: ago(now, a.Config.Count("FAMILIAR_KEEP_MEMORY")),
		forget.Usage:   ago(now, a.Config.Count("FAMILIAR_KEEP_USAGE")),
		forget.Records: ago(own, records), forget.Answered: ago(own, records), forget.Unkept: ago(own, 1),
		forget.Feedback: ago(own, a.Config.Count("FAMILIAR_KEEP_FEEDBACK")), forget.Changes: ago(own, a.Config.Count("FAMILIAR_KEEP_CHANGES")),
	}
	removed, err := a.Forgetter.Old(ctx, limits)
	a.tidied(ctx, "remove what is old", err)
	for _, from := range removed {
		a.Log.Debug("deleted old data", "from", from.Table, "rows", from.Rows)
	}
	a.tidied(ctx, "delete what is of servers that were left", a.deleteServers(ctx, now, servers))
	a.tidied(ctx, "take deleted messages out of the records", a.Forgetter.Messages(ctx))
	a.tidied(ctx, "keep the database within its size", a.withinSize(ctx, now))
	a.tidied(ctx, "merge the parts of the index", a.Store.Messages.TidyIndex(ctx))
	a.tidied(ctx, "index the words of records", a.Traces.IndexWords(ctx))
	a.tidied(ctx, "go on to forget people", a.Forgetter.Resume(ctx))
	a.tidied(ctx, "forget people who asked for it a day ago", a.Forgetter.Due(ctx, now))
	a.tidied(ctx, "give space back", a.Store.Shrink(ctx))
}

func (a *App) tidied(ctx context.Context, what string, err error) {
	if err != nil && ctx.Err() == nil {
		a.Log.Error(what, "err", err)
	}
}

// deleteServers deletes the data of servers that the bot left some time ago. It compares the servers that it has data of with those that it
// is in. The bot may have left some, or returned to some, while it was not running.
func (a *App) deleteServers(ctx context.Context, now time.Time, servers func() (ids []string, known bool)) error {
	if servers == nil {
		return nil
	}
	in, known := servers()
	if !known {
		return nil
	}
	kept, err := a.Store.Guilds.List(ctx)
	if err != nil {
		return err
	}
	gone, err := a.Store.Guilds.Left(ctx, now)
	for _, id := range kept {
		_, present := slices.BinarySearch(in, id)
		switch noted := slices.Contains(gone, id); {
		case err != nil:
		case present && noted:
			err = a.Store.Guilds.Return(ctx, id)
		case !present && !noted:
			err = a.Store.Guilds.Leave(ctx, id, now)
		}
	}
	if err != nil {
		return err
	}
	left, err := a.Store.Guilds.Left(ctx, now.Add(-a.Config.span("FAMILIAR_LEFT_SERVER_GRACE")))
	for _, id := range left {
		if err := a.Forgetter.Server(ctx, id); err != nil {
			return err
		}
		a.Log.Info("deleted the data of a server that the bot left", "server", id)
	}
	return err
}

// The size limit does not delete records of turns that may be under way. Nor does it delete the messages of the last day.
const (
	leavesRecords  = time.Hour
	leavesMessages = 24 * time.Hour
	oldestAtOnce   = 20
)

// withinSize deletes the oldest records, and then the oldest messages, until the database is as small as FAMILIAR_DATA_MB.
func (a *App) withinSize(ctx context.Context, now time.Time) error {
	limit := int64(a.Config.Count("FAMILIAR_DATA_MB")) << 20
	if limit == 0 {
		return nil
	}
	var records, messages int
	for {
		size, err := a.Store.Size(ctx)
		if err != nil {
			return err
		}
		if size.Used <= limit {
			break
		}
		r, m, err := a.Forgetter.Oldest(ctx, oldestAtOnce, forget.Limits{forget.Records: now.Add(-leavesRecords), forget.Messages: now.Add(-leavesMessages)})
		records, messages = records+r, messages+m
		if err != nil {
			return err
		}
		if r+m == 0 {
			a.Log.Warn("the database is larger than FAMILIAR_DATA_MB, and nothing more may be deleted", "MB", size.Used>>20)
			break
		}
	}
	if records+messages > 0 {
		a.Log.Warn("the database was larger than FAMILIAR_DATA_MB: the oldest entries were deleted", "records", records, "messages", messages)
	}
	return nil
}

const (
	settling   = time.Second
	quietCheck = time.Second
	// quiet is how many bytes a process may allocate in a period in which it does nothing. A turn takes 300 KB.
	quiet = 64 << 10
	// longestRest is how many periods of quiet in a row are counted. After the 1st, 2nd, 4th, … the binary's pages are given back.
	longestRest = 16
	// growth is how much the heap grows before it is collected, in percent. Compared with 100 it saves 4 MiB at the peak, for
	// 2 to 4 % of the processor under full load.
	growth = 60
)

// watchFootprint gives memory back to the system after the start. Until ctx is done it also does so whenever a quiet period follows a busy
// one. The heap has room for twice what lives on it. The pages of the binary that were used count as the process's own. The next turn reads
// them again, which takes some milliseconds.
//
// The garbage collector also begins earlier than usual, unless tuned says that the operator has set GOGC:
// https://pkg.go.dev/runtime#hdr-Environment_Variables.
func watchFootprint(ctx context.Context, tuned bool) {
	if !tuned {
		defer debug.SetGCPercent(debug.SetGCPercent(growth))
	}
	var before uint64
	for wait, busy, rested := settling, true, 0; ; wait = quietCheck {
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
		}
		now := allocated()
		switch quietly := now-before < quiet; {
		case busy && (quietly || wait == settling):
			giveBack()
			now, busy, rested = allocated(), false, 0
		case !quietly:
			busy = true
		case rested < longestRest: // what follows reads parts of the binary again, and less and less of them
			if rested++; rested&(rested-1) == 0 {
				forgetBinary()
			}
		}
		before = now
	}
}

// giveBack collects twice: the first collection empties pools, the second frees what was in them.
func giveBack() {
	runtime.GC()
	debug.FreeOSMemory()
	forgetBinary()
}

// allocated is how many bytes the process has allocated since it began.
func allocated() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}
