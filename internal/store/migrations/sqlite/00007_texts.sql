-- Texts of records that repeat, such as those of pages and of the character, are kept once, whatever they are of.
-- A text or a record is compressed if it begins as a frame of zstd does, which no text can.

-- +goose Up
CREATE TABLE texts (
	id   INTEGER NOT NULL PRIMARY KEY,
	sum  BLOB    NOT NULL UNIQUE, -- SHA-256 of the text
	body BLOB    NOT NULL
);
INSERT INTO texts (sum, body) SELECT unhex(sha256), text FROM pages;

-- Which texts a record is missing: n is the number of a page's text among all pages of
-- the record, from 0, and -1 for the texts of its prompt that are the same in most turns.
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

-- The same as before, without an index of its own beside the table.
ALTER TABLE trace_messages RENAME TO old_trace_messages;
CREATE TABLE trace_messages (
	message_id TEXT NOT NULL,
	trace_id   TEXT NOT NULL REFERENCES traces (id) ON DELETE CASCADE,
	PRIMARY KEY (message_id, trace_id)
) WITHOUT ROWID;
INSERT INTO trace_messages SELECT message_id, trace_id FROM old_trace_messages;
DROP TABLE old_trace_messages;
CREATE INDEX trace_messages_by_trace ON trace_messages (trace_id);

-- A record is in one of three places: whole in open_records until its turn is over, then in rows of about a quarter of a page,
-- from part on, because rows of more than half a page would waste the rest of it; or, from before, in traces.record.
CREATE TABLE open_records (
	trace_id TEXT NOT NULL PRIMARY KEY REFERENCES traces (id) ON DELETE CASCADE,
	body     BLOB NOT NULL
) WITHOUT ROWID;
CREATE TABLE record_parts (
	id   INTEGER NOT NULL PRIMARY KEY,
	body BLOB    NOT NULL
);
ALTER TABLE traces ADD COLUMN part INTEGER NOT NULL DEFAULT 0;
ALTER TABLE traces ADD COLUMN parts INTEGER NOT NULL DEFAULT 0;
