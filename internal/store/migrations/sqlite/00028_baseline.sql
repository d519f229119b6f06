-- The schema. Version 28 is the first: later files change it.
-- Times are microseconds since 1970, UTC. Ids compare byte by byte.

-- Messages, and the index of their words. The index keeps no text of its own. A deleted word leaves it at once, see
-- https://sqlite.org/fts5.html#the_secure_delete_configuration_option
CREATE TABLE messages (
	id          TEXT    NOT NULL PRIMARY KEY,
	channel_id  TEXT    NOT NULL,
	guild_id    TEXT    NOT NULL,
	author_id   TEXT    NOT NULL,
	author_name TEXT    NOT NULL,
	reply_to    TEXT    NOT NULL,
	turn_id     TEXT    NOT NULL,
	at          BIGINT  NOT NULL,
	own         BOOLEAN NOT NULL,
	text        TEXT    NOT NULL,
	note        TEXT    NOT NULL DEFAULT '' -- names the attachments
);
CREATE INDEX messages_by_channel ON messages (channel_id, at, id);

CREATE VIRTUAL TABLE message_words USING fts5(words, tags, content='', columnsize=0,
	tokenize="porter unicode61 remove_diacritics 2 categories 'L* N* Co Mn Mc'");
INSERT INTO message_words (message_words, rank) VALUES ('secure-delete', 1);
-- Parts of the index are merged while a message is written, which then waits. Merging 16 parts rather than 4 cuts that wait to a third
-- for one message in a hundred. It makes a search a millisecond slower.
INSERT INTO message_words (message_words, rank) VALUES ('automerge', 16);
INSERT INTO message_words (message_words, rank) VALUES ('crisismerge', 32);

-- Messages up to the row due are not in the index yet: it is built in the background, the newest first. made names the stemming tables;
-- if the program has other ones, it builds the index again.
CREATE TABLE message_words_progress (
	due  BIGINT NOT NULL,
	made TEXT   NOT NULL
);
INSERT INTO message_words_progress VALUES (0, '');

-- Deleted messages that records may still quote.
CREATE TABLE forgetting (
	message_id TEXT   NOT NULL PRIMARY KEY,
	channel_id TEXT   NOT NULL, -- '' if the message was not kept
	at         BIGINT NOT NULL,
	text       TEXT   NOT NULL
) WITHOUT ROWID;

-- Embeddings of messages. They are deleted with the messages.
CREATE TABLE message_vectors (
	place      TEXT   NOT NULL, -- the server, or the channel of a direct message
	model      TEXT   NOT NULL,
	at         BIGINT NOT NULL, -- when the message was written
	message_id TEXT   NOT NULL UNIQUE REFERENCES messages (id) ON DELETE CASCADE,
	channel_id TEXT   NOT NULL,
	vector     BLOB   NOT NULL, -- see embedding/vector.go; empty if the server refused the text
	PRIMARY KEY (place, model, at, message_id)
) WITHOUT ROWID;

-- Claimed events. What is known of a question is kept until it is answered, so that a restart can go on with it.
CREATE TABLE claims (
	event_id TEXT   NOT NULL PRIMARY KEY,
	at       BIGINT NOT NULL,
	state    TEXT   NOT NULL DEFAULT 'done', -- 'waiting', 'begun', 'done'
	turn_id  TEXT   NOT NULL DEFAULT '',     -- once it has begun
	event    TEXT   NOT NULL DEFAULT ''      -- until it is done
);
CREATE INDEX claims_by_time ON claims (at);
CREATE INDEX claims_open ON claims (at, event_id) WHERE state <> 'done';
CREATE INDEX claims_by_turn ON claims (turn_id) WHERE state = 'begun';

-- The posts of turns that are not over.
CREATE TABLE posts (
	turn_id    TEXT    NOT NULL,
	n          INTEGER NOT NULL,
	message_id TEXT    NOT NULL,
	text       TEXT    NOT NULL,
	PRIMARY KEY (turn_id, n)
) WITHOUT ROWID;

-- Records of turns. The columns before record are what lists of turns show; they are copies of what the record says.
-- A record is in one of three places: whole in open_records until its turn is over; then in record_parts; or in traces.record, if it was
-- written long ago. A part fills a quarter of a page, because rows of more than half a page waste the rest of it.
CREATE TABLE traces (
	id         TEXT    NOT NULL PRIMARY KEY,
	channel_id TEXT    NOT NULL,
	guild_id   TEXT    NOT NULL,
	began      BIGINT  NOT NULL,
	took       BIGINT  NOT NULL, -- microseconds
	phase      TEXT    NOT NULL,
	lookup     TEXT    NOT NULL, -- state of the first lookup, or ''
	author     TEXT    NOT NULL,
	question   TEXT    NOT NULL, -- shortened
	model      TEXT    NOT NULL,
	err        TEXT    NOT NULL,
	record     TEXT    NOT NULL, -- JSON without the texts of pages
	part       INTEGER NOT NULL DEFAULT 0, -- the first of its record_parts
	parts      INTEGER NOT NULL DEFAULT 0, -- how many it has
	said       TEXT    NOT NULL DEFAULT ''  -- the text indexed for search: the question and the reply
);
CREATE INDEX traces_by_channel ON traces (channel_id, began, id);
CREATE INDEX traces_by_time ON traces (began, id);
-- Most turns go well and look nothing up. They are in none of these indexes, so that writing them costs nothing.
CREATE INDEX traces_unfinished ON traces (id) WHERE phase IN ('begun', 'answering');
CREATE INDEX traces_troubled ON traces (phase, began, id) WHERE phase IN ('failed', 'interrupted');
CREATE INDEX traces_looked_up ON traces (lookup, began, id) WHERE lookup IN ('found', 'empty', 'failed');

CREATE TABLE open_records (
	trace_id TEXT NOT NULL PRIMARY KEY REFERENCES traces (id) ON DELETE CASCADE,
	body     BLOB NOT NULL
) WITHOUT ROWID;
CREATE TABLE record_parts (
	id   INTEGER NOT NULL PRIMARY KEY,
	body BLOB    NOT NULL
);

-- Texts that many records share, such as those of pages and of the character, are kept once. A text or a record is compressed if it begins
-- like a zstd frame, as no text can.
CREATE TABLE texts (
	id   INTEGER NOT NULL PRIMARY KEY,
	sum  BLOB    NOT NULL UNIQUE, -- SHA-256 of the text
	body BLOB    NOT NULL
);
-- Which texts a record refers to. n is the number of a page among all pages of the record, from 0, and -1 for the part of its prompt that
-- most turns share.
CREATE TABLE trace_texts (
	trace_id TEXT    NOT NULL REFERENCES traces (id) ON DELETE CASCADE,
	n        INTEGER NOT NULL,
	text_id  INTEGER NOT NULL REFERENCES texts (id),
	PRIMARY KEY (trace_id, n)
) WITHOUT ROWID;
CREATE INDEX trace_texts_by_text ON trace_texts (text_id);

-- The question and the replies of each turn. An edited question makes two turns of one message.
CREATE TABLE trace_messages (
	message_id TEXT NOT NULL,
	trace_id   TEXT NOT NULL REFERENCES traces (id) ON DELETE CASCADE,
	PRIMARY KEY (message_id, trace_id)
) WITHOUT ROWID;
CREATE INDEX trace_messages_by_trace ON trace_messages (trace_id);

-- Which records quote messages from other channels of their server, so that deleting a message finds them.
CREATE TABLE trace_quotes (
	message_id TEXT NOT NULL,
	trace_id   TEXT NOT NULL REFERENCES traces (id) ON DELETE CASCADE,
	PRIMARY KEY (message_id, trace_id)
) WITHOUT ROWID;
CREATE INDEX trace_quotes_by_trace ON trace_quotes (trace_id);

-- The index of records: the words of questions and replies, and the names of askers. It keeps no text of its own. Turns do not wait for it:
-- a search brings it up to date first, see package trace. Records up to the row done are in it.
CREATE TABLE trace_words_progress (
	done BIGINT NOT NULL
);
INSERT INTO trace_words_progress VALUES (0);
CREATE VIRTUAL TABLE trace_words USING fts5(question, author, said, content='traces', content_rowid='rowid', columnsize=0, detail=column, prefix='3',
	tokenize="porter unicode61 remove_diacritics 2 categories 'L* N* Co Mn Mc'");
INSERT INTO trace_words (trace_words, rank) VALUES ('secure-delete', 1);
-- SQLite may give the number of a deleted last row to a new one. So done moves to the row before it.
CREATE TRIGGER trace_words_delete AFTER DELETE ON traces WHEN old.rowid <= (SELECT done FROM trace_words_progress) BEGIN
	INSERT INTO trace_words (trace_words, rowid, question, author, said) VALUES ('delete', old.rowid, old.question, old.author, old.said);
	UPDATE trace_words_progress SET done = (SELECT coalesce(max(t.rowid), 0) FROM traces t WHERE t.rowid < old.rowid) WHERE done = old.rowid;
END;
CREATE TRIGGER trace_words_update AFTER UPDATE OF question, author, said ON traces
WHEN (old.question <> new.question OR old.author <> new.author OR old.said <> new.said) AND old.rowid <= (SELECT done FROM trace_words_progress) BEGIN
	INSERT INTO trace_words (trace_words, rowid, question, author, said) VALUES ('delete', old.rowid, old.question, old.author, old.said);
	INSERT INTO trace_words (rowid, question, author, said) VALUES (new.rowid, new.question, new.author, new.said);
END;

-- The buttons under replies. New ones are not kept: their keys say what they mean.
CREATE TABLE buttons (
	key     TEXT NOT NULL PRIMARY KEY, -- random; all that Discord is told
	turn_id TEXT NOT NULL REFERENCES traces (id) ON DELETE CASCADE,
	kind    TEXT NOT NULL,
	UNIQUE (turn_id, kind)
) WITHOUT ROWID;

-- What people think of replies.
CREATE TABLE opinions (
	turn_id  TEXT   NOT NULL REFERENCES traces (id) ON DELETE CASCADE,
	by_id    TEXT   NOT NULL,
	guild_id TEXT   NOT NULL,
	verdict  TEXT   NOT NULL, -- 'good' or 'bad'
	at       BIGINT NOT NULL,
	PRIMARY KEY (turn_id, by_id, verdict)
) WITHOUT ROWID;

-- What people think of sources. A verdict counts in the server where it was given.
CREATE TABLE feedback (
	character TEXT   NOT NULL,
	domain    TEXT   NOT NULL, -- registrable
	verdict   TEXT   NOT NULL, -- 'outdated' or 'wrong'
	by_id     TEXT   NOT NULL,
	url       TEXT   NOT NULL, -- the page it was about, or ''
	at        BIGINT NOT NULL,
	guild_id  TEXT   NOT NULL, -- '' in a direct message, '?' if the server was not kept
	PRIMARY KEY (character, guild_id, domain, by_id)
);

-- The people who have spoken in a server, with their newest names. Names must not leave in a search.
CREATE TABLE people (
	guild_id  TEXT   NOT NULL,
	author_id TEXT   NOT NULL,
	name      TEXT   NOT NULL,
	at        BIGINT NOT NULL, -- when the name was last seen
	PRIMARY KEY (guild_id, author_id)
);
CREATE INDEX people_by_time ON people (guild_id, at);

-- Servers that the bot has left, until their data is deleted.
CREATE TABLE left_guilds (
	guild_id TEXT   NOT NULL PRIMARY KEY,
	at       BIGINT NOT NULL -- when the bot left
) WITHOUT ROWID;

-- Settings of channels.
CREATE TABLE channels (
	id          TEXT    NOT NULL PRIMARY KEY,
	mode        TEXT    NOT NULL,
	web_off     BOOLEAN NOT NULL,
	guild_id    TEXT    NOT NULL DEFAULT '', -- a thread whose channel is unknown follows the strictest of the server
	buttons_off BOOLEAN NOT NULL DEFAULT FALSE
);
CREATE TABLE conduct (
	channel_id TEXT    NOT NULL PRIMARY KEY,
	guild_id   TEXT    NOT NULL,
	chatty     BOOLEAN NOT NULL, -- the bot joins in unasked
	threads    BOOLEAN NOT NULL, -- each mention gets a thread of its own
	posts      BOOLEAN NOT NULL, -- in a forum: each new post is answered
	subscribed BOOLEAN NOT NULL DEFAULT FALSE -- every message of a person is for the bot
) WITHOUT ROWID;
CREATE TABLE backdrops (
	channel_id TEXT   NOT NULL PRIMARY KEY,
	guild_id   TEXT   NOT NULL,
	text       TEXT   NOT NULL,
	by_id      TEXT   NOT NULL,
	by_name    TEXT   NOT NULL,
	at         BIGINT NOT NULL
) WITHOUT ROWID;
CREATE TABLE switches (
	place    TEXT   NOT NULL, -- a channel's id, or "server:" and a server's, or "everywhere"
	kind     TEXT   NOT NULL, -- what is off: "answers", "lookups"
	guild_id TEXT   NOT NULL,
	by_id    TEXT   NOT NULL,
	at       BIGINT NOT NULL,
	PRIMARY KEY (place, kind)
) WITHOUT ROWID;

-- Which settings were changed, and by whom.
CREATE TABLE changes (
	id         INTEGER NOT NULL PRIMARY KEY,
	at         BIGINT  NOT NULL,
	guild_id   TEXT    NOT NULL, -- '' in direct messages, for all servers, and for one person
	channel_id TEXT    NOT NULL, -- '' for a whole server, for all servers, and for one person
	by_id      TEXT    NOT NULL, -- '' if a file was edited
	by_name    TEXT    NOT NULL,
	kind       TEXT    NOT NULL, -- see store/change.go
	was        TEXT    NOT NULL,
	became     TEXT    NOT NULL
);
CREATE INDEX changes_by_guild ON changes (guild_id, id);
CREATE INDEX changes_by_time ON changes (at);

-- The characters that people chose for channels and servers, and what each has told in a channel.
CREATE TABLE castings (
	place      TEXT   NOT NULL PRIMARY KEY, -- a channel's id, or "server:" and a server's
	guild_id   TEXT   NOT NULL,
	characters TEXT   NOT NULL, -- ids, one a line; the first answers if none is named
	by_id      TEXT   NOT NULL,
	at         BIGINT NOT NULL
) WITHOUT ROWID;
CREATE TABLE profiles (
	guild_id TEXT NOT NULL PRIMARY KEY,
	profile  TEXT NOT NULL -- the bot's profile in the server: what Discord was given, or refused
) WITHOUT ROWID;
CREATE TABLE lore (
	channel_id TEXT   NOT NULL,
	guild_id   TEXT   NOT NULL,
	character  TEXT   NOT NULL,
	entry      TEXT   NOT NULL, -- its book and its id
	at         BIGINT NOT NULL, -- of the message
	turn_id    TEXT   NOT NULL,
	first_turn TEXT   NOT NULL, -- the turn in which it fired first
	PRIMARY KEY (channel_id, character, entry)
) WITHOUT ROWID;
CREATE TABLE greetings (
	channel_id TEXT    NOT NULL,
	guild_id   TEXT    NOT NULL,
	character  TEXT    NOT NULL,
	number     INTEGER NOT NULL, -- from 0
	PRIMARY KEY (channel_id, character)
) WITHOUT ROWID;

-- What the bot owns on Discord: webhooks, through which characters speak, and threads.
CREATE TABLE webhooks (
	channel_id TEXT NOT NULL PRIMARY KEY,
	guild_id   TEXT NOT NULL,
	id         TEXT NOT NULL,
	token      TEXT NOT NULL -- a secret
) WITHOUT ROWID;
CREATE TABLE own_threads (
	thread_id TEXT    NOT NULL PRIMARY KEY,
	guild_id  TEXT    NOT NULL,
	at        BIGINT  NOT NULL,
	quiet     BOOLEAN NOT NULL -- somebody told the bot to stop there
) WITHOUT ROWID;

-- What was used of limits: of a day or a month, in the newest period only, such as "2026-11-21" or "2026-11".
CREATE TABLE quotas (
	name   TEXT   NOT NULL PRIMARY KEY,
	period TEXT   NOT NULL,
	used   BIGINT NOT NULL
);
-- The same for limits of the last half hour or the last day: a row for each use, until it is free again.
CREATE TABLE takings (
	name  TEXT   NOT NULL,
	until BIGINT NOT NULL
);
CREATE INDEX takings_by_name ON takings (name, until);
CREATE INDEX takings_by_time ON takings (until);
CREATE TABLE usage (
	day      TEXT    NOT NULL, -- in UTC
	scope    TEXT    NOT NULL, -- "person", "channel", "server", "all"
	id       TEXT    NOT NULL, -- of the person, the channel or the server; '' for all
	guild_id TEXT    NOT NULL,
	turns    INTEGER NOT NULL,
	lookups  INTEGER NOT NULL,
	tokens   INTEGER NOT NULL,
	cost     INTEGER NOT NULL, -- millionths of a US dollar
	told     BOOLEAN NOT NULL DEFAULT FALSE, -- somebody was told that a quota is used up
	PRIMARY KEY (day, scope, id, guild_id)
) WITHOUT ROWID;

-- What the bot remembers: statements with their scope and their sources. A replaced statement stays as the history of the one that
-- replaced it.
CREATE TABLE memories (
	id         INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, -- never given twice: people hold buttons with it
	kind       TEXT    NOT NULL, -- 'session', 'topic', 'person', 'note'
	scope      TEXT    NOT NULL, -- 'dm', 'channel', 'guild', 'public'
	scope_id   TEXT    NOT NULL, -- of the channel or the server, '' if public
	guild_id   TEXT    NOT NULL, -- for a channel or a server, otherwise ''
	subject    TEXT    NOT NULL, -- a person's id, a topic's name, or ''
	text       TEXT    NOT NULL,
	folded     TEXT    NOT NULL, -- the text as it is compared with others
	trace_id   TEXT    NOT NULL, -- the turn in which it was learned, or ''
	by_id      TEXT    NOT NULL, -- the person who asked for it, or ''
	said_at    BIGINT  NOT NULL,
	learned_at BIGINT  NOT NULL,
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
	author_id  TEXT   NOT NULL, -- kept even if the message is gone; '' if unknown
	PRIMARY KEY (memory_id, message_id)
) WITHOUT ROWID;
CREATE INDEX memory_sources_by_message ON memory_sources (message_id);
-- The index of the words of statements that were not replaced. Like message_words, it keeps no text of its own.
CREATE VIRTUAL TABLE memory_words USING fts5(words, content='',
	tokenize="porter unicode61 remove_diacritics 2 categories 'L* N* Co Mn Mc'");
INSERT INTO memory_words (memory_words, rank) VALUES ('secure-delete', 1);
CREATE TABLE memory_vectors (
	memory_id BIGINT NOT NULL PRIMARY KEY REFERENCES memories (id) ON DELETE CASCADE,
	model     TEXT   NOT NULL,
	vector    BLOB   NOT NULL
);
-- The people who agreed that the bot learns about them by itself.
CREATE TABLE consents (
	user_id TEXT   NOT NULL PRIMARY KEY,
	at      BIGINT NOT NULL
) WITHOUT ROWID;

-- How far the writer of memory has read in a channel, and how often models' statements were kept or refused.
CREATE TABLE watermarks (
	channel_id TEXT    NOT NULL PRIMARY KEY,
	guild_id   TEXT    NOT NULL,
	at         BIGINT  NOT NULL, -- of the last message that was read
	message_id TEXT    NOT NULL, -- its id; '' if none was read yet
	turns      INTEGER NOT NULL, -- since then
	active     BIGINT  NOT NULL, -- when the last of them was
	failures   INTEGER NOT NULL DEFAULT 0, -- in a row
	retry      BIGINT  NOT NULL DEFAULT 0  -- no reading before this time
) WITHOUT ROWID;
CREATE TABLE tallies (
	name TEXT   NOT NULL PRIMARY KEY, -- "summary kept", "memory refused: number"
	n    BIGINT NOT NULL
) WITHOUT ROWID;

-- What was said before in a channel, in a few sentences, each with its messages.
CREATE TABLE summaries (
	channel_id TEXT    NOT NULL PRIMARY KEY,
	guild_id   TEXT    NOT NULL, -- '' in direct messages
	first_at   BIGINT  NOT NULL, -- of the first message that it covers
	last_at    BIGINT  NOT NULL, -- of the last one
	last_id    TEXT    NOT NULL,
	messages   INTEGER NOT NULL, -- how many it covers
	made       BIGINT  NOT NULL,
	maker      TEXT    NOT NULL, -- a model, or 'extractive'
	sentences  TEXT    NOT NULL  -- JSON, see providers/history/table.go
) WITHOUT ROWID;
CREATE INDEX summaries_by_guild ON summaries (guild_id, last_at);

-- What people decided about their data. A keyed hash names them, so that their ids are in none of these tables.
CREATE TABLE privacy_key (
	key BLOB NOT NULL -- of the hash; a secret
);
INSERT INTO privacy_key (key) VALUES (randomblob(32));
CREATE TABLE privacy (
	who       TEXT   NOT NULL PRIMARY KEY, -- the keyed hash of a person's id
	opted_out BIGINT NOT NULL,             -- since then nothing is kept of them; or 0
	forgotten BIGINT NOT NULL              -- nothing from before is kept of them, or comes back; or 0
) WITHOUT ROWID;
CREATE TABLE privacy_log (
	at          BIGINT  NOT NULL,
	who         TEXT    NOT NULL, -- the hash of the person
	act         TEXT    NOT NULL, -- 'export', 'forget', 'optout', 'optin', 'receipt'
	by_operator BOOLEAN NOT NULL  -- and not by the person
);
CREATE INDEX privacy_log_by_time ON privacy_log (at);
-- The people who are being forgotten, by id, until that is done: a restart goes on with it.
CREATE TABLE erasures (
	person_id   TEXT    NOT NULL PRIMARY KEY,
	at          BIGINT  NOT NULL,
	by_operator BOOLEAN NOT NULL
) WITHOUT ROWID;
-- Turns whose words are not kept: the person opted out, or was forgotten during the turn.
CREATE TABLE unkept_turns (
	turn_id TEXT   NOT NULL PRIMARY KEY,
	at      BIGINT NOT NULL
) WITHOUT ROWID;
CREATE INDEX unkept_turns_by_time ON unkept_turns (at);

-- Small facts under keys.
CREATE TABLE notes (
	key   TEXT NOT NULL PRIMARY KEY,
	value TEXT NOT NULL
);
