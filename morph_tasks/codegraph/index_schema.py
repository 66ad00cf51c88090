"""The tables of the index; light, because every question loads it."""

from __future__ import annotations

# To be raised whenever the tables or the rules of the sanitising change: an index of another number is made anew.
SCHEMA = 8
APPLICATION = 0x6D6F7267  # "morg", in the header of the file
KINDS = ("file", "type", "function", "method", "namespace", "package", "other")
# HIDDEN: a stub that stands for another node; REMARK: a comment or a heading that graphify hung on the code
TEST, EXTERNAL, HIDDEN, REMARK = 1, 2, 4, 8

TABLES = f"""
PRAGMA page_size = 8192; PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA locking_mode = EXCLUSIVE;
PRAGMA cache_size = -65536; PRAGMA application_id = {APPLICATION}; PRAGMA user_version = {SCHEMA};
CREATE TABLE meta (name TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE TABLE path (id INTEGER PRIMARY KEY, path TEXT);
CREATE TABLE relation (id INTEGER PRIMARY KEY, name TEXT);
CREATE TABLE node (id INTEGER PRIMARY KEY, key TEXT, label TEXT, name TEXT, owner TEXT, file INT, line INT, kind INT,
                   flags INT, namespace TEXT);
CREATE TABLE edge (source INT, target INT, relation INT, file INT, line INT, layers INT, via INT);
CREATE TABLE built (type INT, constructor INT);
CREATE TABLE undecided (edge INT, choice INT);
CREATE TABLE choice (id INT, option INT);
"""
# After the rows: an index that is filled at once is a sort, one that grows with them is a search for each row.
INDICES = """
CREATE INDEX edge_target ON edge (target);
CREATE INDEX edge_source ON edge (source);
CREATE INDEX built_type ON built (type);
CREATE INDEX built_constructor ON built (constructor);
CREATE INDEX node_key ON node (key);
CREATE INDEX node_name ON node (name);
CREATE INDEX node_file ON node (file);
CREATE INDEX undecided_choice ON undecided (choice);
CREATE INDEX choice_option ON choice (option);
CREATE INDEX choice_id ON choice (id);
CREATE INDEX path_path ON path (path)
"""
