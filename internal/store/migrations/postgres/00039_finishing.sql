-- What a process finishes in a shard that it has passed on. Whoever deletes a row goes on with that.
CREATE TABLE finishing (
	shard  BIGINT NOT NULL,
	fence  BIGINT NOT NULL,            -- of the lease that was passed on
	holder TEXT COLLATE "C" NOT NULL,  -- the process
	until  BIGINT NOT NULL,            -- others may delete it then
	work   TEXT COLLATE "C" NOT NULL,  -- ids of turns and claims, with spaces between
	PRIMARY KEY (shard, fence)
);
