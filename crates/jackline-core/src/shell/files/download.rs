//! What comes from elsewhere: downloads that are named by their address, and `rsync` that makes a copy exact.

use std::borrow::Cow;

use super::super::{Dir, Word};
use super::Found;
use super::arguments::{below, has_option, inside, operands, values_of};
use super::copies::is_remote;
use super::parted::parted;
use super::valued::{CURL, RSYNC, WGET};
use crate::own_files;
use crate::path::Role;

/// Options of curl's whose value is sent, or names a file to send after `@`.
const SENDING: &[&str] =
    &["-d", "-H", "--data", "--data-ascii", "--data-binary", "--header", "--json", "--proxy-header"];

/// Settings of wget's that name a file or a program, and the options that they stand for.
const SETTINGS: &[(&str, &str)] = &[
    ("bodyfile", "--body-file"),
    ("dirprefix", "--directory-prefix"),
    ("hstsfile", "--hsts-file"),
    ("input", "--input-file"),
    ("loadcookies", "--load-cookies"),
    ("logfile", "--output-file"),
    ("outputdocument", "--output-document"),
    ("postfile", "--post-file"),
    ("rejectedlog", "--rejected-log"),
    ("savecookies", "--save-cookies"),
    ("useaskpass", "--use-askpass"),
];

impl Found<'_> {
    pub(super) fn curl(&mut self, arguments: &[Word]) {
        let named = has_option(arguments, &["-O", "--remote-name", "--remote-name-all"]);
        self.numbered(arguments);
        for dir in values_of(arguments, &["--output-dir"]) {
            for file in values_of(arguments, &["-o", "--output"]) {
                self.push(&below(&dir, &file.text, &file), Role::Write);
            }
        }
        // What is sent, and what further options are read from.
        for file in values_of(arguments, &["-T", "--upload-file", "-K", "--config", "--netrc-file"]) {
            self.push(&file, Role::Read);
        }
        self.sent(arguments);
        self.reported(arguments);
        if named {
            let header = has_option(arguments, &["-J", "--remote-header-name"]);
            let addresses = operands(arguments, CURL).0;
            output_dirs(arguments).iter().for_each(|dir| self.fetched(&addresses, dir.as_ref(), header));
        }
    }

    /// What curl writes to names with parts of an address in them that it works out: `-o '#1.html'`.
    fn numbered(&mut self, arguments: &[Word]) {
        let dirs = output_dirs(arguments);
        for file in values_of(arguments, &["-o", "--output"]) {
            let (first, parts) = match file.text.split_once('#') {
                Some((first, rest)) => (first, rest.split('#')),
                None => continue,
            };
            let named = |part: &str| match part.trim_start_matches(|digit: char| digit.is_ascii_digit()) {
                rest if rest.len() < part.len() => format!("*{rest}"),
                plain => format!("#{plain}"),
            };
            let text: String = std::iter::once(first.to_owned()).chain(parts.map(named)).collect();
            if text != file.text {
                for dir in &dirs {
                    self.push(&Word { glob: true, ..placed(dir.as_ref(), &text, &file) }, Role::Write);
                }
            }
        }
    }

    /// Where curl writes what it is told to say of a transfer: `-w '%output{file}…'`.
    fn reported(&mut self, arguments: &[Word]) {
        for word in values_of(arguments, &["-w", "--write-out"]) {
            let names = word.text.split("%output{").skip(1).filter_map(|rest| rest.split_once('}'));
            for (name, _) in names {
                let text = name.strip_prefix(">>").unwrap_or(name).to_owned();
                self.push(&Word { text, ..word.clone() }, Role::Write);
            }
        }
    }

    /// What curl sends of files, and what it reads by an address.
    fn sent(&mut self, arguments: &[Word]) {
        let file = |word: &Word, text: &str| Word { text: text.to_owned(), ..word.clone() };
        for word in values_of(arguments, SENDING) {
            word.text.strip_prefix('@').iter().for_each(|path| self.push(&file(&word, path), Role::Read));
        }
        // `name@file`, of which the name may be left out.
        for word in values_of(arguments, &["--data-urlencode", "--url-query"]) {
            let named = word.text.split_once('@').filter(|(name, _)| !name.contains('='));
            named.iter().for_each(|(_, path)| self.push(&file(&word, path), Role::Read));
        }
        for word in values_of(arguments, &["-F", "--form"]) {
            let Some(value) = word.text.split_once('=').map(|(_, value)| value) else { continue };
            let Some(paths) = value.strip_prefix(['@', '<']) else { continue };
            let paths = paths.split(',').filter_map(|path| path.split(';').next());
            paths.for_each(|path| self.push(&file(&word, path.trim_matches('"')), Role::Read));
        }
        for word in values_of(arguments, &["-b", "--cookie"]).iter().filter(|word| !word.text.contains('=')) {
            self.push(word, Role::Read);
        }
        let (addresses, _) = operands(arguments, CURL);
        for word in addresses.iter().chain(&values_of(arguments, &["--url"])) {
            let path = word.text.strip_prefix("file://").map(|rest| rest.strip_prefix("localhost").unwrap_or(rest));
            path.iter().for_each(|path| self.push(&file(word, &unescaped(path)), Role::Read));
        }
    }

    pub(super) fn wget(&mut self, arguments: &[Word]) {
        if !values_of(arguments, &["-O", "--output-document"]).is_empty() {
            return;
        }
        let dir = values_of(arguments, &["-P", "--directory-prefix"]).pop();
        let header = has_option(arguments, &["--content-disposition", "--trust-server-names", "-i", "--input-file"]);
        let (addresses, _) = operands(arguments, WGET);
        self.fetched(&addresses, dir.as_ref(), header);
        if has_option(arguments, &["-r", "--recursive", "-x", "--force-directories", "-m", "--mirror"]) {
            for address in &addresses {
                self.push(&placed(dir.as_ref(), path_of(&address.text), address), Role::Write);
            }
        }
    }

    /// Files named after the addresses they come from, below a directory or here.
    fn fetched(&mut self, addresses: &[Word], dir: Option<&Word>, by_server: bool) {
        for address in addresses {
            let name =
                path_of(&address.text).rsplit('/').next().filter(|name| !name.is_empty()).unwrap_or("index.html");
            self.push(&placed(dir, name, address), Role::Write);
            let plain = unescaped(name);
            if plain != name {
                self.push(&placed(dir, &plain, address), Role::Write);
            }
        }
        let unknown = by_server || addresses.is_empty() || addresses.iter().any(|address| address.dynamic);
        if unknown && self.is_hosts(dir) {
            self.push(&Word { glob: true, ..placed(dir, "*", &Word::default()) }, Role::Write);
        }
    }

    /// Whether what has no known name goes into a directory of a host's.
    fn is_hosts(&self, dir: Option<&Word>) -> bool {
        match (dir, &self.dir) {
            (Some(dir), _) => own_files::ends_in_directory(&dir.text),
            (None, Dir::At(place)) => own_files::ends_in_directory(place),
            (None, Dir::Here | Dir::Unknown) => false,
        }
    }

    /// What `--delete` takes out of the target, and `--remove-source-files` out of the sources.
    pub(super) fn rsync(&mut self, arguments: &[Word]) {
        let (paths, _) = operands(arguments, RSYNC);
        let Some((target, sources)) = paths.split_last() else { return };
        let deletes = |word: &Word| word.text == "--del" || word.text.starts_with("--delete");
        if arguments.iter().any(deletes) && !is_remote(&target.text) {
            for source in sources {
                let whole = source.text.ends_with('/') || source.text.ends_with("/.") || source.text == ".";
                self.push(&if whole { target.clone() } else { inside(target, source) }, Role::Delete);
            }
        }
        if has_option(arguments, &["--remove-source-files", "--remove-sent-files"]) {
            self.push_each(sources, Role::Delete);
        }
    }
}

/// The directories that a command of curl's writes to: each of its transfers has one of its own, or none.
fn output_dirs(arguments: &[Word]) -> Vec<Option<Word>> {
    let dirs = values_of(arguments, &["--output-dir"]);
    let none = dirs.is_empty() || has_option(arguments, &["--next", "-:"]);
    dirs.into_iter().map(Some).chain(none.then_some(None)).collect()
}

/// The words of `wget` with the settings that it is given by `-e` as the options that they stand for.
pub(in crate::shell) fn spelled_out<'a>(program: &str, words: &'a [Word]) -> Cow<'a, [Word]> {
    let given = match program {
        "wget" => values_of(&parted(program, words, WGET), &["-e", "--execute"]),
        _ => Vec::new(),
    };
    let options: Vec<Word> = given.iter().filter_map(as_option).collect();
    match options.is_empty() {
        true => words.into(),
        false => words.iter().cloned().chain(options).collect(),
    }
}

/// The option that a setting of wget's stands for.
fn as_option(setting: &Word) -> Option<Word> {
    let (name, value) = setting.text.split_once('=')?;
    let name = name.trim().to_ascii_lowercase().replace(['_', '-'], "");
    let (_, option) = SETTINGS.iter().find(|(known, _)| *known == name)?;
    Some(Word { text: format!("{option}={}", value.trim()), ..setting.clone() })
}

/// A name below a directory, or as it stands. What of it is not known stands as it is written: it is one file's name.
fn placed(dir: Option<&Word>, name: &str, address: &Word) -> Word {
    let name = if !address.dynamic { name } else { address.text.rsplit('/').next().unwrap_or(name) };
    match dir {
        Some(dir) => Word { text: format!("{}/{name}", dir.text.trim_end_matches('/')), ..dir.clone() },
        None => Word::literal(name),
    }
}

/// The path of an address, without query and fragment.
fn path_of(address: &str) -> &str {
    let rest = address.split_once("://").map_or(address, |(_, rest)| rest);
    let rest = rest.split(['?', '#']).next().unwrap_or_default();
    rest.split_once('/').map_or("", |(_, path)| path)
}

/// A name with its escapes resolved, as far as they are text.
fn unescaped(name: &str) -> String {
    let mut parts = name.split('%');
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let letter = part.get(..2).and_then(|digits| u8::from_str_radix(digits, 16).ok()).filter(u8::is_ascii);
        match letter {
            Some(letter) => {
                plain.push(char::from(letter));
                plain.push_str(part.get(2..).unwrap_or_default());
            }
            None => {
                plain.push('%');
                plain.push_str(part);
            }
        }
    }
    plain
}
