//! The README and the table of options cannot part, and documents link what is there.

use rondo::config::{self, OPTIONS};
use std::{fs, path::Path};

fn readme() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md");
    fs::read_to_string(path).expect("the project has a README.md")
}

#[test]
fn the_readme_has_the_table_of_options() {
    let table = config::markdown();
    assert!(
        readme().contains(&table),
        "the table of options in README.md is not the current one, which is:\n\n{table}"
    );
}

#[test]
fn the_readme_names_no_variable_that_does_not_exist() {
    let readme = readme();
    let known: Vec<String> = OPTIONS.iter().map(|opt| opt.variable()).collect();
    let word = |c: char| !(c.is_ascii_alphanumeric() || c == '_');
    let names = readme.split(word).filter(|name| name.starts_with("RONDO_"));
    // The test-suite has variables of its own.
    let names =
        names.filter(|name| !name.starts_with("RONDO_TEST_") && !name.starts_with("RONDO_LIB_"));
    for name in names.filter(|name| *name != "RONDO_") {
        assert!(
            known.iter().any(|variable| variable == name),
            "README.md names {name}"
        );
    }
}

/// In every document: a file that is linked or shown is there. (Links to other sites are not followed.)
#[test]
fn links_lead_to_files() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut links = 0;
    for folder in [root.to_owned(), root.join("docs")] {
        for entry in fs::read_dir(&folder).unwrap() {
            let document = entry.unwrap().path();
            if document.extension().is_none_or(|ending| ending != "md") {
                continue;
            }
            let text = fs::read_to_string(&document).unwrap();
            let targets = text.split("](").skip(1).filter_map(|rest| {
                let target = rest.split([')', '#']).next()?;
                (!target.is_empty() && !target.contains("://")).then_some(target)
            });
            for target in targets {
                links += 1;
                let name = document.display();
                assert!(folder.join(target).exists(), "{name} links {target}");
            }
        }
    }
    assert!(links > 10, "{links}");
}
