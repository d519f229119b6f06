-- What people want to be reminded of. A row goes when its person was told.
CREATE TABLE reminders (
	id         INTEGER NOT NULL PRIMARY KEY,
	person_id  TEXT    NOT NULL,
	guild_id   TEXT    NOT NULL, -- '' in direct messages
	channel_id TEXT    NOT NULL, -- where they asked, and are told
	message_id TEXT    NOT NULL, -- with which they asked
	language   TEXT    NOT NULL,
	text       TEXT    NOT NULL,
	at         BIGINT  NOT NULL,
	zone       TEXT    NOT NULL, -- time zone that was taken, because the person's was unknown, or ''
	made       BIGINT  NOT NULL,
	begun      BIGINT  NOT NULL -- when a process began to tell it, or 0
);
CREATE INDEX reminders_by_time ON reminders (at, id);
CREATE INDEX reminders_by_person ON reminders (person_id);
CREATE INDEX reminders_by_message ON reminders (message_id);
