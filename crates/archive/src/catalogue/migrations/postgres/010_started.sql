-- Among millions of recalls those that drives have begun are found by an index of their own, and all that are open are
-- counted in one that has what the counting needs.
DROP INDEX request_open;
CREATE INDEX request_open ON request (file, kind, state, created_ns) WHERE done_ns IS NULL;
CREATE INDEX request_started ON request (id) WHERE state = 'started' AND done_ns IS NULL;
