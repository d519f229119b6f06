-- How the bot takes part in a channel where people chose that, the threads that it made, and what people think of its replies.

-- +goose Up
CREATE TABLE conduct (
	channel_id TEXT    NOT NULL PRIMARY KEY,
	guild_id   TEXT    NOT NULL,
	chatty     BOOLEAN NOT NULL, -- it joins in unasked
	threads    BOOLEAN NOT NULL, -- each mention gets a thread of its own
	posts      BOOLEAN NOT NULL  -- of a forum: each new post is answered
) WITHOUT ROWID;

CREATE TABLE own_threads (
	thread_id TEXT    NOT NULL PRIMARY KEY,
	guild_id  TEXT    NOT NULL,
	at        BIGINT  NOT NULL,
	quiet     BOOLEAN NOT NULL -- somebody told it to stop there
) WITHOUT ROWID;

CREATE TABLE opinions (
	turn_id  TEXT   NOT NULL REFERENCES traces (id) ON DELETE CASCADE,
	by_id    TEXT   NOT NULL,
	guild_id TEXT   NOT NULL,
	verdict  TEXT   NOT NULL, -- 'good' or 'bad'
	at       BIGINT NOT NULL,
	PRIMARY KEY (turn_id, by_id, verdict)
) WITHOUT ROWID;
