-- What is written to see whether anything can be written: one row.
CREATE TABLE probe (
    only   INTEGER PRIMARY KEY CHECK (only = 0),
    filler BLOB NOT NULL
) STRICT;
