package store

import (
	"embed"
	"strings"

	"familiar/internal/store/engine"
)

// The queries are SQLite's. PostgreSQL gets them through a driver, which says otherwise what PostgreSQL says otherwise.

//go:embed migrations/*/*.sql
var migrations embed.FS

// schema is what the engines must know of the tables.
func schema() engine.Schema {
	return engine.Schema{Migrations: migrations, Phrases: phrases, Indexed: indexed}
}

// indexed are the columns of the full-text tables.
var indexed = map[string][]string{
	"message_words": {"words", "tags"},
	"memory_words":  {"words"},
	"trace_words":   {"question", "author", "said"},
}

// phrases are what SQLite and PostgreSQL call by different names, the longer ones first. ?1 is the first parameter. [engine.Schema] has the
// others.
var phrases = strings.NewReplacer(
	insertMessage, insertMessage+` RETURNING rowid`, // for LastInsertId
	`INSERT INTO record_parts (body) VALUES (?)`, `INSERT INTO record_parts (body) VALUES (?) RETURNING id`,
	indexMessage, `INSERT INTO message_words (rowid, words) SELECT CAST(?1 AS BIGINT), LEXEMES_a(?2) || LEXEMES_b(?3) || message_parts(CAST(?1 AS BIGINT))`+unlessDue+` ON CONFLICT (rowid) DO UPDATE SET words = excluded.words`,
	messagesWith, `SELECT at_row FROM newest_parts(MATCH_message_words(?), ?, ?)
		CROSS JOIN LATERAL (SELECT rowid AS at_row FROM message_words WHERE words @@ part AND words @@ words_asked AND rowid BETWEEN first_row AND last_row ORDER BY rowid DESC) AS ordered LIMIT 0 + ?`,
	` ORDER BY at_row DESC`, ``, // they are read in the order of messagesWith, one by one; sorting would need all
	unindexMessage, `DELETE FROM message_words WHERE rowid = ?1`,
	emptyMessages, `DELETE FROM message_words`,
	`INSERT INTO memory_words (rowid, words) VALUES (?, ?)`, `INSERT INTO memory_words (rowid, words, size)
		SELECT CAST(?1 AS BIGINT), w, (SELECT coalesce(sum(cardinality(positions)), 0) FROM unnest(w) u) FROM (SELECT LEXEMES_a(?2) AS w) v`,
	`INSERT INTO memory_words (memory_words, rowid, words) VALUES ('delete', ?, ?)`, `DELETE FROM memory_words WHERE rowid = ?1`,
	`INSERT INTO memory_words (memory_words) VALUES ('delete-all')`, `DELETE FROM memory_words`,
	`SELECT rowid AS id, rank AS score FROM memory_words WHERE memory_words MATCH ?`, rankedMemories,
	`INSERT INTO trace_words (rowid, question, author, said) VALUES (?, ?, ?, ?)`,
	`INSERT INTO trace_words (rowid, words) VALUES (?, LEXEMES_a(?) || LEXEMES_b(?) || LEXEMES_c(?)) ON CONFLICT DO NOTHING`,
	`w.trace_words MATCH ?`, `w.words @@ MATCH_trace_words(?)`,
	`memory_words MATCH ?`, `words @@ MATCH_memory_words(?)`,
	`trace_words MATCH ?`, `words @@ MATCH_trace_words(?)`,
	`message_words MATCH ?`, `words @@ MATCH_message_words(?)`,
	`CROSS JOIN traces t ON `, `JOIN traces t ON `,
	`CROSS JOIN messages ON messages.rowid = at_row`, `CROSS JOIN LATERAL (SELECT * FROM messages WHERE messages.rowid = at_row OFFSET 0) AS messages`, // one by one
	`CROSS JOIN messages m ON `, `JOIN messages m ON `,
	AmongThese, `= ANY (ARRAY(SELECT json_array_elements_text(CAST(? AS json))))`,
	`json_each(?)`, `(SELECT value, key FROM json_array_elements_text(CAST(? AS json)) WITH ORDINALITY AS j (value, key)) AS list`,
	`json_each(?2)`, `(SELECT value, key FROM json_array_elements_text(CAST(?2 AS json)) WITH ORDINALITY AS j (value, key)) AS list`,
	`coalesce(p.body, o.body, t.record)`, `coalesce(p.body, o.body, convert_to(t.record, 'UTF8'))`,
	`json_group_array(at_row)`, `coalesce(json_agg(at_row), '[]')`,
	`CAST(coalesce(group_concat(vector, ''), '') AS BLOB)`, `coalesce(string_agg(vector, ''), '')`,
	`group_concat(`, `string_agg(`,
	`char(10)`, `chr(10)`,
	`instr(`, `strpos(`,
	`max(0, `, `greatest(0, `,
	`max(privacy.forgotten, `, `greatest(privacy.forgotten, `,
	`max(watermarks.active, `, `greatest(watermarks.active, `,
)

// rankedMemories computes the rank of FTS5, BM25: https://sqlite.org/fts5.html#the_bm25_function
const rankedMemories = `SELECT id, -sum(greatest(ln(CAST((of - holding + 0.5) / (holding + 0.5) AS DOUBLE PRECISION)), 0.000001) * times * 2.2 / (times + 1.2 * (0.25 + 0.75 * size / mean))) AS score
	FROM (SELECT w.rowid AS id, w.size, of, mean, count(*) OVER (PARTITION BY n) AS holding,
		(SELECT sum(cardinality(u.positions)) FROM unnest(w.words) u WHERE u.lexeme = word OR begins AND starts_with(u.lexeme, word)) AS times
		FROM (SELECT n, rtrim(value, '*') AS word, right(value, 1) = '*' AS begins FROM json_array_elements_text(CAST(TERMS_memory_words(?) AS json)) WITH ORDINALITY AS j (value, n)) asked
		JOIN memory_words w ON w.words @@ CAST('''' || word || '''' || CASE WHEN begins THEN ':*' ELSE '' END AS tsquery)
		CROSS JOIN (SELECT count(*) AS of, CAST(avg(size) AS DOUBLE PRECISION) AS mean FROM memory_words) whole) held GROUP BY id`
