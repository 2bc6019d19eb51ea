-- What an operator does at the desk: hold stage requests back, and empty the list of recalls that failed.
ALTER TABLE stage ADD COLUMN held INTEGER NOT NULL DEFAULT 0 CHECK (held IN (0, 1));

-- When a recall that failed left the list. What failed before there was a list is not on it.
ALTER TABLE request ADD COLUMN settled_ns INTEGER;
UPDATE request SET settled_ns = done_ns WHERE state = 'failed';
CREATE INDEX request_failed ON request (file) WHERE state = 'failed' AND settled_ns IS NULL;
