-- What the buttons under replies mean, for as long as there is a record of the turn that wrote the reply; and the channels where replies have none.

-- +goose Up
CREATE TABLE buttons (
	key     TEXT NOT NULL PRIMARY KEY, -- random; all that Discord is told
	turn_id TEXT NOT NULL REFERENCES traces (id) ON DELETE CASCADE,
	kind    TEXT NOT NULL,
	UNIQUE (turn_id, kind)
) WITHOUT ROWID;

ALTER TABLE channels ADD COLUMN buttons_off BOOLEAN NOT NULL DEFAULT FALSE;
