-- An index of names, for searches by a part of one: `catalog index` makes it, and it can be made again from the files.
-- A part has the files from the one after the last part's to `last_file`. Pages are numbered from 256 times the part on.

CREATE TABLE name_part (
    part      BIGINT PRIMARY KEY,
    last_file BIGINT NOT NULL
);

CREATE TABLE name_page (
    page   BIGINT PRIMARY KEY,
    packed BYTEA  NOT NULL
);

-- Which blocks of names of a part have a run of three bytes.
CREATE TABLE name_gram (
    gram   BIGINT NOT NULL,
    part   BIGINT NOT NULL,
    blocks BYTEA  NOT NULL,
    PRIMARY KEY (gram, part)
);

-- Both are compressed already.
ALTER TABLE name_page ALTER COLUMN packed SET STORAGE EXTERNAL;
ALTER TABLE name_gram ALTER COLUMN blocks SET STORAGE EXTERNAL;
