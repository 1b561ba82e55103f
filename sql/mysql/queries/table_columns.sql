-- ? table: name, type, collation or NULL, longest text in characters, may be NULL. Types are in small letters, but for
-- the values of an ENUM.
SELECT column_name, column_type, collation_name, COALESCE(character_maximum_length, 0), is_nullable = 'YES'
FROM information_schema.columns WHERE table_schema = DATABASE() AND table_name = ?
ORDER BY ordinal_position
