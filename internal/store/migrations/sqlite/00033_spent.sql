-- What lists of turns and their filters show beside the rest. Old records have nothing of it.
ALTER TABLE traces ADD COLUMN character_id TEXT NOT NULL DEFAULT '';
ALTER TABLE traces ADD COLUMN tokens BIGINT NOT NULL DEFAULT 0; -- of all models together
ALTER TABLE traces ADD COLUMN cost REAL NOT NULL DEFAULT 0; -- in US dollars
ALTER TABLE traces ADD COLUMN seen BIGINT NOT NULL DEFAULT 0; -- microseconds until the first words were seen; 0 if none were
