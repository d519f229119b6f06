package engine

import (
	"bytes"
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/gofrs/flock"
	_ "modernc.org/sqlite" // the driver named "sqlite"
)

// FileName is the name of the file of a store in its directory.
const FileName = "familiar.db"

const (
	lockName = "familiar.lock"
)

// file is a file of SQLite in a directory that one process owns at a time.
type file struct {
	*base
	lock     *dirLock      // nil: this process does not own the file
	whole    bool          // the owner has opened it
	doubtful bool          // nobody has looked for damage since an owner did not close it; of lookThrough while it runs
	opened   os.FileInfo   // nil: nothing is written, or not yet
	log      *os.File      // SQLite's log, for syncing; only the writer uses it until the file is closed; nil: not needed yet
	mark     *sql.Stmt     // a read by the writer's connection; only the writer uses it until the file is closed; nil: not needed yet
	unsynced bool          // the last sync failed; only the writer uses it
	written  int           // transactions; only the writer uses it
	grown    chan struct{} // capacity 1: the log has grown by checkpointEvery transactions
}

func fileIn(dir string, b *base) (*file, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("find data directory: %w", err)
	}
	return fileAt(filepath.Join(dir, FileName), b), nil
}

func fileAt(path string, b *base) *file {
	b.place, b.folder, b.findVersions = path, "sqlite", `SELECT count(*) FROM sqlite_schema WHERE name = 'goose_db_version'`
	return &file{base: b, grown: make(chan struct{}, 1)}
}

// Open implements [Engine].
func (f *file) Open(ctx context.Context, use Use) (readers, writer *sql.DB, err error) {
	if use == Own || use == Share {
		err = f.own(ctx)
	} else {
		err = f.join(ctx, use)
	}
	if err == nil && use != Look {
		if f.opened, err = os.Stat(f.place); err == nil {
			f.start(f.watch, f.carryLog, f.lookThrough)
		}
	}
	f.whole = (use == Own || use == Share) && err == nil
	return f.readers, f.writer, err
}

// own makes this process the owner and the file one of the newest schema.
func (f *file) own(ctx context.Context) error {
	dir := filepath.Dir(f.place)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("make data directory: %w", err)
	}
	emptied, used := emptied(dir), wasUsed(filepath.Join(dir, lockName))
	lock, clean, err := acquire(filepath.Join(dir, lockName))
	if err != nil {
		return err
	}
	f.lock = lock
	if err := os.RemoveAll(filepath.Join(dir, stageName)); err != nil { // left by a killed restore
		return err
	}
	// The file is created here because everybody could read one that SQLite creates. Also, SQLite's errors do not tell a missing permission
	// from a missing directory. Its other files inherit this one's mode.
	created, err := os.OpenFile(f.place, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	if err := created.Close(); err != nil {
		return err
	}
	if err := lock.lockData(f.place); err != nil {
		return err
	}
	if emptied && (clean || used) {
		return &Error{Kind: Corrupt, Path: f.place, Err: errors.New("the file is empty")}
	}
	if err := errors.Join(f.connectWriter(), f.connectReaders()); err != nil {
		return err
	}
	if !clean {
		if err := f.check(ctx); err != nil {
			return err
		}
	}
	if err := f.migrate(ctx); err != nil {
		return err
	}
	return f.lock.markUsed()
}

// join connects to a file that is there, whether or not another process owns it.
func (f *file) join(ctx context.Context, use Use) error {
	if _, err := os.Stat(f.place); errors.Is(err, fs.ErrNotExist) {
		return &Error{Kind: Missing, Path: f.place, Err: err}
	}
	if err := f.connectReaders(); err != nil {
		return err
	}
	if err := f.findSchema(ctx); err != nil || use == Look {
		return err
	}
	return f.connectWriter()
}

func (f *file) connectWriter() (err error) {
	f.writer, err = Connect(f.place, "_txlock=immediate", "_pragma=auto_vacuum(2)", "_pragma=secure_delete(1)", "_pragma=journal_mode(WAL)", "_pragma=synchronous(NORMAL)",
		"_pragma=foreign_keys(1)", "_pragma=wal_autocheckpoint("+logPages+")", "_pragma=journal_size_limit("+logLimit+")", "_pragma=cache_size(-128)")
	if err == nil { // only one connection: SQLite has one writer at a time, and prepared statements stay with their connection
		f.writer.SetMaxOpenConns(1)
	}
	return err
}

func (f *file) connectReaders() (err error) {
	f.readers, err = Connect(f.place, "_query_only=1", "_pragma=cache_size(-64)")
	if err == nil {
		f.readers.SetMaxOpenConns(4)
		f.readers.SetMaxIdleConns(4)
	}
	return err
}

const busyTimeout = "5000" // milliseconds

// Connect returns a pool of connections to a file without opening one.
func Connect(path string, params ...string) (*sql.DB, error) {
	return sql.Open("sqlite", address(path, params...))
}

// address returns the data source name of a file.
func address(path string, params ...string) string {
	p := filepath.ToSlash(path)
	if !strings.HasPrefix(p, "/") {
		p = "/" + p // a drive letter
	}
	u := url.URL{Scheme: "file", OmitHost: true, Path: p}
	u.RawQuery = strings.Join(append(params, "_pragma=busy_timeout("+busyTimeout+")", "_error_rc=1"), "&")
	return u.String()
}

// Close implements [Engine].
func (f *file) Close() error {
	if f.mark != nil {
		f.mark.Close()
		f.mark = nil
	}
	errs := []error{f.there(), f.close()}
	f.opened = nil
	if f.log != nil {
		errs = append(errs, f.log.Close())
		f.log = nil
	}
	if f.lock != nil {
		if f.whole && !f.doubtful && errors.Join(errs...) == nil { // otherwise the next owner checks the file
			errs = append(errs, f.lock.markClosed())
		}
		errs = append(errs, f.lock.release())
		f.lock = nil
	}
	return errors.Join(errs...)
}

// Aside implements [Engine]. A file has one owner.
func (f *file) Aside() *sql.DB { return nil }

// Version implements [Engine]. The number changes if another connection than the writer's has written:
// https://www.sqlite.org/pragma.html#pragma_data_version
func (f *file) Version(ctx context.Context) (version int64, err error) {
	err = f.writer.QueryRowContext(ctx, `PRAGMA data_version`).Scan(&version)
	return version, err
}

const (
	// checkpointEvery is after how many transactions the log is copied into the file. It has one to four MB then.
	checkpointEvery = 32
	// logPages is the largest length of the log, in pages of 4 KiB, if copying falls behind. At that length the writer copies it, and all
	// writes wait.
	logPages = "8192"
	// logLimit is the size in bytes up to which the log's file is not truncated when the log restarts. It is a little more than the log
	// usually has. Truncating takes longer than a write.
	logLimit = "8388608"
)

// Committed implements [Engine]. SQLite's log is synced to the disk only now and then (synchronous=NORMAL). A transaction survives the
// death of the process, and is lost if the power goes. Transactions that share a commit share the sync, which covers all earlier ones, too.
// An error undoes nothing: the transaction is committed.
func (f *file) Committed(keep bool) {
	f.markEnd()
	if keep {
		err := f.syncLog()
		if err != nil && !f.unsynced {
			f.tell("the database cannot be synced to the disk, so a loss of power could lose the last writes: %v", err)
		}
		f.unsynced = err != nil
	}
	if f.written++; f.written%checkpointEvery == 0 {
		select {
		case f.grown <- struct{}{}:
		default: // the log is being copied
		}
	}
}

// markEnd has the end of the log marked as a place where reading begins. Otherwise the first read after each transaction does it, and the
// mark is in mapped memory. While the disk is frozen, writing there holds one of Go's processors, and soon all goroutines wait.
// https://www.sqlite.org/walformat.html#the_wal_index_file_format
func (f *file) markEnd() {
	var err error
	if f.mark == nil {
		if f.mark, err = f.writer.Prepare(`SELECT count(*) FROM (SELECT 1 FROM sqlite_schema LIMIT 1)`); err != nil {
			f.mark = nil
			return
		}
	}
	_ = f.mark.QueryRow().Scan(new(int))
}

func (f *file) syncLog() error {
	if err := f.openLog(); err != nil {
		return err
	}
	return f.log.Sync()
}

func (f *file) openLog() (err error) {
	if f.log == nil {
		if f.log, err = os.OpenFile(f.place+"-wal", os.O_RDWR, 0); err != nil {
			f.log = nil
		}
	}
	return err
}

// carryLog copies the log into the file in the background. It uses one of the connections for reading, which may do that. SQLite itself
// would do it at the end of an unlucky write. That would wait for two fsyncs, a hundred times as long as usual.
// https://www.sqlite.org/wal.html#checkpointing
func (f *file) carryLog(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-f.grown:
			_ = f.Carry(ctx, false)
		}
	}
}

// Carry implements [Engine]. If copying a part fails, the log stays, and the writer reports the cause.
func (f *file) Carry(ctx context.Context, all bool) error {
	if all {
		return f.emptyLog(ctx)
	}
	_, _ = f.readers.ExecContext(ctx, `PRAGMA wal_checkpoint(PASSIVE)`)
	return nil
}

const (
	// maxChecked is the largest file, in bytes, that is checked when it is opened. Such a check takes about ten seconds.
	maxChecked = 2 << 30
	checkLimit = 10 * time.Second
)

// emptied reports whether a database that an owner has used before has no bytes any more. The first start of all may be killed before it
// writes any.
func emptied(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, lockName))
	info, missing := os.Stat(filepath.Join(dir, FileName))
	return err == nil && missing == nil && info.Size() == 0
}

// check looks for damage in a file that its last owner did not close. The machine may have crashed, or the disk may fail. A file that is
// too large for that is looked through while it is in use.
func (f *file) check(ctx context.Context) error {
	info, err := os.Stat(f.place)
	if err != nil {
		return err
	}
	if info.Size() > maxChecked {
		f.doubtful = true
		return nil
	}
	limited, cancel := context.WithTimeout(ctx, checkLimit)
	defer cancel()
	wrong, err := damage(limited, f.writer, "quick_check")
	switch {
	case err != nil && limited.Err() != nil && ctx.Err() == nil:
		f.doubtful = true
		return nil
	case err != nil:
		return err
	case len(wrong) > 0:
		return &Error{Kind: Corrupt, Path: f.place, Err: errors.New(strings.Join(wrong, "; "))}
	}
	return nil
}

// lookThrough looks for damage in a file that check has left, and leaves a notice. If it comes to no end, the next owner does it again.
func (f *file) lookThrough(ctx context.Context) {
	if !f.doubtful {
		return
	}
	wrong, err := damage(ctx, f.readers, "quick_check")
	switch {
	case len(wrong) > 0:
		f.damaged.Store(true)
		f.tell("%v", &Error{Kind: Corrupt, Path: f.place, Err: errors.New(strings.Join(wrong, "; "))})
	case err == nil:
		f.doubtful = false
		f.tell("the database was not closed by the process before; it has been looked through, and is in order")
	case ctx.Err() == nil:
		f.tell("the database was not closed, and cannot be looked through for damage: %v", f.Explain(err))
	}
}

// watchEvery is how often the file is checked while nobody writes.
const watchEvery = 5 * time.Second

// Ready implements [Engine]. A disk that is frozen holds it, in a system call: other goroutines go on. Nothing is written, so a full disk
// does not matter. Without it, SQLite may begin its log again in mapped memory, as markEnd says.
func (f *file) Ready() error {
	if f.openLog() == nil {
		_, _ = f.log.Write(nil)
	}
	return f.there()
}

// there checks whether the file is still the one that was opened. SQLite would go on writing into a deleted file, and nobody could read
// that again.
func (f *file) there() error {
	if f.opened == nil {
		return nil
	}
	info, err := os.Stat(f.place)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return &Error{Kind: Gone, Path: f.place}
	case err != nil:
		return nil // a write will report it
	case !os.SameFile(info, f.opened):
		return &Error{Kind: Replaced, Path: f.place}
	}
	return nil
}

// watch checks the file every few seconds, and leaves a notice when it disappears.
func (f *file) watch(ctx context.Context) {
	ticks := time.NewTicker(watchEvery)
	defer ticks.Stop()
	for lost := false; ; {
		select {
		case <-ctx.Done():
			return
		case <-ticks.C:
			err := f.there()
			if err != nil && !lost {
				f.tell("%v", err)
			}
			lost = err != nil
		}
	}
}

// Inspect implements [Engine].
func (f *file) Inspect(ctx context.Context) (found Inspection, err error) {
	for _, name := range []string{f.place, f.place + "-wal"} {
		if info, err := os.Stat(name); err == nil {
			found.Bytes += info.Size()
		}
	}
	size, err := f.Size(ctx)
	if err != nil {
		return found, err
	}
	found.Unused = size.File - size.Used
	if found.Schema, _, err = f.versions(ctx, f.readers); err != nil {
		return found, err
	}
	found.Wrong, err = damage(ctx, f.readers, "quick_check")
	if len(found.Wrong) > 0 {
		f.damaged.Store(true)
	}
	return found, err
}

// damage returns up to three lines about damage, as one of SQLite's checks finds it.
// https://www.sqlite.org/pragma.html#pragma_quick_check
func damage(ctx context.Context, pool *sql.DB, check string) (wrong []string, err error) {
	lines, err := texts(pool.QueryContext(ctx, `PRAGMA `+check+`(3)`))
	for _, line := range lines {
		if line != "ok" {
			wrong = append(wrong, strings.Join(strings.Fields(line), " "))
		}
	}
	if err != nil {
		return nil, fmt.Errorf("check the database: %w", err)
	}
	return wrong, nil
}

// texts returns the rows of a query with one column.
func texts(rows *sql.Rows, err error) (all []string, _ error) {
	err = Each(rows, err, func(row *sql.Rows) error {
		var one string
		err := row.Scan(&one)
		all = append(all, one)
		return err
	})
	return all, err
}

// Each calls do for each row of a query, which failed if err is not nil.
func Each(rows *sql.Rows, err error, do func(*sql.Rows) error) error {
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := do(rows); err != nil {
			return err
		}
	}
	return errors.Join(rows.Err(), rows.Close())
}

const (
	// vacuumBatch is the largest number of pages given back in one transaction.
	vacuumBatch = 256

	incremental = 2 // of PRAGMA auto_vacuum
)

// Size implements [Engine].
func (f *file) Size(ctx context.Context) (s Size, err error) {
	var free int64
	err = f.readers.QueryRowContext(ctx, `SELECT page_count * page_size, freelist_count * page_size FROM pragma_page_count, pragma_page_size, pragma_freelist_count`).Scan(&s.File, &free)
	s.Used = s.File - free
	return s, err
}

// Shrink implements [Engine], in steps so small that nobody waits long. A file that cannot give space back keeps it for later use.
func (f *file) Shrink(ctx context.Context, steps Steps) error {
	var mode int
	if err := f.readers.QueryRowContext(ctx, `PRAGMA auto_vacuum`).Scan(&mode); err != nil || mode != incremental {
		return err
	}
	return steps(ctx, vacuumBatch, func(tx *sql.Tx, n int) (more bool, err error) {
		rows, err := tx.Query(fmt.Sprintf(`PRAGMA incremental_vacuum(%d)`, n))
		if err := Each(rows, err, func(*sql.Rows) error { return nil }); err != nil { // one row a page
			return false, err
		}
		var free int
		err = tx.QueryRow(`PRAGMA freelist_count`).Scan(&free)
		return free > 0, err
	})
}

// mergePages is the largest number of pages of an index that one step writes. mostMerged is how many one call does, and the next call goes
// on.
const (
	mergePages = 200
	mostMerged = 100_000
)

// Tidy implements [Engine], in small steps, so that others can write in between. Parts of one size are merged into a larger one. All are
// merged into one only if those beside the largest have grown. A million messages are 75 MB, and the rows of a common word are one step.
func (f *file) Tidy(ctx context.Context, table string, steps Steps) error {
	whole, err := f.scattered(ctx, table)
	if err != nil {
		return err
	}
	merge := fmt.Sprintf(`INSERT INTO %[1]s (%[1]s, rank) VALUES ('merge', ?)`, table)
	merged := 0
	return steps(ctx, mergePages, func(tx *sql.Tx, n int) (more bool, err error) {
		var before, after int
		if err := tx.QueryRow(`SELECT total_changes()`).Scan(&before); err != nil {
			return false, err
		}
		pages := n
		if merged == 0 && whole {
			pages = -n // a negative number starts a merge of all parts
		}
		if _, err := tx.Exec(merge, pages); err != nil {
			return false, err
		}
		err = tx.QueryRow(`SELECT total_changes()`).Scan(&after)
		merged += n
		return after-before >= 2 && merged < mostMerged, err // as https://sqlite.org/fts5.html#the_merge_command says
	})
}

// mostBeside is the divisor: the parts of an index may have one so-many-th of the largest part's pages beside it.
const mostBeside = 8

// scattered reports whether more than one mostBeside-th of a full-text table is outside its largest part. It counts pages by their first
// words. https://sqlite.org/fts5.html#fts5_data_structures
func (f *file) scattered(ctx context.Context, table string) (is bool, err error) {
	err = f.readers.QueryRowContext(ctx, `SELECT coalesce((sum(pages) - max(pages)) * ? > max(pages), FALSE)
		FROM (SELECT count(*) AS pages FROM `+table+`_idx GROUP BY segid)`, mostBeside).Scan(&is)
	return is, err
}

// dirLock makes this process the owner of a data directory. SQLite's own locks would let two processes take turns, and both would answer
// every message. The file stays when the lock is released. If it were removed, two processes could lock two files of the same name.
//
// The file names the owner until [dirLock.markClosed], for people and for the next owner. On Windows nobody else can read or write the
// first byte of a locked file. So the number begins at the second one.
type dirLock struct {
	lock *flock.Flock
	file *os.File     // a second handle: that of lock cannot be written
	data *flock.Flock // of the database file itself; nil: not locked
}

// lockData locks the database file, too. The lock file may be deleted meanwhile, and the database may have a second name in another
// directory. SQLite's own locks are of another kind on Linux, and would be hindered elsewhere. Closing the handle drops SQLite's locks, so
// release comes after SQLite has closed the file.
func (l *dirLock) lockData(path string) error {
	if runtime.GOOS != "linux" {
		return nil
	}
	data := flock.New(path, flock.SetFlag(os.O_RDWR))
	locked, err := data.TryLock()
	if err != nil {
		return fmt.Errorf("lock %s: %w", path, err)
	}
	if !locked {
		return &Error{Kind: InUse, Path: path}
	}
	l.data = data
	return nil
}

// ownerAt is the offset of the owner's number, and ownerWidth its length in bytes, padded with spaces.
const (
	ownerAt    = 1
	ownerWidth = 20
)

// acquire locks the file at path. clean is false if the last owner did not get as far as markClosed. The error is an [*Error] that names
// the owner if there is another one.
func acquire(path string) (l *dirLock, clean bool, err error) {
	// Network file systems lock only files that are open for writing.
	l = &dirLock{lock: flock.New(path, flock.SetFlag(os.O_CREATE|os.O_RDWR), flock.SetPermissions(0o600))}
	locked, err := l.lock.TryLock()
	if err != nil {
		return nil, false, fmt.Errorf("lock %s: %w", path, err)
	}
	if !locked {
		return nil, false, &Error{Kind: InUse, Path: filepath.Join(filepath.Dir(path), FileName), PID: ownerOf(path)}
	}
	clean = ownerOf(path) == 0
	l.file, err = os.OpenFile(path, os.O_RDWR, 0)
	if err == nil {
		err = l.write(strconv.Itoa(os.Getpid()))
	}
	if err != nil {
		return nil, false, errors.Join(err, l.release())
	}
	return l, clean, nil
}

// markClosed notes that the store was closed without an error.
func (l *dirLock) markClosed() error { return l.write("") }

func (l *dirLock) write(owner string) error {
	_, err := l.file.WriteAt(fmt.Appendf(nil, "%-*s\n", ownerWidth, owner), ownerAt)
	if err == nil && owner != "" { // after a loss of power the next owner must know that this one did not close the store
		err = l.file.Sync()
	}
	return err
}

// release unlocks the file before it is closed. A child process that has not reached its exec holds the file open, too. It would keep the
// lock until then.
func (l *dirLock) release() error {
	err := l.lock.Unlock()
	if l.data != nil {
		err = errors.Join(err, l.data.Unlock())
	}
	if l.file != nil {
		err = errors.Join(err, l.file.Close())
	}
	return err
}

// Name is the name of a directory, which one process at a time has.
type Name struct {
	Text string
	lock *flock.Flock
}

// NameOf returns the name of a directory, or nil if another process has it. It makes the directory, and a random name, where there is none.
// The caller must Close it. If the process dies, another one may have the name at once.
func NameOf(dir string) (*Name, error) {
	path := filepath.Join(dir, "process")
	err := os.MkdirAll(dir, 0o700)
	n := &Name{lock: flock.New(path+".lock", flock.SetFlag(os.O_CREATE|os.O_RDWR), flock.SetPermissions(0o600))}
	locked := false
	if err == nil {
		locked, err = n.lock.TryLock()
	}
	if err != nil || !locked {
		return nil, err
	}
	text, err := os.ReadFile(path)
	if n.Text = strings.TrimSpace(string(text)); n.Text == "" && (err == nil || errors.Is(err, fs.ErrNotExist)) {
		n.Text = rand.Text()
		err = os.WriteFile(path, []byte(n.Text+"\n"), 0o600)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("name the process: %w", err), n.lock.Unlock())
	}
	return n, nil
}

// Close gives the name up.
func (n *Name) Close() error { return n.lock.Unlock() }

// usedAt is the offset of a byte that says that the database has had tables.
const usedAt = ownerAt + ownerWidth + 1

func (l *dirLock) markUsed() error {
	_, err := l.file.WriteAt([]byte("u"), usedAt)
	return err
}

// wasUsed reports whether [dirLock.markUsed] has marked the lock file at path.
func wasUsed(path string) bool {
	b, err := os.ReadFile(path)
	return err == nil && len(b) > usedAt && b[usedAt] == 'u'
}

// ownerOf returns the process that a lock file names, or 0.
func ownerOf(path string) int {
	f, err := os.Open(path)
	if err != nil {
		return 0
	}
	defer f.Close()
	text := make([]byte, ownerAt+ownerWidth+1)
	if n, _ := f.ReadAt(text, 0); n == 0 { // the first byte is locked
		_, _ = f.ReadAt(text[ownerAt:], ownerAt)
	}
	pid, err := strconv.Atoi(string(bytes.Trim(text[ownerAt:], "\x00 \n")))
	if err != nil || pid < 0 {
		return 0
	}
	return pid
}
