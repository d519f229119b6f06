-- Which words stand in which message of a server, and who wrote it where: a full-text index that keeps no text of its own. What is
-- deleted is gone from it at once, see https://sqlite.org/fts5.html#the_secure_delete_configuration_option. And which records quote
-- messages of elsewhere in their server, so that deleting one finds them.

-- +goose Up
CREATE VIRTUAL TABLE message_words USING fts5(words, tags, content='', columnsize=0,
	tokenize="porter unicode61 remove_diacritics 2 categories 'L* N* Co Mn Mc'");
INSERT INTO message_words (message_words, rank) VALUES ('secure-delete', 1);
-- Parts of the index are merged while a message is written, which then waits. Merging 16 rather than 4 at a time is a third of that
-- wait for one message in a hundred, and makes a search a millisecond slower.
INSERT INTO message_words (message_words, rank) VALUES ('automerge', 16);
INSERT INTO message_words (message_words, rank) VALUES ('crisismerge', 32);

-- The messages of before are indexed when the store is opened: done is the last of them that is, of those up to last.
CREATE TABLE message_words_progress (
	done BIGINT NOT NULL,
	last BIGINT NOT NULL
);
INSERT INTO message_words_progress SELECT 0, coalesce(max(rowid), 0) FROM messages;

CREATE TABLE trace_quotes (
	message_id TEXT NOT NULL,
	trace_id   TEXT NOT NULL REFERENCES traces (id) ON DELETE CASCADE,
	PRIMARY KEY (message_id, trace_id)
) WITHOUT ROWID;
CREATE INDEX trace_quotes_by_trace ON trace_quotes (trace_id);
