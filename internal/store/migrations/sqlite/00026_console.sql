-- What the operator searches records by: words of questions and names of those who asked, and the turns that did not go as they should.

-- +goose Up
-- It keeps no text of its own, and what is deleted is gone from it at once, as in message_words.
CREATE VIRTUAL TABLE trace_words USING fts5(question, author, content='traces', content_rowid='rowid', columnsize=0, detail=none,
	tokenize="porter unicode61 remove_diacritics 2 categories 'L* N* Co Mn Mc'");
INSERT INTO trace_words (trace_words, rank) VALUES ('secure-delete', 1);
INSERT INTO trace_words (trace_words, rank) VALUES ('automerge', 16);
INSERT INTO trace_words (trace_words, rank) VALUES ('crisismerge', 32);
INSERT INTO trace_words (trace_words) VALUES ('rebuild');

-- +goose StatementBegin
CREATE TRIGGER trace_words_insert AFTER INSERT ON traces BEGIN
	INSERT INTO trace_words (rowid, question, author) VALUES (new.rowid, new.question, new.author);
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER trace_words_delete AFTER DELETE ON traces BEGIN
	INSERT INTO trace_words (trace_words, rowid, question, author) VALUES ('delete', old.rowid, old.question, old.author);
END;
-- +goose StatementEnd
-- A turn is saved several times: only the first changes the index, unless a message is deleted or edited meanwhile.
-- +goose StatementBegin
CREATE TRIGGER trace_words_update AFTER UPDATE OF question, author ON traces WHEN old.question <> new.question OR old.author <> new.author BEGIN
	INSERT INTO trace_words (trace_words, rowid, question, author) VALUES ('delete', old.rowid, old.question, old.author);
	INSERT INTO trace_words (rowid, question, author) VALUES (new.rowid, new.question, new.author);
END;
-- +goose StatementEnd

-- Turns that went well are in neither: their writers pay nothing.
CREATE INDEX traces_troubled ON traces (phase, began, id) WHERE phase IN ('failed', 'interrupted');
CREATE INDEX traces_looked_up ON traces (lookup, began, id) WHERE lookup IN ('found', 'empty', 'failed');
