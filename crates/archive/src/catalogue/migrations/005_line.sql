-- Two copies of a catalogue that went on apart are told from each other. Each opening of the cache gives the line a new
-- name, which the cache keeps too: such copies have the same id, perhaps the same generation, and different lines.
ALTER TABLE identity ADD COLUMN line TEXT NOT NULL DEFAULT '';
