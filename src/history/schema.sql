-- Times are milliseconds since 1970. JSON columns hold plain values.

CREATE TABLE device (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    platform TEXT NOT NULL,
    site TEXT,
    labels TEXT NOT NULL DEFAULT '{}',
    address TEXT NOT NULL DEFAULT '',
    -- The class of what its platform promises about late writes. NULL: unknown.
    guarantee TEXT,
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
    findings TEXT NOT NULL DEFAULT '[]',
    -- The classes of the lines of the newest configuration, in a short form. Empty: unknown.
    line_classes TEXT NOT NULL DEFAULT '',
    -- The desired state that the device is managed with: where its last applied or scheduled catalog came from.
    catalog_origin TEXT,
    -- The newest release that the device was changed with. NULL: none.
    release INTEGER
);

CREATE TABLE requester (
    id INTEGER PRIMARY KEY,
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    UNIQUE (kind, name)
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
CREATE INDEX schedule_paused ON schedule (device) WHERE paused_since IS NOT NULL;

CREATE TABLE run (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    -- Made by the process that adds it: a repetition adds no second run.
    uuid BLOB NOT NULL UNIQUE,
    device INTEGER NOT NULL REFERENCES device ON DELETE CASCADE,
    -- What the runs of all devices of one command have in common. NULL: the run has not ended.
    name TEXT,
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
    -- Whether the device has become unreachable with this run, or reachable again.
    connection_change TEXT,
    -- The commit of the desired state. NULL: it is in no Git work tree.
    state_commit TEXT,
    state_is_modified INTEGER NOT NULL DEFAULT 0,
    -- The release of its inputs. NULL: files of the process.
    release INTEGER,
    -- The complete record without its resources, as JSON. NULL: the run has not ended.
    record TEXT,
    -- The node that began it, with the shard and the epoch of its lease. NULL: it needed none.
    node TEXT,
    shard TEXT,
    epoch INTEGER,
    -- Its result came after another node had acquired the shard: it says nothing about the device.
    is_late INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX run_device ON run (device, id);
CREATE INDEX run_name ON run (name) WHERE name IS NOT NULL;
CREATE INDEX run_open ON run (status) WHERE ended IS NULL;
CREATE INDEX run_late ON run (id) WHERE is_late;
CREATE INDEX run_waiting ON run (device) WHERE status = 'queued';
-- No two nodes apply to a device.
CREATE UNIQUE INDEX run_open_apply ON run (device)
    WHERE status = 'running' AND ended IS NULL AND kind = 'apply' AND shard IS NOT NULL;
CREATE INDEX run_unchanged ON run (ended) WHERE status = 'unchanged';
CREATE INDEX run_notable ON run (ended) WHERE status <> 'unchanged';
CREATE INDEX run_release ON run (release) WHERE release IS NOT NULL;

-- Unchanged runs by device and day: what is left of them after `keep_unchanged`.
CREATE TABLE folded_run (
    device INTEGER NOT NULL REFERENCES device ON DELETE CASCADE,
    -- The start of the day in UTC on which they ended.
    day INTEGER NOT NULL,
    runs INTEGER NOT NULL,
    -- Those that were plans.
    plans INTEGER NOT NULL,
    first_run INTEGER NOT NULL,
    last_run INTEGER NOT NULL,
    first_ended INTEGER NOT NULL,
    last_ended INTEGER NOT NULL,
    -- Their numbers between spaces, the random halves of their UUIDs, and their hours of the day as JSON.
    numbers TEXT NOT NULL,
    keys BLOB NOT NULL,
    hours TEXT NOT NULL,
    PRIMARY KEY (device, day)
) WITHOUT ROWID;
CREATE INDEX folded_run_numbers ON folded_run (last_run, first_run);
CREATE INDEX folded_run_day ON folded_run (day);

-- Who else requested a run while it waited.
CREATE TABLE further_requester (
    run INTEGER NOT NULL REFERENCES run ON DELETE CASCADE,
    requester INTEGER NOT NULL REFERENCES requester,
    PRIMARY KEY (run, requester)
) WITHOUT ROWID;

-- Plans that need the approval of a person. Their state follows from their runs.
CREATE TABLE approval (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    device INTEGER NOT NULL REFERENCES device ON DELETE CASCADE,
    author INTEGER NOT NULL REFERENCES requester,
    -- The person who requested it. NULL: a program.
    person TEXT,
    created INTEGER NOT NULL,
    expires INTEGER NOT NULL,
    plan_run INTEGER NOT NULL REFERENCES run ON DELETE CASCADE,
    -- The stored plan as JSON. NULL: it is not made yet, failed, or changes nothing.
    plan TEXT,
    -- 1: approved, 0: rejected, NULL: it waits.
    is_approved INTEGER,
    decided INTEGER,
    decided_by TEXT,
    reason TEXT,
    apply_run INTEGER REFERENCES run ON DELETE CASCADE,
    -- 1: the process has nothing more to do with it.
    is_ended INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX approval_open ON approval (id) WHERE NOT is_ended;
CREATE INDEX approval_plan_run ON approval (plan_run);
CREATE INDEX approval_apply_run ON approval (apply_run);

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
    -- The declared attributes with their values, as JSON. NULL: unknown.
    declared TEXT,
    UNIQUE (device, reference)
);
CREATE INDEX resource_notable ON resource (device) WHERE last_status <> 'unchanged';
CREATE INDEX resource_reference ON resource (reference);
CREATE INDEX resource_removed ON resource (removed) WHERE removed IS NOT NULL;

-- Resources that were not unchanged.
CREATE TABLE resource_status (
    run INTEGER NOT NULL REFERENCES run ON DELETE CASCADE,
    resource INTEGER NOT NULL REFERENCES resource ON DELETE CASCADE,
    status TEXT NOT NULL,
    -- The resource with its events and operations, as JSON.
    record TEXT NOT NULL,
    PRIMARY KEY (run, resource)
) WITHOUT ROWID;
CREATE INDEX resource_status_resource ON resource_status (resource, run);

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
CREATE INDEX configuration_time ON configuration (time);

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
    message TEXT NOT NULL,
    -- What changed: the device, or its desired state.
    cause TEXT NOT NULL DEFAULT 'desired state'
);
CREATE INDEX drift_open ON drift (device, resource) WHERE ended IS NULL;
CREATE INDEX drift_device ON drift (device, id);
CREATE INDEX drift_ended ON drift (ended) WHERE ended IS NOT NULL;
CREATE INDEX drift_since_run ON drift (since_run);

-- Ended runs by hour.
CREATE TABLE run_count (
    hour INTEGER NOT NULL,
    status TEXT NOT NULL,
    runs INTEGER NOT NULL,
    PRIMARY KEY (hour, status)
) WITHOUT ROWID;

-- All ended runs since the store began. Retention does not change it.
CREATE TABLE run_total (
    status TEXT PRIMARY KEY,
    runs INTEGER NOT NULL
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

-- The bytes of the commands that wait for PuppetDB.
CREATE TABLE puppetdb_queue (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    bytes INTEGER NOT NULL
);
INSERT INTO puppetdb_queue (id, bytes) VALUES (1, 0);
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

-- Sessions of browsers by the digests of their secrets.
CREATE TABLE browser_session (
    digest TEXT PRIMARY KEY,
    -- The user, as JSON.
    account TEXT NOT NULL,
    created INTEGER NOT NULL,
    used INTEGER NOT NULL
) WITHOUT ROWID;

-- Secrets that are valid once, by their digests: login codes, and logins that a browser has begun.
CREATE TABLE once_secret (
    digest TEXT PRIMARY KEY,
    purpose TEXT NOT NULL,
    body TEXT NOT NULL,
    expires INTEGER NOT NULL
) WITHOUT ROWID;

-- Copies of the audit logs of all nodes.
CREATE TABLE audit_entry (
    id INTEGER PRIMARY KEY,
    node TEXT NOT NULL,
    -- The end in bytes of what is copied of the log of the node.
    file_end INTEGER NOT NULL,
    time INTEGER NOT NULL,
    -- JSON.
    entry TEXT NOT NULL
);
CREATE INDEX audit_entry_node ON audit_entry (node, id);
CREATE INDEX audit_entry_time ON audit_entry (time, id);

-- Events of runs that another node follows, if they are too long for a notification.
CREATE TABLE live_event (
    id INTEGER PRIMARY KEY,
    body TEXT NOT NULL,
    time INTEGER NOT NULL
);

-- The keys that all processes derive tokens with.
CREATE TABLE access_key (
    name TEXT PRIMARY KEY,
    body BLOB NOT NULL
) WITHOUT ROWID;

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

-- The last run that a webhook was notified about.
CREATE TABLE webhook (
    name TEXT PRIMARY KEY,
    sequence INTEGER NOT NULL
) WITHOUT ROWID;

-- The inputs of a fleet, as they were published.
CREATE TABLE release (
    number INTEGER PRIMARY KEY,
    -- Of the paths and digests of all files: what is published twice is one release.
    digest TEXT NOT NULL,
    published INTEGER NOT NULL,
    publisher TEXT NOT NULL,
    -- The commit of the directory. NULL: it is in no Git work tree.
    source_commit TEXT,
    source_is_modified INTEGER NOT NULL DEFAULT 0
);

-- Contents of files, by SHA-256.
CREATE TABLE blob (
    sha256 TEXT PRIMARY KEY,
    body BLOB NOT NULL
);

CREATE TABLE release_file (
    release INTEGER NOT NULL REFERENCES release ON DELETE CASCADE,
    path TEXT NOT NULL,
    sha256 TEXT NOT NULL REFERENCES blob,
    PRIMARY KEY (release, path)
) WITHOUT ROWID;
CREATE INDEX release_file_sha256 ON release_file (sha256);

-- What the next run of a device needs, for several hosts. What could reveal a secret is sealed with the key of the hosts.
CREATE TABLE device_state (
    device TEXT NOT NULL,
    -- The name of the file, without a store.
    file TEXT NOT NULL,
    body BLOB NOT NULL,
    -- The lease under which it was written.
    epoch INTEGER NOT NULL,
    PRIMARY KEY (device, file)
) WITHOUT ROWID;

-- The fingerprint of the key of the hosts.
CREATE TABLE state_key (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    fingerprint TEXT NOT NULL
);

-- Leases of shards and tasks.
CREATE TABLE lease (
    name TEXT PRIMARY KEY,
    -- NULL: it is free.
    owner TEXT,
    -- The last owner, with its boot.
    holder TEXT NOT NULL,
    boot TEXT NOT NULL,
    -- The number of the acquisition.
    epoch INTEGER NOT NULL,
    -- The first acquisition since which nobody else has had it.
    since INTEGER NOT NULL,
    -- The owner changes it with each renewal.
    beat INTEGER NOT NULL
);

-- The processes that take part in the fleet, or did.
CREATE TABLE node (
    name TEXT PRIMARY KEY,
    -- What it says about itself, as JSON.
    record TEXT NOT NULL,
    beat INTEGER NOT NULL,
    -- When it has changed, by the clock of the server.
    seen INTEGER NOT NULL,
    is_draining INTEGER NOT NULL DEFAULT 0,
    is_evicted INTEGER NOT NULL DEFAULT 0
);

-- Sites with the numbers of their shards.
CREATE TABLE site (
    name TEXT PRIMARY KEY,
    shards INTEGER NOT NULL,
    -- The number that it gets when all of its shards are free.
    next_shards INTEGER
);

-- The start of the server whose earlier leases have expired.
CREATE TABLE fleet_server (
    server TEXT NOT NULL
);
