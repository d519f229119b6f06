-- What a person's order changed in memory, until it can no longer be undone. Then the row goes, and with "everything" the person is
-- forgotten everywhere.
CREATE TABLE undos (
	turn_id    TEXT    NOT NULL PRIMARY KEY, -- of the order
	person_id  TEXT    NOT NULL,
	guild_id   TEXT    NOT NULL, -- '' in direct messages
	at         BIGINT  NOT NULL,
	due        BIGINT  NOT NULL,
	everything BOOLEAN NOT NULL,
	changes    TEXT    NOT NULL -- JSON, see memory/undo.go
) WITHOUT ROWID;
CREATE INDEX undos_by_due ON undos (due);

-- How a person wants to be called and spoken to, for all characters.
CREATE TABLE cards (
	person_id TEXT   NOT NULL,
	field     TEXT   NOT NULL, -- 'name', 'pronouns', 'language', 'about'
	value     TEXT   NOT NULL,
	at        BIGINT NOT NULL,
	PRIMARY KEY (person_id, field)
) WITHOUT ROWID;
