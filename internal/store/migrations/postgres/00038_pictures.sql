-- Replies in a channel show their mood by a picture: on, off, or empty for the character's habit.
ALTER TABLE conduct ADD COLUMN pictures TEXT NOT NULL DEFAULT '';
