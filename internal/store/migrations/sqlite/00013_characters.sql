-- Which characters speak in a channel or a server, who chose them, and what their scene is; the profile that the bot has in a
-- server; and the webhooks through which several characters speak in a channel.

-- +goose Up
CREATE TABLE castings (
	place      TEXT   NOT NULL PRIMARY KEY, -- a channel's id, or "server:" and a server's
	guild_id   TEXT   NOT NULL,
	characters TEXT   NOT NULL, -- ids, one a line; the first answers where none is named
	by_id      TEXT   NOT NULL,
	at         BIGINT NOT NULL
) WITHOUT ROWID;

CREATE TABLE backdrops (
	channel_id TEXT   NOT NULL PRIMARY KEY,
	guild_id   TEXT   NOT NULL,
	text       TEXT   NOT NULL,
	by_id      TEXT   NOT NULL,
	by_name    TEXT   NOT NULL,
	at         BIGINT NOT NULL
) WITHOUT ROWID;

CREATE TABLE profiles (
	guild_id TEXT NOT NULL PRIMARY KEY,
	profile  TEXT NOT NULL -- what Discord was given, or refused
) WITHOUT ROWID;

CREATE TABLE webhooks (
	channel_id TEXT NOT NULL PRIMARY KEY,
	guild_id   TEXT NOT NULL,
	id         TEXT NOT NULL,
	token      TEXT NOT NULL -- a secret
) WITHOUT ROWID;
