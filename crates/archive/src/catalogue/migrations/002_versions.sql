-- Versions of a path are looked up when cartridges are read in again, and a failed request says what kept it.

CREATE INDEX file_retired ON file (path) WHERE state = 'retired';

ALTER TABLE request ADD COLUMN cause TEXT
    CHECK (cause IN ('no-copy', 'unreadable', 'wrong-contents', 'destination'));
