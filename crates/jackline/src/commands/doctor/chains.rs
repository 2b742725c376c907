//! Is the log what was written?

use super::report::Report;
use crate::commands::audit;
use crate::commands::sessions::{self, Listed};
use crate::error::CommandError;
use crate::place::Where;

const GROUP: &str = "log";

/// Sessions that are verified, the newest first: a few seconds of reading. `audit verify` does all of them.
const SESSIONS_MAX: usize = 50;

pub(super) fn look(at: &Where, report: &mut Report) {
    match verified(at) {
        Ok((0, _, None)) => report.ok(GROUP, "no sessions here yet"),
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
    let (store, here) = (at.files()?, at.workspace()?);
    // One whose beginning cannot be read may be of this workspace; its calls are refused.
    let may_be_here = |session: &Listed| session.workspace().is_empty() || session.is_at(&here);
    let mut listed = sessions::list(&store, at, true)?;
    listed.retain(may_be_here);
    let ids: Vec<String> = listed.iter().take(SESSIONS_MAX).map(|session| session.entry.id.clone()).collect();
    let broken = match audit::broken_of(at, &ids)? {
        None => audit::odd_of(&store)?,
        broken => broken,
    };
    Ok((listed.len(), ids.len(), broken))
}
