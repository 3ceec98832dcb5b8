//! The database of the processes, and what happens to it.

use std::net::Ipv4Addr;
use std::sync::Mutex;
use std::sync::atomic::Ordering;
use std::time::Duration;

use test_support::certificates::{TestAuthority, parameters};
use test_support::postgresql::PostgreSql;

use super::fault::DatabaseFault;
use super::path::Target;

/// How long a standby gets nothing before a failover that loses it.
const LOST: Duration = Duration::from_millis(1500);

/// The name of the server in its certificate.
pub(super) const HOST: &str = "database.lab.test";

/// What a standby has when it becomes the primary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Standby {
    /// All that was confirmed.
    Synchronous,
    /// Not what was committed last.
    Asynchronous,
}

pub(super) struct Database {
    kind: Standby,
    /// The primary.
    pub(super) primary: Target,
    /// The CA of the servers, and of the hubs.
    pub(super) authority: TestAuthority,
    servers: Mutex<Servers>,
}

struct Servers {
    primary: PostgreSql,
    standby: PostgreSql,
    /// Servers with acquisitions that a standby had not received.
    former: Vec<PostgreSql>,
}

impl Database {
    /// `None`: PostgreSQL or libfaketime is missing.
    pub(super) fn start(kind: Standby) -> Option<Self> {
        let directory = tempfile::tempdir().unwrap();
        let authority = TestAuthority::new("chaos");
        authority.issue(directory.path(), "server", &parameters(HOST, &[HOST]));
        let file = |name| std::fs::read_to_string(directory.path().join(name)).unwrap();
        let identity = (file("server.pem"), file("server.key"));
        let primary = PostgreSql::start_with_clock((&identity.0, &identity.1))?;
        let database = Self {
            kind,
            primary: Target::new(Ipv4Addr::LOCALHOST, primary.port()),
            authority,
            servers: Mutex::new(Servers {
                standby: primary.start_standby(),
                primary,
                former: Vec::new(),
            }),
        };
        database.require_standby(&database.servers.lock().unwrap());
        Some(database)
    }

    fn require_standby(&self, servers: &Servers) {
        if self.kind == Standby::Synchronous {
            servers.primary.require_standby();
        }
    }

    pub(super) fn new_database(&self) -> String {
        self.servers.lock().unwrap().primary.new_database()
    }

    pub(super) fn watch(&self, database: &str) {
        super::evidence::watch(&self.servers.lock().unwrap().primary, database);
    }

    pub(super) fn execute(&self, database: &str, statement: &str) -> String {
        let servers = self.servers.lock().unwrap();
        servers.primary.execute(database, statement)
    }

    /// What a statement returns on the primary, and on those before it.
    pub(super) fn execute_on_all(&self, database: &str, statement: &str) -> Vec<String> {
        let servers = self.servers.lock().unwrap();
        let mut texts = vec![servers.primary.execute(database, statement)];
        for former in &servers.former {
            former.come_back();
            texts.push(former.execute(database, statement));
            former.leave();
        }
        texts
    }

    /// A fault for a time. Returns when a primary answers, with the right time.
    pub(super) fn suffer(&self, fault: DatabaseFault, time: Duration) {
        let mut servers = self.servers.lock().unwrap();
        match fault {
            DatabaseFault::Restart => servers.primary.kill_and_wait(),
            DatabaseFault::FailOver => self.fail_over(&mut servers),
            DatabaseFault::Clock { hours } => {
                servers.primary.set_clock(hours);
                std::thread::sleep(time);
                servers.primary.set_clock(0);
            }
        }
    }

    fn fail_over(&self, servers: &mut Servers) {
        if self.kind == Standby::Asynchronous {
            servers.standby.end_stream();
            std::thread::sleep(LOST);
        }
        servers.primary.leave();
        servers.standby.promote();
        let port = servers.standby.port();
        self.primary.port.store(port, Ordering::Relaxed);
        let next = servers.standby.start_standby();
        let primary = std::mem::replace(&mut servers.standby, next);
        let former = std::mem::replace(&mut servers.primary, primary);
        if self.kind == Standby::Asynchronous {
            servers.former.push(former);
        }
        self.require_standby(servers);
    }
}
