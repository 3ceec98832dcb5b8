//! The rules of the fence, in all interleavings of two processes that change one device.
//!
//! A write that was sent can arrive at any later time, and a process can pause between any two steps. The variants
//! leave out rules: nothing less than a complete one prevents a stale write, that is one that arrives after the
//! first write under a newer lease.

use std::collections::BTreeSet;

use stateright::{Checker as _, Model, Property};

const NO_STALE_WRITE: &str = "no stale write";

/// The rules that a variant of the fence follows.
#[derive(Clone, Copy, Default)]
struct Rules {
    /// A process stops at its deadline, which lies before the end of its lease.
    deadline: bool,
    /// Messages arrive soon or never, and a new owner waits so long.
    short_messages: bool,
    /// A new owner ends the older sessions before its first write.
    ends_sessions: bool,
    /// The check follows the opening of the session.
    checks_open_session: bool,
    /// The store can fail over once and lose the last acknowledged lease.
    lossy_failover: bool,
    /// Nobody acquires a lease for one lease time after a failover.
    amnesty: bool,
    /// How many leases are acquired at most.
    leases: u8,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Step {
    Idle,
    /// Holds a lease.
    Owner,
    /// The older sessions were ended, or need not be.
    Prepared,
    /// The check passed: the next step is a write.
    Checked,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Process {
    step: Step,
    /// The number of the last acquired lease.
    lease: u8,
    deadline_passed: bool,
    session: Option<u8>,
}

/// A write on its way to the device.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Write {
    session: u8,
    lease: u8,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct World {
    processes: [Process; 2],
    /// Who holds the lease by the store, and who did before.
    holder: Option<usize>,
    former: Option<usize>,
    failed_over: bool,
    leases: u8,
    sessions: u8,
    open_sessions: BTreeSet<u8>,
    writes: BTreeSet<Write>,
    /// The newest lease under which the device was written.
    written: u8,
    stale_write: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Action {
    Acquire(usize),
    Open(usize),
    Prepare(usize),
    Check(usize),
    Send(usize),
    Release(usize),
    Arrive(Write),
    FailOver,
}

impl Model for Rules {
    type State = World;
    type Action = Action;

    fn init_states(&self) -> Vec<World> {
        let process = Process {
            step: Step::Idle,
            lease: 0,
            deadline_passed: false,
            session: None,
        };
        vec![World {
            processes: [process.clone(), process],
            holder: None,
            former: None,
            failed_over: false,
            leases: 0,
            sessions: 0,
            open_sessions: BTreeSet::new(),
            writes: BTreeSet::new(),
            written: 0,
            stale_write: false,
        }]
    }

    fn actions(&self, world: &World, actions: &mut Vec<Action>) {
        for (at, process) in world.processes.iter().enumerate() {
            let can_open = process.session.is_none() && world.sessions < self.leases + 1;
            let is_ready = process.session.is_some() || !self.checks_open_session;
            match process.step {
                Step::Idle => {
                    if world.leases < self.leases && world.holder != Some(at) {
                        actions.push(Action::Acquire(at));
                    }
                }
                Step::Owner if can_open && self.checks_open_session => {
                    actions.push(Action::Open(at))
                }
                Step::Owner => actions.push(Action::Prepare(at)),
                Step::Prepared if is_ready => actions.push(Action::Check(at)),
                Step::Prepared => {}
                Step::Checked if process.session.is_some() => actions.push(Action::Send(at)),
                Step::Checked if can_open => actions.push(Action::Open(at)),
                Step::Checked => {}
            }
            if process.step == Step::Prepared {
                actions.push(Action::Release(at));
            }
        }
        actions.extend(world.writes.iter().cloned().map(Action::Arrive));
        if self.lossy_failover && !world.failed_over && world.holder.is_some() {
            actions.push(Action::FailOver);
        }
    }

    fn next_state(&self, last: &World, action: Action) -> Option<World> {
        let mut world = last.clone();
        match action {
            Action::Acquire(at) => {
                // The lease time of the holder is over, and hence its deadline. After a failover the store may not
                // know the holder: only the amnesty lets the deadlines of all pass.
                let waited_for_all = self.amnesty && world.failed_over;
                for (other, process) in world.processes.iter_mut().enumerate() {
                    process.deadline_passed |=
                        other != at && (waited_for_all || world.holder == Some(other));
                }
                world.leases += 1;
                world.former = world.holder.replace(at);
                let process = &mut world.processes[at];
                (process.step, process.lease, process.deadline_passed) =
                    (Step::Owner, world.leases, false);
            }
            Action::Open(at) => {
                world.sessions += 1;
                world.open_sessions.insert(world.sessions);
                world.processes[at].session = Some(world.sessions);
            }
            Action::Prepare(at) => {
                let own = world.processes[at].session;
                if self.ends_sessions {
                    world.open_sessions.retain(|session| Some(*session) == own);
                    let open = &world.open_sessions;
                    world.writes.retain(|write| open.contains(&write.session));
                }
                if self.short_messages {
                    world.writes.clear();
                }
                world.processes[at].step = Step::Prepared;
            }
            Action::Check(at) => {
                let process = &mut world.processes[at];
                if self.deadline && process.deadline_passed {
                    (process.step, process.session) = (Step::Idle, None);
                } else {
                    process.step = Step::Checked;
                }
            }
            Action::Send(at) => {
                let process = &mut world.processes[at];
                let session = process.session?;
                process.step = Step::Prepared;
                if world.open_sessions.contains(&session) {
                    world.writes.insert(Write {
                        session,
                        lease: process.lease,
                    });
                } else {
                    // The device ended the session: the process sees it, and begins again.
                    (process.step, process.session) = (Step::Idle, None);
                }
            }
            Action::Release(at) => {
                let process = &mut world.processes[at];
                (process.step, process.session) = (Step::Idle, None);
                if world.holder == Some(at) {
                    world.holder = None;
                }
            }
            Action::Arrive(write) => {
                world.writes.remove(&write);
                world.stale_write |= write.lease < world.written;
                world.written = world.written.max(write.lease);
            }
            Action::FailOver => {
                world.failed_over = true;
                world.holder = world.former;
            }
        }
        (world != *last).then_some(world)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![Property::always(NO_STALE_WRITE, |_, world: &World| {
            !world.stale_write
        })]
    }
}

/// At most so many leases are acquired. A violation needs three.
const LEASES: u8 = 6;

#[test]
fn only_complete_rules_prevent_stale_writes() {
    let lease = Rules {
        leases: LEASES,
        ..Rules::default()
    };
    let deadline = Rules {
        deadline: true,
        ..lease
    };
    let short_messages = Rules {
        short_messages: true,
        ..deadline
    };
    let check_first = Rules {
        ends_sessions: true,
        ..deadline
    };
    let complete = Rules {
        checks_open_session: true,
        ..check_first
    };
    let without_deadline = Rules {
        deadline: false,
        ..complete
    };
    let lossy_failover = Rules {
        lossy_failover: true,
        ..complete
    };
    let with_amnesty = Rules {
        amnesty: true,
        ..lossy_failover
    };
    let variants = [
        ("a lease alone", lease, false),
        ("a deadline", deadline, false),
        (
            "a deadline, short messages, and a wait",
            short_messages,
            false,
        ),
        ("the check before the session is open", check_first, false),
        ("the check in the open session", complete, true),
        ("the same without a deadline", without_deadline, false),
        (
            "the same after a failover that loses a lease",
            lossy_failover,
            false,
        ),
        ("the same with an amnesty", with_amnesty, true),
    ];
    for (variant, rules, holds) in variants {
        let checker = rules.checker().spawn_bfs().join();
        let violation = checker.discovery(NO_STALE_WRITE);
        let states = checker.unique_state_count();
        println!("{variant}: {states} states, violation: {violation:?}");
        assert_eq!(violation.is_none(), holds, "{variant}");
    }
}
