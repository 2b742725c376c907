//! Paths that a workflow names: relative ones that stay inside its directory. Text only; nothing is looked at.

/// A path as seen from the workflow's directory, when `path` is written in a file of the directory `base`; none when it
/// is absolute or leads out.
pub(crate) fn inside(base: &str, path: &str) -> Option<String> {
    if path.starts_with('/') || path.contains('\0') {
        return None;
    }
    let mut parts: Vec<&str> = base.split('/').filter(|part| !part.is_empty()).collect();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()?),
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_stay_inside() {
        for (base, path, want) in [
            ("", "agents/a", Some("agents/a")),
            ("", "./agents//a/", Some("agents/a")),
            ("agents/a", "out.json", Some("agents/a/out.json")),
            ("agents/a", "../shared/out.json", Some("agents/shared/out.json")),
            ("agents/a", "../../../etc/passwd", None),
            ("", "..", None),
            ("", "/etc/passwd", None),
            ("", "a\0b", None),
            ("", ".", Some("")),
        ] {
            assert_eq!(inside(base, path).as_deref(), want, "{base} {path}");
        }
    }
}
