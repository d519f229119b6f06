package store

import (
	"context"
	"slices"
	"time"
)

// Fleet is the processes that share a database, and who has which shard. All times are those of the server's clock.
type Fleet struct {
	Now       time.Time
	Processes []Process // oldest first, also those that are gone and were not missed yet
	Shards    []Holding // by number
}

// Process is one that shares the database.
type Process struct {
	ID, Host, Version string
	Began, Until      time.Time // it counts as alive until then; Began is zero if it does not say
}

// Holding says who has a shard.
type Holding struct {
	Number      int
	Holder      string    // id of a process; "": nobody
	Since, Seen time.Time // when it was taken, and when its session was saved last; zero: not known
	Until       time.Time // the lease ends then
}

// Name returns a name of the process for people. Several may run on one machine.
func (p Process) Name() string { return p.Host + "/" + p.ID[:min(6, len(p.ID))] }

// Of returns the shards that a process has now; with "" those that nobody has.
func (f Fleet) Of(process string) (shards []Holding) {
	for _, h := range f.Shards {
		if held := h.Until.After(f.Now); held && h.Holder == process || !held && process == "" {
			shards = append(shards, h)
		}
	}
	return shards
}

// Alive returns the processes that count as alive.
func (f Fleet) Alive() []Process {
	return slices.DeleteFunc(slices.Clone(f.Processes), func(p Process) bool { return !p.Until.After(f.Now) })
}

// Fleet returns who shares the database now. It has nobody where it cannot be shared.
func (s *Leases) Fleet(ctx context.Context) (f Fleet, err error) {
	if !IsServer(s.db.engine.Place()) {
		return f, nil
	}
	if err := s.db.QueryRow(ctx, `SELECT `+serverNow).Scan(millis{&f.Now}); err != nil {
		return f, s.db.Explain(err)
	}
	f.Processes, err = List(ctx, s.db, "read processes", func(row Scanner) (p Process, err error) {
		err = row.Scan(&p.ID, &p.Host, &p.Version, millis{&p.Began}, millis{&p.Until})
		return p, err
	}, `SELECT id, host, version, began, until FROM processes ORDER BY began, id`)
	if err != nil {
		return f, err
	}
	f.Shards, err = List(ctx, s.db, "read who has the shards", func(row Scanner) (h Holding, err error) {
		err = row.Scan(&h.Number, &h.Holder, millis{&h.Since}, millis{&h.Until}, millis{&h.Seen})
		return h, err
	}, `SELECT number, holder, since, until, seen FROM shards ORDER BY number`)
	return f, err
}

// millis scans a column with milliseconds since 1970; 0 is the zero time.
type millis struct{ at *time.Time }

// Scan implements [sql.Scanner].
func (m millis) Scan(value any) error {
	if n, _ := value.(int64); n != 0 {
		*m.at = time.UnixMilli(n)
	}
	return nil
}
