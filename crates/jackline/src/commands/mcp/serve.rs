//! `jackline mcp serve`: our own MCP server, over standard input and output or over HTTP on this machine.

use std::fs;
use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use jackline_mcp::proxy::Streams;
use jackline_mcp::serve::{self, Listening, Options, Token};

use super::judging::Judging;
use crate::error::CommandError;
use crate::place;
use crate::{interrupt, screen};

/// Bytes of a token's file: a token is a line.
const TOKEN_FILE_BYTES_MAX: u64 = 8 * 1024;

/// Offer todos, facts and guarded workspace files to any MCP client
///
/// Without `--http` one client is served over standard input and output. Every call is judged and recorded as a call of
/// the session that it belongs to. `jackline init HOST --mcp` writes this command into the settings of Claude Code, Copilot
/// CLI, Cursor and VS Code.
#[derive(Debug, clap::Args)]
pub(crate) struct Serve {
    #[command(flatten)]
    judging: Judging,
    /// Listen for streamable HTTP on this address, which must be one of this machine's own: `127.0.0.1:8650`
    #[arg(long, value_name = "ADDR")]
    http: Option<String>,
    /// The bearer token that clients over HTTP must send, in a file (default: $JACKLINE_MCP_TOKEN, else one is made and
    /// shown)
    #[arg(long, value_name = "FILE", requires = "http")]
    token_file: Option<PathBuf>,
}

impl Serve {
    pub(crate) fn run(&self) -> Result<ExitCode, CommandError> {
        let (runtime, state) = self.judging.refusing()?;
        let options = Options { session: self.judging.session()?, state: Some(state) };
        let signals: Option<Box<dyn io::Read + Send>> = Some(Box::new(interrupt::stream()?));
        let Some(address) = self.address()? else {
            let note = Box::new(screen::complain);
            let (input, output) = (Box::new(io::stdin()), Box::new(io::stdout()));
            let streams = Streams { input, output, note, is_heard: screen::is_heard, signals };
            return serve::stdio(runtime, options, streams).map(ExitCode::from).map_err(CommandError::internal);
        };
        if !address.ip().is_loopback() {
            return Err(CommandError::input(format!("`{address}` is no address of this machine's own"))
                .hint("listen on `127.0.0.1:PORT`, and let something that encrypts stand before it"));
        }
        let (token, made) = self.token()?;
        let ready = Box::new(move |url: &str| {
            screen::complain(&format!("listening on {url}"));
            made.iter().for_each(|text| screen::complain(&format!("token: {text}")));
        });
        let listening = Listening { address, token, ready, signals };
        serve::http(runtime, options, listening).map(ExitCode::from).map_err(CommandError::input)
    }

    /// Where to listen, if anywhere.
    fn address(&self) -> Result<Option<SocketAddr>, CommandError> {
        let Some(text) = &self.http else { return Ok(None) };
        let port = text.strip_prefix("localhost:").or_else(|| text.bytes().all(|b| b.is_ascii_digit()).then_some(text));
        let named = port.map_or_else(|| text.clone(), |port| format!("127.0.0.1:{port}"));
        named
            .parse()
            .map(Some)
            .map_err(|_| CommandError::input(format!("`{text}` is no address")).hint("write it as in `127.0.0.1:8650`"))
    }

    /// The token, and its text where it was made just now.
    fn token(&self) -> Result<(Token, Option<String>), CommandError> {
        let given = match &self.token_file {
            Some(file) => Some(read_token(file)?),
            None => place::mcp_token(),
        };
        match given {
            Some(text) => {
                let token = Token::given(&text).map_err(CommandError::input)?;
                Ok((token, None))
            }
            None => {
                let (token, text) = Token::made().map_err(CommandError::internal)?;
                Ok((token, Some(text)))
            }
        }
    }
}

fn read_token(file: &Path) -> Result<String, CommandError> {
    let unreadable = |why: String| {
        CommandError::input(format!("`{}` cannot be read: {why}", place::shown(file)))
            .hint("name a file that holds nothing but the token")
    };
    let there = fs::metadata(file).map_err(|fault| unreadable(fault.to_string()))?;
    if !there.is_file() || there.len() > TOKEN_FILE_BYTES_MAX {
        return Err(unreadable("it is no file of a few bytes".to_owned()));
    }
    fs::read_to_string(file).map_err(|fault| unreadable(fault.to_string()))
}
