-- What was taken of limits of a day or a month: of each name in its newest period, such as "2026-11-21" or "2026-11".

-- +goose Up
CREATE TABLE quotas (
	name   TEXT   NOT NULL PRIMARY KEY,
	period TEXT   NOT NULL,
	used   BIGINT NOT NULL
);
