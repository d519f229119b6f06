-- What people who may manage a server have switched off, and how much of everything was used on a day.

-- +goose Up
CREATE TABLE switches (
	place    TEXT   NOT NULL, -- a channel's id, or "server:" and a server's, or "everywhere"
	kind     TEXT   NOT NULL, -- what is off: "answers", "lookups"
	guild_id TEXT   NOT NULL,
	by_id    TEXT   NOT NULL,
	at       BIGINT NOT NULL,
	PRIMARY KEY (place, kind)
) WITHOUT ROWID;

CREATE TABLE usage (
	day      TEXT    NOT NULL, -- of UTC
	scope    TEXT    NOT NULL, -- "person", "channel", "server", "all"
	id       TEXT    NOT NULL, -- whose it is; empty for all
	guild_id TEXT    NOT NULL,
	turns    INTEGER NOT NULL,
	lookups  INTEGER NOT NULL,
	tokens   INTEGER NOT NULL,
	cost     INTEGER NOT NULL, -- millionths of a US dollar
	told     BOOLEAN NOT NULL DEFAULT FALSE, -- that a quota is used up
	PRIMARY KEY (day, scope, id, guild_id)
) WITHOUT ROWID;
