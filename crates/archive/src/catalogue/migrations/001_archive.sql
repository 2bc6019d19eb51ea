-- Volumes, files, copies, segments, the journal of requests, open writes, the disk cache.
-- Times are nanoseconds since 1970. Paths are bytes: names on tapes are not always UTF-8.

CREATE TABLE volume (
    id            INTEGER PRIMARY KEY AUTOINCREMENT,
    label         TEXT    NOT NULL UNIQUE,
    uuid          TEXT    NOT NULL UNIQUE,
    format        TEXT    NOT NULL CHECK (format IN ('tapewise', 'ltfs', 'tar', 'blocks')),
    state         TEXT    NOT NULL CHECK (state IN ('empty', 'filling', 'full', 'suspect')),
    block_bytes   INTEGER NOT NULL CHECK (block_bytes > 0),
    next_block    INTEGER NOT NULL CHECK (next_block >= 0),
    written_bytes INTEGER NOT NULL CHECK (written_bytes >= 0),
    added_ns      INTEGER NOT NULL
) STRICT;

-- What a cartridge said of itself, or somebody of it: serial number, loads, capacity.
CREATE TABLE fact (
    volume  INTEGER NOT NULL REFERENCES volume (id) ON DELETE CASCADE,
    name    TEXT    NOT NULL,
    value   TEXT    NOT NULL,
    seen_ns INTEGER NOT NULL,
    PRIMARY KEY (volume, name)
) STRICT, WITHOUT ROWID;

-- arriving: announced, not acknowledged. live: acknowledged. retired: deleted or replaced.
CREATE TABLE file (
    id            INTEGER PRIMARY KEY,
    path          BLOB    NOT NULL CHECK (length(path) > 0),
    bytes         INTEGER NOT NULL CHECK (bytes >= 0),
    modified_ns   INTEGER NOT NULL,
    mode          INTEGER NOT NULL,
    user_name     TEXT    NOT NULL,
    group_name    TEXT    NOT NULL,
    account       TEXT    NOT NULL,
    copies_wanted INTEGER NOT NULL CHECK (copies_wanted >= 1),
    state         TEXT    NOT NULL CHECK (state IN ('arriving', 'live', 'retired')),
    created_ns    INTEGER NOT NULL,
    retired_ns    INTEGER,
    CHECK ((state = 'retired') = (retired_ns IS NOT NULL))
) STRICT;

-- A file that replaces a live one arrives beside it.
CREATE UNIQUE INDEX file_live ON file (path) WHERE state = 'live';
CREATE UNIQUE INDEX file_arriving ON file (path) WHERE state = 'arriving';

CREATE TABLE sum (
    file  INTEGER NOT NULL REFERENCES file (id),
    kind  TEXT    NOT NULL,
    value BLOB    NOT NULL,
    PRIMARY KEY (file, kind)
) STRICT, WITHOUT ROWID;

-- A write that was begun and neither committed nor abandoned: at most one a volume.
CREATE TABLE open_write (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    volume      INTEGER NOT NULL UNIQUE REFERENCES volume (id),
    first_block INTEGER NOT NULL,
    begun_ns    INTEGER NOT NULL
) STRICT;

CREATE TABLE copy (
    id          INTEGER PRIMARY KEY,
    file        INTEGER NOT NULL REFERENCES file (id),
    number      INTEGER NOT NULL CHECK (number >= 1),
    state       TEXT    NOT NULL CHECK (state IN ('writing', 'whole', 'lost')),
    open_write  INTEGER REFERENCES open_write (id),
    zstd_bytes  INTEGER CHECK (zstd_bytes >= 0), -- of the frame, where it was compressed before it was written
    written_ns  INTEGER,
    verified_ns INTEGER,
    UNIQUE (file, number),
    CHECK (open_write IS NULL OR state = 'writing'),
    CHECK ((state = 'whole') <= (written_ns IS NOT NULL))
) STRICT;

CREATE INDEX copy_open_write ON copy (open_write) WHERE open_write IS NOT NULL;

-- Its key is the order on tape.
CREATE TABLE segment (
    volume      INTEGER NOT NULL REFERENCES volume (id),
    partition   INTEGER NOT NULL CHECK (partition BETWEEN 0 AND 3),
    first_block INTEGER NOT NULL CHECK (first_block >= 0),
    byte_offset INTEGER NOT NULL CHECK (byte_offset >= 0),
    copy        INTEGER NOT NULL REFERENCES copy (id),
    file_offset INTEGER NOT NULL CHECK (file_offset >= 0),
    last_block  INTEGER NOT NULL CHECK (last_block >= first_block),
    bytes       INTEGER NOT NULL CHECK (bytes >= 0),
    start_wrap  INTEGER,
    start_lpos  INTEGER,
    end_wrap    INTEGER,
    end_lpos    INTEGER,
    PRIMARY KEY (volume, partition, first_block, byte_offset, copy, file_offset),
    CHECK ((start_wrap IS NULL) = (start_lpos IS NULL)),
    CHECK ((end_wrap IS NULL) = (end_lpos IS NULL))
) STRICT, WITHOUT ROWID;

CREATE INDEX segment_copy ON segment (copy);

-- The journal. Answered is what has a done_ns, and that is set once.
CREATE TABLE request (
    id          INTEGER PRIMARY KEY,
    kind        TEXT    NOT NULL CHECK (kind IN ('store', 'recall')),
    file        INTEGER NOT NULL REFERENCES file (id),
    user_name   TEXT    NOT NULL,
    priority    INTEGER NOT NULL,
    deadline_ns INTEGER,
    place       BLOB,
    state       TEXT    NOT NULL CHECK (state IN ('queued', 'started', 'delivered', 'failed', 'cancelled')),
    reason      TEXT,
    created_ns  INTEGER NOT NULL,
    started_ns  INTEGER,
    done_ns     INTEGER,
    CHECK ((state IN ('queued', 'started')) = (done_ns IS NULL)),
    CHECK ((state = 'failed') = (reason IS NOT NULL))
) STRICT;

CREATE INDEX request_open ON request (file) WHERE done_ns IS NULL;

-- dirty: fewer whole copies on tape than wanted, so the cache must keep it.
CREATE TABLE cached (
    key        INTEGER PRIMARY KEY,
    file       INTEGER NOT NULL UNIQUE REFERENCES file (id),
    bytes      INTEGER NOT NULL CHECK (bytes >= 0),
    dirty      INTEGER NOT NULL CHECK (dirty IN (0, 1)),
    entered_ns INTEGER NOT NULL,
    used_ns    INTEGER NOT NULL
) STRICT;

CREATE INDEX cached_dirty ON cached (entered_ns, key) WHERE dirty = 1;
CREATE INDEX cached_clean ON cached (used_ns, key) WHERE dirty = 0;

-- Who wants a file kept in the cache, and until when; for good where that is null.
-- It may be pinned before it gets there.
CREATE TABLE pin (
    file     INTEGER NOT NULL REFERENCES file (id),
    holder   TEXT    NOT NULL,
    until_ns INTEGER,
    PRIMARY KEY (file, holder)
) STRICT, WITHOUT ROWID;
