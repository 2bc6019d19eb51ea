-- An index of names, for searches by a part of one: `catalog index` makes it, and it can be made again from the files.
-- A part has the files from the one after the last part's to `last_file`. Pages are numbered from 256 times the part on.

CREATE TABLE name_part (
    part      INTEGER PRIMARY KEY,
    last_file INTEGER NOT NULL
) STRICT;

CREATE TABLE name_page (
    page   INTEGER PRIMARY KEY,
    packed BLOB    NOT NULL
) STRICT;

-- Which blocks of names of a part have a run of three bytes.
CREATE TABLE name_gram (
    gram   INTEGER NOT NULL,
    part   INTEGER NOT NULL,
    blocks BLOB    NOT NULL,
    PRIMARY KEY (gram, part)
) STRICT;
