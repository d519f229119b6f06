-- The bot greets in a channel, once a day at most.
ALTER TABLE conduct ADD COLUMN greets BOOLEAN NOT NULL DEFAULT FALSE;
