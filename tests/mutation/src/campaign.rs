//! A number of mutated inputs for one parser.

#![expect(clippy::disallowed_methods, reason = "campaigns measure durations")]

use std::io::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use super::{Dice, mutated, smallest};

/// Number of inputs of a campaign without `SWITCHTENDER_MUTATIONS`.
const SAMPLE: u64 = 150;
/// No input takes longer, even in a debug build on a busy machine.
const LIMIT: Duration = Duration::from_secs(20);
/// After this time a parser is endless: the process ends, because a thread cannot be ended.
const ENDLESS: Duration = Duration::from_secs(120);

/// Mutated inputs for one parser.
#[derive(Debug)]
pub struct Campaign {
    /// Name in the output.
    pub name: &'static str,
    /// Share of all mutated inputs, in thousandths. The shares of all campaigns are 1,000 together.
    pub share: u64,
}

impl Campaign {
    /// Gives mutated inputs to a parser, which returns whether it accepts an input. Prints the
    /// counts, and returns the number of accepted inputs and of all inputs.
    ///
    /// # Panics
    /// If the parser panics or exceeds the time limit. The message has the smallest input that does
    /// the same. A parser that does not end aborts the process, with its input.
    pub fn run(&self, corpus: &[Vec<u8>], accepts: impl Fn(&[u8]) -> bool) -> (u64, u64) {
        assert!(!corpus.is_empty(), "{}: no corpus", self.name);
        let total = std::env::var("SWITCHTENDER_MUTATIONS").ok();
        let tries = total.map_or(SAMPLE, |total| {
            let total: u64 = total.parse().expect("SWITCHTENDER_MUTATIONS is a number");
            (total * self.share).div_ceil(1000)
        });
        let seed = self
            .name
            .bytes()
            .fold(0x5117_c4fe_0bad_cafe, |seed: u64, byte| {
                seed.rotate_left(8) ^ u64::from(byte)
            });
        let (inputs, watched) = channel();
        let name = self.name;
        std::thread::spawn(move || {
            watch(&watched, ENDLESS, |input| {
                let input = input.escape_ascii();
                let text = format!("{name} does not end; add the input to its corpus:\n{input}\n");
                // The harness would keep what `eprintln!` prints, and loses it.
                let _ = std::io::stderr().write_all(text.as_bytes());
                std::process::abort();
            });
        });
        let mut dice = Dice(seed);
        let started = Instant::now();
        let (mut accepted, mut slowest) = (0, Duration::ZERO);
        for input in corpus {
            self.check(input, &accepts, &inputs);
        }
        for _ in 0..tries {
            let input = mutated(corpus, &mut dice);
            let (result, took) = self.check(&input, &accepts, &inputs);
            accepted += u64::from(result);
            slowest = slowest.max(took);
        }
        println!(
            "mutations of {}: {tries} from {} inputs, {accepted} accepted, 0 panics, slowest {} ms, \
             {:.0} s",
            self.name,
            corpus.len(),
            slowest.as_millis(),
            started.elapsed().as_secs_f64()
        );
        (accepted, tries)
    }

    /// Tries one input. Returns whether it is accepted, and the duration.
    fn check(
        &self,
        input: &[u8],
        accepts: &dyn Fn(&[u8]) -> bool,
        inputs: &Sender<Vec<u8>>,
    ) -> (bool, Duration) {
        let attempt = |input: &[u8]| {
            inputs.send(input.to_vec()).expect("the watchdog receives");
            let started = Instant::now();
            let result = catch_unwind(AssertUnwindSafe(|| accepts(input)));
            (result.ok(), started.elapsed())
        };
        let is_harmful = |input: &[u8]| {
            let (result, took) = attempt(input);
            result.is_none() || took > LIMIT
        };
        match attempt(input) {
            (Some(accepted), took) if took <= LIMIT => (accepted, took),
            (result, took) => {
                let effect = match result {
                    None => "panics".to_owned(),
                    Some(_) => format!("takes {} s", took.as_secs()),
                };
                let small = match result {
                    None => smallest(input, is_harmful),
                    Some(_) => input.to_vec(),
                };
                panic!(
                    "{} {effect}; add the input to its corpus:\n{}",
                    self.name,
                    small.escape_ascii()
                );
            }
        }
    }
}

/// Receives each input before it is tried, until the campaign ends. Calls `endless` with an input
/// that no other one follows within the limit.
fn watch(inputs: &Receiver<Vec<u8>>, limit: Duration, endless: impl FnOnce(&[u8])) {
    let Ok(mut current) = inputs.recv() else {
        return;
    };
    loop {
        match inputs.recv_timeout(limit) {
            Ok(next) => current = next,
            Err(RecvTimeoutError::Timeout) => return endless(&current),
            Err(RecvTimeoutError::Disconnected) => return,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn watch_finds_the_input_of_an_endless_parser() {
        let (inputs, watched) = channel();
        inputs.send(b"first".to_vec()).unwrap();
        inputs.send(b"last".to_vec()).unwrap();
        let mut found = Vec::new();
        watch(&watched, Duration::ZERO, |input| found = input.to_vec());
        assert_eq!(found, b"last");
        drop(inputs);
        watch(&watched, ENDLESS, |input| {
            panic!("{input:?}: the campaign ended")
        });
    }
}
