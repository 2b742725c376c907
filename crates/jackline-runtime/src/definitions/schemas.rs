//! Whether the schemas that a definition names are there and can be used; told when it is read, not when a call comes.

use std::path::{Path, PathBuf};

use jackline_core::definition::model::SchemaSource;
use jackline_core::definition::{Fault, Model, span_of};

use crate::schemas::{SchemaFault, compile, read};

/// A schema of a definition and where it stands there.
struct Named<'a> {
    tool: &'a str,
    key: &'static str,
    source: &'a SchemaSource,
}

fn named(model: &Model) -> impl Iterator<Item = Named<'_>> {
    model.tools.declare.iter().flat_map(|(tool, declaration)| {
        let all = [("schema", &declaration.schema), ("output_schema", &declaration.output_schema)];
        all.into_iter().filter_map(move |(key, source)| Some(Named { tool, key, source: source.as_ref()? }))
    })
}

/// Faults of the schemas written into a definition; `text` lends their places.
pub(super) fn inline_faults(model: &Model, text: Option<&str>) -> Vec<Fault> {
    let unusable = |named: Named<'_>| match named.source {
        SchemaSource::Inline(schema) => Some(fault(&named, text, compile(schema.as_bytes()).err()?)),
        SchemaSource::File(_) => None,
    };
    named(model).filter_map(unusable).collect()
}

/// Faults of the schemas in files, named from this directory.
fn file_faults(model: &Model, text: Option<&str>, dir: &Path) -> Vec<Fault> {
    let unusable = |named: Named<'_>| match named.source {
        SchemaSource::Inline(_) => None,
        SchemaSource::File(file) => {
            let schema = read(&dir.join(file)).map_err(|why| SchemaFault::new(format!("it cannot be read: {why}")));
            Some(fault(&named, text, schema.and_then(|schema| compile(&schema)).err()?))
        }
    };
    named(model).filter_map(unusable).collect()
}

/// Faults of all schemas of a definition that lies in this directory.
#[must_use]
pub fn schema_faults(model: &Model, text: Option<&str>, dir: &Path) -> Vec<Fault> {
    let mut faults = inline_faults(model, text);
    faults.extend(file_faults(model, text, dir));
    faults.sort_by_key(|fault| fault.span);
    faults
}

fn fault(named: &Named<'_>, text: Option<&str>, why: SchemaFault) -> Fault {
    let Named { tool, key, source } = named;
    let which = match source {
        SchemaSource::File(file) => format!("`{file}`, its `{key}`,"),
        SchemaSource::Inline(_) => format!("its `{key}`"),
    };
    let fault = Fault::error(format!("tool `{tool}`: {which} cannot be used: {}", why.message));
    let span = text.and_then(|text| span_of(text, &["tools", "declare", tool, key]));
    Fault { span, ..fault.help_if(why.help.map(str::to_owned)) }
}

/// The files that hold schemas, and what people should know of those that are not there.
pub(super) fn files(model: &Model, dir: &Path) -> (Vec<PathBuf>, Vec<String>) {
    let (mut files, mut notices) = (Vec::new(), Vec::new());
    for Named { tool, key, source } in named(model) {
        let SchemaSource::File(file) = source else { continue };
        let path = dir.join(file);
        if !path.is_file() {
            let told = format!("`{file}`, the `{key}` of tool `{tool}`, is not there; run `jackline check`");
            notices.push(told);
        }
        files.push(path);
    }
    (files, notices)
}
