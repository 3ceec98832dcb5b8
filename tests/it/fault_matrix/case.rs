//! The cases: one fault at one command, stage or byte.

use switchtender_mocks::Fault;
use switchtender_mocks::fault::{
    ArgumentFormat, ConnectionStage, FAULTS, FaultDescription, FaultKind, MockKind, check_supported,
};
use switchtender_mocks::jump_host::JumpFault;

use super::batch::Reference;
use super::phase::{Phase, PhasedCommand};
use super::scenario::{Platform, Scenario};

/// Statuses with which a gateway answers for a device that executes the request.
const STATUSES: [u16; 5] = [408, 500, 502, 503, 504];
/// Messages of a device, most of which no definition lists.
const MESSAGES: [&str; 4] = [
    "",
    " => Unable to comply. Try again later.",
    " => % Low on memory; try again later",
    " => {\"kind\":\"x\"}",
];
/// Bytes between two positions in the output of a device at which the connection ends.
const CUT_INTERVAL: usize = 35;
/// Number of positions of each fault of a jump host.
const JUMP_POSITIONS: u64 = 30;

/// A device with a fault.
#[derive(Clone, Debug)]
pub(super) struct Case {
    pub(super) scenario: &'static Scenario,
    pub(super) fault: &'static str,
    pub(super) faults: Vec<String>,
    /// The fault of the jump host of the device.
    pub(super) jump_fault: Option<JumpFault>,
    /// `None`: the phase of the last command that the device received.
    pub(super) phase: Option<Phase>,
    /// The fault does not fire once, but is always active.
    pub(super) is_permanent: bool,
}

impl Case {
    /// The case in a finding.
    pub(super) fn title(&self) -> String {
        let (scenario, jump_fault) = (self.scenario.name, self.jump_fault.iter());
        let jump_fault = jump_fault.map(|fault| format!(" {fault:?}"));
        format!(
            "{scenario} {:?}{}",
            self.faults,
            jump_fault.collect::<String>()
        )
    }

    /// The parsed faults.
    pub(super) fn parsed(&self) -> Vec<Fault> {
        let faults = self.faults.iter();
        faults.map(|fault| fault.parse().expect(fault)).collect()
    }
}

/// All cases of a scenario, from a run without faults.
pub(super) fn of_scenario(scenario: &'static Scenario, reference: &Reference) -> Vec<Case> {
    let mock = match scenario.platform {
        Platform::CiscoIos => MockKind::Switch,
        Platform::F5Bigip => MockKind::LoadBalancer,
    };
    // These change more than one command or connection: `apply/protect` has their cases.
    let is_lasting = |kind| {
        matches!(
            kind,
            FaultKind::CutOff | FaultKind::Restart | FaultKind::LostRevert
        )
    };
    let rows = FAULTS.iter().filter(|row| row.is_supported_by(mock));
    let rows = rows.filter(|row| !is_lasting(row.kind));
    let mut cases: Vec<Case> = rows
        .flat_map(|row| of_fault(scenario, row, mock, reference))
        .collect();
    if mock == MockKind::LoadBalancer {
        // Of a gateway, of a moved resource, and one that no specification has.
        let statuses = [504, 301, 599].into_iter().cycle();
        let commands = reference.commands.iter().zip(statuses).enumerate();
        for (number, (command, status)) in commands {
            cases.push(Case {
                scenario,
                fault: "late-effect",
                faults: vec![
                    format!("late-effect={number}"),
                    format!("error-status={status} {number}"),
                ],
                jump_fault: None,
                phase: Some(command.phase),
                is_permanent: false,
            });
        }
    }
    cases.extend(of_jump_host(scenario, reference));
    cases
}

fn of_jump_host(scenario: &'static Scenario, reference: &Reference) -> Vec<Case> {
    let case = |fault: &'static str, phase: Option<Phase>, jump_fault: JumpFault| Case {
        scenario,
        fault,
        faults: Vec::new(),
        jump_fault: Some(jump_fault),
        phase,
        is_permanent: false,
    };
    let mut cases = vec![
        case("jump-login", Some(Phase::Connect), JumpFault::RefusedLogin),
        case(
            "jump-forwarding",
            Some(Phase::Connect),
            JumpFault::RefusedForwarding,
        ),
    ];
    for number in 0..JUMP_POSITIONS {
        let byte = reference.jump_host_bytes * number / JUMP_POSITIONS;
        cases.extend([
            case("jump-drop", None, JumpFault::Drop(byte)),
            case("jump-stall", None, JumpFault::Stall(byte)),
            case("jump-flood", None, JumpFault::Flood(byte)),
        ]);
    }
    cases
}

fn of_fault(
    scenario: &'static Scenario,
    row: &FaultDescription,
    mock: MockKind,
    reference: &Reference,
) -> Vec<Case> {
    let name = row.name;
    let case = |argument: String, phase: Option<Phase>| Case {
        scenario,
        fault: name,
        faults: vec![format!("{name}={argument}")],
        jump_fault: None,
        phase,
        is_permanent: row.argument == ArgumentFormat::Time,
    };
    let at_commands = |arguments: &dyn Fn(usize, &PhasedCommand) -> Vec<String>| {
        let each = reference.commands.iter().enumerate();
        each.flat_map(|(number, command)| {
            let arguments = arguments(number, command).into_iter();
            let cases = arguments.map(|argument| case(argument, Some(command.phase)));
            cases.collect::<Vec<Case>>()
        })
        .collect::<Vec<Case>>()
    };
    match row.argument {
        ArgumentFormat::Time => vec![case("1ms".to_owned(), Some(Phase::Connect))],
        ArgumentFormat::Logins => vec![case("1".to_owned(), Some(Phase::Login))],
        ArgumentFormat::Bytes => {
            let cuts = (CUT_INTERVAL..=reference.device_bytes).step_by(CUT_INTERVAL);
            cuts.map(|bytes| case(bytes.to_string(), None)).collect()
        }
        ArgumentFormat::Once => {
            let mut cases = at_commands(&|number, _| vec![number.to_string()]);
            for (stage, phase) in [
                (ConnectionStage::Connect, Phase::Connect),
                (ConnectionStage::Login, Phase::Login),
                (ConnectionStage::Shell, Phase::Login),
            ] {
                let at_stage = case(stage.to_string(), Some(phase));
                if check_supported(&at_stage.parsed(), mock).is_ok() {
                    cases.push(at_stage);
                }
            }
            cases
        }
        ArgumentFormat::Each | ArgumentFormat::Deferred => {
            at_commands(&|number, _| vec![number.to_string()])
        }
        ArgumentFormat::EachWithText => at_commands(&|number, _| {
            let messages = MESSAGES.iter();
            messages.map(|text| format!("{number}{text}")).collect()
        }),
        ArgumentFormat::First => at_commands(&|_, command| {
            let pattern = regex::escape(&command.command);
            vec![format!("1 ^{pattern}$"), format!("1000 ^{pattern}$")]
        }),
        ArgumentFormat::Status => at_commands(&|number, _| {
            let statuses = STATUSES.iter();
            statuses
                .map(|status| format!("{status} {number}"))
                .collect()
        }),
    }
}
