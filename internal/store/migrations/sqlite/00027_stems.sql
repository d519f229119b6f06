-- Messages are found by the stems of their words in all languages. Of the messages up to the row due none is in the index yet: it is built
-- from the newest on, beside everything else. made says by which stems; where they are others now, the index is built anew.

-- +goose Up
DROP TABLE message_words_progress;
CREATE TABLE message_words_progress (
	due  BIGINT NOT NULL,
	made TEXT NOT NULL
);
INSERT INTO message_words_progress VALUES (0, '');
