package store

import "context"

const (
	// checkpointEvery is how many transactions the log takes in before it is carried into the file: one to four MB.
	checkpointEvery = 32
	// logPages is how long the log may become if carrying falls behind, in pages of 4 KiB. From there on the writer
	// carries it, and nobody writes until that is done.
	logPages = "8192"
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
			// If it fails the log stays, and the writer will meet the cause and report it.
			_, _ = db.readers.ExecContext(ctx, `PRAGMA wal_checkpoint(PASSIVE)`)
		}
	}
}
