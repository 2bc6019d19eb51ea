-- Leases of movers on drives and cartridges, and what persons take out of use: several processes share one archive.

CREATE TABLE lease (
    epoch    INTEGER PRIMARY KEY AUTOINCREMENT, -- never given twice: it only grows
    drive    TEXT    NOT NULL UNIQUE,
    volume   INTEGER UNIQUE REFERENCES volume (id) ON DELETE CASCADE,
    host     TEXT    NOT NULL,
    process  INTEGER NOT NULL,
    run      TEXT    NOT NULL,
    until_ns INTEGER NOT NULL
) STRICT;

-- The lease for which a request was begun; without a foreign key, because leases go and requests stay.
ALTER TABLE request ADD COLUMN lease INTEGER;
CREATE INDEX request_lease ON request (lease) WHERE lease IS NOT NULL AND done_ns IS NULL;

CREATE TABLE out_of_use (
    resource TEXT    NOT NULL CHECK (resource IN ('host', 'drive', 'volume')),
    name     TEXT    NOT NULL,
    outage   TEXT    NOT NULL CHECK (outage IN ('disabled', 'broken')),
    why      TEXT    NOT NULL,
    since_ns INTEGER NOT NULL,
    PRIMARY KEY (resource, name)
) STRICT, WITHOUT ROWID;
