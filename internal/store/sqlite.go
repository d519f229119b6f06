package store

import "encoding/json"

// What memory needs that only SQLite has, in the place where another engine would have its own: its full-text index, FTS5, whose queries
// are made in words.go, and lists as parameters.
const (
	indexMemory   = `INSERT INTO memory_words (rowid, words) VALUES (?, ?)`
	unindexMemory = `INSERT INTO memory_words (memory_words, rowid, words) VALUES ('delete', ?, ?)`
	emptyMemory   = `INSERT INTO memory_words (memory_words) VALUES ('delete-all')`

	// memoriesWith returns ids of statements for a query of [anyWord], and their scores, of which the least is the best.
	memoriesWith = `SELECT rowid AS id, rank AS score FROM memory_words WHERE memory_words MATCH ?`

	// amongThese holds for what is in the list that its parameter, made by listed, names.
	amongThese = `IN (SELECT value FROM json_each(?))`
)

// listed makes a parameter of amongThese.
func listed[T ~string](all []T) string {
	text, _ := json.Marshal(append([]T{}, all...)) // strings always can be
	return string(text)
}
