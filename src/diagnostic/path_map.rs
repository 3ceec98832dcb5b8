//! Paths of manifests on the server that compiled a catalog, as paths in the repository.

use std::str::FromStr;

use super::Diagnostic;

/// `FROM=TO`: a path below FROM is below TO in the repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PathMapping {
    from: String,
    to: String,
}

/// A mapping without `=` or without FROM.
#[derive(Debug, thiserror::Error)]
#[error("expected FROM=TO, such as /etc/puppetlabs/code/environments/production=.")]
pub(crate) struct PathMappingError;

impl FromStr for PathMapping {
    type Err = PathMappingError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (from, to) = text.split_once('=').ok_or(PathMappingError)?;
        let from = from.trim_end_matches('/');
        if from.is_empty() {
            return Err(PathMappingError);
        }
        // Readers compare paths with those of the repository, which have no leading `./`.
        let to = to.trim_end_matches('/');
        let to = to.strip_prefix("./").unwrap_or(to);
        Ok(Self {
            from: from.to_owned(),
            to: if to == "." { "" } else { to }.to_owned(),
        })
    }
}

impl PathMapping {
    fn apply(&self, path: &str) -> Option<String> {
        let rest = path.strip_prefix(&self.from)?.strip_prefix('/')?;
        Some(match self.to.as_str() {
            "" => rest.to_owned(),
            to => format!("{to}/{rest}"),
        })
    }
}

/// Replaces the paths of manifests; the first mapping that matches counts.
pub(crate) fn map_paths(findings: &mut [Diagnostic], mappings: &[PathMapping]) {
    for position in findings
        .iter_mut()
        .filter_map(|found| found.position.as_mut())
    {
        let mut mapped = mappings
            .iter()
            .filter_map(|mapping| mapping.apply(&position.file));
        if let Some(path) = mapped.next() {
            position.file = path.into();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::ManifestPosition;
    use super::*;

    #[test]
    fn first_matching_mapping_replaces_complete_directories() {
        let mappings = ["/code/prod/site/=./site", "/code/prod=.", "/srv=/home/ci"];
        let mappings = mappings.map(|text| text.parse().expect("a mapping"));
        for (path, expected) in [
            ("/code/prod/site/a.pp", "site/a.pp"),
            ("/code/prod/manifests/a.pp", "manifests/a.pp"),
            ("/code/production/a.pp", "/code/production/a.pp"),
            ("/srv/a.pp", "/home/ci/a.pp"),
            ("site.pp", "site.pp"),
        ] {
            let mut found = [
                Diagnostic::error("x", "y").in_manifest(Some(ManifestPosition {
                    file: path.into(),
                    line: 1,
                })),
            ];
            map_paths(&mut found, &mappings);
            let position = found[0].position.as_ref().expect("a position");
            assert_eq!(&*position.file, expected);
        }
    }

    #[test]
    fn mapping_without_a_source_is_refused() {
        for text in ["/code", "=site", "/=site"] {
            assert!(text.parse::<PathMapping>().is_err(), "{text}");
        }
    }
}
