//! A type as Ruby code for the compiler of Puppet: names of attributes, namevars and title patterns.
//!
//! The stub is a classic type for models of both styles: Puppet then needs no Resource API. A compilation
//! checks names of types and attributes; values are checked here, when the catalog is loaded.

use std::fmt::Write as _;

use super::{Role, RunsOn, TypeModel};

impl TypeModel {
    /// The content of `lib/puppet/type/<name>.rb`.
    pub fn type_stub(&self) -> String {
        let mut text = format!(
            "# For the compilation of catalogs. `switchtender` applies resources of this type to devices.\n\
             Puppet::Type.newtype(:{}) do\n  @doc = {}\n",
            self.name,
            quoted(&self.doc)
        );
        match self.runs_on {
            RunsOn::Device => text.push_str("  apply_to_device\n"),
            RunsOn::Both => text.push_str("  apply_to_all\n"),
            RunsOn::Host => {}
        }
        for attribute in self.attributes.values() {
            let name = &attribute.name;
            let head = match attribute.role {
                Role::Namevar => format!("newparam(:{name}, :namevar => true)"),
                // A property with this name replaces the one that Puppet adds.
                Role::Parameter => format!("newparam(:{name})"),
                _ if *name == "provider" => format!("newparam(:{name})"),
                _ => format!("newproperty(:{name})"),
            };
            let _ = writeln!(
                text,
                "  {head} do\n    desc {}\n  end",
                quoted(&attribute.doc)
            );
        }
        if self.namevars().count() > 1 {
            self.add_title_patterns(&mut text);
        }
        text.push_str("end\n");
        text
    }

    /// Types with several namevars must have patterns. The last one is for titles that are no names.
    fn add_title_patterns(&self, text: &mut String) {
        text.push_str("  def self.title_patterns\n    [\n");
        for title in &self.titles {
            let names = title.text.split('{').skip(1);
            let names: Vec<String> = names
                .filter_map(|part| Some(format!("[:{}]", part.split_once('}')?.0)))
                .collect();
            let pattern = title.text.split('{').enumerate().map(|(index, part)| {
                let literal = match index {
                    0 => part,
                    _ => part.split_once('}').map_or("", |(_, literal)| literal),
                };
                let group = if index == 0 { "" } else { "(.+)" };
                format!("{group}{}", regex::escape(literal).replace('/', "\\/"))
            });
            let pattern: String = pattern.collect();
            let _ = writeln!(text, "      [/\\A{pattern}\\z/m, [{}]],", names.join(", "));
        }
        let first = self.namevars().next().unwrap_or_default();
        let _ = writeln!(text, "      [/\\A(.*)\\z/m, [[:{first}]]],\n    ]\n  end");
    }
}

/// A literal of Ruby without interpolation.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\\', "\\\\").replace('\'', "\\'"))
}

#[cfg(test)]
mod tests {
    use crate::diagnostic::Source;
    use crate::model::load::load;

    #[test]
    fn type_stub_has_names_and_title_patterns() {
        let text = r#"
            schema = 1
            type = "route"
            doc = "A device's route."
            runs_on = "device"
            ensurable = true
            title = "{prefix}/{hop}"
            [attr.prefix]
            role = "namevar"
            doc = "Prefix."
            [attr.hop]
            role = "namevar"
            doc = "Next hop."
            [attr.cost]
            doc = "Cost \\ 1."
            [attr.force]
            role = "parameter"
            doc = "Whether."
        "#;
        let model = load(&Source::new("t.toml", text)).unwrap();
        assert_eq!(
            model.type_stub(),
            r"# For the compilation of catalogs. `switchtender` applies resources of this type to devices.
Puppet::Type.newtype(:route) do
  @doc = 'A device\'s route.'
  apply_to_device
  newproperty(:ensure) do
    desc 'Whether the instance exists on the device.'
  end
  newparam(:prefix, :namevar => true) do
    desc 'Prefix.'
  end
  newparam(:hop, :namevar => true) do
    desc 'Next hop.'
  end
  newproperty(:cost) do
    desc 'Cost \\ 1.'
  end
  newparam(:force) do
    desc 'Whether.'
  end
  def self.title_patterns
    [
      [/\A(.+)\/(.+)\z/m, [[:prefix], [:hop]]],
      [/\A(.*)\z/m, [[:prefix]]],
    ]
  end
end
"
        );
    }
}
