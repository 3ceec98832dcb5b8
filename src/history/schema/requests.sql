-- Who else requested a run while it waited.
CREATE TABLE further_requester (
    run INTEGER NOT NULL REFERENCES run ON DELETE CASCADE,
    requester INTEGER NOT NULL REFERENCES requester,
    PRIMARY KEY (run, requester)
) WITHOUT ROWID;
CREATE INDEX run_waiting ON run (device) WHERE status = 'queued';
