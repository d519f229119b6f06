package engine

import (
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"time"
)

// SQLite overwrites deleted content with zeros (PRAGMA secure_delete), except in two places. One is the log, which holds older pages until
// it is emptied. The other is the unused middle of pages. It holds copies of rows that moved to another page when a tree was balanced.
// https://www.sqlite.org/pragma.html#pragma_secure_delete

const (
	scrubLimit = 30 * time.Second // for readers to let the log go
	scrubPause = 50 * time.Millisecond
)

// Scrub implements [Engine].
func (f *file) Scrub(ctx context.Context, steps Steps) error {
	if err := f.clearPages(ctx, steps); err != nil {
		return err
	}
	return f.Carry(ctx, true)
}

// emptyLog writes the log into the file and truncates it. Writers do not wait while it waits for readers. Most is written beside them, and
// the rest when no reader is there.
func (f *file) emptyLog(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, scrubLimit)
	defer cancel()
	c, err := f.readers.Conn(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	if _, err := c.ExecContext(ctx, `PRAGMA busy_timeout(0)`); err != nil {
		return err
	}
	defer c.ExecContext(context.WithoutCancel(ctx), `PRAGMA busy_timeout(`+busyTimeout+`)`)
	for {
		var busy, logged, carried int
		err := c.QueryRowContext(ctx, `PRAGMA wal_checkpoint(PASSIVE)`).Scan(&busy, &logged, &carried)
		if err == nil {
			err = c.QueryRowContext(ctx, `PRAGMA wal_checkpoint(TRUNCATE)`).Scan(&busy, &logged, &carried)
		}
		if err == nil && busy == 0 {
			return nil
		}
		if err != nil && ctx.Err() == nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(scrubPause):
		}
	}
}

// clearPages overwrites the unused bytes of all pages of the file.
func (f *file) clearPages(ctx context.Context, steps Steps) error {
	var pages, mode, size int
	for pragma, into := range map[string]*int{"page_count": &pages, "auto_vacuum": &mode, "page_size": &size} {
		if err := f.readers.QueryRowContext(ctx, `PRAGMA `+pragma).Scan(into); err != nil {
			return err
		}
	}
	read, err := f.readers.PrepareContext(ctx, pageQuery)
	if err != nil {
		return err
	}
	defer read.Close()
	var due []int
	for n := 1; n <= pages; n++ {
		if mode != 0 && isPointerMap(n, size) {
			continue
		}
		var page []byte
		if err := read.QueryRowContext(ctx, n).Scan(&page); err != nil && !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		if clearPage(n, page) {
			due = append(due, n)
		}
	}
	return InSteps(ctx, steps, due, clearThis)
}

// pageQuery reads a page: https://www.sqlite.org/dbpage.html
const pageQuery = `SELECT data FROM sqlite_dbpage WHERE pgno = ?`

// clearThis reads a page again, because it may have changed, and overwrites its unused bytes.
func clearThis(tx *sql.Tx, n int) error {
	var page []byte
	err := tx.QueryRow(pageQuery, n).Scan(&page)
	switch {
	case errors.Is(err, sql.ErrNoRows): // the file has become shorter
		return nil
	case err != nil:
		return err
	case !clearPage(n, page):
		return nil
	}
	_, err = tx.Exec(`UPDATE sqlite_dbpage SET data = ? WHERE pgno = ?`, page, n)
	return err
}

// isPointerMap reports whether a page holds nothing but types of other pages.
// https://www.sqlite.org/fileformat2.html#pointer_map_or_ptrmap_pages
func isPointerMap(n, size int) bool { return n >= 2 && (n-2)%(size/5+1) == 0 }

// clearPage overwrites the unused bytes of a b-tree page, and reports whether they were anything but zeros. It leaves other and malformed
// pages alone. https://www.sqlite.org/fileformat2.html#b_tree_pages
func clearPage(n int, page []byte) (changed bool) {
	at, header := 0, 8
	if n == 1 {
		at = 100 // the header of the file
	}
	if len(page) < 512 {
		return false
	}
	switch page[at] {
	case 2, 5: // inner pages of an index, a table
		header = 12
	case 10, 13: // leaves
	default:
		return false
	}
	word := func(i int) int { return int(binary.BigEndian.Uint16(page[i:])) }
	cells, content := at+header+2*word(at+3), word(at+5)
	if content == 0 {
		content = 1 << 16
	}
	if cells > content || content > len(page) {
		return false
	}
	clear := func(from, to int) {
		for i := from; i < to; i++ {
			changed = changed || page[i] != 0
			page[i] = 0
		}
	}
	for block, last := word(at+1), content; block != 0; {
		if block < last || block+4 > len(page) || block+word(block+2) > len(page) || word(block+2) < 4 {
			return false
		}
		next, size := word(block), word(block+2)
		clear(block+4, block+size)
		block, last = next, block+size
	}
	clear(cells, content)
	return changed
}
