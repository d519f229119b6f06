-- When entries of lorebooks fired last, and the greeting that a channel began with.

-- +goose Up
CREATE TABLE lore (
	channel_id TEXT   NOT NULL,
	guild_id   TEXT   NOT NULL,
	character  TEXT   NOT NULL,
	entry      TEXT   NOT NULL, -- its book and its id
	at         BIGINT NOT NULL, -- of the message
	turn_id    TEXT   NOT NULL,
	first_turn TEXT   NOT NULL, -- in which it fired first of all
	PRIMARY KEY (channel_id, character, entry)
) WITHOUT ROWID;

CREATE TABLE greetings (
	channel_id TEXT    NOT NULL,
	guild_id   TEXT    NOT NULL,
	character  TEXT    NOT NULL,
	number     INTEGER NOT NULL, -- from 0
	PRIMARY KEY (channel_id, character)
) WITHOUT ROWID;
