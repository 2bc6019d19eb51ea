-- What a request is for: drives are divided among activities, and within each among users.
ALTER TABLE request ADD COLUMN activity TEXT NOT NULL DEFAULT '';
