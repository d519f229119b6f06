package store

import "encoding/json"

// What only SQLite has, in the place where another engine would have its own: its full-text indexes, FTS5, whose queries are made in
// words.go, and lists as parameters. Beside that it is scrub.go and vacuum.go that know its file.
const (
	indexMessage   = `INSERT INTO message_words (rowid, words, tags) VALUES (?, ?, ?)`
	unindexMessage = `INSERT INTO message_words (message_words, rowid, words, tags) VALUES ('delete', ?, ?, ?)`
	emptyMessages  = `INSERT INTO message_words (message_words) VALUES ('delete-all')`
	mergeMessages  = `INSERT INTO message_words (message_words, rank) VALUES ('merge', ?)`

	// messagesWith returns the rows of the newest messages for a query of [match] and [anyOf], between two rows.
	messagesWith = `SELECT rowid AS row FROM message_words WHERE message_words MATCH ? AND rowid BETWEEN ? AND ? ORDER BY rowid DESC LIMIT 0 + ?`

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
