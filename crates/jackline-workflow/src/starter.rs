//! The workflow that `new` writes: two agents, valid as it stands, commented.

/// Its files, as paths and texts. `name` must be a name that rule R2 lets pass.
#[must_use]
pub fn files(name: &str) -> Vec<(&'static str, String)> {
    vec![
        (crate::MANIFEST_FILE, include_str!("starter/workflow.awp.yaml").replace("my-workflow", name)),
        ("agents/researcher/agent.awp.yaml", include_str!("starter/researcher.awp.yaml").to_owned()),
        ("agents/writer/agent.awp.yaml", include_str!("starter/writer.awp.yaml").to_owned()),
    ]
}
