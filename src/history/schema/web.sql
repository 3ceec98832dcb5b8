-- Keys of requests that were answered, so that a repetition starts no second run.
CREATE TABLE idempotency_key (
    sender TEXT NOT NULL,
    key TEXT NOT NULL,
    -- What was requested.
    request TEXT NOT NULL,
    run INTEGER NOT NULL REFERENCES run ON DELETE CASCADE,
    time INTEGER NOT NULL,
    PRIMARY KEY (sender, key)
) WITHOUT ROWID;
CREATE INDEX idempotency_key_time ON idempotency_key (time);
CREATE INDEX idempotency_key_run ON idempotency_key (run);

-- Ended runs in the order of their ends, for webhooks.
CREATE TABLE ended_run (
    sequence INTEGER PRIMARY KEY AUTOINCREMENT,
    run INTEGER NOT NULL REFERENCES run ON DELETE CASCADE
);
CREATE INDEX ended_run_run ON ended_run (run);
CREATE TRIGGER run_ended AFTER UPDATE OF ended ON run
WHEN NEW.ended IS NOT NULL AND OLD.ended IS NULL
BEGIN
    INSERT INTO ended_run (run) VALUES (NEW.id);
END;
CREATE TRIGGER run_added_ended AFTER INSERT ON run
WHEN NEW.ended IS NOT NULL
BEGIN
    INSERT INTO ended_run (run) VALUES (NEW.id);
END;
CREATE INDEX drift_since_run ON drift (since_run);

-- The last run that a webhook was notified about.
CREATE TABLE webhook (
    name TEXT PRIMARY KEY,
    sequence INTEGER NOT NULL
) WITHOUT ROWID;
