//! R19 to R24: agents that write code against their tools, and where that code runs.

use jackline_core::definition::Fault;
use jackline_core::definition::fault::quoted;
use jackline_core::definition::yaml::{Node, Value};
use jackline_core::overlap::texts_overlap;

use super::manifest::out_if;
use super::{Rule, agent_part, agents, not_a_flag, one_of};
use crate::finding::{Found, Level};
use crate::load::Workflow;
use crate::manifest::{at, entry_at, is, texts};

/// Where code may run.
pub(crate) const SANDBOXES: &[&str] = &["subprocess", "docker", "wasm", "isolate", "none"];
/// Languages that code may be written in.
pub(crate) const LANGUAGES: &[&str] = &["typescript", "python", "javascript"];

/// Pairs of allowed and excluded tools that are compared in one agent: a thousand of each, which nobody lists.
const COMPARED_MAX: usize = 1_000_000;

const CATEGORY: &str = "Capabilities";

pub(super) static TOOLS: Rule = Rule {
    id: "R19",
    level: Level::Error,
    category: CATEGORY,
    summary: "Code mode needs tools",
    text: "With `capabilities.codemode.enabled: true`, `capabilities.tools.enabled` is `true`: the code is written against \
the tools that are allowed, and there would be none.",
    good: agent_part(
        "capabilities:\n  tools: {enabled: true}\n  codemode: {enabled: true}\n  sandbox: {type: subprocess}\n",
    ),
    bad: agent_part(
        "capabilities:\n  tools: {enabled: false}   # nothing to write code against\n  codemode: {enabled: true}\n  sandbox: {type: subprocess}\n",
    ),
    check: tools,
};

pub(super) static SANDBOX: Rule = Rule {
    id: "R20",
    level: Level::Error,
    category: CATEGORY,
    summary: "Code mode needs a sandbox",
    text: "With `capabilities.codemode.enabled: true`, `capabilities.sandbox.type` is given and is not `none`: code that a \
model wrote runs nowhere else. Where it is given it is `subprocess`, `docker`, `wasm`, `isolate` or `none`, whether code mode \
is on or not.",
    good: agent_part(
        "capabilities:\n  tools: {enabled: true}\n  codemode: {enabled: true}\n  sandbox: {type: subprocess}\n",
    ),
    bad: agent_part(
        "capabilities:\n  tools: {enabled: true}\n  codemode: {enabled: true}\n  sandbox: {type: none}      # the code would run anywhere\n",
    ),
    check: sandbox,
};

pub(super) static LANGUAGE: Rule = Rule {
    id: "R21",
    level: Level::Error,
    category: CATEGORY,
    summary: "Code mode's language is known",
    text: "`capabilities.codemode.language`, where it is given, is `typescript`, `python` or `javascript`, whether code mode \
is on or not.",
    good: agent_part("capabilities:\n  codemode: {enabled: false, language: python}\n"),
    bad: agent_part("capabilities:\n  codemode: {enabled: false, language: ruby}   # not one of them\n"),
    check: language,
};

pub(super) static INCLUDE: Rule = Rule {
    id: "R22",
    level: Level::Error,
    category: CATEGORY,
    summary: "An explicit surface names tools",
    text: "With `capabilities.codemode.sdk_surface.mode: explicit`, `include` names at least one tool: only what it names is \
there for the code.",
    good: agent_part(
        "capabilities:\n  codemode:\n    enabled: false\n    sdk_surface: {mode: explicit, include: [web.search]}\n",
    ),
    bad: agent_part(
        "capabilities:\n  codemode:\n    enabled: false\n    sdk_surface: {mode: explicit, include: []}   # nothing is left\n",
    ),
    check: include,
};

pub(super) static EXCLUDE: Rule = Rule {
    id: "R23",
    level: Level::Error,
    category: CATEGORY,
    summary: "Excluded tools are allowed ones",
    text: "Every entry of `capabilities.codemode.sdk_surface.exclude` matches a tool in `capabilities.tools.allowed`. `*` \
stands for any text, in both lists. What is not allowed need not be excluded, so an entry that matches nothing is a slip.",
    good: agent_part(
        "capabilities:\n  tools: {enabled: true, allowed: [\"web.*\", file.read]}\n  codemode:\n    enabled: false\n    sdk_surface: {exclude: [web.search]}\n",
    ),
    bad: agent_part(
        "capabilities:\n  tools: {enabled: true, allowed: [\"web.*\", file.read]}\n  codemode:\n    enabled: false\n    sdk_surface: {exclude: [file.write]}   # was never allowed\n",
    ),
    check: exclude,
};

pub(super) static NETWORK: Rule = Rule {
    id: "R24",
    level: Level::Error,
    category: CATEGORY,
    summary: "An isolate says what it may reach",
    text: "With `capabilities.sandbox.type: isolate`, `capabilities.sandbox.network` is a map that says at least whether it \
is `enabled`.",
    good: agent_part("capabilities:\n  sandbox:\n    type: isolate\n    network: {enabled: false}\n"),
    bad: agent_part("capabilities:\n  sandbox:\n    type: isolate           # may it reach anything?\n"),
    check: network,
};

/// The place of the switch that turns code mode on.
fn switch(root: &Node) -> jackline_core::definition::Span {
    entry_at(root, &["capabilities", "codemode", "enabled"]).map(|entry| entry.key_span).unwrap_or_default()
}

fn tools(flow: &Workflow, out: &mut Found) {
    for (agent, config) in agents(flow).filter(|(_, config)| config.writes_code()) {
        if is(config.root, &["capabilities", "tools", "enabled"], true) {
            continue;
        }
        let said = at(config.root, &["capabilities", "tools", "enabled"]);
        let fault = Fault::error("code mode is on, and `capabilities.tools.enabled` is not `true`");
        let span = said.map_or_else(|| switch(config.root), |node| node.span);
        out.put(agent.file, fault.at(span).help("set `tools: {enabled: true}`: code is written against tools"));
    }
}

fn sandbox(flow: &Workflow, out: &mut Found) {
    for (agent, config) in agents(flow) {
        let kind = config.sandbox().and_then(|sandbox| sandbox.get("type"));
        let said = kind.filter(|kind| kind.value != Value::Null && kind.text() != Some(""));
        if let Some(fault) = said.and_then(|kind| one_of("type", SANDBOXES, kind)) {
            out.put(agent.file, fault);
            continue;
        }
        if !config.writes_code() {
            continue;
        }
        let fault = match kind.and_then(Node::text) {
            Some("none") => Fault::error("code mode is on, and the sandbox is `none`"),
            Some("") | None => Fault::error("code mode is on, and `capabilities.sandbox.type` is not given"),
            Some(_) => continue,
        };
        let span = kind.filter(|kind| kind.text().is_some()).map_or_else(|| switch(config.root), |kind| kind.span);
        out.put(agent.file, fault.at(span).help("choose one, such as `sandbox: {type: subprocess}`"));
    }
}

fn language(flow: &Workflow, out: &mut Found) {
    for (agent, config) in agents(flow) {
        let language = config.code_mode().and_then(|mode| mode.get("language"));
        out_if(out, agent.file, language.and_then(|node| one_of("language", LANGUAGES, node)));
    }
}

fn include(flow: &Workflow, out: &mut Found) {
    for (agent, config) in agents(flow) {
        let surface = config.code_mode().and_then(|mode| mode.get("sdk_surface"));
        let Some(surface) = surface.filter(|surface| surface.get("mode").and_then(Node::text) == Some("explicit"))
        else {
            continue;
        };
        if texts(surface.get("include")).all(|(name, _)| name.is_empty()) {
            let place = surface.entry("include").or_else(|| surface.entry("mode")).map(|entry| entry.key_span);
            let fault = Fault::error("the explicit surface includes no tool").at(place.unwrap_or(surface.span));
            out.put(agent.file, fault.help("name tools under `include`, or use `mode: auto`"));
        }
    }
}

fn exclude(flow: &Workflow, out: &mut Found) {
    for (agent, config) in agents(flow) {
        let excluded = config.code_mode().and_then(|mode| at(mode, &["sdk_surface", "exclude"]));
        let allowed = config.allowed_tools().count();
        for (number, (name, span)) in texts(excluded).enumerate() {
            if allowed.saturating_mul(number) > COMPARED_MAX {
                let fault = Fault::error("there are too many tools to compare those that are allowed and excluded");
                out.put(agent.file, fault.at(span).help("use patterns, such as `web.*`"));
                break;
            }
            if config.allowed_tools().any(|(allowed, _)| texts_overlap(allowed, name)) {
                continue;
            }
            let fault = Fault::error(format!("no allowed tool is matched by {}", quoted(name))).at(span);
            let empty = config.allowed_tools().next().is_none();
            let help = if empty {
                "list the tools under `capabilities.tools.allowed`"
            } else {
                "remove it, or allow the tool first"
            };
            out.put(agent.file, fault.help(help));
        }
    }
}

fn network(flow: &Workflow, out: &mut Found) {
    for (agent, config) in agents(flow) {
        let Some(sandbox) =
            config.sandbox().filter(|sandbox| sandbox.get("type").and_then(Node::text) == Some("isolate"))
        else {
            continue;
        };
        let network = sandbox.get("network");
        match network.and_then(|network| network.get("enabled")) {
            Some(flag) if matches!(flag.value, Value::Bool(_) | Value::Broken) => {}
            Some(flag) => out_if(out, agent.file, not_a_flag("enabled", flag)),
            None => {
                let span = sandbox.entry("network").or_else(|| sandbox.entry("type")).map(|entry| entry.key_span);
                let fault = Fault::error("an isolate needs `network.enabled`").at(span.unwrap_or(sandbox.span));
                out.put(agent.file, fault.help("say whether it may reach anything: `network: {enabled: false}`"));
            }
        }
    }
}
