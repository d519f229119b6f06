-- Messages that were deleted and may still stand in records, until those have been gone through; and the servers that the bot
-- has left, until what is kept of them is deleted, too. A verdict on a source counts where it was given, so that a person
-- may give one in each server.

-- +goose Up
CREATE TABLE forgetting (
	message_id TEXT   NOT NULL PRIMARY KEY,
	channel_id TEXT   NOT NULL, -- '' where the message was not kept
	at         BIGINT NOT NULL,
	text       TEXT   NOT NULL
) WITHOUT ROWID;

CREATE TABLE left_guilds (
	guild_id TEXT   NOT NULL PRIMARY KEY,
	at       BIGINT NOT NULL -- when the bot left
) WITHOUT ROWID;

ALTER TABLE feedback RENAME TO old_feedback;
CREATE TABLE feedback (
	character TEXT   NOT NULL,
	domain    TEXT   NOT NULL, -- registrable
	verdict   TEXT   NOT NULL, -- 'outdated' or 'wrong'
	by_id     TEXT   NOT NULL,
	url       TEXT   NOT NULL, -- the page it was about, or ''
	at        BIGINT NOT NULL,
	guild_id  TEXT   NOT NULL, -- '' in a direct message, '?' before servers were kept
	PRIMARY KEY (character, guild_id, domain, by_id)
);
INSERT INTO feedback SELECT character, domain, verdict, by_id, url, at, guild_id FROM old_feedback;
DROP TABLE old_feedback;
