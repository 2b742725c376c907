//! Whose certificates count when a check asks an address: those that `SSL_CERT_FILE` names, else the usual ones.

#![expect(clippy::indexing_slicing, reason = "a test that cannot go on says so by panicking")]

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::process::Command;
use std::sync::Arc;
use std::thread;

use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use serde_json::json;

use crate::World;

const AUTHORITY: &str = include_str!("certificates/authority.pem");
const CERTIFICATE: &[u8] = include_bytes!("certificates/server.pem");
const KEY: &[u8] = include_bytes!("certificates/key.pem");

/// Answers pull requests as a host whose certificate only a private authority vouches for.
fn server() -> u16 {
    let certificate = CertificateDer::from_pem_slice(CERTIFICATE).expect("a certificate");
    let key = PrivateKeyDer::from_pem_slice(KEY).expect("a key");
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().expect("usable");
    let config = config.with_no_client_auth().with_single_cert(vec![certificate], key).expect("they belong together");
    let (config, listener) = (Arc::new(config), TcpListener::bind("127.0.0.1:0").expect("a port"));
    let port = listener.local_addr().expect("an address").port();
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let connection = ServerConnection::new(Arc::clone(&config)).expect("usable");
            let mut stream = StreamOwned::new(connection, stream);
            // A client that trusts nobody here goes away.
            let Ok(1..) = stream.read(&mut [0; 4096]) else { continue };
            let body = r#"{"number":1,"merged":true}"#;
            drop(write!(
                stream,
                "HTTP/1.1 200 OK\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
                body.len()
            ));
            stream.conn.send_close_notify();
            drop(stream.flush());
        }
    });
    port
}

/// What comes of a check that asks the server, with this file of authorities.
fn asked(world: &World, authorities: Option<&str>) -> String {
    let checks = json!([{ "pr_merged": { "repo": "a/b", "number": 1 } }]);
    let create = json!({ "event": "todo.create", "todo": { "content": "x", "checks": checks } });
    let run = |event: &serde_json::Value| {
        let mut event = event.clone();
        event["session"] = json!("s1");
        let mut command = Command::new(env!("CARGO_BIN_EXE_jackline"));
        command.args(["eval", "--definition", "jackline.yaml"]).current_dir(world.path("ws"));
        command.env_clear().env("HOME", world.path("home"));
        if let Some(file) = authorities {
            command.env("SSL_CERT_FILE", world.path(file));
        }
        world.spawn(command, &format!("{event}\n")).1
    };
    let made: serde_json::Value = serde_json::from_str(&run(&create)).expect("JSON");
    let id = made["result"]["id"].as_str().expect("an id");
    run(&json!({ "event": "todo.start", "todo": { "id": id } }));
    run(&json!({ "event": "todo.claim", "todo": { "id": id, "explanation": "it is merged, have a look at it" } }));
    run(&json!({ "event": "todo.verify", "todo": { "id": id } }))
}

#[test]
fn a_private_authority_counts_where_the_environment_names_it() {
    let definition = format!("jackline: 1\nchecks: {{ github_api: \"https://localhost:{}\" }}\n", server());
    let world = World::defined(&definition);
    fs::write(world.path("authority.pem"), AUTHORITY).expect("written");
    let told = asked(&world, Some("authority.pem"));
    assert!(told.contains("[PASS] pr_merged"), "{told}");
    let told = asked(&world, None);
    assert!(told.contains("[FAIL] pr_merged"), "{told}");
    fs::write(world.path("none.pem"), "nothing\n").expect("written");
    let told = asked(&world, Some("none.pem"));
    assert!(told.contains("there is no certificate in it"), "{told}");
}
