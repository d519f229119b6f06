-- What was taken of limits of the last half hour or the last day: a row for each, until it is free again.

-- +goose Up
DELETE FROM quotas WHERE name LIKE 'lookups/%'; -- which were counted there before
CREATE TABLE takings (
	name  TEXT   NOT NULL,
	until BIGINT NOT NULL -- microseconds since 1970
);
CREATE INDEX takings_by_name ON takings (name, until);
CREATE INDEX takings_by_time ON takings (until);
