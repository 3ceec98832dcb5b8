//! The cases: one fault at one command or stage.

use switchtender_mocks::Fault;
use switchtender_mocks::fault::{
    ArgumentFormat, ConnectionStage, FAULTS, FaultDescription, MockKind, check_supported,
};

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
/// Positions in the output of a device at which the connection ends, in bytes.
const CUTS: u64 = 310;
/// Bytes between two of these positions.
const CUT_INTERVAL: u64 = 35;

/// A device with a fault.
#[derive(Clone, Debug)]
pub(super) struct Case {
    pub(super) scenario: &'static Scenario,
    pub(super) fault: &'static str,
    pub(super) faults: Vec<String>,
    /// The command with the fault, if there is one.
    pub(super) command: Option<String>,
    /// `None`: the phase of the last command that the device received.
    pub(super) phase: Option<Phase>,
    /// The fault does not fire once, but is always active.
    pub(super) is_permanent: bool,
}

impl Case {
    /// Whether a defect that is not fixed yet affects the case.
    pub(super) fn has_open_defect(&self) -> bool {
        // A VLAN takes effect when its mode is left, and is reported as done before.
        let is_lost_exit = self.command.as_deref() == Some("exit")
            && self.phase == Some(Phase::Change)
            && ["drop-after", "stall-after", "endless-question"].contains(&self.fault);
        // An effect that follows a broken connection is reported as not applied.
        self.fault == "late-effect" || is_lost_exit
    }

    /// The parsed faults.
    pub(super) fn parsed(&self) -> Vec<Fault> {
        let faults = self.faults.iter();
        faults.map(|fault| fault.parse().expect(fault)).collect()
    }
}

/// All cases of a scenario, from the commands of a run without faults.
pub(super) fn of_scenario(scenario: &'static Scenario, commands: &[PhasedCommand]) -> Vec<Case> {
    let mock = match scenario.platform {
        Platform::CiscoIos => MockKind::Switch,
        Platform::F5Bigip => MockKind::LoadBalancer,
    };
    let rows = FAULTS.iter().filter(|row| row.is_supported_by(mock));
    let mut cases: Vec<Case> = rows
        .flat_map(|row| of_fault(scenario, row, mock, commands))
        .collect();
    if mock == MockKind::LoadBalancer {
        for (number, command) in commands.iter().enumerate() {
            cases.push(Case {
                scenario,
                fault: "late-effect",
                faults: vec![
                    format!("late-effect={number}"),
                    format!("error-status=504 {number}"),
                ],
                command: Some(command.command.clone()),
                phase: Some(command.phase),
                is_permanent: false,
            });
        }
    }
    cases
}

fn of_fault(
    scenario: &'static Scenario,
    row: &FaultDescription,
    mock: MockKind,
    commands: &[PhasedCommand],
) -> Vec<Case> {
    let name = row.name;
    let case = |argument: String, phase: Option<Phase>| Case {
        scenario,
        fault: name,
        faults: vec![format!("{name}={argument}")],
        command: None,
        phase,
        is_permanent: row.argument == ArgumentFormat::Time,
    };
    let at_commands = |arguments: &dyn Fn(usize, &PhasedCommand) -> Vec<String>| {
        let each = commands.iter().enumerate();
        each.flat_map(|(number, command)| {
            let arguments = arguments(number, command).into_iter();
            let cases: Vec<Case> = arguments
                .map(|argument| Case {
                    command: Some(command.command.clone()),
                    ..case(argument, Some(command.phase))
                })
                .collect();
            cases
        })
        .collect::<Vec<Case>>()
    };
    match row.argument {
        ArgumentFormat::Time => vec![case("1ms".to_owned(), Some(Phase::Connect))],
        ArgumentFormat::Count if name == "login-refused" => {
            vec![case("1".to_owned(), Some(Phase::Login))]
        }
        ArgumentFormat::Count => {
            let cuts = (1..=CUTS).map(|number| number * CUT_INTERVAL);
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
