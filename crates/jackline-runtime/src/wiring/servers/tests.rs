//! Servers go behind the proxy and come out again, whatever the text looks like.

use super::*;

fn line() -> Line {
    let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
    Line {
        program: "/opt/jackline".to_owned(),
        options: words(&["--store", "/s"]),
        project: words(&["--workspace", "/ws"]),
        apart: Some(words(&["--workspace", "/ws"])),
        root: "/ws".to_owned(),
    }
}

const PLACES: [Place<'static>; 2] = [Place::Top, Place::Project("/ws")];

/// Wraps, looks at the value, wraps again and takes it back.
#[track_caller]
fn check(text: &str, want: &Value) {
    let wrapped = wrap(text, &PLACES, &line()).unwrap();
    assert_eq!(serde_json::from_str::<Value>(&wrapped.text).unwrap(), *want, "{}", wrapped.text);
    let again = wrap(&wrapped.text, &PLACES, &line()).unwrap();
    assert_eq!((again.text.as_str(), again.servers.len()), (wrapped.text.as_str(), 0));
    assert_eq!(unwrap(&wrapped.text, &PLACES).unwrap().text, text);
}

#[test]
fn programs_go_behind_the_proxy_and_come_back() {
    let texts = [
        r#"{"mcpServers":{"a":{"command":"npx","args":["-y","srv"],"env":{"K":"v"}}}}"#,
        "{\n  \"mcpServers\": {\n    \"a\": {\n      \"type\": \"stdio\",\n      \"command\": \"npx\",\n      \"args\": [\n        \"-y\",\n        \"srv\"\n      ],\n      \"env\": { \"K\": \"v\" }\n    }\n  }\n}\n",
        r#"{ "mcpServers" : { "a" : { "args" : [ "-y" , "srv" ] , "command" : "npx" , "env" : { "K" : "v" } } } }"#,
    ];
    for text in texts {
        let mut want: Value = serde_json::from_str(text).unwrap();
        want["mcpServers"]["a"]["command"] = "/opt/jackline".into();
        want["mcpServers"]["a"]["args"] =
            serde_json::json!(["mcp", "proxy", "--name", "a", "--store", "/s", "--", "npx", "-y", "srv"]);
        check(text, &want);
    }
}

#[test]
fn an_editors_list_keeps_its_comments() {
    let text = "{\n  // mine, all of it\n  \"servers\": {\n    \"a\": {\n      \"type\": \"stdio\", // as ever, \"so\"\n      \"command\": \"npx\",\n      \"args\": [ /* y, */ \"-y\", \"srv\" ]\n    }\n  }\n}\n";
    let wrapped = wrap(text, &[Place::Editor], &line()).unwrap();
    assert_eq!(wrapped.servers, ["a"]);
    assert!(wrapped.text.contains("// as ever, \"so\"") && wrapped.text.contains("/opt/jackline"), "{}", wrapped.text);
    assert_eq!(unwrap(&wrapped.text, &[Place::Editor]).unwrap().text, text);
    assert!(is_editors(text) && !is_editors(r#"{"mcpServers":{},"servers":{}}"#) && !is_editors("{}"));
    assert!(wrap(text, &PLACES, &line()).is_err(), "other hosts read no comments");
}

#[test]
fn the_local_transport_of_copilot_is_a_program() {
    let text = r#"{"mcpServers":{"a":{"type":"local","command":"srv","tools":["*"]}}}"#;
    let wrapped = wrap(text, &PLACES, &line()).unwrap();
    assert_eq!(wrapped.servers, ["a"]);
    assert_eq!(unwrap(&wrapped.text, &PLACES).unwrap().text, text);
}

#[test]
fn programs_without_arguments_do_so_too() {
    for args in ["", r#","args":[]"#, r#", "args": [ ]"#] {
        let text = format!(r#"{{"mcpServers":{{"a b":{{"command": "srv"{args}}}}}}}"#);
        let args = ["mcp", "proxy", "--name", "a b", "--store", "/s", "--", "srv"];
        check(&text, &serde_json::json!({"mcpServers": {"a b": {"command": "/opt/jackline", "args": args}}}));
    }
}

#[test]
fn a_name_that_looks_like_an_option_is_none() {
    let text = r#"{"mcpServers":{"--help":{"command":"srv","args":["x"]}}}"#;
    let args = ["mcp", "proxy", "--name=--help", "--store", "/s", "--", "srv", "x"];
    check(text, &serde_json::json!({"mcpServers": {"--help": {"command": "/opt/jackline", "args": args}}}));
}

#[test]
fn the_other_name_of_the_transport_comes_back() {
    let text = r#"{"mcpServers":{"a":{"type":"streamable-http","url":"https://x/mcp"}}}"#;
    let args = ["mcp", "proxy", "--name", "a", "--store", "/s", "--streamable-http", "https://x/mcp"];
    let entry = serde_json::json!({"type": "stdio", "command": "/opt/jackline", "args": args});
    check(text, &serde_json::json!({ "mcpServers": { "a": entry } }));
}

#[test]
fn the_forms_of_other_hosts_come_back_too() {
    let local = r#"{"mcpServers":{"a":{"type":"local","command":"npx","args":["x"],"tools":["*"]}}}"#;
    let args = ["mcp", "proxy", "--name", "a", "--store", "/s", "--", "npx", "x"];
    let entry = serde_json::json!({"type": "local", "command": "/opt/jackline", "args": args, "tools": ["*"]});
    check(local, &serde_json::json!({ "mcpServers": { "a": entry } }));
    let far = r#"{"mcpServers":{"a":{"httpUrl": "https://x/mcp","headers":{"A":"b"},"timeout":5}}}"#;
    let start = ["mcp", "proxy", "--name", "a", "--store", "/s", "--http-url", "https://x/mcp"];
    let args = [&start[..], &["--header-env", "A=JACKLINE_HEADER_1"]].concat();
    let env = serde_json::json!({"JACKLINE_HEADER_1": "b"});
    let entry = serde_json::json!({"command": "/opt/jackline", "args": args, "env": env, "timeout": 5});
    check(far, &serde_json::json!({ "mcpServers": { "a": entry } }));
}

#[test]
fn whether_servers_are_listed_is_told() {
    for (text, listed) in [("", false), (r#"{"servers":{}}"#, false), (r#"{"mcpServers":{}}"#, true)] {
        assert_eq!(wrap(text, &PLACES, &line()).unwrap().listed, listed, "{text}");
    }
}

#[test]
fn another_server_of_our_name_is_left_and_ours_is_not_touched() {
    let other = r#"{"mcpServers":{"jackline":{"command":"npx","args":["x"]},"a":{"command":"srv"}}}"#;
    let wrapped = wrap(other, &PLACES, &line()).unwrap();
    assert_eq!((wrapped.servers, wrapped.left.len()), (vec!["a".to_owned()], 1));
    assert!(wrapped.left[0].1.contains("another name"), "{:?}", wrapped.left);
    let behind = ["mcp", "proxy", "--name", "jackline", "--", "/opt/jackline", "mcp", "serve"];
    let ours =
        serde_json::json!({"mcpServers": {"jackline": {"command": "/opt/jackline", "args": behind}}}).to_string();
    let wrapped = wrap(&ours, &PLACES, &line()).unwrap();
    assert_eq!((wrapped.text, wrapped.left), (ours, Vec::new()));
}

#[test]
fn what_no_host_would_start_is_left() {
    for entry in
        [r#"{"command":["x","y"]}"#, r#"{"command":""}"#, r#"{"url":{"a":1}}"#, r#"{"command":null,"url":"u"}"#]
    {
        let text = format!(r#"{{"mcpServers":{{"a":{entry}}}}}"#);
        let wrapped = wrap(&text, &PLACES, &line()).unwrap();
        assert_eq!((wrapped.text.as_str(), wrapped.left.len()), (text.as_str(), 1), "{entry}");
    }
}

#[test]
fn servers_that_sign_in_by_themselves_are_left() {
    for key in ["oauth", "headersHelper"] {
        let text = format!(r#"{{"mcpServers":{{"a":{{"type":"http","url":"https://x/mcp","{key}":{{}}}}}}}}"#);
        let wrapped = wrap(&text, &PLACES, &line()).unwrap();
        assert_eq!((wrapped.text.as_str(), wrapped.left.len()), (text.as_str(), 1));
    }
}

#[test]
fn a_servers_own_arguments_may_hold_anything() {
    let text = r#"{"mcpServers":{"a":{"command":"srv","args":["--","--url","x"]}}}"#;
    let args = ["mcp", "proxy", "--name", "a", "--store", "/s", "--", "srv", "--", "--url", "x"];
    check(text, &serde_json::json!({"mcpServers": {"a": {"command": "/opt/jackline", "args": args}}}));
}

#[test]
fn addresses_become_programs_and_their_headers_variables() {
    let text = "{\"mcpServers\": {\"a\": {\n  \"type\": \"http\",\n  \"url\": \"https:\\/\\/x/mcp\",\n  \"headers\": {\"Authorization\": \"Bearer ${T}\", \"X-Key\": \"k\"}\n}}}\n";
    let args = [
        "mcp",
        "proxy",
        "--name",
        "a",
        "--store",
        "/s",
        "--url",
        "https://x/mcp",
        "--header-env",
        "Authorization=JACKLINE_HEADER_1",
        "--header-env",
        "X-Key=JACKLINE_HEADER_2",
    ];
    let env = serde_json::json!({"JACKLINE_HEADER_1": "Bearer ${T}", "JACKLINE_HEADER_2": "k"});
    let entry = serde_json::json!({"type": "stdio", "command": "/opt/jackline", "args": args, "env": env});
    check(text, &serde_json::json!({"mcpServers": {"a": entry}}));
}

#[test]
fn an_address_that_tells_something_becomes_a_variable() {
    let told = |option: &str, more: &[&str]| {
        let start = ["mcp", "proxy", "--name", "a", "--store", "/s", option, "JACKLINE_URL"];
        [&start[..], more].concat().into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    for (url, key, option) in [
        ("https://x/mcp?key=k", "url", "--url-env"),
        ("https://joe:pw@x/mcp", "httpUrl", "--http-url-env"),
        ("https://x/${KEY}/mcp", "url", "--url-env"),
    ] {
        let text = format!(r#"{{"mcpServers":{{"a":{{"{key}" : "{url}","timeout":5}}}}}}"#);
        let env = serde_json::json!({ "JACKLINE_URL": url });
        let entry =
            serde_json::json!({"command": "/opt/jackline", "args": told(option, &[]), "env": env, "timeout": 5});
        check(&text, &serde_json::json!({ "mcpServers": { "a": entry } }));
        for headers in ["{}", "{ }"] {
            let text = format!(r#"{{"mcpServers":{{"a":{{"{key}":"{url}","headers":{headers}}}}}}}"#);
            let entry = serde_json::json!({"command": "/opt/jackline", "args": told(option, &[]), "env": env});
            check(&text, &serde_json::json!({ "mcpServers": { "a": entry } }));
        }
        for headers in [r#"{"A":"b"}"#, r#"{ "A" : "b" }"#] {
            let text = format!(
                r#"{{"mcpServers":{{"a":{{"headers": {headers}, "type":"streamable-http", "url":"{url}"}}}}}}"#
            );
            let args = told("--streamable-http-env", &["--header-env", "A=JACKLINE_HEADER_1"]);
            let env = serde_json::json!({"JACKLINE_URL": url, "JACKLINE_HEADER_1": "b"});
            let entry = serde_json::json!({"command": "/opt/jackline", "args": args, "env": env, "type": "stdio"});
            check(&text, &serde_json::json!({ "mcpServers": { "a": entry } }));
        }
    }
}

#[test]
fn variables_that_a_person_added_beside_an_address_stay() {
    let plain = r#"{"mcpServers":{"a":{"url":"https://x/?k"}}}"#;
    given_back(
        plain,
        (r#""https://x/?k"}"#, r#""https://x/?k", "MINE":"1"}"#),
        r#"{"mcpServers":{"a":{"url":"https://x/?k", "env":{ "MINE":"1"}}}}"#,
    );
    let headed = r#"{"mcpServers":{"a":{"url":"https://x/?k","headers":{"A":"b"}}}}"#;
    given_back(
        headed,
        (r#""JACKLINE_HEADER_1":"b""#, r#""MINE":"1","JACKLINE_HEADER_1":"b""#),
        r#"{"mcpServers":{"a":{"url":"https://x/?k","headers":{"A":"b"}, "env":{"MINE":"1"}}}}"#,
    );
    given_back(
        headed,
        (r#""JACKLINE_HEADER_1":"b""#, r#""MINE":"1""#),
        r#"{"mcpServers":{"a":{"url":"https://x/?k","env":{"MINE":"1"}}}}"#,
    );
}

/// What is given back of an address that was wrapped and then changed by hand.
#[track_caller]
fn given_back(text: &str, (from, to): (&str, &str), want: &str) {
    let wrapped = wrap(text, &PLACES, &line()).unwrap().text;
    let changed = wrapped.replace(from, to);
    assert_ne!(changed, wrapped);
    let undone = unwrap(&changed, &PLACES).unwrap();
    assert_eq!(undone.text, want);
    serde_json::from_str::<Value>(&undone.text).unwrap();
}

#[test]
fn variables_that_a_person_added_are_no_headers() {
    let plain = r#"{"mcpServers":{"a":{"type":"http","url":"https://x/mcp"}}}"#;
    given_back(
        plain,
        ("https://x/mcp\"]", r#"https://x/mcp"],"env":{"HTTPS_PROXY":"http://p:1"}"#),
        r#"{"mcpServers":{"a":{"type":"http","url":"https://x/mcp","env":{"HTTPS_PROXY":"http://p:1"}}}}"#,
    );
    let headed = r#"{"mcpServers":{"a":{"url":"https://x/mcp","headers":{"A":"b", "C=D":"e"},"timeout":5}}}"#;
    given_back(
        headed,
        (r#""JACKLINE_HEADER_2":"e""#, r#""MINE":"1", "JACKLINE_HEADER_2":"f", "JACKLINE_HEADER_3":"no header""#),
        r#"{"mcpServers":{"a":{"url":"https://x/mcp","headers":{"A":"b", "C=D":"f"}, "env":{"MINE":"1", "JACKLINE_HEADER_3":"no header"},"timeout":5}}}"#,
    );
    given_back(
        headed,
        (r#""JACKLINE_HEADER_1":"b", "JACKLINE_HEADER_2":"e""#, r#""MINE":"1""#),
        r#"{"mcpServers":{"a":{"url":"https://x/mcp","env":{"MINE":"1"},"timeout":5}}}"#,
    );
    let empty = r#"{"mcpServers":{"a":{"url":"https://x/mcp","headers":{}}}}"#;
    assert_eq!(unwrap(&wrap(empty, &PLACES, &line()).unwrap().text, &PLACES).unwrap().text, empty);
}

#[test]
fn headers_that_a_person_added_are_not_lost_among_those_that_come_back() {
    let text = r#"{"mcpServers":{"a":{"url":"https://x/mcp","headers":{"A":"b"}}}}"#;
    let changed = wrap(text, &PLACES, &line()).unwrap().text.replace(r#","env""#, r#","headers":{"X":"y"},"env""#);
    let undone = unwrap(&changed, &PLACES).unwrap();
    assert_eq!((undone.text.as_str(), undone.servers.len(), undone.left.len()), (changed.as_str(), 0, 1));
}

#[test]
fn servers_of_a_project_know_their_project() {
    let text = r#"{"projects":{"/ws":{"mcpServers":{"a":{"command":"srv"}}},"/other":{"mcpServers":{"b":{"command":"srv"}}}}}"#;
    let args = ["mcp", "proxy", "--name", "a", "--store", "/s", "--workspace", "/ws", "--", "srv"];
    let mut want: Value = serde_json::from_str(text).unwrap();
    want["projects"]["/ws"]["mcpServers"]["a"] = serde_json::json!({"command": "/opt/jackline", "args": args});
    check(text, &want);
}

#[test]
fn servers_that_are_started_elsewhere_know_their_project_or_are_left() {
    let text = r#"{"mcpServers":{"a":{"command":"srv","cwd":"/tmp"}}}"#;
    let args = ["mcp", "proxy", "--name", "a", "--store", "/s", "--workspace", "/ws", "--", "srv"];
    let entry = serde_json::json!({"command": "/opt/jackline", "args": args, "cwd": "/tmp"});
    check(text, &serde_json::json!({ "mcpServers": { "a": entry } }));
    let nowhere = Line { apart: None, ..line() };
    let left = wrap(text, &PLACES, &nowhere).unwrap();
    assert_eq!((left.text.as_str(), left.servers.len(), left.left.len()), (text, 0, 1));
    let wrapped = wrap(text, &PLACES, &line()).unwrap().text;
    assert!(wrap(&wrapped, &PLACES, &nowhere).unwrap().left.is_empty(), "it is behind the proxy already");
}

#[test]
fn what_cannot_be_wrapped_is_left_and_told() {
    let text = r#"{"mcpServers":{"old":{"type":"sse","url":"http://x"},"odd":5,"both":{"command":"a","url":"b"},"two":{"url":"a","httpUrl":"b"},"args":{"command":"a","args":"b"}}}"#;
    let wrapped = wrap(text, &PLACES, &line()).unwrap();
    assert_eq!((wrapped.text.as_str(), wrapped.servers.len(), wrapped.left.len()), (text, 0, 5));
    assert_eq!(wrap("", &PLACES, &line()).unwrap().text, "");
    assert!(wrap("[]", &PLACES, &line()).is_err());
    let twice = r#"{"a":1,"a":2}"#;
    assert_eq!(wrap(twice, &PLACES, &line()).unwrap().text, twice, "what is not read may be odd");
    assert!(wrap(r#"{"mcpServers":{"a":{},"a":{}}}"#, &PLACES, &line()).is_err());
}

#[test]
fn a_proxy_that_judges_by_something_else_is_told() {
    let told = |words: &[&str]| {
        let arguments = [&["mcp", "proxy"], words].concat().into_iter().map(str::to_owned).collect();
        astray(&CommandLine { program: "/opt/jackline".to_owned(), arguments }, "a", "/ws")
    };
    assert_eq!(told(&["--name", "a", "--store", "/s", "--workspace", "/ws", "--", "srv", "--definition", "x"]), None);
    assert_eq!(told(&["--name=a", "--url", "https://x"]), None);
    for (words, want) in [
        (&["--name", "a", "--definition", "lax.yaml", "--", "srv"][..], "`lax.yaml` alone"),
        (&["--definition=lax.yaml", "--name", "a", "--", "srv"], "`lax.yaml` alone"),
        (&["--name", "a", "--workspace", "/tmp", "--", "srv"], "the definition of `/tmp`"),
        (&["--name", "other", "--", "srv"], "calls the server `other`"),
        (&["--", "srv", "--name", "a"], "names itself"),
    ] {
        assert!(told(words).is_some_and(|why| why.contains(want)), "{words:?}");
    }
    let text = r#"{"mcpServers":{"a":{"command":"/x/jackline","args":["mcp","proxy","--name","b","--","srv"]}}}"#;
    let wrapped = wrap(text, &PLACES, &line()).unwrap();
    assert_eq!((wrapped.text.as_str(), wrapped.left.len()), (text, 1));
}
