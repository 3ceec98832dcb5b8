//! Mutated definitions. Loading gives a definition or errors, and does not panic.

use switchtender_mutation::Campaign;

use super::*;

#[test]
fn mutations_of_definitions_do_not_panic() {
    let shipped = definitions::shipped();
    let corpus: Vec<Vec<u8>> = shipped
        .iter()
        .map(|file| file.source.text.clone().into_bytes())
        .collect();
    let campaign = Campaign {
        name: "definitions",
        share: 20,
    };
    campaign.run(&corpus, |bytes| {
        let text = String::from_utf8_lossy(bytes).into_owned();
        // The file whose first lines are unchanged; otherwise any, the same in each run.
        let line = text.lines().next().unwrap_or_default();
        let same = shipped
            .iter()
            .find(|file| file.source.text.starts_with(line));
        let file = same.unwrap_or(&shipped[bytes.len() % shipped.len()]);
        let (folder, name) = parts(&file.path).expect("shipped paths are valid");
        let needed = [
            format!("models/{name}.toml"),
            format!("{folder}/platform.toml"),
        ];
        let others: Vec<DefinitionFile> = shipped
            .iter()
            .filter(|other| needed.contains(&other.path) && other.path != file.path)
            .map(|other| DefinitionFile::new(&other.path, &other.source.text))
            .collect();
        let own = [DefinitionFile::new(&file.path, text)];
        match Registry::from_files(&others, &own) {
            Ok(_) => true,
            Err(findings) => {
                assert!(!findings.is_empty());
                false
            }
        }
    });
}
