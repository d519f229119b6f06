-- Times are microseconds since 1970, UTC. Ids compare byte by byte.

-- +goose Up
CREATE TABLE messages (
	id          TEXT    NOT NULL PRIMARY KEY,
	channel_id  TEXT    NOT NULL,
	guild_id    TEXT    NOT NULL,
	author_id   TEXT    NOT NULL,
	author_name TEXT    NOT NULL,
	reply_to    TEXT    NOT NULL,
	turn_id     TEXT    NOT NULL,
	at          BIGINT  NOT NULL,
	own         BOOLEAN NOT NULL,
	text        TEXT    NOT NULL
);
CREATE INDEX messages_by_channel ON messages (channel_id, at, id);

CREATE TABLE claims (
	event_id TEXT   NOT NULL PRIMARY KEY,
	at       BIGINT NOT NULL
);
CREATE INDEX claims_by_time ON claims (at);

CREATE TABLE channels (
	id      TEXT    NOT NULL PRIMARY KEY,
	mode    TEXT    NOT NULL,
	web_off BOOLEAN NOT NULL
);

CREATE TABLE notes (
	key   TEXT NOT NULL PRIMARY KEY,
	value TEXT NOT NULL
);

-- The columns before record are what lists of turns show; they are copies of what the record says.
CREATE TABLE traces (
	id         TEXT   NOT NULL PRIMARY KEY,
	channel_id TEXT   NOT NULL,
	guild_id   TEXT   NOT NULL,
	began      BIGINT NOT NULL,
	took       BIGINT NOT NULL, -- microseconds
	phase      TEXT   NOT NULL,
	lookup     TEXT   NOT NULL, -- state of the first lookup, or ''
	author     TEXT   NOT NULL,
	question   TEXT   NOT NULL, -- shortened
	model      TEXT   NOT NULL,
	err        TEXT   NOT NULL,
	record     TEXT   NOT NULL  -- the whole of it as JSON, but for the texts of pages
);
CREATE INDEX traces_by_channel ON traces (channel_id, began, id);
CREATE INDEX traces_by_time ON traces (began, id);
CREATE INDEX traces_unfinished ON traces (id) WHERE phase IN ('begun', 'answering');

-- The question and the replies of each turn. An edited question makes two turns of one message.
CREATE TABLE trace_messages (
	message_id TEXT NOT NULL,
	trace_id   TEXT NOT NULL REFERENCES traces (id) ON DELETE CASCADE,
	PRIMARY KEY (message_id, trace_id)
);
CREATE INDEX trace_messages_by_trace ON trace_messages (trace_id);

CREATE TABLE pages (
	sha256 TEXT NOT NULL PRIMARY KEY, -- of text, in hex
	text   TEXT NOT NULL
);

-- Which page texts a record is missing: n is the number of the page among all pages of the record, from 0.
CREATE TABLE trace_pages (
	trace_id TEXT    NOT NULL REFERENCES traces (id) ON DELETE CASCADE,
	n        INTEGER NOT NULL,
	sha256   TEXT    NOT NULL REFERENCES pages (sha256),
	PRIMARY KEY (trace_id, n)
);
CREATE INDEX trace_pages_by_page ON trace_pages (sha256);
