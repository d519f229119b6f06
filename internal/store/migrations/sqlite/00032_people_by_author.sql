-- In which servers a person has spoken, for questions in a direct message.
CREATE INDEX people_by_author ON people (author_id, at);
