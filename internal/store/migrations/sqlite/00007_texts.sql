-- Texts of records that repeat, such as those of pages and of the character, are kept once, whatever they are of. A text, and
-- a record, is a BLOB where it is compressed (zstd) and TEXT where it is as it was before.

-- +goose Up
CREATE TABLE texts (
	id   INTEGER NOT NULL PRIMARY KEY,
	sum  BLOB    NOT NULL UNIQUE, -- SHA-256 of the text
	body BLOB    NOT NULL
);
INSERT INTO texts (sum, body) SELECT unhex(sha256), text FROM pages;

-- Which texts a record is missing: n is the number of the text among all that a record may be kept without, from 0.
CREATE TABLE trace_texts (
	trace_id TEXT    NOT NULL REFERENCES traces (id) ON DELETE CASCADE,
	n        INTEGER NOT NULL,
	text_id  INTEGER NOT NULL REFERENCES texts (id),
	PRIMARY KEY (trace_id, n)
) WITHOUT ROWID;
INSERT INTO trace_texts (trace_id, n, text_id)
	SELECT r.trace_id, r.n, t.id FROM trace_pages r JOIN texts t ON t.sum = unhex(r.sha256);
CREATE INDEX trace_texts_by_text ON trace_texts (text_id);
DROP TABLE trace_pages;
DROP TABLE pages;
