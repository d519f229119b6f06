-- What is known of a question until it has its answer, so that a restart goes on with it: what asked, the turn that answers,
-- and that turn's posts. And the server of a channel's settings: a thread whose channel is unknown follows the strictest.

-- +goose Up
ALTER TABLE claims ADD COLUMN state TEXT NOT NULL DEFAULT 'done'; -- 'waiting', 'begun', 'done'
ALTER TABLE claims ADD COLUMN turn_id TEXT NOT NULL DEFAULT '';   -- once it has begun
ALTER TABLE claims ADD COLUMN event TEXT NOT NULL DEFAULT '';     -- until it is done
CREATE INDEX claims_open ON claims (at, event_id) WHERE state <> 'done';
CREATE INDEX claims_by_turn ON claims (turn_id) WHERE state = 'begun';

CREATE TABLE posts (
	turn_id    TEXT    NOT NULL,
	n          INTEGER NOT NULL,
	message_id TEXT    NOT NULL,
	text       TEXT    NOT NULL,
	PRIMARY KEY (turn_id, n)
) WITHOUT ROWID;

ALTER TABLE channels ADD COLUMN guild_id TEXT NOT NULL DEFAULT '';
