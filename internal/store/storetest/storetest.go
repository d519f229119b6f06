// Package storetest makes stores for tests. Making a new one takes longer than most tests: each migration is run.
package storetest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"familiar/internal/store"
)

const fileName = "familiar.db"

// Seed puts the file of a new store into dir, which it makes if it is missing, as if one had been opened there and closed.
func Seed(tb testing.TB, dir string) {
	tb.Helper()
	file, err := empty()
	if err == nil {
		err = os.MkdirAll(dir, 0o700)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, fileName), file, 0o600)
	}
	if err != nil {
		tb.Fatal(err)
	}
}

// Open is a new store that holds some messages, and is closed at the test's end.
func Open(tb testing.TB, messages ...store.Message) *store.DB {
	tb.Helper()
	return OpenIn(tb, tb.TempDir(), messages...)
}

// OpenIn is Open in dir, in which there is no store yet.
func OpenIn(tb testing.TB, dir string, messages ...store.Message) *store.DB {
	tb.Helper()
	Seed(tb, dir)
	db, err := store.Open(tb.Context(), dir)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := db.Close(); err != nil {
			tb.Error(err)
		}
	})
	if err := db.SaveMessages(tb.Context(), messages...); err != nil {
		tb.Fatal(err)
	}
	return db
}

// empty is a new store's file.
var empty = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", "familiar")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	db, err := store.Open(context.Background(), dir)
	if err != nil {
		return nil, err
	}
	if err := db.Close(); err != nil {
		return nil, fmt.Errorf("close store: %w", err)
	}
	return os.ReadFile(filepath.Join(dir, fileName))
})
