//! Two processes at a REST interface, which has neither sessions nor a lock. What keeps them apart is a common state
//! directory or database. Without one, requests of both are mixed, and each is complete.

use serde_json::json;
use test_support::catalog::resource;
use test_support::interrupt;
use test_support::lab::Lab;
use test_support::postgresql::PostgreSql;
use test_support::program::ProgramOutput;
use tokio::process::Child;

use super::{FIRST, LIMIT, SECOND, command};

const POOLS: [&str; 6] = [
    "/Common/a",
    "/Common/b",
    "/Common/c",
    "/Common/d",
    "/Common/e",
    "/Common/f",
];

/// A load balancer whose pools one process describes while another one wants something else.
struct Contest {
    lab: Lab,
    /// The database of both processes. `None`: neither has a store.
    store: Option<String>,
}

impl Contest {
    /// The pools exist. With a store, both state directories have its key.
    async fn new(store: Option<String>) -> Self {
        let mut lab = Lab::new();
        lab.add_load_balancer("lb1", &["latency=50ms"]).await;
        let contest = Self { lab, store };
        contest.desire("before");
        contest.apply(FIRST).await.assert_code(2);
        if contest.store.is_some() {
            let key = |state: &str| contest.lab.path(state).join("state.key");
            std::fs::create_dir_all(contest.lab.path(SECOND)).unwrap();
            std::fs::copy(key(FIRST), key(SECOND)).unwrap();
        }
        contest.lab.log("lb1").clear();
        contest
    }

    fn desire(&self, description: &str) {
        let pool = json!({"ensure": "present", "description": description});
        let pools = POOLS.map(|name| resource("F5_pool", name, pool.clone()));
        self.lab.write_resources("lb1", &pools);
    }

    fn command(&self, state: &str) -> tokio::process::Command {
        let mut command = command(&self.lab, state);
        if let Some(store) = &self.store {
            command.args(["--store", store]);
        }
        command
    }

    async fn apply(&self, state: &str) -> ProgramOutput {
        ended(self.command(state).spawn().unwrap()).await
    }

    /// Starts a process, and stops it after its second change.
    async fn start_and_stop(&self) -> Child {
        self.desire("first");
        let child = self.command(FIRST).spawn().unwrap();
        let changed = async {
            while self
                .descriptions()
                .iter()
                .filter(|text| *text == "first")
                .count()
                < 2
            {
                tokio::time::sleep(std::time::Duration::from_millis(5)).await;
            }
        };
        let changed = tokio::time::timeout(LIMIT, changed).await;
        assert!(changed.is_ok(), "{:?}", self.lab.log("lb1").received());
        interrupt::send(child.id().unwrap(), "-STOP");
        self.desire("second");
        child
    }

    /// What the pools have now.
    fn descriptions(&self) -> Vec<String> {
        let text = |name: &str| {
            let pool = format!("ltm/pool/{}", name.replace('/', "~"));
            let found = self.lab.load_balancers["lb1"].get(&pool);
            let found = found.unwrap_or_else(|| panic!("no {pool}"));
            found["description"].as_str().unwrap_or_default().to_owned()
        };
        POOLS.iter().map(|name| text(name)).collect()
    }

    fn count(&self, description: &str) -> usize {
        self.descriptions()
            .iter()
            .filter(|text| *text == description)
            .count()
    }
}

async fn continued(child: Child) -> ProgramOutput {
    interrupt::send(child.id().unwrap(), "-CONT");
    ended(child).await
}

async fn ended(child: Child) -> ProgramOutput {
    let output = tokio::time::timeout(LIMIT, child.wait_with_output()).await;
    ProgramOutput::from(output.expect("it ends").expect("an output"))
}

/// As `docs/security.md` says of `timing`: nothing keeps the processes apart.
#[tokio::test(flavor = "multi_thread")]
async fn requests_of_two_processes_without_a_common_state_are_mixed_and_each_is_complete() {
    let contest = Contest::new(None).await;
    let first = contest.start_and_stop().await;
    contest.apply(SECOND).await.assert_code(2);
    assert_eq!(contest.count("second"), POOLS.len());
    // The first one goes on where it was.
    continued(first).await;
    let (first, second) = (contest.count("first"), contest.count("second"));
    assert!(first > 0 && second > 0, "{:?}", contest.descriptions());
    assert_eq!(first + second, POOLS.len());
    // The next run of either finds what the other one has left.
    contest.apply(SECOND).await.assert_code(2);
    assert_eq!(contest.count("second"), POOLS.len());
    contest.apply(SECOND).await.assert_code(0);
}

#[tokio::test(flavor = "multi_thread")]
async fn second_process_of_a_state_directory_is_refused() {
    let contest = Contest::new(None).await;
    let first = contest.start_and_stop().await;
    let process = first.id().unwrap();
    let second = contest.apply(FIRST).await;
    second.assert_contains(&format!("another run has locked lb1 (process {process}, "));
    assert_eq!(contest.count("second"), 0);
    continued(first).await.assert_code(2);
    assert_eq!(contest.count("first"), POOLS.len());
}

#[tokio::test(flavor = "multi_thread")]
async fn second_host_of_a_database_is_refused_until_the_first_one_ends() {
    let Some(server) = PostgreSql::shared() else {
        return;
    };
    let contest = Contest::new(Some(server.address(&server.new_database()))).await;
    let first = contest.start_and_stop().await;
    let process = first.id().unwrap();
    let second = contest.apply(SECOND).await;
    second.assert_contains(&format!(
        "another run has locked lb1 (process {process} on "
    ));
    assert_eq!(contest.count("second"), 0);
    // A plan changes nothing, and needs no lock.
    let store = contest.store.as_deref().unwrap();
    let plan = ["plan", "--state-dir", SECOND, "--store", store];
    contest.lab.run(&plan).await.assert_code(0);
    continued(first).await.assert_code(2);
    assert_eq!(contest.count("first"), POOLS.len());
    contest.apply(SECOND).await.assert_code(2);

    // The lock of a killed process ends with it.
    let mut killed = contest.start_and_stop().await;
    killed.kill().await.unwrap();
    contest.apply(SECOND).await.assert_code(2);
    assert_eq!(contest.count("second"), POOLS.len());
}

/// The database gives the lock to another process after its restart: the first one notices before it writes.
#[tokio::test(flavor = "multi_thread")]
async fn process_that_lost_its_lock_writes_no_more() {
    if PostgreSql::shared().is_none() {
        return;
    }
    let server = PostgreSql::start(None).unwrap();
    let contest = Contest::new(Some(server.address(&server.new_database()))).await;
    let first = contest.start_and_stop().await;
    server.kill_and_wait();
    contest.apply(SECOND).await.assert_code(2);
    assert_eq!(contest.count("second"), POOLS.len());
    let first = continued(first).await;
    first.assert_contains("the connection to the database was lost, and with it the lock of lb1");
    assert_eq!(contest.count("second"), POOLS.len());
}
