//! The generated tables of `docs/definitions.md`.

use std::path::Path;

use switchtender_devices::driver::key_tables;

const END: &str = "<!-- end -->\n";

#[test]
fn definitions_page_has_the_tables_of_keys() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/definitions.md");
    let mut page = std::fs::read_to_string(&path).unwrap();
    let updates = std::env::var_os("UPDATE_DOCS").is_some();
    for (name, table) in key_tables() {
        let begin = format!("<!-- {name}: generated -->\n");
        let (before, rest) = page.split_once(&begin).expect("the page has the table");
        let (found, after) = rest.split_once(END).expect("the table has an end");
        if !updates {
            let hint = "run `UPDATE_DOCS=1 cargo test --test it definitions_page`";
            assert_eq!(found, table, "{hint}");
        }
        page = format!("{before}{begin}{table}{END}{after}");
    }
    if updates {
        std::fs::write(&path, page).unwrap();
    }
}
