-- What was said before in a channel, in a few sentences, each with the messages that it rests on; how far the writer of memory has
-- read in a channel; and what became of what models said of messages.

-- +goose Up
CREATE TABLE summaries (
	channel_id TEXT    NOT NULL PRIMARY KEY,
	guild_id   TEXT    NOT NULL, -- '' of direct messages
	first_at   BIGINT  NOT NULL, -- it covers the messages from here
	last_at    BIGINT  NOT NULL, -- up to here,
	last_id    TEXT    NOT NULL, -- of which this is the last
	messages   INTEGER NOT NULL, -- that it covers
	made       BIGINT  NOT NULL,
	maker      TEXT    NOT NULL, -- a model, or 'extractive'
	sentences  TEXT    NOT NULL  -- JSON, see store/summary.go
) WITHOUT ROWID;
CREATE INDEX summaries_by_guild ON summaries (guild_id, last_at);

CREATE TABLE watermarks (
	channel_id TEXT    NOT NULL PRIMARY KEY,
	guild_id   TEXT    NOT NULL,
	at         BIGINT  NOT NULL, -- of the last message that was read,
	message_id TEXT    NOT NULL, -- and its id; '' where none was yet
	turns      INTEGER NOT NULL, -- since then
	active     BIGINT  NOT NULL, -- when the last of them was
	failures   INTEGER NOT NULL DEFAULT 0, -- in a row
	retry      BIGINT  NOT NULL DEFAULT 0  -- it is not read on before
) WITHOUT ROWID;

CREATE TABLE tallies (
	name TEXT   NOT NULL PRIMARY KEY, -- "summary kept", "memory refused: number"
	n    BIGINT NOT NULL
) WITHOUT ROWID;
