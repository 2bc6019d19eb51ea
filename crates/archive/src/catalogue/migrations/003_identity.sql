-- Which catalogue this is, and how often it has acknowledged files or been opened with its cache. The cache beside
-- it keeps both: a catalogue that is below the cache's generation is a copy from before.
CREATE TABLE identity (
    one        INTEGER PRIMARY KEY CHECK (one = 1),
    id         TEXT    NOT NULL,
    generation INTEGER NOT NULL CHECK (generation >= 0)
) STRICT;

INSERT INTO identity (one, id, generation) VALUES (1, lower(hex(randomblob(16))), 0);
