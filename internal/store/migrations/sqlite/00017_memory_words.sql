-- Which words stand in which statement, but for those that were replaced. As message_words it keeps no text of its own, and what is
-- deleted is gone from it at once.

-- +goose Up
CREATE VIRTUAL TABLE memory_words USING fts5(words, content='',
	tokenize="porter unicode61 remove_diacritics 2 categories 'L* N* Co Mn Mc'");
INSERT INTO memory_words (memory_words, rank) VALUES ('secure-delete', 1);
