//! Definitions in a directory, and the files that their tests name.

use std::fs;
use std::path::Path;

use switchtender_devices::definitions::from_directory;
use switchtender_devices::diagnostic::Diagnostic;
use switchtender_devices::driver::Registry;

const PLATFORM: &str = r#"
schema = 1
platform = "box"
transport = "ssh-cli"
[connection]
read_mode = "exec"
[mode.exec]
prompt = '(?<name>\w+)#'
[read.config]
command = "show running-config"
parse = "indent"
expect = '^box '
"#;

const MODEL: &str = "schema = 1\ntype = \"thing\"\ndoc = \"x\"\n[attr.name]\nrole = \"namevar\"\n\
                     [attr.mode]\nvalues = [\"a\", \"b\"]\n";

const TYPE: &str = "schema = 1\nplatform = \"box\"\ntype = \"thing\"\n[instance]\nfrom = \"config\"\n\
                    block = \"x {name}\"\n[attr.mode]\nline = \"mode {mode}\"\n";

fn messages(findings: &[Diagnostic]) -> Vec<&str> {
    findings
        .iter()
        .map(|found| found.message.as_str())
        .collect()
}

fn write(directory: &Path, name: &str, text: &str) {
    let path = directory.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

#[test]
fn test_inputs_are_files_below_the_definition() {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path().join("definitions");
    write(&root, "models/thing.toml", MODEL);
    write(&root, "box/platform.toml", PLATFORM);
    write(&root, "box/inputs/a.cfg", "x n\r\n mode b\r\n");
    write(directory.path(), "outside.cfg", "x n\n mode b\n");
    let load = |file: &str| {
        let test = format!(
            "{TYPE}[[test]]\nname = \"reads\"\ngiven.config_file = \"{file}\"\n\
             expect = [{{ name = \"n\", mode = \"b\" }}]\n"
        );
        write(&root, "box/thing.toml", &test);
        Registry::load(&from_directory(&root).unwrap())
    };
    let results = load("inputs/a.cfg").unwrap().test(Some("thing"));
    assert_eq!(results.len(), 1);
    assert_eq!(results[0].failure, None);
    std::os::unix::fs::symlink("../../outside.cfg", root.join("box/link.cfg")).unwrap();
    for file in ["../../outside.cfg", "link.cfg"] {
        let findings = load(file).unwrap_err();
        let expected =
            format!("cannot read `{file}`: the file is not below the directory of the definition");
        assert_eq!(messages(&findings), [expected.as_str()]);
    }
    let findings = load("missing.cfg").unwrap_err();
    let message = messages(&findings)[0];
    assert!(
        message.starts_with("cannot read `missing.cfg`: No such file"),
        "{message}"
    );
}
