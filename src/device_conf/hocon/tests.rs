//! Supported syntax is read; errors do not contain values.

use std::collections::BTreeMap;

use super::*;

struct Fixed {
    files: BTreeMap<&'static str, &'static str>,
    variables: BTreeMap<&'static str, &'static str>,
}

impl ConfigIo for Fixed {
    fn read(&self, path: &Path) -> std::io::Result<String> {
        self.files
            .get(path.to_str().unwrap())
            .map(|text| (*text).to_owned())
            .ok_or_else(|| std::io::ErrorKind::NotFound.into())
    }

    fn variable(&self, name: &str) -> Option<String> {
        self.variables.get(name).map(|text| (*text).to_owned())
    }
}

fn io() -> Fixed {
    Fixed {
        files: BTreeMap::from([
            ("/c/common.conf", "user: ops\nport: 2222\n"),
            ("/c/nested.conf", "include \"common.conf\"\n"),
        ]),
        variables: BTreeMap::from([("SW_PASS", "from env")]),
    }
}

/// The value as JSON, which these tests may see.
fn json(value: &HoconValue) -> serde_json::Value {
    match value {
        HoconValue::Null => serde_json::Value::Null,
        HoconValue::Bool(truth) => (*truth).into(),
        HoconValue::Integer(number) => (*number).into(),
        HoconValue::Float(number) => (*number).into(),
        HoconValue::String(text) => text.clone().into(),
        HoconValue::List(items) => items.iter().map(|item| json(&item.value)).collect(),
        HoconValue::Object(fields) => fields
            .iter()
            .map(|field| (field.key.clone(), json(&field.node.value)))
            .collect::<serde_json::Map<_, _>>()
            .into(),
    }
}

#[test]
fn hocon_reads_the_supported_syntax() {
    let cases = [
        (
            "json",
            r#"{"host":"h","port":22,"ok":true}"#,
            r#"{"host":"h","port":22,"ok":true}"#,
        ),
        (
            "no braces, both signs",
            "host: h\nport = 22 # ssh\n",
            r#"{"host":"h","port":22}"#,
        ),
        (
            "whole fractions",
            "a: 2.0\nb: 2.5\nc: -3",
            r#"{"a":2,"b":2.5,"c":-3}"#,
        ),
        (
            "quoted numbers stay text",
            "port: \"22\"",
            r#"{"port":"22"}"#,
        ),
        (
            "unquoted text",
            "host: sw1.example.com\nuser: two words ",
            r#"{"host":"sw1.example.com","user":"two words"}"#,
        ),
        ("pieces", "a: \"x\"y \"z\"", r#"{"a":"xy z"}"#),
        (
            "nested",
            "a { b: 1, c = 2 }\n\"d.e\": 3",
            r#"{"a":{"b":1,"c":2},"d.e":3}"#,
        ),
        ("later wins", "a: 1\na: 2", r#"{"a":2}"#),
        ("lists by lines", "l: [1\n2, 3,\n]", r#"{"l":[1,2,3]}"#),
        ("comments", "// x\na: 1 // y\n# z\n", r#"{"a":1}"#),
        (
            "three quotes",
            "a: \"\"\"x \"q\"\ny\"\"\"",
            r#"{"a":"x \"q\"\ny"}"#,
        ),
        (
            "escapes",
            r#"a: "\u00e4\n\ud83d\ude00""#,
            r#"{"a":"ä\n😀"}"#,
        ),
        (
            "substitution",
            "h: sw1\nhost: ${h}.example.com",
            r#"{"h":"sw1","host":"sw1.example.com"}"#,
        ),
        (
            "environment",
            "password: ${SW_PASS}\nx: ${?NOPE}",
            r#"{"password":"from env"}"#,
        ),
        ("default and override", "a: 1\na: ${?NOPE}", r#"{"a":1}"#),
        (
            "include",
            "include \"common.conf\"\nport: 22",
            r#"{"user":"ops","port":22}"#,
        ),
        (
            "optional include",
            "include \"nope.conf\"\na: 1",
            r#"{"a":1}"#,
        ),
        ("empty", "", "{}"),
        (
            "windows line ends",
            "a: 1\r\nb: x\r\n",
            r#"{"a":1,"b":"x"}"#,
        ),
    ];
    for (name, text, expected) in cases {
        let node = read(Path::new("/c/d.conf"), text, &io())
            .unwrap_or_else(|error| panic!("{name}: {}", error.message));
        let expected: serde_json::Value = serde_json::from_str(expected).unwrap();
        assert_eq!(json(&node.value), expected, "{name}");
    }
}

#[test]
fn hocon_errors_have_a_line_and_no_values() {
    let cases = [
        (
            "password: \"s3cret\nhost: x",
            "the closing quote is missing in this line (line 1)",
            1,
        ),
        (
            "host: x\npassword s3cret\n",
            "`:` or `=` is missing after the key (line 2)",
            2,
        ),
        ("a: 1\nb: {\n c: s3cret", "`}` is missing (line 3)", 3),
        ("password: s3cret!x", "this character requires quotes", 1),
        ("a: 1\npassword: ${NOPE}", "`NOPE` is not defined", 2),
        ("a: ${b}\nb: ${a}", "circular substitution", 0),
        (
            "a: {x: 1} s3cret",
            "a list or an object cannot be joined with another value",
            1,
        ),
        (
            "include required(\"nope.conf\")",
            "cannot include /c/nope.conf",
            1,
        ),
        (
            "host: x\ninclude \"nested.conf\"",
            "an included file cannot include another file",
            1,
        ),
        (
            "a { include file(\"common.conf\") }",
            "`include` is supported only at the top level",
            1,
        ),
        (
            "l: [a]\nl += s3cret",
            "`+=` is not supported: write the complete list (line 2)",
            2,
        ),
        (
            "a.b: s3cret",
            "names with dots are not supported: use `{ … }`, or quotes (line 1)",
            1,
        ),
        (
            "a { b: s3cret }\nc: ${a.b}",
            "names with dots are not supported",
            2,
        ),
        (
            "a { b: s3cret }\nc: ${a}",
            "cannot substitute `a`: it is an object, not a simple value",
            2,
        ),
        (
            "a { b: s3cret }\na { c: 2 }",
            "`a` is defined as an object twice",
            2,
        ),
        (
            "l: [a] [s3cret]",
            "a list or an object cannot be joined with another value",
            1,
        ),
    ];
    for (text, message, line) in cases {
        let Err(error) = read(Path::new("/c/d.conf"), text, &io()) else {
            panic!("{text:?} was accepted");
        };
        assert!(
            error.message.starts_with(message),
            "{text:?}: {}",
            error.message
        );
        let label = &error.labels[0];
        if line > 0 {
            assert_eq!(label.source.position(label.span.start).0, line, "{text:?}");
        }
        assert!(
            !label.source.text.contains("s3cret"),
            "{:?}",
            label.source.text
        );
        assert!(!error.message.contains("s3cret"), "{}", error.message);
    }
}

#[test]
fn hocon_findings_print_keys_and_no_values() {
    let text = "{\"host\":\"h\",\"password\":\"s3cret\"} # was: 0ld\n";
    let node =
        read(Path::new("/c/d.conf"), text, &io()).unwrap_or_else(|e| panic!("{}", e.message));
    let HoconValue::Object(fields) = &node.value else {
        panic!()
    };
    let mark = &fields[1].key_mark;
    assert_eq!(
        mark.source.text,
        "{\"host\":••••,\"password\":••••} #••••\n"
    );
    assert_eq!(&mark.source.text[mark.span.clone()], "\"password\"");
}

#[test]
fn mutations_of_credentials_do_not_panic() {
    let corpus = [
        "host: \"sw1\"\nport: 22\nusername: ops\npassword: ${?SW_PASS}\nenable_password: \"s3cret\"\n",
        "{ include \"common.conf\", a.b.c = [1, 2.5, true, null], a.b += \"x\", text = \"\"\"a\nb\"\"\" }",
        "{\"host\": \"h\", \"ssh\": {\"timeout\": 30}, \"list\": [{\"x\": \"\\u00e9\"}]} # comment\n",
    ];
    let corpus = corpus.map(|text| text.as_bytes().to_vec());
    let campaign = switchtender_mutation::Campaign {
        name: "credentials",
        share: 40,
    };
    campaign.run(&corpus, |bytes| {
        let text = String::from_utf8_lossy(bytes);
        super::read(Path::new("/c/sw1.conf"), &text, &io()).is_ok()
    });
}
