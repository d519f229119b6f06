-- Several processes share a bot. Times are milliseconds since 1970 by the clock of this server.
CREATE TABLE processes (
	id    TEXT COLLATE "C" NOT NULL PRIMARY KEY,
	until BIGINT NOT NULL -- it counts as alive until then
);

-- Who runs which session with Discord's gateway.
CREATE TABLE shards (
	number  BIGINT NOT NULL PRIMARY KEY,
	total   BIGINT NOT NULL,                       -- how many there are
	holder  TEXT COLLATE "C" NOT NULL DEFAULT '',  -- a process
	fence   BIGINT NOT NULL DEFAULT 0,             -- grows by one at each taking
	until   BIGINT NOT NULL DEFAULT 0,             -- the lease ends then
	session TEXT COLLATE "C" NOT NULL DEFAULT '',  -- what the next holder resumes
	seen    BIGINT NOT NULL DEFAULT 0              -- when that was saved
);

-- The IDENTIFYs of all processes: a row for each bucket, and row -1 for the day's budget.
CREATE TABLE starts (
	bucket BIGINT NOT NULL PRIMARY KEY,
	at     BIGINT NOT NULL,          -- when the latest one of the bucket may be sent; when the budget is reset
	budget BIGINT NOT NULL DEFAULT 0 -- how many are left
);
