-- Records are found by the words of replies, too, and by those of a question that its line leaves out.

-- +goose Up
ALTER TABLE traces ADD COLUMN said TEXT NOT NULL DEFAULT ''; -- the question and the reply, each shortened; '' as long as the turn goes on

DROP TRIGGER trace_words_delete;
DROP TRIGGER trace_words_update;
DROP TABLE trace_words;
-- As in 00026, and with the beginnings of words, of which there are many in replies.
CREATE VIRTUAL TABLE trace_words USING fts5(question, author, said, content='traces', content_rowid='rowid', columnsize=0, detail=column, prefix='3',
	tokenize="porter unicode61 remove_diacritics 2 categories 'L* N* Co Mn Mc'");
INSERT INTO trace_words (trace_words, rank) VALUES ('secure-delete', 1);
UPDATE trace_words_progress SET done = 0;

-- +goose StatementBegin
CREATE TRIGGER trace_words_delete AFTER DELETE ON traces WHEN old.rowid <= (SELECT done FROM trace_words_progress) BEGIN
	INSERT INTO trace_words (trace_words, rowid, question, author, said) VALUES ('delete', old.rowid, old.question, old.author, old.said);
	UPDATE trace_words_progress SET done = (SELECT coalesce(max(t.rowid), 0) FROM traces t WHERE t.rowid < old.rowid) WHERE done = old.rowid;
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER trace_words_update AFTER UPDATE OF question, author, said ON traces
WHEN (old.question <> new.question OR old.author <> new.author OR old.said <> new.said) AND old.rowid <= (SELECT done FROM trace_words_progress) BEGIN
	INSERT INTO trace_words (trace_words, rowid, question, author, said) VALUES ('delete', old.rowid, old.question, old.author, old.said);
	INSERT INTO trace_words (rowid, question, author, said) VALUES (new.rowid, new.question, new.author, new.said);
END;
-- +goose StatementEnd
