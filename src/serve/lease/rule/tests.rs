//! Cases of the rule of leases: each node decides by it alone.

use super::super::memory::MemoryLeases;
use super::*;

const LEASE: Duration = Duration::from_secs(120);

/// A node with a clock of its own.
struct TestNode {
    rule: LeaseRule,
    situation: NodeSituation,
}

fn record(name: &str) -> NodeRecord {
    NodeRecord {
        name: name.to_owned(),
        boot: format!("boot of {name}"),
        program: "1.0.0".to_owned(),
        protocol: 3,
        runs: true,
        is_hub: true,
        ..NodeRecord::default()
    }
}

fn node(record: NodeRecord) -> TestNode {
    let situation = NodeSituation {
        sites: BTreeMap::from([("default".to_owned(), 2)]),
        has_puppetdb: true,
        webhooks: vec!["chat".to_owned()],
        ..NodeSituation::default()
    };
    TestNode {
        rule: LeaseRule::new(LeaseTimes { lease: LEASE }, record),
        situation,
    }
}

fn at(seconds: u64) -> BootTime {
    BootTime::after_boot(Duration::from_secs(seconds))
}

impl TestNode {
    fn exchange(&mut self, store: &mut MemoryLeases, seconds: u64) -> LeaseChanges {
        let now = at(seconds);
        let beat =
            i64::try_from(seconds).unwrap() * 1000 + i64::from(self.rule.node().name.as_bytes()[0]);
        let request = self.rule.request(now, beat, &self.situation);
        let answer = store.exchange(&request);
        self.rule.answer((now, now), &request, answer)
    }

    /// Exchanges until there is nothing to acquire now.
    fn exchange_all(&mut self, store: &mut MemoryLeases, seconds: u64) {
        for _ in 0..4 {
            self.exchange(store, seconds);
        }
    }

    fn shards(&self) -> Vec<String> {
        let held = self.rule.held.keys();
        held.filter(|subject| matches!(subject, LeaseSubject::Shard(_)))
            .map(ToString::to_string)
            .collect()
    }
}

fn all_shards() -> Vec<String> {
    vec!["shard:default/0".to_owned(), "shard:default/1".to_owned()]
}

#[test]
fn one_node_acquires_all_at_once() {
    let mut store = MemoryLeases::new();
    let mut a = node(record("a"));
    a.exchange_all(&mut store, 0);
    assert_eq!(a.shards(), all_shards());
    assert_eq!(a.rule.held.len(), 2 + FleetTask::ALL.len());
    assert_eq!(a.rule.refusal(at(0)), None);
}

#[test]
fn dead_owner_is_replaced_after_the_takeover_time_on_the_own_clock() {
    let mut store = MemoryLeases::new();
    let mut a = node(record("a"));
    a.exchange_all(&mut store, 0);
    // The clock of the other machine has another zero.
    let mut b = node(record("b"));
    b.exchange_all(&mut store, 5000);
    assert!(b.shards().is_empty());
    let shard = Shard {
        site: "default".to_owned(),
        number: 0,
    };
    b.exchange(&mut store, 5131);
    assert!(b.shards().is_empty());
    assert_eq!(
        b.rule.shard_problem(&shard, at(5131)),
        ShardProblem::Takeover(Duration::from_secs(1))
    );
    let changes = b.exchange(&mut store, 5132);
    assert_eq!(
        (b.shards(), changes.taken_over),
        (all_shards(), 2 + FleetTask::ALL.len())
    );
    // The former owner learns it, and gets its part again in turn.
    let changes = a.exchange(&mut store, 200);
    assert_eq!(changes.lost.len(), 2 + FleetTask::ALL.len());
    assert!(a.shards().is_empty());
}

#[test]
fn a_shorter_lease_takes_nothing_over_before_the_longer_one_of_the_owner_has_ended() {
    let mut store = MemoryLeases::new();
    let mut a = node(record("a"));
    a.exchange_all(&mut store, 0);
    let mut b = node(record("b"));
    let lease = LEASE / 10;
    b.rule = LeaseRule::new(LeaseTimes { lease }, record("b"));
    b.exchange_all(&mut store, 5000);
    b.exchange(&mut store, 5131);
    assert!(b.shards().is_empty());
    b.exchange(&mut store, 5132);
    assert_eq!(b.shards(), all_shards());
}

#[test]
fn name_and_leases_stay_after_a_long_outage_of_the_store() {
    let mut store = MemoryLeases::new();
    let mut a = node(record("a"));
    a.exchange_all(&mut store, 0);
    for beat in 0..200 {
        let request = a.rule.request(at(10), -1 - beat, &a.situation);
        a.rule.no_answer(&request);
    }
    // They have expired, and nobody else wanted them.
    let all = 2 + FleetTask::ALL.len();
    assert_eq!(a.exchange(&mut store, 2000).lost.len(), all);
    let changes = a.exchange(&mut store, 2000);
    assert_eq!((changes.acquired.len(), changes.taken_over), (all, 0));
    assert_eq!(a.shards(), all_shards());
}

/// Whether each claim of the next request is of a lease that the process had.
fn continued(node: &mut TestNode, seconds: u64) -> Vec<bool> {
    let request = node.rule.request(at(seconds), -1, &node.situation);
    node.rule.no_answer(&request);
    let claims = request.acquire.iter();
    claims.map(|claim| claim.is_continued).collect()
}

#[test]
fn runs_go_on_if_their_process_takes_an_expired_lease_back() {
    let all = 2 + FleetTask::ALL.len();
    let mut store = MemoryLeases::new();
    let mut a = node(record("a"));
    a.exchange_all(&mut store, 0);
    a.exchange(&mut store, 500);
    assert_eq!(continued(&mut a, 500), vec![true; all]);
    // The successor of a process that was killed has none of its runs.
    let mut successor = node(record("a"));
    let mut same = store.clone();
    successor.exchange(&mut same, 501);
    successor.exchange(&mut same, 501);
    assert_eq!(continued(&mut successor, 501), vec![false; all]);
    // Another node had it between.
    let mut b = node(record("b"));
    b.exchange(&mut store, 5000);
    b.exchange(&mut store, 5132);
    a.exchange(&mut store, 1000);
    b.situation.is_stopped = true;
    b.exchange(&mut store, 5133);
    a.exchange(&mut store, 1001);
    assert_eq!(continued(&mut a, 1001), vec![false; all]);
}

#[test]
fn tasks_go_to_hubs_that_can_do_them() {
    let task = |task| LeaseSubject::Task(task).to_string();
    let mut store = MemoryLeases::new();
    let mut without = node(record("a"));
    without.situation.has_puppetdb = false;
    without.situation.webhooks.clear();
    without.exchange_all(&mut store, 0);
    let retention = LeaseSubject::Task(FleetTask::Retention);
    let tasks = |node: &TestNode| {
        let held = node.rule.held.keys();
        let tasks = held.filter(|subject| matches!(subject, LeaseSubject::Task(_)));
        tasks.map(ToString::to_string).collect::<Vec<_>>()
    };
    assert_eq!(tasks(&without), [retention.to_string()]);
    let mut with = node(record("b"));
    with.exchange_all(&mut store, 0);
    let both = [task(FleetTask::PuppetDb), task(FleetTask::Webhooks)];
    for name in &both {
        assert!(tasks(&with).contains(name), "{name}");
    }
    // Its settings change.
    with.situation.webhooks.clear();
    with.exchange_all(&mut store, 10);
    assert!(!tasks(&with).contains(&both[1]));
}

#[test]
fn node_that_starts_no_run_has_no_shards() {
    let mut store = MemoryLeases::new();
    let mut a = node(record("a"));
    a.exchange_all(&mut store, 0);
    a.situation.no_runs = Some("the spool is full".to_owned());
    a.exchange_all(&mut store, 10);
    assert!(a.shards().is_empty());
    assert!(!a.rule.held.is_empty(), "it does tasks");
    assert_eq!(a.rule.sites_without_node(at(10)), ["default"]);
    assert_eq!(
        a.rule.idle_nodes("default", at(10)),
        ["no run begins on the node a: the spool is full"]
    );
    let mut b = node(record("b"));
    b.exchange_all(&mut store, 0);
    assert_eq!(b.shards(), all_shards());
    a.situation.no_runs = None;
    a.exchange_all(&mut store, 20);
    assert!(a.rule.idle_nodes("default", at(20)).is_empty());
    // Pages only: it never has some.
    let mut pages = node(NodeRecord {
        runs: false,
        ..record("c")
    });
    pages.situation.no_runs = Some("the node has no devices".to_owned());
    pages.exchange_all(&mut store, 0);
    assert_eq!(pages.rule.node().no_runs, None);
}

#[test]
fn a_lost_node_with_a_long_lease_delays_the_leases_of_no_other_one() {
    let mut store = MemoryLeases::new();
    let mut long = node(NodeRecord {
        sites: vec!["berlin".to_owned()],
        ..record("l")
    });
    let hour = Duration::from_secs(3600);
    let berlin = NodeRecord {
        sites: vec!["berlin".to_owned()],
        is_hub: false,
        ..record("l")
    };
    long.rule = LeaseRule::new(LeaseTimes { lease: hour }, berlin);
    long.situation.sites = BTreeMap::from([("berlin".to_owned(), 1)]);
    long.exchange_all(&mut store, 0);
    let mut a = node(record("a"));
    a.exchange_all(&mut store, 0);
    assert_eq!(a.shards(), all_shards());
    let mut b = node(record("b"));
    b.exchange_all(&mut store, 0);
    b.exchange(&mut store, 132);
    assert_eq!(b.shards(), all_shards());
    // After another start of the server, it can have renewed what is forgotten.
    store.server = "second".to_owned();
    b.exchange(&mut store, 5000);
    assert_eq!(b.rule.amnesty(at(5000)), Some(hour * 11 / 10));
    store.nodes.get_mut("l").unwrap().is_evicted = true;
    b.exchange(&mut store, 5001);
    assert_eq!(b.rule.amnesty(at(5001)), Some(Duration::from_secs(131)));
}

#[test]
fn expired_lease_is_not_renewed_on_a_server_that_forgot_who_took_it() {
    let mut store = MemoryLeases::new();
    let mut a = node(record("a"));
    a.exchange_all(&mut store, 0);
    let mut b = node(record("b"));
    b.exchange_all(&mut store, 5000);
    let mut standby = store.clone();
    b.exchange_all(&mut store, 5132);
    assert_eq!(b.shards(), all_shards());
    // The standby has not received that, and becomes the server.
    standby.server = "second".to_owned();
    a.exchange_all(&mut standby, 132);
    assert!(a.shards().is_empty());
    // The other one has not expired, but its leases are forgotten, too.
    assert!(!b.exchange(&mut standby, 5133).lost.is_empty());
    a.exchange_all(&mut standby, 263);
    assert!(a.shards().is_empty());
    a.exchange_all(&mut standby, 264);
    assert_eq!(a.shards(), all_shards());
}

#[test]
fn leases_are_renewed_when_the_server_is_known() {
    let mut store = MemoryLeases::new();
    let mut a = node(record("a"));
    a.exchange_all(&mut store, 0);
    let sent = |a: &TestNode| a.rule.held.values().map(|held| held.sent).max();
    store.server = "second".to_owned();
    assert_eq!(a.exchange(&mut store, 10), LeaseChanges::default());
    assert_eq!(sent(&a), Some(at(0)));
    assert_eq!(a.rule.next_request(at(10)), Duration::ZERO);
    assert_eq!(a.exchange(&mut store, 11), LeaseChanges::default());
    assert_eq!(sent(&a), Some(at(11)));
}

#[test]
fn restarted_process_takes_its_own_leases_back_at_once() {
    let mut store = MemoryLeases::new();
    node(record("a")).exchange_all(&mut store, 0);
    let mut again = node(record("a"));
    again.exchange_all(&mut store, 1);
    assert_eq!(again.shards(), all_shards());
    // Another machine with this name waits, and says so.
    let mut other = node(NodeRecord {
        boot: "another".to_owned(),
        ..record("a")
    });
    other.exchange_all(&mut store, 0);
    assert!(
        other
            .rule
            .refusal(at(0))
            .unwrap()
            .contains("another process is the node `a`")
    );
    other.exchange_all(&mut store, 131);
    assert!(other.shards().is_empty());
    // It takes the name first, and the leases as those of another machine.
    other.exchange_all(&mut store, 132);
    assert_eq!(other.rule.refusal(at(132)), None);
    assert_eq!(other.shards(), all_shards());
    assert_eq!(
        again.exchange(&mut store, 200).lost.len(),
        2 + FleetTask::ALL.len()
    );
}

#[test]
fn nobody_acquires_after_another_start_of_the_database() {
    let mut store = MemoryLeases::new();
    let mut a = node(record("a"));
    a.exchange_all(&mut store, 0);
    store.server = "second".to_owned();
    // The owner renews.
    a.exchange_all(&mut store, 10);
    assert_eq!(a.shards(), all_shards());
    a.situation.is_stopped = true;
    a.exchange(&mut store, 20);
    let mut b = node(record("b"));
    b.exchange_all(&mut store, 1000);
    let shard = Shard {
        site: "default".to_owned(),
        number: 0,
    };
    assert_eq!(
        b.rule.shard_problem(&shard, at(1000)),
        ShardProblem::Amnesty(Duration::from_secs(132))
    );
    b.exchange_all(&mut store, 1131);
    assert!(b.shards().is_empty());
    b.exchange_all(&mut store, 1132);
    assert_eq!(b.shards(), all_shards());
}

#[test]
fn lost_answer_ends_no_lease() {
    let mut store = MemoryLeases::new();
    let mut a = node(record("a"));
    a.exchange_all(&mut store, 0);
    let request = a.rule.request(at(10), 77, &a.situation);
    store.exchange(&request);
    a.rule.no_answer(&request);
    assert_eq!(a.exchange(&mut store, 20), LeaseChanges::default());
    assert_eq!(a.shards(), all_shards());
}

#[test]
fn sites_with_an_own_node_are_never_run_from_elsewhere() {
    let mut store = MemoryLeases::new();
    let mut general = node(record("general"));
    general.situation.sites = BTreeMap::from([("berlin".to_owned(), 1), ("default".to_owned(), 1)]);
    let own = NodeRecord {
        sites: vec!["berlin".to_owned()],
        ..record("ber-1")
    };
    let mut own = node(own);
    own.situation.sites = general.situation.sites.clone();
    own.exchange_all(&mut store, 0);
    general.exchange_all(&mut store, 0);
    own.exchange_all(&mut store, 0);
    assert_eq!(general.shards(), ["shard:default/0"]);
    assert_eq!(own.shards(), ["shard:berlin/0"]);
    // It is gone for good: an error, no fallback.
    general.exchange_all(&mut store, 1000);
    let berlin = Shard {
        site: "berlin".to_owned(),
        number: 0,
    };
    assert_eq!(general.shards(), ["shard:default/0"]);
    assert_eq!(
        general.rule.shard_problem(&berlin, at(1000)),
        ShardProblem::NoNode
    );
}

#[test]
fn drained_node_releases_a_shard_when_its_runs_have_ended() {
    let mut store = MemoryLeases::new();
    let mut a = node(record("a"));
    a.exchange_all(&mut store, 0);
    store.nodes.get_mut("a").unwrap().is_draining = true;
    let busy = LeaseSubject::Shard(Shard {
        site: "default".to_owned(),
        number: 1,
    });
    a.situation.busy.insert(busy.clone());
    a.exchange_all(&mut store, 10);
    assert_eq!(a.shards(), ["shard:default/1"]);
    assert!(a.rule.held[&busy].is_ending);
    a.situation.busy.clear();
    a.exchange_all(&mut store, 20);
    assert!(a.rule.held.is_empty());
    // A restart ends the wish.
    node(record("a")).exchange_all(&mut store, 30);
    assert!(!store.nodes["a"].is_draining);
}

#[test]
fn release_without_an_answer_is_repeated() {
    let mut store = MemoryLeases::new();
    let mut a = node(record("a"));
    a.exchange_all(&mut store, 0);
    store.nodes.get_mut("a").unwrap().is_draining = true;
    a.exchange(&mut store, 10);
    // The others wait for no renewal.
    assert_eq!(a.rule.next_request(at(10)), Duration::ZERO);
    let lost = a.rule.request(at(10), 77, &a.situation);
    a.rule.no_answer(&lost);
    assert!(a.rule.held.is_empty());
    assert!(store.leases.values().all(|row| row.owner.is_some()));
    a.exchange(&mut store, 20);
    assert!(store.leases.values().all(|row| row.owner.is_none()));
}

#[test]
fn shards_move_slowly_to_a_new_node() {
    let mut store = MemoryLeases::new();
    let mut a = node(record("a"));
    a.situation.sites = BTreeMap::from([("default".to_owned(), 40)]);
    a.exchange_all(&mut store, 0);
    let mut b = node(record("b"));
    b.exchange_all(&mut store, 0);
    a.exchange_all(&mut store, 10);
    assert_eq!(a.shards().len(), 38, "a twentieth in a minute");
    a.exchange_all(&mut store, 50);
    assert_eq!(a.shards().len(), 38);
    for second in (70..2000).step_by(30) {
        a.exchange(&mut store, second);
        b.exchange(&mut store, second);
    }
    let (a, b) = (a.shards().len(), b.shards().len());
    assert!(a + b == 40 && a.abs_diff(b) < 16, "{a} {b}");
}

#[test]
fn all_nodes_together_move_a_twentieth_of_the_shards_in_a_minute() {
    let mut store = MemoryLeases::new();
    let mut nodes: Vec<TestNode> = ["a", "b", "c", "d"].map(|name| node(record(name))).into();
    for one in &mut nodes {
        one.situation.sites = BTreeMap::from([("default".to_owned(), 160)]);
    }
    let shards_of = |nodes: &[TestNode]| nodes.iter().map(|one| one.shards().len()).sum::<usize>();
    nodes[0].exchange_all(&mut store, 0);
    for second in (10..4000).step_by(30) {
        for one in &mut nodes {
            one.exchange(&mut store, second);
        }
    }
    assert_eq!(shards_of(&nodes), 160);
    node(record("e")).exchange(&mut store, 0);
    for second in [4000, 4030] {
        for one in &mut nodes {
            one.exchange(&mut store, second);
        }
    }
    assert_eq!(shards_of(&nodes), 160 - 8);
}

#[test]
fn leases_of_a_dead_owner_whose_site_is_gone_are_released() {
    let mut store = MemoryLeases::new();
    let mut dead = node(NodeRecord {
        sites: vec!["berlin".to_owned()],
        is_hub: false,
        ..record("a")
    });
    dead.situation.sites = BTreeMap::from([("berlin".to_owned(), 2)]);
    dead.exchange_all(&mut store, 0);
    assert_eq!(dead.shards(), ["shard:berlin/0", "shard:berlin/1"]);
    // A release moved its devices to another site, and retention removed this one.
    store.sites.remove("berlin");
    let mut hub = node(record("b"));
    hub.exchange_all(&mut store, 0);
    for second in [50, 100, 131] {
        hub.exchange(&mut store, second);
        assert_eq!(hub.shards(), all_shards());
    }
    let changes = hub.exchange(&mut store, 132);
    assert_eq!(changes.taken_over, 2, "the runs of the dead owner end");
    let ending = hub.rule.held().values().filter(|held| held.is_ending);
    assert_eq!(ending.count(), 2, "no run begins with them");
    hub.exchange(&mut store, 133);
    assert_eq!(hub.shards(), all_shards());
    let mut leases = store.leases.values();
    let is_owned = |row: &LeaseRow| {
        matches!(&row.subject, LeaseSubject::Shard(shard) if shard.site == "berlin")
            && row.owner.is_some()
    };
    assert!(!leases.any(is_owned));
    // Nobody needs them.
    assert_eq!(hub.exchange(&mut store, 140), LeaseChanges::default());
}

#[test]
fn number_of_shards_changes_when_all_are_free() {
    let mut store = MemoryLeases::new();
    let mut a = node(record("a"));
    a.exchange_all(&mut store, 0);
    store.sites.get_mut("default").unwrap().next_shards = Some(1);
    let busy = LeaseSubject::Shard(Shard {
        site: "default".to_owned(),
        number: 1,
    });
    a.situation.busy.insert(busy);
    a.exchange_all(&mut store, 10);
    assert_eq!(store.sites["default"].shards, 2);
    a.situation.busy.clear();
    a.exchange_all(&mut store, 20);
    assert_eq!(store.sites["default"].shards, 1);
    assert_eq!(a.shards(), ["shard:default/0"]);
}

#[test]
fn a_wish_to_drain_outlives_the_loss_of_the_name() {
    let mut store = MemoryLeases::new();
    let mut a = node(record("a"));
    a.exchange_all(&mut store, 0);
    let row = store.nodes.get_mut("a").unwrap();
    row.is_draining = true;
    // A failover lost the beats that the node knows.
    row.beat = -1;
    a.exchange(&mut store, 10);
    assert!(!a.rule.has_name());
    for seconds in [142, 143] {
        a.exchange(&mut store, seconds);
    }
    assert!(a.rule.has_name());
    assert!(store.nodes["a"].is_draining);
    assert!(a.shards().is_empty());
}

#[test]
fn two_protocols_share_a_fleet_and_an_older_one_is_refused() {
    let mut store = MemoryLeases::new();
    let mut newest = node(record("new"));
    let mut before = node(NodeRecord {
        protocol: 2,
        ..record("before")
    });
    let mut old = node(NodeRecord {
        protocol: 1,
        ..record("old")
    });
    old.exchange_all(&mut store, 0);
    assert_eq!(old.shards(), all_shards());
    before.exchange_all(&mut store, 0);
    newest.exchange_all(&mut store, 0);
    old.exchange_all(&mut store, 10);
    let refusal = old.rule.refusal(at(10)).unwrap();
    assert!(
        refusal.contains("too old for the fleet: its protocol is 1, that of other nodes is 3"),
        "{refusal}"
    );
    assert!(old.rule.held.is_empty());
    for second in [20, 30] {
        before.exchange_all(&mut store, second);
        newest.exchange_all(&mut store, second);
    }
    assert_eq!(before.rule.refusal(at(30)), None);
    assert_eq!(before.shards().len() + newest.shards().len(), 2);
}
