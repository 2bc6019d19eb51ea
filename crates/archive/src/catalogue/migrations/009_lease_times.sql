-- Leases are looked up by their time: those in force, and those that are over since somebody last looked, which each
-- lease notes.
ALTER TABLE lease ADD COLUMN looked_ns INTEGER NOT NULL DEFAULT 0;
CREATE INDEX lease_until ON lease (until_ns);
