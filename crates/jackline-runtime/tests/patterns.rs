//! Shell texts about many files at once: what they would meet is what is judged, not what their patterns could match.

#![expect(clippy::unwrap_used, reason = "what goes wrong in a test's own steps fails the test")]

use std::fs;
use std::path::PathBuf;

use jackline_runtime::Runtime;
use jackline_runtime::adapters;
use serde_json::json;
use tempfile::TempDir;

const PLAIN: &str = "jackline: 1\nloop: false\n";
const PROTECTING: &str =
    "jackline: 1\nloop: false\npolicies:\n  - paths: { outside: allow, protect: ['.env', '*.pem', 'top/**'] }\n";

/// A workspace with files of many kinds.
struct World {
    root: PathBuf,
    runtime: Runtime,
    _top: TempDir,
}

impl World {
    fn new(definition: &str, files: &[&str]) -> Self {
        let top = tempfile::tempdir().unwrap();
        let root = top.path().canonicalize().unwrap().join("repo");
        let usual = ["src/a.ts", "src/b.js", "package.json", "README.md", "dist/a.js", "dist/k.pem", "tmp/x.txt"];
        for file in usual.iter().chain(files) {
            fs::create_dir_all(root.join(file).parent().unwrap()).unwrap();
            fs::write(root.join(file), "x").unwrap();
        }
        fs::write(root.join("jackline.yaml"), definition).unwrap();
        let runtime = Runtime::builder().workspace(&root).definition_yaml(definition).build().unwrap();
        Self { root, runtime, _top: top }
    }

    fn said(&self, text: &str) -> String {
        let message = json!({ "hook_event_name": "PreToolUse", "session_id": "s", "cwd": self.root,
            "tool_name": "Bash", "tool_input": { "command": text } });
        let adapter = adapters::named("claude", None).unwrap();
        let reply = self.runtime.handle(adapter.as_ref(), message.to_string().as_bytes());
        format!("{}{}", reply.stdout, reply.stderr)
    }

    #[track_caller]
    fn refuses(&self, texts: &[&str]) {
        for text in texts {
            assert!(self.said(text).contains("deny"), "{text}");
        }
    }

    #[track_caller]
    fn allows(&self, texts: &[&str]) {
        for text in texts {
            assert_eq!(self.said(text), "", "{text}");
        }
    }
}

#[test]
fn patterns_meet_what_guards_the_session_only_where_it_is() {
    let honest = [
        "find . -name '*.ts' -exec sed -i 's/a/b/g' {} +",
        "find . -name '*.ts' -not -path '*/node_modules/*' -exec sed -i 's/a/b/g' {} +",
        "find . -path ./node_modules -prune -o -name '*.ts' -exec sed -i s/a/b/ {} +",
        "find . -name '*.md' -print0 | xargs -0 sed -i s/a/b/",
        "find . -name '*.json' -exec sed -i s/a/b/ {} +",
        "find . -name '*.toml' | xargs sed -i s/a/b/",
        "find . -name '*.js' -delete",
        "find . -name '*~' -delete",
        "find . -empty -type d -delete",
        "find . -type f -exec chmod a+r {} +",
        "sed -i 's/a/b/' **/*.ts",
        "sed -i 's/a/b/' *.json",
        "rm -f **/*.js",
        "grep -rl a . | xargs sed -i s/a/b/",
    ];
    World::new(PLAIN, &[]).allows(&honest);
    // The same words where they would meet it.
    let world = World::new(PLAIN, &[".opencode/plugin/x.ts", ".claude/settings.json", ".opencode/tool/x.js"]);
    world.refuses(&honest[..3]);
    world.refuses(&["find . -name '*.json' -exec sed -i s/a/b/ {} +", "find . -name '*.js' -delete", "rm -rf .cl*"]);
    world.allows(&["sed -i 's/a/b/' *.json", "find src -name '*.ts' -exec sed -i s/a/b/ {} +", "rm -f src/*.js"]);
}

#[test]
fn what_would_guard_another_session_is_met_below() {
    let texts = [
        "sed -i s/a/b/ packages/*/jackline.yaml",
        "rm packages/api/jackline.y*",
        "echo {} > packages/*/.claude/settings.json",
    ];
    World::new(PLAIN, &["packages/api/jackline.yaml", "packages/api/.claude/settings.json"]).refuses(&texts);
    World::new(PLAIN, &[]).allows(&texts);
}

#[test]
fn what_find_comes_upon_is_judged_however_it_is_asked() {
    World::new(PLAIN, &[".claude/settings.json"]).refuses(&[
        "find . -type f -not -name x -exec rm {} +",
        "find . -name '*.yaml' -not -path './node_modules/*' -exec sed -i 's/jackline/evil/' {} +",
        "find . -name 'settings*.json' -not -path './y' -exec rm {} +",
        "find . -maxdepth 1 -name '*.yaml' -not -path './x' | xargs rm",
        "find . \\( -name '*.yaml' -o -name x \\) -not -path './y' -exec rm -f {} +",
        "find . -name '*.yaml' -not -path './x' -exec cp /dev/null {} \\;",
        "find . -name '*.yaml' -not -path './x' -exec truncate -s0 {} +",
        "find . -name '*.yaml' -o -name x -delete",
        "find . -regex '.*yaml' -delete",
        "find . -iname 'JACK*' -delete",
        "grep -rl 'jackline: 1' . | xargs rm",
        "git ls-files | xargs rm",
        "git grep -l jackline | xargs rm",
        "ls | xargs rm",
        "fd -e yaml -x rm",
        "fd jackline -x rm",
        "find . -name '*.yaml' -execdir rm {} +",
        "shopt -s dotglob; rm -r *",
    ]);
}

#[test]
fn a_directory_given_by_an_option_is_entered() {
    World::new(PLAIN, &[".claude/settings.json", "x/settings.json"]).refuses(&[
        "unshare --wd=.claude cp ../x/settings.json settings.json",
        "unshare -w .claude rm settings.json",
        "systemd-run -p WorkingDirectory=.claude rm settings.json",
        "patch -p1 -d .claude <<'EOF'\n--- a/settings.json\n+++ b/settings.json\n@@ -1 +1 @@\n-x\n+y\nEOF",
        "git apply --directory=.claude <<'EOF'\n--- a/settings.json\n+++ b/settings.json\n@@ -1 +1 @@\n-x\n+y\nEOF",
        "curl -s --output-dir .claude -o settings.json http://example.com/settings.json",
        "GIT_WORK_TREE=.claude git checkout -- settings.json",
        "git -c core.worktree=.claude checkout -- settings.json",
        "scp host:settings.json .claude/",
        "valgrind --log-file=.claude/settings.json ls",
        "7z x -o.claude x.7z settings.json",
        "cd .cla*; cp ../x/settings.json settings.json",
        "curl -fsSLo.claude/settings.json http://example.com/x",
        "rsync --log-file=.claude/settings.json a b",
        "sed -n '1w.claude/settings.json' x/settings.json",
        "git checkout-index -f --prefix=.claude/ settings.json",
        "bwrap --bind / / --chdir=.claude rm settings.json",
    ]);
}

#[test]
fn names_that_a_pattern_brings_along_need_not_be_there() {
    World::new(PLAIN, &[".claude/notes.md", "x/settings.json"]).refuses(&[
        "cp x/*.json .claude/",
        "cp x/settings.json .cl*/",
        "mkdir -p .codex; cp x/hooks.json .cod*/",
    ]);
}

#[test]
fn what_the_owner_protects_is_looked_for_where_a_pattern_leads() {
    let world = World::new(PROTECTING, &["top/secret.txt", "nested/deep/.env"]);
    world.allows(&[
        "rm -rf dist/*",
        "rm -rf tmp/*",
        "rm -f tmp/*.txt",
        "rm -rf src",
        "rm -rf nothere/*",
        "find dist -type f -delete",
        "find src -type f -delete",
        "grep -rl x src | xargs sed -i s/x/y/",
    ]);
    world.refuses(&[
        "rm -rf nested",
        "rm -rf nested/*",
        "rm -rf t*",
        "find nested -type f -delete",
        "find . -name '.e*' -delete",
        "grep -rl x nested | xargs sed -i s/x/y/",
        "unshare --wd=top rm secret.txt",
        "sed -i s/a/b/ dist/*.pem",
    ]);
}
