package store

import "os"

// SQLite's log is synced to the disk only now and then (synchronous=NORMAL): a transaction survives the death of the process, and is lost if
// the power goes. What a restart must not forget is synced before the write returns: which events were claimed, begun to be answered,
// answered, or told about.
// Transactions that share a commit share the sync, which covers all earlier ones, too.

// mustLast makes the present transaction, and all before it, survive a loss of power. Only the function of a write may call it.
func (db *DB) mustLast() { db.writes.sync = true }

// syncLog runs on the writer's goroutine after a commit. An error undoes nothing: the transaction is committed.
func (db *DB) syncLog() {
	var err error
	if db.log == nil {
		db.log, err = os.OpenFile(db.path+"-wal", os.O_RDWR, 0)
	}
	if err == nil {
		err = db.log.Sync()
	}
	if err != nil && !db.unsynced {
		db.notify("the database cannot be synced to the disk, so a loss of power could lose the last writes: %v", err)
	}
	db.unsynced = err != nil
}
