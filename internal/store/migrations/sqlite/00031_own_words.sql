-- Memory is made of people's own sentences. What a model worded before has no author. What people had the bot remember was always theirs.
ALTER TABLE memories ADD COLUMN author_id TEXT NOT NULL DEFAULT ''; -- the person whose words these are, or ''
UPDATE memories SET author_id = by_id;
DROP INDEX memories_once;
CREATE UNIQUE INDEX memories_once ON memories (scope, scope_id, kind, subject, by_id, author_id, folded) WHERE NOT superseded;
