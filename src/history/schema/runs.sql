-- Times are milliseconds since 1970. JSON columns hold plain values.

CREATE TABLE device (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    platform TEXT NOT NULL,
    site TEXT,
    labels TEXT NOT NULL DEFAULT '{}',
    -- 0: no longer in the inventory.
    is_current INTEGER NOT NULL DEFAULT 1,
    first_seen INTEGER NOT NULL,
    last_run INTEGER,
    last_status TEXT,
    last_ended INTEGER,
    last_changed INTEGER,
    unreachable_since INTEGER,
    -- Consecutive failures.
    failures INTEGER NOT NULL DEFAULT 0,
    -- Number of resources that differ.
    drift INTEGER NOT NULL DEFAULT 0,
    resources INTEGER NOT NULL DEFAULT 0,
    -- Digest of the references and positions of the managed resources.
    resource_digest BLOB,
    fact_digest BLOB,
    not_understood TEXT NOT NULL DEFAULT '[]',
    findings TEXT NOT NULL DEFAULT '[]'
);

-- What outlives a restart of the scheduler.
CREATE TABLE schedule (
    device INTEGER PRIMARY KEY REFERENCES device ON DELETE CASCADE,
    next_due INTEGER,
    failures INTEGER NOT NULL DEFAULT 0,
    paused_since INTEGER,
    pause_reason TEXT,
    paused_by INTEGER REFERENCES requester
);

CREATE TABLE requester (
    id INTEGER PRIMARY KEY,
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    UNIQUE (kind, name)
);

CREATE TABLE run (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    device INTEGER NOT NULL REFERENCES device ON DELETE CASCADE,
    kind TEXT NOT NULL,
    -- 1: the change windows decide at the start whether it is a plan.
    follows_windows INTEGER NOT NULL DEFAULT 0,
    requester INTEGER NOT NULL REFERENCES requester,
    status TEXT NOT NULL,
    priority INTEGER NOT NULL DEFAULT 0,
    queued INTEGER NOT NULL,
    started INTEGER,
    ended INTEGER,
    resources INTEGER NOT NULL DEFAULT 0,
    changed INTEGER NOT NULL DEFAULT 0,
    failed INTEGER NOT NULL DEFAULT 0,
    skipped INTEGER NOT NULL DEFAULT 0,
    pending INTEGER NOT NULL DEFAULT 0,
    operations INTEGER NOT NULL DEFAULT 0,
    to_send INTEGER NOT NULL DEFAULT 0,
    not_understood INTEGER NOT NULL DEFAULT 0,
    is_unreachable INTEGER NOT NULL DEFAULT 0,
    error TEXT,
    hint TEXT,
    -- Seconds by category.
    phases TEXT NOT NULL DEFAULT '{}',
    configuration_version TEXT,
    -- Whether the device has become unreachable with this run, or reachable again.
    connection_change TEXT
);
CREATE INDEX run_device ON run (device, id);
CREATE INDEX run_open ON run (status) WHERE ended IS NULL;

CREATE TABLE resource (
    id INTEGER PRIMARY KEY,
    device INTEGER NOT NULL REFERENCES device ON DELETE CASCADE,
    reference TEXT NOT NULL,
    file TEXT,
    line INTEGER,
    -- The first run with the resource, and the first one without it.
    added INTEGER NOT NULL,
    removed INTEGER,
    last_status TEXT NOT NULL,
    last_run INTEGER NOT NULL,
    UNIQUE (device, reference)
);
CREATE INDEX resource_notable ON resource (device) WHERE last_status <> 'unchanged';
CREATE INDEX resource_reference ON resource (reference);

-- Resources that were not unchanged.
CREATE TABLE resource_status (
    run INTEGER NOT NULL REFERENCES run ON DELETE CASCADE,
    resource INTEGER NOT NULL REFERENCES resource ON DELETE CASCADE,
    status TEXT NOT NULL,
    is_corrective INTEGER NOT NULL,
    skip_reason TEXT,
    seconds REAL,
    PRIMARY KEY (run, resource)
) WITHOUT ROWID;
CREATE INDEX resource_status_resource ON resource_status (resource, run);

CREATE TABLE event (
    run INTEGER NOT NULL,
    resource INTEGER NOT NULL,
    number INTEGER NOT NULL,
    name TEXT NOT NULL,
    property TEXT,
    status TEXT NOT NULL,
    previous_value TEXT,
    desired_value TEXT,
    message TEXT,
    is_corrective INTEGER NOT NULL,
    time TEXT NOT NULL,
    PRIMARY KEY (run, resource, number),
    FOREIGN KEY (run, resource) REFERENCES resource_status ON DELETE CASCADE
) WITHOUT ROWID;

CREATE TABLE operation (
    run INTEGER NOT NULL,
    resource INTEGER NOT NULL,
    number INTEGER NOT NULL,
    mode TEXT NOT NULL,
    text TEXT,
    outcome TEXT NOT NULL,
    device_message TEXT,
    milliseconds INTEGER,
    PRIMARY KEY (run, resource, number),
    FOREIGN KEY (run, resource) REFERENCES resource_status ON DELETE CASCADE
) WITHOUT ROWID;

CREATE TABLE log (
    run INTEGER NOT NULL REFERENCES run ON DELETE CASCADE,
    number INTEGER NOT NULL,
    level TEXT NOT NULL,
    source TEXT NOT NULL,
    message TEXT NOT NULL,
    time TEXT NOT NULL,
    file TEXT,
    line INTEGER,
    PRIMARY KEY (run, number)
) WITHOUT ROWID;

-- The facts of a device from a run on.
CREATE TABLE fact (
    device INTEGER NOT NULL REFERENCES device ON DELETE CASCADE,
    run INTEGER NOT NULL,
    time INTEGER NOT NULL,
    facts TEXT NOT NULL,
    PRIMARY KEY (device, run)
) WITHOUT ROWID;

-- The running configuration of a device from a run on: a text, or the difference to the one before.
CREATE TABLE configuration (
    id INTEGER PRIMARY KEY,
    device INTEGER NOT NULL REFERENCES device ON DELETE CASCADE,
    run INTEGER NOT NULL,
    time INTEGER NOT NULL,
    is_complete INTEGER NOT NULL,
    body BLOB NOT NULL,
    lines_added INTEGER NOT NULL,
    lines_removed INTEGER NOT NULL,
    digest BLOB NOT NULL
);
CREATE INDEX configuration_device ON configuration (device, id);

-- Resources that differ from their catalog.
CREATE TABLE drift (
    id INTEGER PRIMARY KEY,
    device INTEGER NOT NULL REFERENCES device ON DELETE CASCADE,
    resource INTEGER NOT NULL REFERENCES resource ON DELETE CASCADE,
    since INTEGER NOT NULL,
    since_run INTEGER NOT NULL,
    ended INTEGER,
    ended_run INTEGER,
    -- How it ended: corrected, or gone.
    end_reason TEXT,
    message TEXT NOT NULL
);
CREATE INDEX drift_open ON drift (device, resource) WHERE ended IS NULL;
CREATE INDEX drift_device ON drift (device, id);

-- What a run would do to the configuration, or has done.
CREATE TABLE plan (
    run INTEGER PRIMARY KEY REFERENCES run ON DELETE CASCADE,
    difference TEXT NOT NULL
);

-- Ended runs by hour.
CREATE TABLE run_count (
    hour INTEGER NOT NULL,
    status TEXT NOT NULL,
    runs INTEGER NOT NULL,
    PRIMARY KEY (hour, status)
) WITHOUT ROWID;

-- Commands that PuppetDB has not accepted yet.
CREATE TABLE puppetdb_command (
    id INTEGER PRIMARY KEY,
    command TEXT NOT NULL,
    version INTEGER NOT NULL,
    certname TEXT NOT NULL,
    produced TEXT NOT NULL,
    body TEXT NOT NULL
);
