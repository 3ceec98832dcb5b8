//! Shipped models load, and every attribute has documentation.

use std::fs;
use std::path::Path;

use switchtender_devices::diagnostic::Source;
use switchtender_devices::model::load;

#[test]
fn shipped_models_load_and_document_every_attribute() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("definitions/models");
    let mut wrong = Vec::new();
    let mut count = 0;
    for entry in fs::read_dir(&directory).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let text = fs::read_to_string(&path).unwrap();
        count += 1;
        match load::load(&Source::new(format!("models/{name}.toml"), text.as_str())) {
            Ok(model) => {
                if *model.name != *name {
                    wrong.push(format!("{name}.toml defines {}", model.name));
                }
                for attribute in model.attributes.values() {
                    if attribute.doc.is_empty() {
                        wrong.push(format!("{name}.{} has no doc", attribute.name));
                    }
                }
            }
            Err(found) => wrong.extend(
                found
                    .iter()
                    .map(|found| format!("{name}: {} {:?}", found.message, found.help)),
            ),
        }
    }
    assert!(count > 0, "no models in {}", directory.display());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
