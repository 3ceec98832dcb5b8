//! Mutations of bytes, and of JSON values, so that many results are valid JSON.

use serde_json::{Value, json};

/// Numbers that look random and are the same in every run (xorshift).
pub struct Dice(pub u64);

impl Dice {
    /// The next number below `end`; 0 if `end` is 0.
    pub fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % (end.max(1) as u64)).expect("below a usize")
    }
}

/// An input that is made from those of the corpus.
pub fn mutated(corpus: &[Vec<u8>], dice: &mut Dice) -> Vec<u8> {
    let mut bytes = corpus[dice.below(corpus.len())].clone();
    let parsed = || serde_json::from_slice::<Value>(&bytes).ok();
    if let (0, Some(mut json)) = (dice.below(2), parsed()) {
        let donor = &corpus[dice.below(corpus.len())];
        let donor = serde_json::from_slice(donor).unwrap_or_else(|_| json.clone());
        for _ in 0..=dice.below(4) {
            change(&mut json, &donor, dice);
        }
        bytes = json.to_string().into_bytes();
        // One in four gets a fault of its text as well.
        if dice.below(4) > 0 {
            return bytes;
        }
    }
    for _ in 0..=dice.below(4) {
        scratch(&mut bytes, corpus, dice);
    }
    bytes
}

/// Changes one value somewhere in the JSON.
fn change(json: &mut Value, donor: &Value, dice: &mut Dice) {
    let path = walk(json, dice);
    let supplied = {
        let path = walk(donor, dice);
        donor.pointer(&path).cloned().unwrap_or_default()
    };
    let Some(target) = json.pointer_mut(&path) else {
        return;
    };
    match dice.below(8) {
        0 => *target = extreme(dice),
        1 => *target = supplied,
        2 => *target = json!({ "__ptype": word(dice), "__pvalue": target.take() }),
        3 => *target = Value::Array(vec![target.take(); dice.below(3)]),
        4 => *target = Value::from(word(dice)),
        _ => match target {
            Value::Object(entries) => {
                let keys: Vec<String> = entries.keys().cloned().collect();
                let key = keys
                    .get(dice.below(keys.len()))
                    .cloned()
                    .unwrap_or_default();
                let value = entries.shift_remove(&key).unwrap_or(supplied);
                // Gone, or under another name.
                if dice.below(2) == 0 {
                    entries.insert(word(dice).to_owned(), value);
                }
            }
            Value::Array(items) if !items.is_empty() => {
                let (from, to) = (dice.below(items.len()), dice.below(items.len()));
                match dice.below(3) {
                    0 => items.swap(from, to),
                    1 => items.insert(to, items[from].clone()),
                    _ => {
                        items.remove(from);
                    }
                }
            }
            Value::String(text) => text.push_str(word(dice)),
            other => *other = extreme(dice),
        },
    }
}

/// The pointer to some value: down from the root, stopping by chance, but seldom above the
/// parameters of a resource, where any change makes it no catalog.
fn walk(json: &Value, dice: &mut Dice) -> String {
    let (mut at, mut path) = (json, String::new());
    let least = if dice.below(16) == 0 { 0 } else { 4 };
    while path.split('/').count() <= least || dice.below(3) > 0 {
        let step = match at {
            Value::Object(entries) if !entries.is_empty() => {
                // Mostly where values are, of which there are more than of anything else.
                let usual = ["resources", "parameters"];
                let usual = usual.into_iter().find(|key| entries.contains_key(*key));
                let key = match usual.filter(|_| dice.below(8) > 0) {
                    Some(key) => key.to_owned(),
                    None => {
                        let key = entries.keys().nth(dice.below(entries.len()));
                        key.cloned().unwrap_or_default()
                    }
                };
                key.replace('~', "~0").replace('/', "~1")
            }
            Value::Array(items) if !items.is_empty() => dice.below(items.len()).to_string(),
            _ => break,
        };
        path = format!("{path}/{step}");
        match json.pointer(&path) {
            Some(inner) => at = inner,
            None => break,
        }
    }
    path
}

fn extreme(dice: &mut Dice) -> Value {
    match dice.below(9) {
        0 => Value::Null,
        1 => json!(i64::MIN),
        2 => json!(u64::MAX),
        3 => json!(1e308),
        4 => json!(""),
        5 => json!("x".repeat(5000)),
        6 => json!("\u{0}\u{1b}[2J\u{202e}\r\n"),
        7 => (0..100).fold(json!(1), |inner, _| json!([inner])),
        _ => json!({}),
    }
}

/// Words with a meaning in catalogs.
fn word(dice: &mut Dice) -> &'static str {
    const WORDS: [&str; 24] = [
        "alias",
        "before",
        "notify",
        "require",
        "subscribe",
        "schedule",
        "audit",
        "noop",
        "name",
        "ensure",
        "absent",
        "unset",
        "Class[main]",
        "Network_vlan[10]",
        "Network_vlan[",
        "Deferred",
        "Sensitive",
        "Timestamp",
        "__ptype",
        "1-4094",
        "none",
        "Gi1/0/1",
        "«ü»",
        "\u{feff}",
    ];
    WORDS[dice.below(WORDS.len())]
}

/// One fault in the text.
fn scratch(bytes: &mut Vec<u8>, corpus: &[Vec<u8>], dice: &mut Dice) {
    const PIECES: [&[u8]; 16] = [
        b"{",
        b"}",
        b"[",
        b"]",
        b"\"",
        b",",
        b":",
        b"null",
        b"-1",
        b"1e308",
        b"\\u0000",
        b"\xff",
        b"[[[[[[[[",
        b"\"__ptype\":\"Deferred\",",
        b"Class[",
        b"]]",
    ];
    let at = dice.below(bytes.len());
    match dice.below(6) {
        0 => bytes.truncate(at),
        1 => {
            if let Some(byte) = bytes.get_mut(at) {
                *byte ^= 1 << dice.below(8);
            }
        }
        2 => {
            let piece = PIECES[dice.below(PIECES.len())];
            bytes.splice(at..at, piece.iter().copied());
        }
        3 => {
            let end = (at + dice.below(200)).min(bytes.len());
            bytes.drain(at..end);
        }
        4 => {
            let end = (at + dice.below(400)).min(bytes.len());
            let copy: Vec<u8> = bytes[at..end].to_vec();
            let to = dice.below(bytes.len());
            bytes.splice(to..to, copy);
        }
        _ => {
            let other = &corpus[dice.below(corpus.len())];
            let from = dice.below(other.len());
            bytes.truncate(at);
            bytes.extend_from_slice(&other[from..]);
        }
    }
}

/// A smaller input that fails too: pieces are left out, larger ones first, as long as it does.
pub fn smallest(bytes: &[u8], fails: impl Fn(&[u8]) -> bool) -> Vec<u8> {
    const TRIES: usize = 2000;
    let mut small = bytes.to_vec();
    let (mut size, mut tries) = (small.len() / 2, 0);
    while size > 0 && tries < TRIES {
        let mut at = 0;
        while at < small.len() && tries < TRIES {
            let mut less = small.clone();
            less.drain(at..(at + size).min(small.len()));
            tries += 1;
            if fails(&less) {
                small = less;
            } else {
                at += size;
            }
        }
        size /= 2;
    }
    small
}
