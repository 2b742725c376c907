//! What `store gc` shows: what goes, what stays and why, and how many bytes that is.

use std::io;
use std::path::Path;

use jackline_runtime::retention::{Beginning, Done, Fate, GONE_SESSION, Planned, Why};
use jackline_runtime::store::Head;
use serde_json::{Value, json};

use super::{Row, told};
use crate::paint::Paint;
use crate::{place, screen, timeline};

/// Steps between the units in which sizes are shown.
const UNIT_BYTES: f64 = 1024.0;

/// What goes, a line each.
pub(super) fn rows(planned: &[Planned]) -> io::Result<()> {
    let paint = Paint::for_stdout();
    planned.iter().filter_map(|planned| row(planned, paint)).try_for_each(|line| screen::line(&line))
}

fn row(planned: &Planned, paint: Paint) -> Option<String> {
    let (verb, what) = match &planned.fate {
        Fate::Kept(_) => return None,
        Fate::Retired => {
            let latest = planned.latest.to_string().get(..10).unwrap_or_default().to_owned();
            let records = planned.head.seq + 1 - planned.first.min(planned.head.seq);
            ("retire", format!("{records} records, {}, last written {latest}", size(planned.bytes)))
        }
        Fate::Shortened(Beginning { last, .. }) => {
            ("shorten", format!("records {} to {}, {}", planned.first, last.seq, size(last.offset)))
        }
    };
    let id = paint.bold(&timeline::shown(&planned.session));
    Some(format!("{verb:<7}  {id}  {what}  {}", paint.dim(&timeline::harmless(&planned.workspace))))
}

/// What a person is asked.
pub(super) fn question(planned: &[Planned], archive: Option<&Path>) -> String {
    let going: Vec<&Planned> = planned.iter().filter(|one| bytes(&one.fate, one.bytes) > 0).collect();
    let whole = going.iter().filter(|one| one.fate == Fate::Retired).count();
    let total = going.iter().map(|one| bytes(&one.fate, one.bytes)).sum();
    let to = archive.map_or_else(|| " for good".to_owned(), |dir| format!(" to {}", place::shown(dir)));
    format!("Retire {}, {}{to}?", counted(whole, going.len() - whole), size(total))
}

/// What went or would go, why the others stay, and the sum.
pub(super) fn summary(all: &[Row], dry_run: bool) -> io::Result<()> {
    let planned: Vec<Planned> = all.iter().filter(|row| dry_run || went(row)).map(|row| row.planned.clone()).collect();
    rows(&planned)?;
    for row in all {
        match (&row.done, &row.planned.fate) {
            (Some(Ok(Done::Moved)), _) => {
                screen::line(&format!("kept     {}  written meanwhile", timeline::shown(&row.planned.session)))?;
            }
            (Some(Ok(Done::Shortened { head, .. })), _) => {
                let (session, head, hash) = (timeline::shown(&row.planned.session), head.seq, head.hash);
                screen::line(&format!("head     {session}:{head}:{hash}"))?;
            }
            (_, Fate::Kept(Why::Broken(why))) => {
                let (session, why) = (timeline::shown(&row.planned.session), timeline::harmless(why));
                screen::line(&format!("broken   {session}  {why}"))?;
            }
            _ => {}
        }
    }
    let kept = kept_words(all);
    if !kept.is_empty() {
        screen::line(&format!("kept: {kept}"))?;
    }
    let whole = planned.iter().filter(|one| one.fate == Fate::Retired).count();
    let parts = planned.iter().filter(|one| matches!(one.fate, Fate::Shortened(_))).count();
    let total = planned.iter().map(|one| bytes(&one.fate, one.bytes)).sum();
    let said = match (whole + parts, dry_run) {
        (0, true) => "nothing would be retired".to_owned(),
        (0, false) => "nothing was retired".to_owned(),
        (_, true) => format!("would retire {}, {}", counted(whole, parts), size(total)),
        (_, false) => format!("retired {}, {}", counted(whole, parts), size(total)),
    };
    screen::line(&said)
}

fn went(row: &Row) -> bool {
    matches!(row.done, Some(Ok(Done::Retired { .. } | Done::Shortened { .. })))
}

fn counted(whole: usize, parts: usize) -> String {
    let some = |count: usize, one: &str, many: &str| match count {
        0 => None,
        1 => Some(format!("1 {one}")),
        count => Some(format!("{count} {many}")),
    };
    let parts = some(parts, "log's beginning", "logs' beginnings");
    [some(whole, "session", "sessions"), parts].into_iter().flatten().collect::<Vec<_>>().join(" and ")
}

fn kept_words(all: &[Row]) -> String {
    let order = [
        (Why::Recent, "written lately"),
        (Why::Newest, "the latest of a workspace"),
        (Why::Open, "open"),
        (Why::Parked, "parked"),
        (Why::Todos, "with open todos"),
        (Why::Policies, "needed by file policies"),
        (Why::Excepted, "with an exception in force"),
        (Why::Signed, "named by a checkpoint"),
        (Why::Run, "runs of workflows"),
        (Why::Ours, "the store's own"),
    ];
    let count = |why: &Why| all.iter().filter(|row| row.planned.fate == Fate::Kept(why.clone())).count();
    let counted = order.iter().map(|(why, words)| (count(why), words)).filter(|(count, _)| *count > 0);
    counted.map(|(count, words)| format!("{count} {words}")).collect::<Vec<_>>().join(", ")
}

/// Bytes of a log that go.
const fn bytes(fate: &Fate, log_bytes: u64) -> u64 {
    match fate {
        Fate::Kept(_) => 0,
        Fate::Retired => log_bytes,
        Fate::Shortened(Beginning { last, .. }) => last.offset,
    }
}

fn size(bytes: u64) -> String {
    let units = ["KiB", "MiB", "GiB", "TiB"];
    let mut shown = (bytes as f64 / UNIT_BYTES, "KiB");
    for unit in units.iter().skip(1) {
        if shown.0 >= UNIT_BYTES {
            shown = (shown.0 / UNIT_BYTES, unit);
        }
    }
    format!("{:.1} {}", shown.0, shown.1)
}

pub(super) fn as_json(all: &[Row], own: Option<Head>, dry_run: bool) -> Value {
    let total: u64 =
        all.iter().filter(|row| dry_run || went(row)).map(|row| bytes(&row.planned.fate, row.planned.bytes)).sum();
    let sessions: Vec<Value> = all.iter().map(one).collect();
    let own = own.map(|head| json!({ "session": GONE_SESSION, "seq": head.seq, "hash": head.hash.hex() }));
    json!({ "dry_run": dry_run, "bytes": total, "sessions": sessions, "head": own })
}

fn one(Row { planned, done }: &Row) -> Value {
    let mut value = json!({
        "session": planned.session, "workspace": planned.workspace, "latest": planned.latest.to_string(),
        "bytes": planned.bytes, "first": planned.first, "head": { "seq": planned.head.seq, "hash": planned.head.hash.hex() },
    });
    let mut put = |member: &str, of: Value| {
        if let Value::Object(members) = &mut value {
            members.insert(member.to_owned(), of);
        }
    };
    match &planned.fate {
        Fate::Kept(why) => {
            put("fate", "kept".into());
            put("why", why.name().into());
            if let Why::Broken(broken) = why {
                put("broken", broken.as_str().into());
            }
        }
        Fate::Retired => {
            put("fate", "retired".into());
            put("retired", json!({ "first": planned.first, "last": planned.head.seq, "bytes": planned.bytes }));
        }
        Fate::Shortened(Beginning { last, .. }) => {
            put("fate", "shortened".into());
            put(
                "retired",
                json!({ "first": planned.first, "last": last.seq, "bytes": last.offset, "hash": last.hash.hex() }),
            );
        }
    }
    match done {
        Some(Ok(Done::Moved)) => {
            put("fate", "kept".into());
            put("why", "moved".into());
        }
        Some(Ok(Done::Retired { archive })) => put("archive", archived(archive.as_deref())),
        Some(Ok(Done::Shortened { head, archive })) => {
            put("head", json!({ "seq": head.seq, "hash": head.hash.hex() }));
            put("archive", archived(archive.as_deref()));
        }
        Some(Err(fault)) => {
            put("fate", "kept".into());
            put("fault", told(fault).into());
        }
        Some(Ok(Done::Kept)) | None => {}
    }
    value
}

fn archived(path: Option<&Path>) -> Value {
    path.map_or(Value::Null, |path| path.display().to_string().into())
}
