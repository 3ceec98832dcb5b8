//! A PostgreSQL server on loopback, with its own data directory and as an unprivileged user.

use std::os::unix::fs::MetadataExt as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{OnceLock, mpsc};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::free_port::free_port;
use crate::host_clock::HostClock;
use crate::peer;

/// Starts the server again whenever it ends, and removes its directory at the end. Nothing is written durably.
const SCRIPT: &str = r#"
umask 077
mkdir "$DIR" && cd "$DIR" || exit 1
trap 'kill -QUIT $server 2>/dev/null; wait $server; cd /; rm -rf "$DIR"; exit 0' TERM
if [ -n "$PRIMARY" ]; then
  "$BIN/pg_basebackup" -h 127.0.0.1 -p "$PRIMARY" -U owner -D data -R -c fast --no-sync >log 2>&1 || exit 1
else
  "$BIN/initdb" -D data -U owner -E UTF8 --locale=C -A trust --no-sync >log 2>&1 || exit 1
fi
{ printf '%s\n' "listen_addresses = '127.0.0.1'" "port = $PORT" "unix_socket_directories = '$DIR'" \
    "fsync = off" "max_connections = 200" "lc_messages = 'C'"; } >> data/postgresql.conf
if [ -n "$CERTIFICATE" ]; then
  printf '%s' "$CERTIFICATE" > data/server.crt
  printf '%s' "$KEY" > data/server.key
  echo "ssl = on" >> data/postgresql.conf
fi
while :; do
  while [ -e away ]; do sleep 0.1; done
  LD_PRELOAD="$PRELOAD" "$BIN/postgres" -D data >>log 2>&1 &
  server=$!
  wait $server
  sleep 0.1
done
"#;

/// The time in which a server starts.
const START_LIMIT: Duration = Duration::from_secs(60);

/// A running server. It ends when it is dropped, and with the process.
#[derive(Debug)]
pub struct PostgreSql {
    directory: PathBuf,
    port: u16,
    databases: AtomicU32,
    /// The process of the script.
    script: u32,
    clock: Option<HostClock>,
}

/// How a server starts.
#[derive(Default)]
struct StartOptions<'o> {
    /// A certificate and its key as PEM.
    identity: Option<(&'o str, &'o str)>,
    /// The port of the server of which it is a standby.
    primary: Option<u16>,
    /// Tests set its clock.
    has_clock: bool,
}

/// The directory of the newest version.
fn programs() -> Option<PathBuf> {
    let versions = std::fs::read_dir("/usr/lib/postgresql").ok()?;
    let found = versions.filter_map(|version| Some(version.ok()?.path().join("bin")));
    found.filter(|bin| bin.join("postgres").exists()).max()
}

impl PostgreSql {
    /// The server of all tests of this process. `None`: PostgreSQL is missing, and the test says that it is skipped.
    ///
    /// # Panics
    /// If the server does not start, or is missing and required.
    pub fn shared() -> Option<&'static Self> {
        static SHARED: OnceLock<Option<PostgreSql>> = OnceLock::new();
        SHARED.get_or_init(|| Self::start(None)).as_ref()
    }

    /// A server of its own, with a certificate and its key as PEM. `None`: PostgreSQL is missing, and the test says that
    /// it is skipped.
    ///
    /// # Panics
    /// If the server does not start, or is missing and required.
    pub fn start(identity: Option<(&str, &str)>) -> Option<Self> {
        Self::start_with(&StartOptions {
            identity,
            ..StartOptions::default()
        })
    }

    /// A server whose clock a test sets, with a certificate and its key as PEM. `None`: PostgreSQL or libfaketime is
    /// missing, and the test says that it is skipped.
    ///
    /// # Panics
    /// If the server does not start, or something is missing and required.
    pub fn start_with_clock(identity: (&str, &str)) -> Option<Self> {
        Self::start_with(&StartOptions {
            identity: Some(identity),
            has_clock: true,
            ..StartOptions::default()
        })
    }

    /// A standby of this server, to which it streams. It has the same certificate.
    ///
    /// # Panics
    /// If it does not start.
    pub fn start_standby(&self) -> Self {
        let options = StartOptions {
            primary: Some(self.port),
            has_clock: self.clock.is_some(),
            ..StartOptions::default()
        };
        Self::start_with(&options).expect("PostgreSQL is there")
    }

    /// Sets the clock of the server.
    ///
    /// # Panics
    /// If the server has no such clock, or the time of the server does not change.
    #[expect(
        clippy::disallowed_methods,
        reason = "the clock of the server is compared with that of the host"
    )]
    pub fn set_clock(&self, hours: i8) {
        self.clock.as_ref().expect("it has a clock").set(hours);
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        let real = now.expect("it is after 1970").as_secs();
        let offset = format!("SELECT round((extract(epoch FROM now()) - {real}) / 3600)");
        assert_eq!(self.execute("postgres", &offset), hours.to_string());
    }

    /// Makes the server confirm a commit only when its standby has it.
    ///
    /// # Panics
    /// If no standby streams.
    pub fn require_standby(&self) {
        self.execute(
            "postgres",
            "ALTER SYSTEM SET synchronous_standby_names = '*'",
        );
        self.execute("postgres", "SELECT pg_reload_conf()");
        let states = "SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'";
        self.wait_for(states, "1");
    }

    /// Ends the stream of a standby: what the primary commits from now on, it does not have.
    ///
    /// # Panics
    /// If the stream goes on.
    pub fn end_stream(&self) {
        self.execute("postgres", "ALTER SYSTEM SET primary_conninfo = ''");
        self.execute("postgres", "SELECT pg_reload_conf()");
        self.wait_for("SELECT count(*) FROM pg_stat_wal_receiver", "0");
    }

    /// Makes a standby the primary.
    ///
    /// # Panics
    /// If it stays a standby.
    pub fn promote(&self) {
        assert_eq!(self.execute("postgres", "SELECT pg_promote()"), "t");
    }

    /// Waits until a statement returns a text.
    fn wait_for(&self, statement: &str, expected: &str) {
        let pause = Duration::from_millis(20);
        for _ in 0..START_LIMIT.as_millis() / pause.as_millis() {
            if self.execute("postgres", statement) == expected {
                return;
            }
            std::thread::sleep(pause);
        }
        panic!("{statement} does not become {expected}");
    }

    fn start_with(options: &StartOptions<'_>) -> Option<Self> {
        static SERVERS: AtomicU32 = AtomicU32::new(0);
        let missing = programs()
            .is_none()
            .then(|| "there is no PostgreSQL (tests/real-peers/test-tools.sh install)".to_owned());
        if peer::skips(missing) {
            return None;
        }
        let bin = programs()?;
        let number = SERVERS.fetch_add(1, Ordering::Relaxed);
        let name = format!("switchtender-postgresql-{}-{number}", std::process::id());
        let directory = std::env::temp_dir().join(name);
        let clock = if options.has_clock {
            Some(HostClock::new(directory.join("clock"))?)
        } else {
            None
        };
        let port = free_port();
        let is_root = std::fs::metadata("/proc/self").is_ok_and(|process| process.uid() == 0);
        let mut command = Command::new("setpriv");
        command.args(["--pdeathsig", "TERM"]);
        if is_root {
            command.args([
                "--reuid",
                "postgres",
                "--regid",
                "postgres",
                "--clear-groups",
            ]);
        }
        let (certificate, key) = options.identity.unwrap_or_default();
        let primary = options.primary.map(|port| port.to_string());
        if let Some(clock) = &clock {
            let own = clock.environment();
            // Only the server has it.
            command.envs(own.map(|(name, value)| (name.replace("LD_PRELOAD", "PRELOAD"), value)));
        }
        command
            .args(["sh", "-c", SCRIPT])
            .envs([("DIR", &*directory), ("BIN", &bin)])
            .env("PORT", port.to_string())
            .env("PRIMARY", primary.unwrap_or_default())
            .envs([("CERTIFICATE", certificate), ("KEY", key)])
            .current_dir("/")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            // The shell says that a server was killed.
            .stderr(Stdio::null());
        // The signal at the end of the parent is for its thread: this one ends with the process.
        let (sender, started) = mpsc::channel();
        std::thread::spawn(move || {
            let mut child = command.spawn().expect("setpriv is part of Debian");
            sender.send(child.id()).expect("a test waits");
            // It ends with the process.
            let _ = child.wait();
        });
        let server = Self {
            directory,
            port,
            databases: AtomicU32::new(0),
            script: started.recv().expect("the server is started"),
            clock,
        };
        server.wait_until(true);
        Some(server)
    }

    /// Runs a statement as the owner of the server.
    ///
    /// # Panics
    /// If it fails.
    pub fn execute(&self, database: &str, statement: &str) -> String {
        let output = self.psql(database, statement);
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{statement}: {error}");
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    }

    fn psql(&self, database: &str, statement: &str) -> std::process::Output {
        let bin = programs().expect("the server runs");
        let mut psql = Command::new(bin.join("psql"));
        psql.args(["-h", "127.0.0.1", "-U", "owner", "-X", "-q", "-A", "-t"])
            .args([
                "-p",
                &self.port.to_string(),
                "-d",
                database,
                "-c",
                statement,
            ])
            .stdin(Stdio::null());
        psql.output().expect("psql is part of PostgreSQL")
    }

    /// The name of a new database.
    pub fn new_database(&self) -> String {
        let number = self.databases.fetch_add(1, Ordering::Relaxed);
        let name = format!("test{number}");
        self.execute("postgres", &format!("CREATE DATABASE {name}"));
        name
    }

    /// The address of a database for `store`.
    pub fn address(&self, database: &str) -> String {
        format!("postgresql://owner@127.0.0.1:{}/{database}", self.port)
    }

    /// The port on loopback.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Kills the server, and waits until it has started again.
    pub fn kill_and_wait(&self) {
        self.kill();
        self.wait_until(true);
    }

    /// Kills the server. It starts again, unless it is away.
    fn kill(&self) {
        // Only the user of the server can read the file of its process.
        let process = self.execute("postgres", "SELECT pg_read_file('postmaster.pid')");
        let process = process.lines().next().expect("the file has a process");
        let killed = Command::new("kill").args(["-9", process]).status();
        assert!(killed.is_ok_and(|status| status.success()));
    }

    /// Ends the server until [`Self::come_back`].
    pub fn leave(&self) {
        // The server writes it: the directory belongs to its user.
        let marker = self.directory.join("away");
        self.execute(
            "postgres",
            &format!("COPY (SELECT 1) TO '{}'", marker.display()),
        );
        self.kill();
        self.wait_until(false);
    }

    /// Starts the server again.
    ///
    /// # Panics
    /// If it does not start.
    pub fn come_back(&self) {
        std::fs::remove_file(self.directory.join("away")).expect("the server is away");
        self.wait_until(true);
    }

    /// Waits until the server answers, or not.
    fn wait_until(&self, is_running: bool) {
        let pause = Duration::from_millis(20);
        for _ in 0..START_LIMIT.as_millis() / pause.as_millis() {
            let answers = self.psql("postgres", "SELECT 1").status.success();
            if answers == is_running {
                return;
            }
            std::thread::sleep(pause);
        }
        panic!("the server does not start: {}", self.log());
    }

    /// What the server has logged, with the statements that failed.
    pub fn log(&self) -> String {
        std::fs::read_to_string(self.directory.join("log")).unwrap_or_default()
    }
}

impl Drop for PostgreSql {
    fn drop(&mut self) {
        // It removes the directory. A test that has failed must not end here.
        let script = self.script.to_string();
        let _ = Command::new("kill").args(["-TERM", &script]).status();
    }
}
