-- The index of words is a table like any other, so that every engine has it and a search reads what a person can read too.

-- Where the words of documents stand. A row is a block: some of the words of one document, so that a document that is written
-- costs as many rows however many words it has, and a word that is looked for is found in neighbouring rows. `block` is the
-- number of the block that a word belongs to. `stems` is `;stem weight position position …;stem …;`: a word, a step from 1 to
-- 8 that says how much the document is about it, and where it stands, each position as its distance from the one before.
-- Positions of the text begin at 0, of the path at 100000, of what is said of it at 200000, of the summary at 300000.
CREATE TABLE postings (
    tree     INTEGER NOT NULL,
    block    INTEGER NOT NULL,
    document INTEGER NOT NULL,
    stems    TEXT NOT NULL,
    PRIMARY KEY (tree, block, document)
) STRICT, WITHOUT ROWID;

-- What FTS5 has of the documents that are there. A word with its tree reads `7_word`, with its weight `7_3_word`.
CREATE VIRTUAL TABLE temp.texts_terms USING fts5vocab(main, texts, instance);
INSERT INTO postings (tree, block, document, stems)
WITH terms AS MATERIALIZED (
    SELECT doc AS document, col, CAST(substr(term, 1, instr(term, '_') - 1) AS INTEGER) AS tree,
           substr(term, instr(term, '_') + 1) AS word,
           "offset" + CASE col WHEN 'path' THEN 100000 WHEN 'said' THEN 200000 WHEN 'summary' THEN 300000 ELSE 0 END AS position
    FROM temp.texts_terms
),
distances AS (
    SELECT tree, document, word AS stem, position,
           position - lag(position, 1, 0) OVER (PARTITION BY tree, document, word ORDER BY position) AS distance
    FROM terms WHERE col <> 'weights'
),
positions AS (
    SELECT tree, document, stem, group_concat(distance, ' ' ORDER BY position) AS positions
    FROM distances GROUP BY tree, document, stem
),
stems AS (
    SELECT w.tree, w.document, substr(w.word, 3) AS stem, substr(w.word, 1, 1) AS weight, coalesce(positions, '') AS positions
    FROM terms w LEFT JOIN positions p ON p.tree = w.tree AND p.document = w.document AND p.stem = substr(w.word, 3)
    WHERE w.col = 'weights'
)
SELECT tree, (unicode(stem) * 31 + coalesce(unicode(substr(stem, 2)), 0) * 17
              + unicode(substr(stem, length(stem) / 2 + 1)) * 7 + unicode(substr(stem, -1)) * 3 + length(stem)) % 32 AS block,
       document, ';' || group_concat(stem || ' ' || weight || ' ' || positions, ';' ORDER BY stem) || ';'
FROM stems GROUP BY tree, block, document;
-- A document without words has a block nevertheless.
INSERT INTO postings (tree, block, document, stems)
SELECT w.id, 0, d.id, ';' FROM documents d JOIN workspaces w ON w.root = d.root JOIN texts_docsize t ON t.id = d.id
WHERE NOT EXISTS (SELECT 1 FROM postings p WHERE p.document = d.id);
DROP TABLE temp.texts_terms;
DROP TABLE texts;

-- The uses of bytes are counted by whatever adds or deletes a version.
DROP TRIGGER versions_written;
DROP TRIGGER versions_forgotten;
