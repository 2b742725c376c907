//! A definition built in code: mirrors the file key by key and is held to the same checks.

use super::bounds::Bounds;
use super::fault::{Fault, Faults, Faulty};
use super::model::{
    AgentCommands, ArgMatcher, ChangedTools, Checks, CommandMatcher, CommandParts, Completion, Computed, Declaration,
    Enforce, FilePolicies, Guard, Kind, Limits, Loop, Matcher, Mode, Model, Native, OnFault, Opaque, Paths, Policy,
    Provider, ReadBeforeWrite, Rego, Required, Rule, RuleVerdict, Section, Sequence, SessionMatcher, Step, Sync,
    UnknownTools, Use, Validation,
};
use super::{Parsed, feedback, finish, name_policies, semantics, todos};
use crate::overrides::Override;
use crate::path::Role;
use crate::todos::check::Check;

/// Puts a definition together; [`build`](Self::build) checks it.
#[derive(Debug, Clone, Default)]
#[must_use]
pub struct DefinitionBuilder {
    model: Model,
    /// Keys given twice: the model cannot hold them, and the file would refuse them.
    twice: Vec<String>,
}

impl DefinitionBuilder {
    /// A definition with nothing but its defaults.
    pub fn new() -> Self {
        Self::default()
    }

    /// `agent`
    pub fn agent(mut self, ns: impl Into<String>, key: impl Into<String>) -> Self {
        self.model.agent.ns = Some(ns.into());
        self.model.agent.key = Some(key.into());
        self
    }

    /// `use`, a pack as it is.
    pub fn pack(self, name: impl Into<String>) -> Self {
        self.pack_with(Use { pack: name.into(), ..Use::default() })
    }

    /// `use`, with policies of the pack enforced otherwise.
    pub fn pack_with(mut self, used: Use) -> Self {
        self.model.packs.push(used);
        self
    }

    /// `completion`
    pub fn completion(mut self, completion: Completion) -> Self {
        self.model.completion = Some(completion);
        self
    }

    /// `checks`
    pub fn checks(mut self, checks: Checks) -> Self {
        self.model.checks = checks;
        self
    }

    /// `mode`
    pub fn mode(mut self, mode: Mode) -> Self {
        self.model.mode = mode;
        self
    }

    /// `tools.unknown`
    pub fn unknown_tools(mut self, unknown: UnknownTools) -> Self {
        self.model.tools.unknown = Some(unknown);
        self
    }

    /// `tools.declare`, by kind alone.
    pub fn declare(self, tool: impl Into<String>, kind: Kind) -> Self {
        self.declare_with(tool, Declaration { kind: Some(kind), ..Declaration::default() })
    }

    /// `tools.declare`
    pub fn declare_with(mut self, tool: impl Into<String>, declaration: Declaration) -> Self {
        let tool = tool.into();
        if self.model.tools.declare.insert(tool.clone(), declaration).is_some() {
            self.twice.push(format!("tool {tool:?} is declared twice"));
        }
        self
    }

    /// `steps`
    pub fn step(mut self, name: impl Into<String>, matcher: Matcher) -> Self {
        self.model.steps.push(Step::new(name, matcher, 0));
        self
    }

    /// Any policy; an empty name is numbered after the guard.
    pub fn policy(mut self, policy: Policy) -> Self {
        self.model.policies.push(policy);
        self
    }

    /// `sequence`
    pub fn sequence<T, N, L>(self, name: &str, requires: impl IntoIterator<Item = (T, L)>) -> Self
    where
        T: Into<String>,
        N: Into<String>,
        L: IntoIterator<Item = N>,
    {
        self.policy(Policy::sequence(name, requires))
    }

    /// `read_before_write`
    pub fn read_before_write(self, name: &str, settings: ReadBeforeWrite) -> Self {
        self.policy(Policy::new(name, Guard::ReadBeforeWrite(settings)))
    }

    /// `paths`
    pub fn paths(self, name: &str, settings: Paths) -> Self {
        self.policy(Policy::new(name, Guard::Paths(settings)))
    }

    /// `rule`
    pub fn rule(self, name: &str, rule: Rule) -> Self {
        self.policy(Policy::new(name, Guard::Rule(rule.into())))
    }

    /// `rego`
    pub fn rego(self, name: &str, rego: Rego) -> Self {
        self.policy(Policy::new(name, Guard::Rego(rego)))
    }

    /// `sections`
    pub fn section<T: Into<String>>(
        mut self,
        name: impl Into<String>,
        tools: impl IntoIterator<Item = T>,
        policies: impl IntoIterator<Item = Policy>,
    ) -> Self {
        let tools = tools.into_iter().map(Into::into).collect();
        self.model.sections.push(Section { name: name.into(), tools, policies: policies.into_iter().collect() });
        self
    }

    /// `loop`; `None` switches it off.
    pub fn repeat(mut self, repeat: Option<Loop>) -> Self {
        self.model.repeat = repeat;
        self
    }

    /// `limits`
    pub fn limits(mut self, limits: Limits) -> Self {
        self.model.limits = limits;
        self
    }

    /// `reads`
    pub fn reads(mut self, bounds: Bounds) -> Self {
        self.model.reads = Some(bounds);
        self
    }

    /// `outputs`
    pub fn outputs(mut self, bounds: Bounds) -> Self {
        self.model.outputs = Some(bounds);
        self
    }

    /// `shell.opaque`
    pub fn opaque(mut self, opaque: Opaque) -> Self {
        self.model.shell.opaque = opaque;
        self
    }

    /// `shell.computed`
    pub fn computed(mut self, computed: Computed) -> Self {
        self.model.shell.computed = computed;
        self
    }

    /// `self.allow`
    pub fn allow_own<T: Into<String>>(mut self, patterns: impl IntoIterator<Item = T>) -> Self {
        self.model.own.allow.extend(patterns.into_iter().map(Into::into));
        self
    }

    /// `audit.redact`
    pub fn redact<T: Into<String>>(mut self, fields: impl IntoIterator<Item = T>) -> Self {
        self.model.audit.redact.extend(fields.into_iter().map(Into::into));
        self
    }

    /// `audit.checkpoint`
    pub fn checkpoint(mut self, checkpoint: bool) -> Self {
        self.model.audit.checkpoint = checkpoint;
        self
    }

    /// `store.sync`
    pub fn sync(mut self, sync: Sync) -> Self {
        self.model.store.sync = sync;
        self
    }

    /// `schema`
    pub fn validation(mut self, validation: Validation) -> Self {
        self.model.validation = validation;
        self
    }

    /// `mcp.changed_tools`
    pub fn changed_tools(mut self, changed_tools: ChangedTools) -> Self {
        self.model.mcp.changed_tools = changed_tools;
        self
    }

    /// `file_policies`
    pub fn file_policies(mut self, file_policies: FilePolicies) -> Self {
        self.model.file_policies = file_policies;
        self
    }

    /// `todos`, but for what is required.
    pub fn todos(mut self, agent_commands: AgentCommands, native: Native) -> Self {
        self.model.todos.agent_commands = Some(agent_commands);
        self.model.todos.native = native;
        self
    }

    /// `todos.require`
    pub fn require_todo(mut self, content: impl Into<String>, checks: impl IntoIterator<Item = Check>) -> Self {
        let checks = checks.into_iter().collect();
        self.model.todos.require.push(Required { content: content.into(), checks });
        self
    }

    /// `feedback`, one provider after the other.
    pub fn feedback(mut self, provider: Provider) -> Self {
        self.model.feedback.push(provider);
        self
    }

    /// The checked model. Warnings are not told; [`build_with`](Self::build_with) tells them.
    pub fn build(self) -> Result<Model, Faulty> {
        self.build_with(&[])
            .map(|parsed| parsed.model)
            .map_err(|faults| Faulty { faults: faults.into_iter().filter(|fault| !fault.warning).collect() })
    }

    /// The checked model with its warnings, `known_tools` being the names of the hosts' own tools.
    pub fn build_with(mut self, known_tools: &[&str]) -> Result<Parsed, Vec<Fault>> {
        let mut faults = Faults::default();
        self.twice.iter().for_each(|message| faults.push(Fault::error(message)));
        name_policies(&mut self.model);
        feedback::place(&mut self.model);
        todos::check(&self.model, None, &mut faults);
        semantics::check(&self.model, None, known_tools, &mut faults);
        finish(self.model, faults)
    }
}

impl Policy {
    /// A policy that denies; an empty name is numbered after the guard.
    #[must_use]
    pub fn new(name: impl Into<String>, guard: Guard) -> Self {
        Self {
            name: name.into(),
            enforce: Enforce::default(),
            when: None,
            on_fault: OnFault::default(),
            guard,
            line: 0,
        }
    }

    /// A policy on the order of calls.
    #[must_use]
    pub fn sequence<T, N, L>(name: impl Into<String>, requires: impl IntoIterator<Item = (T, L)>) -> Self
    where
        T: Into<String>,
        N: Into<String>,
        L: IntoIterator<Item = N>,
    {
        let needs = |list: L| list.into_iter().map(Into::into).collect();
        let requires = requires.into_iter().map(|(tool, list)| (tool.into(), needs(list))).collect();
        Self::new(name, Guard::Sequence(Sequence { requires, fresh: false }))
    }

    /// The same, enforced otherwise.
    #[must_use]
    pub fn enforce(self, enforce: Enforce) -> Self {
        Self { enforce, ..self }
    }

    /// The same, judging only calls that match.
    #[must_use]
    pub fn when(self, when: Matcher) -> Self {
        Self { when: Some(Box::new(when)), ..self }
    }

    /// The same, with another answer to faults.
    #[must_use]
    pub fn on_fault(self, on_fault: OnFault) -> Self {
        Self { on_fault, ..self }
    }

    /// The same, counting a prerequisite only if nothing was written since; nothing else has that setting.
    #[must_use]
    pub fn fresh(mut self) -> Self {
        if let Guard::Sequence(sequence) = &mut self.guard {
            sequence.fresh = true;
        }
        self
    }
}

impl Rule {
    /// A rule that denies what matches.
    #[must_use]
    pub fn deny(matcher: Matcher) -> Self {
        Self { matcher, ..Self::default() }
    }

    /// A rule that asks about what matches.
    #[must_use]
    pub fn ask(matcher: Matcher) -> Self {
        Self { verdict: Some(RuleVerdict::Ask), ..Self::deny(matcher) }
    }

    /// A rule that halts the run at what matches.
    #[must_use]
    pub fn halt(matcher: Matcher) -> Self {
        Self { verdict: Some(RuleVerdict::Halt), ..Self::deny(matcher) }
    }

    /// A rule that refuses nothing by itself and puts an override on the agent.
    #[must_use]
    pub fn overriding(matcher: Matcher, overriding: Override) -> Self {
        Self { verdict: None, overriding: Some(overriding), ..Self::deny(matcher) }
    }

    /// The same with a reason.
    #[must_use]
    pub fn reason(self, reason: impl Into<String>) -> Self {
        Self { reason: reason.into(), ..self }
    }

    /// The same with one more suggestion.
    #[must_use]
    pub fn suggest(mut self, suggestion: impl Into<String>) -> Self {
        self.suggest.push(suggestion.into());
        self
    }
}

impl Matcher {
    /// Calls of a tool, step or `@kind`; a further one is any of them.
    #[must_use]
    pub fn tool(name: impl Into<String>) -> Self {
        Self::default().or_tool(name)
    }

    /// Also calls of this tool, step or `@kind`.
    #[must_use]
    pub fn or_tool(mut self, name: impl Into<String>) -> Self {
        self.tool.push(name.into());
        self
    }

    /// With a command that fits this glob (or one given before).
    #[must_use]
    pub fn command(mut self, glob: impl Into<String>) -> Self {
        match &mut self.command {
            Some(CommandMatcher::Glob(globs)) => globs.push(glob.into()),
            _ => self.command = Some(CommandMatcher::Glob(vec![glob.into()])),
        }
        self
    }

    /// With a command that has these parts.
    #[must_use]
    pub fn command_parts(self, parts: CommandParts) -> Self {
        Self { command: Some(CommandMatcher::Parts(parts)), ..self }
    }

    /// With a path that fits this glob (or one given before).
    #[must_use]
    pub fn path(mut self, glob: impl Into<String>) -> Self {
        self.path.push(glob.into());
        self
    }

    /// With such a path that is read, written or deleted (or as given before).
    #[must_use]
    pub fn access(mut self, role: Role) -> Self {
        self.access.push(role);
        self
    }

    /// With a shell text that runs something which cannot be known beforehand.
    #[must_use]
    pub fn opaque(self) -> Self {
        Self { opaque: true, ..self }
    }

    /// With an argument that fits.
    #[must_use]
    pub fn arg(mut self, name: impl Into<String>, argument: ArgMatcher) -> Self {
        self.args.push((name.into(), argument));
        self
    }

    /// In a session like this.
    #[must_use]
    pub fn session(self, session: SessionMatcher) -> Self {
        Self { session: Some(session), ..self }
    }

    /// By this agent.
    #[must_use]
    pub fn agent(self, agent: impl Into<String>) -> Self {
        Self { agent: Some(agent.into()), ..self }
    }

    /// On this host.
    #[must_use]
    pub fn host(self, host: impl Into<String>) -> Self {
        Self { host: Some(host.into()), ..self }
    }

    /// All of these hold too.
    #[must_use]
    pub fn all(mut self, matchers: impl IntoIterator<Item = Self>) -> Self {
        self.all.extend(matchers);
        self
    }

    /// Any of these holds too.
    #[must_use]
    pub fn any(mut self, matchers: impl IntoIterator<Item = Self>) -> Self {
        self.any.extend(matchers);
        self
    }

    /// This does not hold.
    #[must_use]
    pub fn not(self, matcher: Self) -> Self {
        Self { not: Some(Box::new(matcher)), ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::super::parse;
    use super::*;

    fn release() -> DefinitionBuilder {
        DefinitionBuilder::new()
            .agent("acme", "release-bot")
            .declare("deploy", Kind::Other)
            .step("test", Matcher::tool("@shell").command("cargo test*"))
            .sequence("ship-order", [("deploy", ["test"])])
            .read_before_write("", ReadBeforeWrite::default())
            .paths("", Paths { protect: vec![".env*".into()], ..Paths::default() })
            .rule("no-push", Rule::ask(Matcher::tool("@shell").command("git push*")).reason("ask first"))
            .section("files", ["deploy"], [Policy::new("", Guard::ReadBeforeWrite(ReadBeforeWrite::default()))])
            .limits(Limits { tokens: Some(5), ..Limits::default() })
            .redact(["password"])
    }

    #[test]
    fn a_built_definition_is_the_written_one() {
        let source = "jackline: 1
agent: {ns: acme, key: release-bot}
tools: {declare: {deploy: {kind: other}}}
steps: {test: {tool: '@shell', command: 'cargo test*'}}
policies:
- {name: ship-order, sequence: {requires: {deploy: [test]}}}
- read_before_write: {}
- paths: {protect: ['.env*']}
- {name: no-push, rule: {tool: '@shell', command: 'git push*', verdict: ask, reason: ask first}}
sections: [{name: files, tools: [deploy], policies: [{read_before_write: {}}]}]
limits: {tokens: 5}
audit: {redact: [password]}
";
        let mut written = parse(source, &[]).unwrap().model;
        written.steps.iter_mut().for_each(|step| step.line = 0);
        written.tools.declare.values_mut().for_each(|declaration| declaration.line = 0);
        let sections = written.sections.iter_mut().flat_map(|section| &mut section.policies);
        written.policies.iter_mut().chain(sections).for_each(|policy| policy.line = 0);
        assert_eq!(release().build().unwrap(), written);
    }

    #[test]
    fn finer_keys_are_the_same_in_code() {
        let parts = CommandParts { program: vec!["a".into(), "b".into()], ..CommandParts::default() };
        let parts = CommandParts { subcommand: vec!["c d".into()], without: vec!["-n".into()], ..parts };
        let matcher = Matcher::tool("@shell").command_parts(parts).path("x").access(Role::Delete).opaque();
        let used = Use { pack: "git".into(), enforce: vec![("git/clean".into(), Enforce::Ask)] };
        let built = DefinitionBuilder::new().pack("secrets").pack_with(used).computed(Computed::Pass);
        let built = built.step("s", matcher).build().unwrap();
        let source = "jackline: 1
use: [secrets, {pack: git, enforce: {git/clean: ask}}]
shell: {computed: pass}
steps: {s: {tool: '@shell', command: {program: [a, b], subcommand: c d, without: -n}, path: x, access: delete, opaque: true}}
";
        let mut written = parse(source, &[]).unwrap().model;
        written.steps.iter_mut().for_each(|step| step.line = 0);
        assert_eq!(built, written);
    }

    #[track_caller]
    fn check(builder: DefinitionBuilder, want: &str) {
        let faults = builder.build().unwrap_err().faults;
        assert_eq!(faults.iter().map(|fault| fault.message.as_str()).collect::<Vec<_>>(), [want]);
    }

    #[test]
    fn the_same_checks_apply() {
        let new = DefinitionBuilder::new;
        check(new().rule("", Rule::deny(Matcher::default())), "policy \"rule-1\": it matches every call");
        check(new().pack("gti"), "there is no pack `gti`");
        check(
            new().rule("r", Rule::deny(Matcher::tool("@shell").access(Role::Delete))),
            "policy \"r\": `access` says nothing without `path`",
        );
        check(new().step("@a", Matcher::tool("b")), "step \"@a\": a step's name may not begin with `@`");
        check(new().step("a", Matcher::tool("b")).step("a", Matcher::tool("c")), "step \"a\": the name is used twice");
        check(new().declare("a", Kind::Read).declare("a", Kind::Write), "tool \"a\" is declared twice");
        check(new().sequence("", [("a", ["a"])]), "policy \"sequence-1\": requirements run in a circle: `a` → `a`");
        check(new().sequence("", [("a", Vec::<String>::new())]), "policy \"sequence-1\": `a` requires nothing");
        check(
            new().section("s", Vec::<String>::new(), [Policy::sequence("", [("a", ["b"])])]),
            "section \"s\": it is about no tool",
        );
        check(
            new().limits(Limits { cost_usd: Some(f64::NAN), ..Limits::default() }),
            "`limits.cost_usd` must be greater than 0",
        );
        check(
            new().repeat(Some(Loop { window: 1, ..Loop::default() })),
            "`loop.window` is 1 and smaller than the threshold 3",
        );
        let deep = (0..100).fold(Matcher::tool("a"), |inner, _| Matcher::default().not(inner));
        check(new().rule("r", Rule::halt(deep)), "policy \"r\": matchers are nested deeper than 32");
    }

    #[test]
    fn warnings_are_told_to_who_asks() {
        let parsed = release().rule("x", Rule::deny(Matcher::tool("nobody"))).build_with(&[]).unwrap();
        assert_eq!(parsed.warnings.len(), 1);
        assert_eq!(parsed.warnings[0].span, None);
    }
}
