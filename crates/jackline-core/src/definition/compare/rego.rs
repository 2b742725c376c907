//! What a change of a Rego policy loosens. Which of two files denies more cannot be told: any other file counts.

use super::super::model::Rego;
use super::Found;
use super::width::more_choices;

pub(super) fn compare(label: &str, old: &Rego, new: &Rego, found: &mut Found) {
    found.when(old.file != new.file, || format!("{label} changed its file"));
    found.when(!more_choices(&old.tool, &new.tool), || format!("{label} judges fewer tools"));
}

#[cfg(test)]
mod tests {
    use super::super::super::parse;
    use super::super::loosenings;

    #[track_caller]
    fn check(old: &str, new: &str, want: &[&str]) {
        let model = |rego: &str| parse(&format!("jackline: 1\npolicies: [{{name: r, rego: {{{rego}}}}}]"), &[]);
        assert_eq!(loosenings(&model(old).unwrap().model, &model(new).unwrap().model), want, "{old} -> {new}");
    }

    #[test]
    fn another_file_and_fewer_tools_are_looser() {
        check("file: a.rego", "file: a.rego", &[]);
        check("file: a.rego", "file: b.rego", &["policy \"r\" changed its file"]);
        check("file: a.rego", "file: a.rego, tool: x", &["policy \"r\" judges fewer tools"]);
        check("file: a.rego, tool: [x, y]", "file: a.rego, tool: [y]", &["policy \"r\" judges fewer tools"]);
        check("file: a.rego, tool: x", "file: a.rego, tool: [x, y]", &[]);
        check("file: a.rego, tool: x", "file: a.rego", &[]);
    }
}
