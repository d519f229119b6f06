-- Embeddings of messages and of what is remembered, where the operator named a server that makes them. They go with what they are of.

-- +goose Up
CREATE TABLE message_vectors (
	place      TEXT   NOT NULL, -- the server, or the channel of a direct message
	model      TEXT   NOT NULL,
	at         BIGINT NOT NULL, -- when the message was written
	message_id TEXT   NOT NULL UNIQUE REFERENCES messages (id) ON DELETE CASCADE,
	channel_id TEXT   NOT NULL,
	vector     BLOB   NOT NULL, -- see store/vector.go; empty where the server refused the text
	PRIMARY KEY (place, model, at, message_id)
) WITHOUT ROWID;

CREATE TABLE memory_vectors (
	memory_id BIGINT NOT NULL PRIMARY KEY REFERENCES memories (id) ON DELETE CASCADE,
	model     TEXT   NOT NULL,
	vector    BLOB   NOT NULL
);
