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
        "find . -exec rm {} + -name '*.x'",
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
fn files_of_a_kind_that_is_not_ours_may_go_where_ours_lie_below() {
    let world = World::new(PLAIN, &["docs/a.md", "docs/settings.json"]);
    world.allows(&["cp docs/*.md ..", "cp *.md ../"]);
    world.refuses(&["cp docs/*.json ..", "cp docs/* ..", "chmod -R 000 .."]);
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

#[test]
fn the_value_of_an_option_may_be_the_next_word() {
    let world = World::new(PLAIN, &[".claude/settings.json", "x/settings.json", "a.tar", "a", "b"]);
    world.refuses(&[
        "cp -t .claude x/settings.json",
        "cp --target-dir .claude x/settings.json",
        "install -m 644 -t .claude x/settings.json",
        "wget -O .claude/settings.json http://example.com/x",
        "wget --save-cookies .claude/settings.json http://example.com/x",
        "curl -o .claude/settings.json http://example.com/x",
        "curl --trace .claude/settings.json http://example.com/x",
        "curl --stderr .claude/settings.json http://example.com/x",
        "tar -C .claude -xf a.tar settings.json",
        "tar -cf .claude/settings.json a",
        "tar -c -g .claude/settings.json -f a.tar a",
        "patch -d .claude -i ../a settings.json",
        "patch -r .claude/settings.json a b",
        "sort -o .claude/settings.json a",
        "sort --out .claude/settings.json a",
        "sort --outp=.claude/settings.json a",
        "tee -a .claude/settings.json",
        "rsync --log-file .claude/settings.json a b",
        "rsync -a --backup-dir .claude a b",
        "rsync --partial-dir .claude a b",
        "gawk --profile=.claude/settings.json 1 a",
        "gawk -o.claude/settings.json 1 a",
        "openssl genrsa -out .claude/settings.json",
        "gh release download -O .claude/settings.json",
    ]);
    world.allows(&[
        "cp -t /tmp/x .claude/settings.json",
        "touch -r jackline.yaml a",
        "chmod --reference=jackline.yaml a",
        "truncate -r jackline.yaml a",
        "patch -i jackline.yaml a",
        "rsync -a --exclude .claude --link-dest jackline.yaml a /tmp/b",
        "rsync --backup a b",
        "sort -k 2 -t , a",
        "curl -d jackline.yaml http://example.com",
        "curl -H jackline.yaml http://example.com",
        "tar -czf /tmp/x.tgz .claude",
        "gh pr list --search jackline.yaml",
        "git log --grep=jackline.yaml",
        "git log -Sjackline.yaml --oneline",
        "git commit --message=jackline.yaml",
    ]);
}

#[test]
fn files_are_written_and_commands_run_in_ways_of_their_own() {
    let world = World::new(PLAIN, &[".claude/settings.json", "x/settings.json", "a", "b"]);
    let settings = world.root.join(".claude/settings.json");
    let settings = settings.display();
    let absolute = [
        format!("GIT_TRACE={settings} git status"),
        format!("GIT_TRACE2_EVENT={settings} git status"),
        format!("GIT_TRACE_SETUP={settings} make"),
        format!("export GIT_TRACE2={settings}; git status"),
        format!("env GIT_TRACE={settings} git status"),
        format!("cd / && chroot / tee {}", settings.to_string().trim_start_matches('/')),
    ];
    absolute.iter().for_each(|text| world.refuses(&[text]));
    world.refuses(&[
        "GIT_INDEX_FILE=jackline.yaml git add a",
        "GIT_CONFIG_GLOBAL=.claude/settings.json git config --global a.b c",
        "git merge-file .claude/settings.json a b",
        "git merge-file -L x jackline.yaml a b",
        "git interpret-trailers --in-place jackline.yaml",
        "git mailinfo jackline.yaml b < a",
        "git index-pack -o jackline.yaml a",
        "git fast-export --export-marks jackline.yaml HEAD",
        "git grep -O'rm jackline.yaml #' x",
        "git grep --open-files-in-pager='sh -c \"rm jackline.yaml\"' x",
        "git fetch --upload-pack='rm jackline.yaml; git-upload-pack' .",
        "git clone -u 'rm jackline.yaml; git-upload-pack' . /tmp/y",
        "wget -e output_document=jackline.yaml http://example.com/x",
        "wget -e 'Output-Document = jackline.yaml' http://example.com/x",
        "wget --execute=logfile=jackline.yaml http://example.com/x",
        "wget -e 'use_askpass=rm jackline.yaml' http://example.com/x",
        "strace -o jackline.yaml ls",
        "strace -o '|tee jackline.yaml' ls",
        "strace -o '!rm jackline.yaml' ls",
        "strace -f --output='|rm jackline.yaml' ls",
        "tar -cF 'rm jackline.yaml' -f a.tar a",
        "mmv 'x/settings.*' '.claude/settings.#1'",
        "mmv 'jack*' 'x#1'",
        "mmv -c 'x/*.json' '.claude/#1.json'",
        "rename 's/a/jackline.yaml/' a",
    ]);
    World::new(PLAIN, &[]).refuses(&[
        "git worktree add -f .claude b",
        "git clone x .claude",
        "git submodule add x .claude",
    ]);
    world.allows(&[
        "GIT_TRACE=1 git status",
        "GIT_TRACE=/tmp/trace git status",
        "GIT_CONFIG_GLOBAL=/dev/null git status",
        "git merge-file -p jackline.yaml a b",
        "git merge-file a b jackline.yaml",
        "git worktree add ../w b",
        "git clone http://example.com/x vendor/x",
        "git grep jackline.yaml",
        "git log -- jackline.yaml",
        "git blame jackline.yaml",
        "git add jackline.yaml",
        "wget -e robots=off http://example.com/x",
        "strace -o /tmp/trace ls",
        "strace -e trace=file ls",
        "mmv '*.txt' '#1.md'",
        "mmv -n 'jack*' 'x#1'",
        "rename 's/a/b/' a",
    ]);
}

#[test]
fn a_login_begins_at_home() {
    let top = tempfile::tempdir().unwrap();
    let (home, root) = (top.path().join("home"), top.path().join("home/repo"));
    fs::create_dir_all(root.join("sub")).unwrap();
    fs::write(root.join("jackline.yaml"), PLAIN).unwrap();
    let runtime = Runtime::builder().workspace(&root).home(&home).definition_yaml(PLAIN).build().unwrap();
    let world = World { root, runtime, _top: top };
    let from_home = [
        "su - -c 'rm .gitconfig'",
        "su --login -c 'echo x > .claude/settings.json'",
        "su -l dev -c 'rm .gitconfig'",
        "sudo -i tee .claude/settings.json",
        "sudo -iu dev rm .gitconfig",
        "runuser -l dev -c 'rm .gitconfig'",
        "pkexec rm .gitconfig",
    ];
    world.refuses(&from_home);
    world.refuses(&["su -c 'rm jackline.yaml'", "sudo rm jackline.yaml", "pkexec --keep-cwd rm jackline.yaml"]);
    world.allows(&["su -c 'rm .gitconfig'", "sudo rm .gitconfig", "sudo -i rm x", "su - -c 'ls repo/jackline.yaml'"]);
}

#[test]
fn a_mode_locks_only_what_it_keeps_from_being_read() {
    let world = World::new(PROTECTING, &[".claude/settings.json", ".env", "run.sh"]);
    world.allows(&[
        "find . -type f -exec chmod 644 {} +",
        "find . -type d -exec chmod 755 {} +",
        "find . -type f -exec chmod u-x {} +",
        "find . -type f -print0 | xargs -0 chmod 644",
        "fd -t f -x chmod 644",
        "chmod 644 *",
        "chmod -x *.sh",
        "chmod u=rw src/*",
        "touch *",
    ]);
    world.refuses(&[
        "find . -type f -exec chmod 244 {} +",
        "find . -exec chmod 644 {} +",
        "find . -exec chmod 644 {} + -type f",
        "find . ! -type f -exec chmod 644 {} +",
        "find . -type f -exec chmod u-r {} +",
        "chmod 244 *",
        "chmod -R 644 .",
        "chmod 644 .[a-z]*",
        "chmod 644 .claude",
        "chmod 000 .claude*",
        "chmod -R 000 .cl*",
        "shopt -s dotglob; chmod 644 *",
    ]);
}

const READING: &str = "jackline: 1\nloop: false\npolicies:\n  - paths: { outside: allow, protect: ['.env*', '*.pem', 'top/**'], protect_reads: true }\n";

impl World {
    /// The same as a repository in which these are kept.
    fn kept(definition: &str, files: &[&str], kept: &[&str]) -> Self {
        let world = Self::new(definition, files);
        let git = |words: &[&str]| {
            let mut git = std::process::Command::new("git");
            git.current_dir(&world.root).env("GIT_CONFIG_GLOBAL", "/dev/null").args(words);
            assert!(git.output().unwrap().status.success(), "{words:?}");
        };
        fs::write(world.root.join(".gitignore"), ".env\nnode_modules\n*.log\n").unwrap();
        git(&["init", "-q"]);
        git(&[&["add", "-f"], kept].concat());
        world
    }
}

#[test]
fn a_search_reads_what_it_comes_upon() {
    let world = World::kept(READING, &[".env", "certs/dev.pem", "node_modules/x/.env"], &["src/a.ts"]);
    world.refuses(&[
        "grep -r PASS .",
        "grep -rn PASS",
        "egrep -R PASS . | head",
        "grep -d recurse PASS .",
        "rgrep PASS",
        "grep -r --include='.env*' PASS .",
        "grep -r --exclude-dir=certs PASS .",
        "rg PASS",
        "rg PASS certs",
        "rg -g '*.pem' PASS",
        "rg -g '.env' PASS",
        "rg -uu -g '!*.pem' PASS",
        "rg --hidden --no-ignore -g '!certs' PASS",
        "ag PASS",
        "ack PASS",
        "ack --ignore-dir=certs PASS",
        "git grep --no-index PASS",
        "git grep --untracked PASS",
        "cd src && rg PASS ..",
        "rg PASS *",
    ]);
    world.allows(&[
        "rg PASS src",
        "rg -g '!*.pem' PASS",
        "rg -g '!certs/' PASS",
        "rg -t rust PASS",
        "rg -tts PASS",
        "rg --files",
        "rg -g '*.ts' PASS",
        "cat src/a.ts | rg PASS",
        "cat src/a.ts | grep PASS",
        "grep PASS src/a.ts",
        "grep -r PASS src",
        "grep -r --include='*.ts' PASS .",
        "grep -r --exclude='.env*' --exclude='*.pem' PASS .",
        "grep -r --exclude='.env*' --exclude-dir=certs PASS .",
        "ag PASS src",
        "ag --ignore certs PASS",
        "ag -G '\\.ts$' PASS",
        "ack --ts PASS",
        "git grep PASS",
        "git grep PASS -- '*.ts'",
        "git grep --untracked PASS -- ':!certs'",
    ]);
    // Where nothing that is protected is looked at, nothing is refused.
    let world = World::kept(READING, &[".env", "node_modules/x/.env"], &["src/a.ts"]);
    world.allows(&["rg PASS", "rg -n PASS .", "ag PASS", "git grep PASS", "rg --hidden PASS", "rg -l PASS"]);
    world.refuses(&["grep -r PASS .", "rg -uu PASS", "rg -.u PASS", "ag -u PASS", "ack PASS"]);
    // What git keeps is looked at, though it would ignore it.
    let world = World::kept(READING, &["a.pem", "top/x", ".env"], &["src/a.ts", ".env"]);
    world.refuses(&["git grep PASS", "git grep PASS HEAD", "git grep PASS -- .", "git grep PASS -- .env"]);
    world.allows(&["git grep PASS -- src", "git grep PASS -- ':!.env'", "git grep PASS src"]);
    // Without a repository nothing is ignored.
    let world = World::new(READING, &[".env", "certs/dev.pem"]);
    world.refuses(&["rg PASS", "grep -r PASS ."]);
    world.allows(&["rg PASS src", "git grep PASS", "rg PASS README.md"]);
    let unread = World::new(PROTECTING, &[".env", "certs/dev.pem"]);
    unread.allows(&["rg PASS", "grep -r PASS .", "rg -uu PASS"]);
}

const CAREFUL: &str = "jackline: 1\nloop: false\npolicies:\n  - read_before_write: {}\n";

impl World {
    /// A call that is allowed and succeeds, after which the file is as it is given.
    fn does(&self, tool: &str, args: &serde_json::Value, then: Option<(&str, &str)>) {
        let adapter = adapters::named("claude", None).unwrap();
        let mut message = json!({ "hook_event_name": "PreToolUse", "session_id": "s", "cwd": self.root,
            "tool_name": tool, "tool_input": args, "tool_use_id": args.to_string() });
        let reply = self.runtime.handle(adapter.as_ref(), message.to_string().as_bytes());
        assert_eq!(reply.stdout, "", "{args}");
        then.iter().for_each(|(path, text)| fs::write(self.root.join(path), text).unwrap());
        let fields = message.as_object_mut().unwrap();
        fields.insert("hook_event_name".to_owned(), json!("PostToolUse"));
        fields.insert("tool_response".to_owned(), json!({ "stdout": "x", "stderr": "", "interrupted": false }));
        self.runtime.handle(adapter.as_ref(), message.to_string().as_bytes());
    }
}

#[test]
fn what_a_pattern_writes_was_read_before() {
    let world = World::new(CAREFUL, &["src/deep/c.ts", "many/1", "many/2", "many/3", "many/4", "many/5", "many/6"]);
    let text = "find src -name '*.ts' -exec sed -i s/x/y/ {} +";
    let said = world.said(text);
    assert!(said.contains("read-before-write/unread"), "{said}");
    assert!(said.contains("Each of 'src/a.ts', 'src/deep/c.ts' must be read before overwriting."), "{said}");
    let said = world.said("sed -i s/x/y/ many/*");
    assert!(said.contains("'many/5' and 1 more must be read"), "{said}");
    world.does("Bash", &json!({"command": "cat src/a.ts"}), None);
    let said = world.said(text);
    assert!(said.contains("File 'src/deep/c.ts' must be read before overwriting."), "{said}");
    world.does("Bash", &json!({"command": "cat src/deep/c.ts"}), None);
    world.does("Bash", &json!({ "command": text }), Some(("src/a.ts", "y")));
    // What it wrote itself it knows, by a pattern or by name.
    world.allows(&[text, "sed -i s/y/z/ src/a.ts", "grep -rl y src/deep | xargs sed -i s/y/z/"]);
    fs::write(world.root.join("src/a.ts"), "somebody else's").unwrap();
    let said = world.said(text);
    assert!(said.contains("File 'src/a.ts' changed on disk since it was read"), "{said}");
    world.allows(&["find src -name '*.rs' -exec sed -i s/x/y/ {} +", "cp -r src/* /nowhere/", "tee -a many/*"]);
    world.refuses(&["sed -i s/x/y/ $F", "cp src/* many/../src/"]);
    for number in 0..300 {
        fs::write(world.root.join(format!("tmp/{number}.txt")), "").unwrap();
    }
    let said = world.said("sed -i s/x/y/ tmp/*.txt");
    assert!(said.contains("more must be read"), "{said}");
}
