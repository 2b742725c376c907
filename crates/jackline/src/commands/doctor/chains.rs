//! Is the log what was written?

use super::report::Report;
use crate::commands::{audit, sessions};
use crate::error::CommandError;
use crate::place::Where;

const GROUP: &str = "log";

/// Sessions that are verified, the newest first: a few seconds of reading. `audit verify` does all of them.
const SESSIONS_MAX: usize = 50;

pub(super) fn look(at: &Where, report: &mut Report) {
    match verified(at) {
        Ok((0, _, _)) => report.ok(GROUP, "no sessions here yet"),
        Ok((all, looked, None)) if looked < all => {
            report.ok(GROUP, format!("the newest {looked} of {all} chains hold (`jackline audit verify` for all)"));
        }
        Ok((all, _, None)) => {
            report.ok(GROUP, format!("{all} {}", if all == 1 { "chain holds" } else { "chains hold" }))
        }
        Ok((_, _, Some(broken))) => {
            report.fail(GROUP, broken, "keep a copy; `jackline audit verify` tells more; what was before still holds");
        }
        Err(error) => report.error(GROUP, error),
    }
}

/// How many sessions there are, how many were looked at, and what is broken.
fn verified(at: &Where) -> Result<(usize, usize, Option<String>), CommandError> {
    let listed = sessions::list(&at.files()?, at, false)?;
    let ids: Vec<String> = listed.iter().take(SESSIONS_MAX).map(|session| session.entry.id.clone()).collect();
    Ok((listed.len(), ids.len(), audit::broken_of(at, &ids)?))
}
