//! Type files of the older form (`Puppet::Type.newtype`) as models.
//!
//! The file is Ruby code. Its text shows the name of the type, its attributes and `apply_to_device`.
//! Defaults, conversions and checks are code and are left out.

use std::fmt::Write as _;
use std::sync::LazyLock;

use regex::Regex;

use super::RunsOn;
use super::resource_api::{Import, ImportError, OmittedItem, is_name, quoted};
use super::type_file::{NEWTYPE, apply_to, without_comments};

/// `newparam` and `newproperty` with a name, and the rest of their line as the group `options`.
static ATTRIBUTE: LazyLock<Regex> = LazyLock::new(|| {
    let pattern =
        r#"(?m)^\s*(?<call>newparam|newproperty)\s*\(?\s*:?['"]?(?<name>\w+)(?<options>.*)$"#;
    Regex::new(pattern).expect("the pattern compiles")
});

/// A description in one string.
static DOC: LazyLock<Regex> = LazyLock::new(|| {
    let pattern = r#"(?m)(?:\bdesc|@doc\s*=)\s*(?:'(?<single>[^'\\\n]*)'|"(?<double>[^"\\\n#]*)")"#;
    Regex::new(pattern).expect("the pattern compiles")
});

/// Literal values of an attribute.
static VALUES: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"newvalues\s*\(?(?<list>[^)\n]*)").expect("the pattern compiles"));

static SYMBOL: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#"^:?['"]?(?<name>[\w.-]+)['"]?$"#).expect("the pattern compiles")
});

/// Makes a model of the first type that a file declares.
///
/// # Errors
/// The file declares no classic type.
pub(super) fn import(text: &str, origin: &str) -> Result<Import, ImportError> {
    let code = without_comments(text);
    let Some(found) = NEWTYPE.captures(&code) else {
        return Err(ImportError {
            line: 1,
            message: "the file registers no type".to_owned(),
        });
    };
    let name = &found["name"];
    let begin = found.get(0).map_or(0, |found| found.end());
    let body = &code[begin..];
    let mut import = Importer {
        code: &code,
        text: String::new(),
        left_out: Vec::new(),
    };
    import.header(name, origin, body);
    let attributes: Vec<_> = ATTRIBUTE.captures_iter(body).collect();
    let is_ensurable = body
        .lines()
        .any(|line| line.trim().starts_with("ensurable"));
    if is_ensurable || attributes.iter().any(|one| &one["name"] == "ensure") {
        let _ = writeln!(import.text, "ensurable = true");
    }
    let is_namevar = |one: &regex::Captures<'_>, body: &str| {
        &one["call"] == "newparam"
            && (one["options"].contains("namevar") || body.contains("isnamevar"))
    };
    let mut has_namevar = false;
    let mut parts = Vec::new();
    for (at, one) in attributes.iter().enumerate() {
        let start = one.get(0).map_or(0, |found| found.start());
        let next = attributes.get(at + 1).and_then(|next| next.get(0));
        let part = &body[start..next.map_or(body.len(), |next| next.start())];
        has_namevar |= is_namevar(one, part);
        parts.push((begin + start, one, part));
    }
    for (at, one, part) in parts {
        let attribute = &one["name"];
        let namevar = is_namevar(one, part) || (!has_namevar && attribute == "name");
        if attribute != "ensure" && attribute != "provider" {
            import.attribute(at, one, part, namevar);
        }
    }
    if !has_namevar && !attributes.iter().any(|one| &one["name"] == "name") {
        let _ = writeln!(import.text, "\n[attr.name]\nrole = \"namevar\"");
    }
    Ok(Import {
        name: name.to_owned(),
        model: import.text,
        left_out: import.left_out,
    })
}

struct Importer<'a> {
    code: &'a str,
    text: String,
    left_out: Vec<OmittedItem>,
}

impl Importer<'_> {
    fn leave(&mut self, at: usize, what: String) {
        let line = self.code[..at].matches('\n').count() + 1;
        self.left_out.push(OmittedItem { line, what });
    }

    fn header(&mut self, name: &str, origin: &str, body: &str) {
        let first = ATTRIBUTE
            .find(body)
            .map_or(body.len(), |found| found.start());
        let doc = doc(&body[..first]).unwrap_or_else(|| name.to_owned());
        let runs_on = match apply_to(body) {
            RunsOn::Device => "device",
            RunsOn::Host => "host",
            RunsOn::Both => "both",
        };
        let _ = writeln!(self.text, "# Made from {}.", origin.replace('\n', " "));
        let _ = writeln!(self.text, "schema = 1");
        let _ = writeln!(self.text, "type = {}", quoted(name));
        let _ = writeln!(self.text, "doc = {}", quoted(&doc));
        let _ = writeln!(self.text, "runs_on = {}", quoted(runs_on));
        let _ = writeln!(self.text, "style = \"classic\"");
    }

    fn attribute(&mut self, at: usize, one: &regex::Captures<'_>, part: &str, namevar: bool) {
        let name = &one["name"];
        if !is_name(name) {
            self.leave(at, format!("attribute `{name}`: not a name"));
            return;
        }
        let _ = writeln!(self.text, "\n[attr.{name}]");
        if let Some(doc) = doc(part) {
            let _ = writeln!(self.text, "doc = {}", quoted(&doc));
        }
        match (namevar, &one["call"]) {
            (true, _) => {
                let _ = writeln!(self.text, "role = \"namevar\"");
            }
            (false, "newparam") => {
                let _ = writeln!(self.text, "role = \"parameter\"");
            }
            _ => {}
        }
        let options: String = one["options"].split_whitespace().collect();
        if options.contains("array_matching:") || options.contains(":array_matching") {
            let _ = writeln!(self.text, "array = \"list\"");
        }
        if let Some(values) = VALUES.captures(part) {
            match literals(&values["list"]) {
                Some(values) => {
                    let _ = writeln!(self.text, "values = [{}]", values.join(", "));
                }
                None => self.leave(at, format!("{name}: values that are not names")),
            }
        }
        for (word, what) in [
            ("defaultto", "the default"),
            ("munge", "the conversion"),
            ("validate", "the check"),
        ] {
            if part.lines().any(|line| line.trim().starts_with(word)) {
                self.leave(at, format!("{name}: {what}"));
            }
        }
    }
}

/// The first description in one string.
fn doc(text: &str) -> Option<String> {
    let found = DOC.captures(text)?;
    let found = found.name("single").or(found.name("double"))?;
    let doc = found.as_str().trim();
    (!doc.is_empty()).then(|| doc.to_owned())
}

/// The symbols and strings of a list; `None` if it has something else.
fn literals(list: &str) -> Option<Vec<String>> {
    let mut values = Vec::new();
    for item in list.split(',').map(str::trim) {
        let name = SYMBOL.captures(item)?["name"].to_owned();
        let value = match name.as_str() {
            "true" | "false" => name,
            name => quoted(name),
        };
        if !values.contains(&value) {
            values.push(value);
        }
    }
    Some(values)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostic::Source;
    use crate::model::load::load;
    use crate::model::{ArrayKind, Role, Style};

    const TYPE: &str = r#"
Puppet::Type.newtype(:site_port) do
  @doc = "A port of the site."
  apply_to_device
  ensurable

  newparam(:id, :namevar => true) do
    desc 'Number of the port.'
  end
  newparam(:force) do
    newvalues(:true, :false)
  end
  newproperty(:speed) do
    desc "Speed of the port."
    newvalues(:auto, '10g')
    defaultto :auto
  end
  newproperty(:vlans, array_matching: :all) do
    newvalues(/^\d+$/)
    munge { |value| value.to_i }
  end
end
"#;

    #[test]
    fn import_reads_names_attributes_and_apply_to() {
        let found = import(TYPE, "site_port.rb").unwrap();
        let model = load(&Source::new("m.toml", found.model.as_str())).unwrap();
        assert_eq!(model.name, "site_port");
        assert_eq!(
            (model.runs_on, model.style),
            (RunsOn::Device, Style::Classic)
        );
        assert_eq!(model.doc, "A port of the site.");
        let names: Vec<_> = model.attributes.keys().map(|name| name.as_str()).collect();
        assert_eq!(names, ["ensure", "id", "force", "speed", "vlans"]);
        assert_eq!(model.namevars().collect::<Vec<_>>(), ["id"]);
        assert_eq!(model.attributes["force"].role, Role::Parameter);
        assert_eq!(model.attributes["speed"].doc, "Speed of the port.");
        assert_eq!(model.attributes["speed"].values.len(), 2);
        assert_eq!(model.attributes["vlans"].array, Some(ArrayKind::List));
        let left: Vec<(usize, &str)> = found
            .left_out
            .iter()
            .map(|left| (left.line, left.what.as_str()))
            .collect();
        assert_eq!(
            left,
            [
                (13, "speed: the default"),
                (18, "vlans: values that are not names"),
                (18, "vlans: the conversion"),
            ]
        );
    }

    #[test]
    fn import_adds_a_namevar_to_a_type_without_one() {
        let found = import("Puppet::Type.newtype(:site_cron) do\nend\n", "x.rb").unwrap();
        let model = load(&Source::new("m.toml", found.model.as_str())).unwrap();
        assert_eq!(model.namevars().collect::<Vec<_>>(), ["name"]);
        assert_eq!(model.runs_on, RunsOn::Host);
    }
}
