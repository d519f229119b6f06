-- What the operator searches records by: words of questions and names of those who asked, and the turns that did not go as they should.

-- +goose Up
-- It keeps no text of its own, and what is deleted is gone from it at once, as in message_words. Turns do not wait for it: whoever searches
-- brings it up to date first, see package trace.
CREATE VIRTUAL TABLE trace_words USING fts5(question, author, content='traces', content_rowid='rowid', columnsize=0, detail=none,
	tokenize="porter unicode61 remove_diacritics 2 categories 'L* N* Co Mn Mc'");
INSERT INTO trace_words (trace_words, rank) VALUES ('secure-delete', 1);

-- The records up to the row done are in the index.
CREATE TABLE trace_words_progress (
	done BIGINT NOT NULL
);
INSERT INTO trace_words_progress VALUES (0);

-- A row that is the last may be given away again: done is then that of the one before it.
-- +goose StatementBegin
CREATE TRIGGER trace_words_delete AFTER DELETE ON traces WHEN old.rowid <= (SELECT done FROM trace_words_progress) BEGIN
	INSERT INTO trace_words (trace_words, rowid, question, author) VALUES ('delete', old.rowid, old.question, old.author);
	UPDATE trace_words_progress SET done = (SELECT coalesce(max(t.rowid), 0) FROM traces t WHERE t.rowid < old.rowid) WHERE done = old.rowid;
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER trace_words_update AFTER UPDATE OF question, author ON traces
WHEN (old.question <> new.question OR old.author <> new.author) AND old.rowid <= (SELECT done FROM trace_words_progress) BEGIN
	INSERT INTO trace_words (trace_words, rowid, question, author) VALUES ('delete', old.rowid, old.question, old.author);
	INSERT INTO trace_words (rowid, question, author) VALUES (new.rowid, new.question, new.author);
END;
-- +goose StatementEnd

-- Turns that went well and looked nothing up are in neither: their writers pay nothing.
CREATE INDEX traces_troubled ON traces (phase, began, id) WHERE phase IN ('failed', 'interrupted');
CREATE INDEX traces_looked_up ON traces (lookup, began, id) WHERE lookup IN ('found', 'empty', 'failed');
