-- What people have said of what is kept of them. They are named by a keyed hash, so that their ids stand nowhere.

-- +goose Up
CREATE TABLE privacy_key (
	key BLOB NOT NULL -- of the hash; a secret
);
INSERT INTO privacy_key (key) VALUES (randomblob(32));

CREATE TABLE privacy (
	who       TEXT   NOT NULL PRIMARY KEY, -- the keyed hash of a person's id
	opted_out BIGINT NOT NULL,             -- since when nothing is kept of them, or 0
	forgotten BIGINT NOT NULL              -- nothing of before is kept of them, or comes back; or 0
) WITHOUT ROWID;

CREATE TABLE privacy_log (
	at          BIGINT  NOT NULL,
	who         TEXT    NOT NULL, -- whom it is about, hashed
	act         TEXT    NOT NULL, -- 'export', 'forget', 'optout', 'optin', 'receipt'
	by_operator BOOLEAN NOT NULL  -- and not by themselves
);
CREATE INDEX privacy_log_by_time ON privacy_log (at);

-- Who is being forgotten, until that is done: a restart goes on with it.
CREATE TABLE erasures (
	person_id   TEXT    NOT NULL PRIMARY KEY,
	at          BIGINT  NOT NULL,
	by_operator BOOLEAN NOT NULL
) WITHOUT ROWID;

-- Turns of which no words are kept: of people who opted out, or who were forgotten while the turn went on.
CREATE TABLE unkept_turns (
	turn_id TEXT   NOT NULL PRIMARY KEY,
	at      BIGINT NOT NULL
) WITHOUT ROWID;
CREATE INDEX unkept_turns_by_time ON unkept_turns (at);
