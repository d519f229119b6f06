-- Who has spoken in a server, under the newest name: names that must not leave in a search. And what people said of
-- the sources they were given.

-- +goose Up
CREATE TABLE people (
	guild_id  TEXT   NOT NULL,
	author_id TEXT   NOT NULL,
	name      TEXT   NOT NULL,
	at        BIGINT NOT NULL, -- microseconds since 1970: when the name was last seen
	PRIMARY KEY (guild_id, author_id)
);
CREATE INDEX people_by_time ON people (guild_id, at);
INSERT INTO people (guild_id, author_id, name, at)
	SELECT guild_id, author_id, author_name, max(at) FROM messages
	WHERE guild_id <> '' AND author_id <> '' AND author_name <> '' AND NOT own GROUP BY guild_id, author_id;

CREATE TABLE feedback (
	character TEXT   NOT NULL,
	domain    TEXT   NOT NULL, -- registrable
	verdict   TEXT   NOT NULL, -- 'outdated' or 'wrong'
	by_id     TEXT   NOT NULL,
	url       TEXT   NOT NULL, -- the page it was about, or ''
	at        BIGINT NOT NULL,
	PRIMARY KEY (character, domain, by_id)
);
