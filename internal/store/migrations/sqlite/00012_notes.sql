-- What hangs on a message beside its words, by name: models are shown it with them.

-- +goose Up
ALTER TABLE messages ADD COLUMN note TEXT NOT NULL DEFAULT '';
