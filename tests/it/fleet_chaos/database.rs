//! The database of the processes, and its end.

use std::sync::atomic::{AtomicU16, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use test_support::postgresql::PostgreSql;

/// How long a standby gets nothing before a failover that loses it.
const LOST: Duration = Duration::from_millis(1500);

/// What happens to the database.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum DatabaseFault {
    /// It is killed, and starts again.
    #[default]
    Restart,
    /// It ends, and its synchronous standby becomes the primary.
    FailOver,
    /// It ends, and a standby becomes the primary that lacks what was committed last.
    LossyFailOver,
}

pub(super) struct Database {
    fault: DatabaseFault,
    /// The port of the primary.
    pub(super) port: Arc<AtomicU16>,
    servers: Mutex<Servers>,
}

struct Servers {
    primary: PostgreSql,
    standby: Option<PostgreSql>,
    former: Vec<PostgreSql>,
}

impl Database {
    /// `None`: PostgreSQL is missing.
    pub(super) fn start(fault: DatabaseFault) -> Option<Self> {
        let primary = PostgreSql::start(None)?;
        let database = Self {
            fault,
            port: Arc::new(AtomicU16::new(primary.port())),
            servers: Mutex::new(Servers {
                primary,
                standby: None,
                former: Vec::new(),
            }),
        };
        database.add_standby(&mut database.servers.lock().unwrap());
        Some(database)
    }

    fn add_standby(&self, servers: &mut Servers) {
        if self.fault == DatabaseFault::Restart {
            return;
        }
        servers.standby = Some(servers.primary.start_standby());
        if self.fault == DatabaseFault::FailOver {
            servers.primary.require_standby();
        }
    }

    pub(super) fn new_database(&self) -> String {
        self.servers.lock().unwrap().primary.new_database()
    }

    pub(super) fn execute(&self, database: &str, statement: &str) -> String {
        let servers = self.servers.lock().unwrap();
        servers.primary.execute(database, statement)
    }

    /// What a statement returns on the primary, and on those before it.
    pub(super) fn execute_on_all(&self, database: &str, statement: &str) -> String {
        let servers = self.servers.lock().unwrap();
        let mut text = servers.primary.execute(database, statement);
        for former in &servers.former {
            former.come_back();
            text.push('\n');
            text.push_str(&former.execute(database, statement));
            former.leave();
        }
        text
    }

    /// The fault. Returns when a primary answers.
    pub(super) fn fail(&self) {
        let mut servers = self.servers.lock().unwrap();
        let Some(standby) = servers.standby.take() else {
            return servers.primary.kill_and_wait();
        };
        if self.fault == DatabaseFault::LossyFailOver {
            standby.end_stream();
            std::thread::sleep(LOST);
        }
        servers.primary.leave();
        standby.promote();
        self.port.store(standby.port(), Ordering::Relaxed);
        let former = std::mem::replace(&mut servers.primary, standby);
        servers.former.push(former);
        self.add_standby(&mut servers);
    }
}
