//! A deterministic simulation of a fleet: nodes with clocks of their own, a database, devices, and faults by a seed.
//!
//! `SWITCHTENDER_SIMULATION=full cargo test -p switchtender --lib lease::simulation -- --nocapture` runs 10,000 seeds and
//! prints the counts; without it, a sample. A device ends older sessions at the first write of a new owner (class
//! session). The control has no fence, and must show stale writes.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use rand::rngs::SmallRng;
use rand::{RngExt as _, SeedableRng as _};
use test_support::stderr_note;
use tokio_util::sync::CancellationToken;

use super::memory::MemoryLeases;
use super::protocol::PROTOCOL;
use super::right::LeaseRight;
use super::rule::{LeaseRule, NodeSituation};
use super::shard;
use super::times::LeaseTimes;
use crate::clock::{self, BootTime};
use crate::history::leases::{LeaseAnswer, LeaseRequest, LeaseSubject, NodeRecord};
use crate::history::run::RunRight;

const NODES: usize = 3;
const SHARDS: u32 = 4;
const DEVICES: usize = 1000;
const TIMES: LeaseTimes = LeaseTimes {
    lease: Duration::from_millis(3000),
};
/// Milliseconds of a step and of a simulation.
const STEP: u64 = 50;
const END: u64 = 40_000;
/// A lossy failover forgets at most this time.
const LOSS: u64 = 2000;
/// Writes of an apply.
const WRITES: u32 = 6;

/// What simulations count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct SimulationCounts {
    writes: u64,
    /// Writes that a device accepted from a run after one of a later acquisition.
    stale: u64,
    /// Writes of a run that another run of the device had interrupted.
    overlapping: u64,
    /// Writes that a device refused because the session was ended.
    refused: u64,
    /// Writes that the fence refused.
    fenced: u64,
    applies: u64,
    /// Applies that the database refused because the device was being changed.
    barred: u64,
    takeovers: u64,
    faults: u64,
}

impl SimulationCounts {
    fn add(&mut self, other: Self) {
        self.writes += other.writes;
        self.stale += other.stale;
        self.overlapping += other.overlapping;
        self.refused += other.refused;
        self.fenced += other.fenced;
        self.applies += other.applies;
        self.barred += other.barred;
        self.takeovers += other.takeovers;
        self.faults += other.faults;
    }
}

/// The tables, with what a standby has received.
#[derive(Clone, Default)]
struct Tables {
    leases: MemoryLeases,
    /// Applies that have not ended: shard, epoch and run by device.
    open: BTreeMap<usize, (LeaseSubject, i64, u64)>,
}

struct Database {
    tables: Tables,
    /// Earlier states with their times.
    earlier: VecDeque<(u64, Tables)>,
    servers: u32,
    unreachable_until: u64,
}

/// A device of the class session.
#[derive(Clone, Default)]
struct SimulatedDevice {
    /// Runs with an open session.
    sessions: BTreeSet<u64>,
    /// The run and the order of the acquisition of the last write.
    last: Option<(u64, u64)>,
    /// Runs that others have interrupted.
    interrupted: BTreeSet<u64>,
}

struct SimulatedRun {
    id: u64,
    device: usize,
    right: Arc<LeaseRight>,
    /// The order of its acquisition among all of the simulation.
    order: u64,
    left: u32,
    next: u64,
    ends_sessions: bool,
    /// The fence permitted the write of the next step.
    is_checked: bool,
}

struct InFlight {
    request: LeaseRequest,
    sent: BootTime,
    applied_at: u64,
    arrives_at: u64,
    answer: Option<LeaseAnswer>,
}

struct SimulatedNode {
    name: String,
    boots: u32,
    /// Its clock: an offset in milliseconds, and a rate in thousandths.
    clock: (u64, u64),
    rule: LeaseRule,
    rights: BTreeMap<LeaseSubject, (Arc<LeaseRight>, u64)>,
    in_flight: Option<InFlight>,
    next_exchange: u64,
    runs: Vec<SimulatedRun>,
    paused_until: u64,
    dead_until: u64,
    cut_until: u64,
}

impl SimulatedNode {
    fn now(&self, time: u64) -> BootTime {
        let (offset, rate) = self.clock;
        BootTime::after_boot(Duration::from_millis(offset + time * rate / 1000))
    }

    fn start(&mut self) {
        let record = NodeRecord {
            name: self.name.clone(),
            boot: format!("{} {}", self.name, self.boots),
            protocol: PROTOCOL,
            runs: true,
            is_hub: true,
            ..NodeRecord::default()
        };
        self.rule = LeaseRule::new(TIMES, record);
        self.rights.clear();
        self.runs.clear();
        self.in_flight = None;
        self.next_exchange = 0;
    }
}

struct SimulatedFleet {
    dice: SmallRng,
    has_fence: bool,
    database: Database,
    nodes: Vec<SimulatedNode>,
    devices: Vec<SimulatedDevice>,
    shards: Vec<LeaseSubject>,
    numbers: u64,
    acquisitions: u64,
    margin: Arc<AtomicU64>,
    counts: SimulationCounts,
}

impl SimulatedFleet {
    fn new(seed: u64, has_fence: bool) -> Self {
        let mut dice = SmallRng::seed_from_u64(seed);
        let nodes = (0..NODES).map(|number| {
            let name = format!("node{number}");
            let mut node = SimulatedNode {
                rule: LeaseRule::new(TIMES, NodeRecord::default()),
                name,
                boots: 0,
                clock: (
                    dice.random_range(0..1_000_000),
                    dice.random_range(950..=1050),
                ),
                rights: BTreeMap::new(),
                in_flight: None,
                next_exchange: 0,
                runs: Vec::new(),
                paused_until: 0,
                dead_until: 0,
                cut_until: 0,
            };
            node.start();
            node
        });
        let nodes = nodes.collect();
        let shards = (0..DEVICES).map(|device| {
            LeaseSubject::Shard(shard::shard_of(&format!("sw{device}"), "default", SHARDS))
        });
        Self {
            has_fence,
            database: Database {
                tables: Tables {
                    leases: MemoryLeases::new(),
                    ..Tables::default()
                },
                earlier: VecDeque::new(),
                servers: 0,
                unreachable_until: 0,
            },
            nodes,
            devices: vec![SimulatedDevice::default(); DEVICES],
            shards: shards.collect(),
            numbers: 0,
            acquisitions: 0,
            margin: Arc::default(),
            counts: SimulationCounts::default(),
            dice,
        }
    }

    fn run(mut self) -> SimulationCounts {
        for time in (0..END).step_by(usize::try_from(STEP).expect("it is small")) {
            self.fail(time);
            self.remember(time);
            for number in 0..NODES {
                let node = &mut self.nodes[number];
                if node.dead_until > time {
                    continue;
                }
                if node.dead_until != 0 {
                    node.dead_until = 0;
                    node.start();
                }
                // What was sent arrives also while its sender is paused.
                self.apply_request(number, time);
                if self.nodes[number].paused_until > time {
                    continue;
                }
                self.receive(number, time);
                self.exchange(number, time);
                self.begin_apply(number, time);
                self.write(number, time);
            }
        }
        self.counts
    }

    /// Faults: about one in a second.
    fn fail(&mut self, time: u64) {
        if !self.dice.random_ratio(1, 20) {
            return;
        }
        self.counts.faults += 1;
        let number = self.dice.random_range(0..NODES);
        let node = &mut self.nodes[number];
        match self.dice.random_range(0..7) {
            0 => {
                // The process, or its host.
                node.boots += u32::from(self.dice.random_bool(0.5));
                node.dead_until = time + self.dice.random_range(200..6000);
            }
            1 | 2 => node.paused_until = time + self.dice.random_range(1500..9000),
            3 => node.cut_until = time + self.dice.random_range(500..8000),
            4 => self.database.unreachable_until = time + self.dice.random_range(200..6000),
            5 => self.fail_over(None),
            _ => {
                let lost = time.saturating_sub(self.dice.random_range(0..LOSS));
                self.fail_over(Some(lost));
            }
        }
    }

    /// Another server continues. `lost`: with the state of this time.
    fn fail_over(&mut self, lost: Option<u64>) {
        let database = &mut self.database;
        if let Some(time) = lost {
            let state = database.earlier.iter().rev().find(|(at, _)| *at <= time);
            if let Some((_, tables)) = state {
                database.tables = tables.clone();
            }
            database.earlier.clear();
        }
        database.servers += 1;
        database.tables.leases.server = format!("server {}", database.servers);
    }

    fn remember(&mut self, time: u64) {
        if time.is_multiple_of(250) {
            let database = &mut self.database;
            database.earlier.push_back((time, database.tables.clone()));
            while database
                .earlier
                .front()
                .is_some_and(|(at, _)| at + LOSS + 500 < time)
            {
                database.earlier.pop_front();
            }
        }
    }

    /// The database executes a request that has arrived.
    fn apply_request(&mut self, number: usize, time: u64) {
        let Some(in_flight) = &mut self.nodes[number].in_flight else {
            return;
        };
        if in_flight.answer.is_some() || in_flight.applied_at > time {
            return;
        }
        if self.database.unreachable_until > time {
            // It waits in a queue of the network.
            in_flight.applied_at = self.database.unreachable_until;
            in_flight.arrives_at = in_flight.arrives_at.max(in_flight.applied_at);
            return;
        }
        let tables = &mut self.database.tables;
        let answer = tables.leases.exchange(&in_flight.request);
        let acquired = in_flight.request.acquire.iter();
        for claim in acquired.filter(|claim| !claim.is_continued) {
            let Some(row) = tables.leases.leases.get(&claim.subject) else {
                continue;
            };
            let epoch = row.epoch;
            tables
                .open
                .retain(|_, (subject, of, _)| *subject != claim.subject || *of >= epoch);
        }
        in_flight.answer = Some(answer);
    }

    fn receive(&mut self, number: usize, time: u64) {
        let node = &mut self.nodes[number];
        let now = node.now(time);
        let Some(in_flight) = node.in_flight.take_if(|one| one.arrives_at <= time) else {
            return;
        };
        // An answer that does not arrive is an error of the connection.
        let answer = in_flight.answer.filter(|_| node.cut_until <= time);
        let Some(answer) = answer else {
            node.rule.no_answer(&in_flight.request);
            node.next_exchange = time + 250;
            return;
        };
        let times = (in_flight.sent, now);
        let changes = node.rule.answer(times, &in_flight.request, answer);
        self.counts.takeovers += u64::try_from(changes.taken_over).unwrap_or_default();
        let held = node.rule.held();
        node.rights.retain(|subject, (right, _)| {
            let is_held = held
                .get(subject)
                .is_some_and(|held| held.epoch == right.run.epoch);
            if !is_held {
                right.mark_lost();
            }
            is_held
        });
        let stop = CancellationToken::new();
        for (subject, held) in held {
            let (right, _) = node.rights.entry(subject.clone()).or_insert_with(|| {
                self.acquisitions += 1;
                let run = RunRight {
                    node: node.name.clone(),
                    shard: subject.name(),
                    epoch: held.epoch,
                };
                let right = LeaseRight::new((subject.clone(), run), TIMES, &stop, &self.margin);
                (Arc::new(right), self.acquisitions)
            });
            right.renew(held.sent, held.is_ending, &stop);
        }
        let next = node.rule.next_request(now).as_millis();
        node.next_exchange = time + u64::try_from(next).unwrap_or(u64::MAX);
    }

    fn exchange(&mut self, number: usize, time: u64) {
        let (there, back) = if self.dice.random_ratio(1, 50) {
            (
                self.dice.random_range(0..4000),
                self.dice.random_range(0..4000),
            )
        } else {
            (self.dice.random_range(0..60), self.dice.random_range(0..60))
        };
        let beat = self.dice.random();
        let node = &mut self.nodes[number];
        if node.in_flight.is_some() || node.next_exchange > time {
            return;
        }
        if node.cut_until > time {
            node.next_exchange = time + 250;
            return;
        }
        let busy = node.runs.iter().map(|run| run.right.subject.clone());
        let situation = NodeSituation {
            busy: busy.collect(),
            sites: BTreeMap::from([("default".to_owned(), SHARDS)]),
            ..NodeSituation::default()
        };
        let sent = node.now(time);
        let request = node.rule.request(sent, beat, &situation);
        for subject in &request.release {
            if let Some((right, _)) = node.rights.remove(subject) {
                right.mark_lost();
            }
        }
        for (subject, held) in node.rule.held() {
            if held.is_ending
                && let Some((right, _)) = node.rights.get(subject)
            {
                right.end();
            }
        }
        node.in_flight = Some(InFlight {
            request,
            sent,
            applied_at: time + there,
            arrives_at: time + there + back,
            answer: None,
        });
    }

    /// Begins an apply of a device, as the database permits it.
    fn begin_apply(&mut self, number: usize, time: u64) {
        let device = self.dice.random_range(0..DEVICES);
        // Few devices have most of the applies, so that nodes meet.
        let device = if self.dice.random_bool(0.8) {
            device % 8
        } else {
            device
        };
        let node = &mut self.nodes[number];
        let is_unreachable = node.cut_until > time || self.database.unreachable_until > time;
        if is_unreachable
            || node.runs.len() > 20
            || node.runs.iter().any(|run| run.device == device)
        {
            return;
        }
        let subject = &self.shards[device];
        let Some((right, order)) = node
            .rights
            .get(subject)
            .filter(|(right, _)| right.is_open())
        else {
            return;
        };
        let tables = &mut self.database.tables;
        let row = tables.leases.leases.get(subject);
        let is_owner = row.is_some_and(|row| {
            row.owner.as_ref() == Some(&node.name) && row.epoch == right.run.epoch
        });
        // An apply of this lease ended without a stored result.
        let is_elsewhere = tables.open.get(&device).is_some_and(|(of, epoch, _)| {
            of != subject || !tables.leases.is_held_since(subject, *epoch)
        });
        if self.has_fence && (!is_owner || is_elsewhere) {
            self.counts.barred += 1;
            return;
        }
        self.numbers += 1;
        tables
            .open
            .insert(device, (subject.clone(), right.run.epoch, self.numbers));
        self.counts.applies += 1;
        self.devices[device].sessions.insert(self.numbers);
        node.runs.push(SimulatedRun {
            id: self.numbers,
            device,
            ends_sessions: !right.has_changed(&device.to_string()),
            right: Arc::clone(right),
            order: *order,
            left: WRITES,
            next: time + self.dice.random_range(0..500),
            is_checked: false,
        });
    }

    /// Checks the fence, and writes in the step after it: a pause can be between both.
    fn write(&mut self, number: usize, time: u64) {
        let node = &mut self.nodes[number];
        let now = node.now(time);
        let mut ended = Vec::new();
        for run in &mut node.runs {
            if run.next > time {
                continue;
            }
            if !run.is_checked {
                let checked = run.right.check_at(now);
                if self.has_fence && checked.is_err() {
                    self.counts.fenced += 1;
                    ended.push(run.id);
                    continue;
                }
                run.is_checked = true;
                continue;
            }
            run.is_checked = false;
            run.next = time + self.dice.random_range(50..300);
            let device = &mut self.devices[run.device];
            if self.has_fence && run.ends_sessions {
                device.sessions.retain(|session| *session == run.id);
                run.ends_sessions = false;
            }
            if !device.sessions.contains(&run.id) {
                self.counts.refused += 1;
                ended.push(run.id);
                continue;
            }
            self.counts.writes += 1;
            if let Some((last, order)) = device.last
                && last != run.id
            {
                device.interrupted.insert(last);
                self.counts.stale += u64::from(order > run.order);
                self.counts.overlapping += u64::from(device.interrupted.contains(&run.id));
            }
            device.last = Some((run.id, run.order));
            run.right.set_changed(&run.device.to_string());
            run.left -= 1;
            if run.left == 0 {
                ended.push(run.id);
            }
        }
        let is_unreachable = node.cut_until > time || self.database.unreachable_until > time;
        for run in node.runs.extract_if(.., |run| ended.contains(&run.id)) {
            self.devices[run.device].sessions.remove(&run.id);
            let open = &mut self.database.tables.open;
            // The result of another run, or a late one, ends nothing.
            if !is_unreachable
                && open
                    .get(&run.device)
                    .is_some_and(|(_, _, id)| *id == run.id)
            {
                open.remove(&run.device);
            }
        }
    }
}

fn simulate(seeds: std::ops::Range<u64>, has_fence: bool) -> SimulationCounts {
    let mut all = SimulationCounts::default();
    for seed in seeds {
        let counts = SimulatedFleet::new(seed, has_fence).run();
        assert!(
            !has_fence || (counts.stale, counts.overlapping) == (0, 0),
            "seed {seed}: {counts:?}"
        );
        all.add(counts);
    }
    all
}

#[test]
fn no_write_is_stale_and_no_applies_overlap() {
    let is_full = std::env::var("SWITCHTENDER_SIMULATION").is_ok_and(|text| text == "full");
    let seeds = if is_full { 10_000 } else { 60 };
    let (half, start) = (seeds / 2, clock::instant());
    let counts = std::thread::scope(|scope| {
        let parts = [0..half, half..seeds].map(|part| scope.spawn(|| simulate(part, true)));
        let mut all = SimulationCounts::default();
        for part in parts {
            all.add(part.join().unwrap());
        }
        all
    });
    let seconds = start.elapsed().as_secs();
    stderr_note::print(&format!(
        "{seeds} seeds, {NODES} nodes, {DEVICES} devices: {counts:?}, {seconds} s"
    ));
    let reached = [
        counts.fenced,
        counts.refused,
        counts.takeovers,
        counts.barred,
    ];
    assert!(reached.iter().all(|count| *count > 0), "{counts:?}");
    assert!(counts.writes > seeds * 100, "{counts:?}");
}

#[test]
fn control_without_the_fence_shows_stale_writes() {
    let counts = simulate(0..20, false);
    stderr_note::print(&format!("control: {counts:?}"));
    assert!(counts.stale > 0 && counts.overlapping > 0, "{counts:?}");
}
