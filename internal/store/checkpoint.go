package store

import (
	"context"
	"database/sql"
)

const (
	// checkpointEvery is how many transactions the log takes in before it is carried into the file: one to four MB.
	checkpointEvery = 32
	// logPages is how long the log may become if carrying falls behind, in pages of 4 KiB. From there on the writer
	// carries it, and nobody writes until that is done.
	logPages = "8192"
	// logLimit is up to which size its file is left as it is when the log begins anew, in bytes: somewhat more than logPages. To cut it off takes longer
	// than a write.
	logLimit = "41943040"
)

// carryLog carries the log into the file beside the writer, whenever something is due, on one of the connections for reading, which may do that.
// By itself SQLite does it at the end of an unlucky write, which then waits for two fsyncs: a hundred times as long as for everything else.
// https://www.sqlite.org/wal.html#checkpointing
func (db *DB) carryLog(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-db.writes.logged:
			db.carryNow(ctx)
		}
	}
}

// carryNow carries the log as far as it goes. If it fails the log stays, and the writer will meet the cause and report it.
func (db *DB) carryNow(ctx context.Context) {
	_, _ = db.readers.ExecContext(ctx, `PRAGMA wal_checkpoint(PASSIVE)`)
}

// WriteStep is [DB.Write] for a step of something long that nobody waits for. It returns when the log is carried into the file: steps without a
// pause would fill it quicker than that goes beside them, and then the writer does it, while everybody waits.
func (db *DB) WriteStep(ctx context.Context, f func(*sql.Tx) error) error {
	if err := db.Write(ctx, f); err != nil {
		return err
	}
	db.carryNow(ctx)
	return nil
}
