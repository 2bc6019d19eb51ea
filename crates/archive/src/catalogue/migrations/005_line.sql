-- Which of its copies went on from where: a new name at every opening of the cache, which the cache keeps too. Copies of
-- one catalogue that went on apart have the same id and the same generations, and different names here.
ALTER TABLE identity ADD COLUMN line TEXT NOT NULL DEFAULT '';
