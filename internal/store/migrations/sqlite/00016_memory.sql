-- What the bot learned: statements with their scope, what they rest on and what they replaced. A statement that was replaced stays as
-- the history of the one that replaced it. And who agreed that the bot learns about them by itself.

-- +goose Up
CREATE TABLE memories (
	id         INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, -- never given twice: people hold buttons with it
	kind       TEXT    NOT NULL, -- 'session', 'topic', 'person', 'note'
	scope      TEXT    NOT NULL, -- 'dm', 'channel', 'guild', 'public'
	scope_id   TEXT    NOT NULL, -- of the channel or the server, '' where public
	guild_id   TEXT    NOT NULL, -- of a channel's or a server's, '' else
	subject    TEXT    NOT NULL, -- a person's id, a topic's name, '' else
	text       TEXT    NOT NULL,
	folded     TEXT    NOT NULL, -- the text as it is compared with others
	trace_id   TEXT    NOT NULL, -- the turn in which it was learned, or ''
	by_id      TEXT    NOT NULL, -- who asked for it, '' where nobody did
	said_at    BIGINT  NOT NULL, -- microseconds since 1970
	learned_at BIGINT  NOT NULL, -- the same
	supersedes BIGINT  NOT NULL, -- the statement that it replaced, or 0
	superseded BOOLEAN NOT NULL,
	pinned     BOOLEAN NOT NULL
);
CREATE UNIQUE INDEX memories_once ON memories (scope, scope_id, kind, subject, by_id, folded) WHERE NOT superseded;
CREATE INDEX memories_by_subject ON memories (subject, kind);
CREATE INDEX memories_by_person ON memories (by_id);
CREATE INDEX memories_by_guild ON memories (guild_id) WHERE guild_id <> '';
CREATE INDEX memories_by_history ON memories (supersedes) WHERE supersedes <> 0;

-- The messages that a statement rests on, or "command:" and the id of a command.
CREATE TABLE memory_sources (
	memory_id  BIGINT NOT NULL REFERENCES memories (id) ON DELETE CASCADE,
	message_id TEXT   NOT NULL,
	author_id  TEXT   NOT NULL, -- who wrote it, also when it is not kept any more; '' where nobody knows
	PRIMARY KEY (memory_id, message_id)
) WITHOUT ROWID;
CREATE INDEX memory_sources_by_message ON memory_sources (message_id);

CREATE TABLE consents (
	user_id TEXT   NOT NULL PRIMARY KEY,
	at      BIGINT NOT NULL
) WITHOUT ROWID;
