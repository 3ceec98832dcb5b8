-- All ended runs since the store began. Retention does not change it.
CREATE TABLE run_total (
    status TEXT PRIMARY KEY,
    runs INTEGER NOT NULL
) WITHOUT ROWID;
INSERT INTO run_total (status, runs) SELECT status, sum(runs) FROM run_count GROUP BY status;

-- The bytes of the commands that wait for PuppetDB.
CREATE TABLE puppetdb_queue (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    bytes INTEGER NOT NULL
);
INSERT INTO puppetdb_queue (id, bytes)
    SELECT 1, coalesce(sum(octet_length(body)), 0) FROM puppetdb_command;
CREATE TRIGGER puppetdb_command_added AFTER INSERT ON puppetdb_command
BEGIN
    UPDATE puppetdb_queue SET bytes = bytes + octet_length(NEW.body);
END;
CREATE TRIGGER puppetdb_command_removed AFTER DELETE ON puppetdb_command
BEGIN
    UPDATE puppetdb_queue SET bytes = bytes - octet_length(OLD.body);
END;

-- The commands that PuppetDB never received, by reason.
CREATE TABLE puppetdb_lost (
    reason TEXT PRIMARY KEY,
    commands INTEGER NOT NULL
) WITHOUT ROWID;
