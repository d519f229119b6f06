// Package storetest makes stores for tests. They are copies of one empty file, because making the schema takes longer than most tests.
package storetest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"familiar/internal/store"
	"familiar/internal/test/postgres"
)

const fileName = "familiar.db"

// Seed puts the file of a new store into dir, as if a store had been opened there and closed. It makes dir if necessary.
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

// Open returns a new store with these messages. It is closed at the end of the test.
func Open(tb testing.TB, messages ...store.Message) *store.DB {
	tb.Helper()
	return OpenIn(tb, tb.TempDir(), messages...)
}

// OpenIn is Open in dir, which must not have a store yet.
func OpenIn(tb testing.TB, dir string, messages ...store.Message) *store.DB {
	tb.Helper()
	if !postgres.Used() {
		return OpenFile(tb, dir, messages...)
	}
	return openAt(tb, postgres.Place(tb, dir), messages...)
}

// OpenFile is OpenIn for tests of the file, which never are on PostgreSQL.
func OpenFile(tb testing.TB, dir string, messages ...store.Message) *store.DB {
	tb.Helper()
	Seed(tb, dir)
	return openAt(tb, dir, messages...)
}

func openAt(tb testing.TB, place string, messages ...store.Message) *store.DB {
	tb.Helper()
	db, err := store.Open(tb.Context(), place)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := db.Close(); err != nil {
			tb.Error(err)
		}
	})
	if err := db.Messages.Save(tb.Context(), messages...); err != nil {
		tb.Fatal(err)
	}
	return db
}

// empty returns the file of a new store.
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
