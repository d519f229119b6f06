-- Which settings were changed, and by whom.

-- +goose Up
CREATE TABLE changes (
	id         INTEGER NOT NULL PRIMARY KEY,
	at         BIGINT  NOT NULL,
	guild_id   TEXT    NOT NULL, -- '' of direct messages, everywhere, and a person alone
	channel_id TEXT    NOT NULL, -- '' of a whole server, everywhere, and a person alone
	by_id      TEXT    NOT NULL, -- '' of who edits the files
	by_name    TEXT    NOT NULL,
	kind       TEXT    NOT NULL, -- see store/change.go
	was        TEXT    NOT NULL,
	became     TEXT    NOT NULL
);
CREATE INDEX changes_by_guild ON changes (guild_id, id);
CREATE INDEX changes_by_time ON changes (at);
