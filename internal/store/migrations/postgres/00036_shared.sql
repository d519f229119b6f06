-- Who runs which version since when, for doctor and console. Times are milliseconds since 1970 by the clock of this server.
ALTER TABLE processes ADD COLUMN host TEXT COLLATE "C" NOT NULL DEFAULT '';    -- name of its machine
ALTER TABLE processes ADD COLUMN version TEXT COLLATE "C" NOT NULL DEFAULT ''; -- of the program
ALTER TABLE processes ADD COLUMN began BIGINT NOT NULL DEFAULT 0;              -- 0: an older program, which does not say
ALTER TABLE shards ADD COLUMN since BIGINT NOT NULL DEFAULT 0;                 -- when it was taken; 0: not known

-- What turns that are being taken hold of the quotas, until they are counted. Rows of processes that are gone hold nothing.
CREATE TABLE holdings (
	process TEXT COLLATE "C" NOT NULL,
	id      BIGINT NOT NULL,           -- numbers those of a process
	person  TEXT COLLATE "C" NOT NULL, -- a pseudonym, or ''
	channel TEXT COLLATE "C" NOT NULL,
	guild   TEXT COLLATE "C" NOT NULL,
	turns   BIGINT NOT NULL,
	lookups BIGINT NOT NULL,
	tokens  BIGINT NOT NULL,
	cost    BIGINT NOT NULL, -- millionths of a US dollar
	until   BIGINT NOT NULL, -- no turn takes longer
	PRIMARY KEY (process, id)
);

-- What all processes together may do a few times within a short span, and when they did. A crash of the server empties it.
CREATE UNLOGGED TABLE rates (
	name  TEXT COLLATE "C" NOT NULL PRIMARY KEY, -- that of a person is a pseudonym
	times BIGINT[] NOT NULL,
	until BIGINT NOT NULL -- then all are over
);
CREATE INDEX rates_by_time ON rates (until);
