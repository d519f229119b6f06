-- Channels in which every message of a person is for the bot.

-- +goose Up
ALTER TABLE conduct ADD COLUMN subscribed BOOLEAN NOT NULL DEFAULT FALSE;
