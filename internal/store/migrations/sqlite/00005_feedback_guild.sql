-- Where something was said of a source: who said it is for those of the same server alone.

-- +goose Up
ALTER TABLE feedback ADD COLUMN guild_id TEXT NOT NULL DEFAULT '?'; -- '' in a direct message, '?' before servers were kept
