//! Can records be kept, where only their owner reads them?

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use jackline_runtime::replace;
use jackline_runtime::store::files::{network_file_system, room_bytes};

use super::report::Report;
use crate::place::{self, Where};

const GROUP: &str = "store";

/// Bytes below which a store will be full soon: some thousand large records.
const ROOM_BYTES_LOW: u64 = 256 << 20;
/// Bytes below which the next records may not fit: one commit at its largest.
const ROOM_BYTES_NONE: u64 = 16 << 20;

pub(super) fn look(state: &Path, asked: &Where, report: &mut Report) {
    let shown = state.display();
    let before = report.remarks.len();
    if let Err(fault) = replace::writable(state) {
        let text = format!("`{shown}` cannot be written ({fault}), so every call is denied");
        report.fail(
            GROUP,
            text,
            "look at its rights and at the disk, or wire another one: `jackline init --store DIR`",
        );
    }
    if let Some(kind) = network_file_system(state) {
        let text = format!("`{shown}` lies on a network file system ({kind}), where locks may not hold");
        report.warn(GROUP, text, "keep it on a local disk: `jackline init --store DIR`");
    }
    if asked.project().is_ok_and(|root| place::leads_into(state, &root)) {
        let text = format!("`{shown}` lies in the project itself, where an agent works");
        report.warn(GROUP, text, "keep it outside of every project: `jackline init --store DIR`");
    }
    private(state, report);
    room(state, report);
    if asked.state().is_ok_and(|default| default != state) {
        let text = format!("hooks keep their records in `{shown}`, where other commands do not look by themselves");
        report.note(GROUP, text, format!("export JACKLINE_HOME={shown}"));
    }
    if report.remarks.len() == before {
        let there =
            if state.exists() { "can be written, and only its owner reads it" } else { "will be made when needed" };
        report.ok(GROUP, format!("`{shown}` {there}"));
    }
}

fn private(state: &Path, report: &mut Report) {
    for dir in [state.to_owned(), state.join("sessions"), state.join("keys")] {
        let Ok(there) = fs::metadata(&dir) else { continue };
        let mode = there.permissions().mode() & 0o777;
        if mode & 0o077 != 0 {
            let text = format!("others may look into `{}` (mode {mode:03o})", dir.display());
            report.warn(GROUP, text, format!("chmod 700 {}", dir.display()));
        }
    }
}

fn room(state: &Path, report: &mut Report) {
    match room_bytes(state) {
        Ok(bytes) if bytes < ROOM_BYTES_NONE => {
            report.fail(GROUP, format!("the disk is full ({} MiB left): calls are denied", bytes >> 20), "make room");
        }
        Ok(bytes) if bytes < ROOM_BYTES_LOW => {
            report.warn(GROUP, format!("the disk is nearly full ({} MiB left)", bytes >> 20), "make room");
        }
        Ok(_) => {}
        Err(fault) => report.warn(GROUP, format!("how full the disk is cannot be told: {fault}"), "look with `df`"),
    }
}
