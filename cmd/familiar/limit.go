package main

import (
	"context"
	"time"
)

// What the limit of the database's size leaves alone: turns that may still go on, and the conversations of the day.
const (
	leavesRecords  = time.Hour
	leavesMessages = 24 * time.Hour
	oldestAtOnce   = 20
)

// withinSize removes the oldest records, and when there are none left the oldest messages, until the database is as small as the operator wants.
func (a *app) withinSize(ctx context.Context, now time.Time) error {
	limit := int64(a.config.count("FAMILIAR_DATA_MB")) << 20
	if limit == 0 {
		return nil
	}
	var records, messages int
	for {
		size, err := a.store.Size(ctx)
		if err != nil {
			return err
		}
		if size.Used <= limit {
			break
		}
		n, _, err := a.traces.PruneOldest(ctx, oldestAtOnce, now.Add(-leavesRecords))
		records += n
		if err == nil && n == 0 {
			n, err = a.removeOldestMessages(ctx, now)
			messages += n
		}
		if err != nil {
			return err
		}
		if n == 0 {
			a.log.Warn("the database is larger than FAMILIAR_DATA_MB, and nothing is left in it that may go", "MB", size.Used>>20)
			break
		}
	}
	if records+messages > 0 {
		a.log.Warn("the database was larger than FAMILIAR_DATA_MB: the oldest went", "records", records, "messages", messages)
	}
	return nil
}

func (a *app) removeOldestMessages(ctx context.Context, now time.Time) (int, error) {
	newest, err := a.store.OldestMessages(ctx, oldestAtOnce, now.Add(-leavesMessages))
	if err != nil || newest.IsZero() {
		return 0, err
	}
	before := newest.Add(time.Microsecond)
	if _, err := a.store.PruneSummaries(ctx, before); err != nil { // they rest on messages
		return 0, err
	}
	return a.store.PruneMessages(ctx, before)
}
