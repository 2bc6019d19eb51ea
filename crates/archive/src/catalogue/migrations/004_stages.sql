-- Stage requests of the HTTP service: who asked for which files together, so that they survive a restart.

CREATE TABLE stage (
    id         TEXT    PRIMARY KEY,
    user_name  TEXT    NOT NULL,
    repeat_key TEXT,             -- what the client called it, so that a request sent twice is entered once
    asked_hash BLOB    NOT NULL, -- of what was asked for: the same key with something else is a mistake
    created_ns INTEGER NOT NULL
) STRICT;

CREATE UNIQUE INDEX stage_repeat ON stage (user_name, repeat_key) WHERE repeat_key IS NOT NULL;

-- spelling: the path as the client wrote it. A file without request was in the cache already, or was refused.
CREATE TABLE stage_file (
    stage       TEXT    NOT NULL REFERENCES stage (id) ON DELETE CASCADE,
    spelling    TEXT    NOT NULL,
    file        INTEGER REFERENCES file (id),
    request     INTEGER REFERENCES request (id),
    lifetime_ns INTEGER NOT NULL CHECK (lifetime_ns >= 0), -- how long the cache keeps it once it is there
    refused     TEXT,
    ended_ns    INTEGER, -- without a request: when it was found or refused; with one: when this stage cancelled it
    PRIMARY KEY (stage, spelling),
    CHECK ((file IS NULL) <= (refused IS NOT NULL)),
    CHECK ((request IS NULL) <= (ended_ns IS NOT NULL))
) STRICT, WITHOUT ROWID;

CREATE INDEX stage_file_request ON stage_file (request) WHERE request IS NOT NULL;
CREATE INDEX stage_file_file ON stage_file (file) WHERE file IS NOT NULL;
