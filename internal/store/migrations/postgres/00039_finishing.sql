-- What a process finishes in a shard that it has passed on. Whoever deletes a row goes on with that.
CREATE TABLE finishing (
	shard  BIGINT NOT NULL,
	fence  BIGINT NOT NULL,            -- of the lease that was passed on
	holder TEXT COLLATE "C" NOT NULL,  -- the process
	until  BIGINT NOT NULL,            -- others may delete it then
	work   TEXT COLLATE "C" NOT NULL,  -- ids of turns and claims, with spaces between
	PRIMARY KEY (shard, fence)
);

-- A row that is changed again and again finds room in its page, also while the disk is full.
ALTER TABLE finishing SET (fillfactor = 10);
ALTER TABLE shards SET (fillfactor = 10);
ALTER TABLE processes SET (fillfactor = 10);
