-- Leases are looked up by their time: those in force, and those that are over since somebody last looked, which each
-- lease notes. While a snapshot is open no row that was a lease goes away, and a key of the drive or of the volume
-- would look at every lease that it has had since. Writers take turns and look first, so there is one of each.
ALTER TABLE lease ADD COLUMN looked_ns BIGINT NOT NULL DEFAULT 0;
ALTER TABLE lease DROP CONSTRAINT lease_drive_key;
ALTER TABLE lease DROP CONSTRAINT lease_volume_key;
CREATE INDEX lease_until ON lease (until_ns);
