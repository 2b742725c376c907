//! What must be caught, what must not, and what holds for any text.

use proptest::prelude::*;
use serde_json::json;

use super::*;

fn redactor() -> Redactor {
    Redactor::new(["pin", "internal_id"])
}

/// `text` has one secret between `«` and `»`; everything else must stay.
#[track_caller]
fn check(text: &str) {
    let plain = text.replace(['«', '»'], "");
    let mut want = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('«') {
        let (secret, after) = after.split_once('»').unwrap();
        want += before;
        want += &marker(secret.as_bytes());
        rest = after;
    }
    want += rest;
    let (got, changed) = redactor().text(&plain);
    assert_eq!(got, want, "{plain}");
    assert_eq!(changed, want != plain);
    assert_eq!(redactor().text(&got).0, got, "not the same when done twice");
}

#[test]
fn the_marker_shows_eight_digits_of_the_hash() {
    assert_eq!(marker(b"abc"), "‹redacted:ba7816bf›");
    assert!(is_marker(marker(b"x").as_bytes()));
    assert!(!is_marker("‹redacted:ba7816b›".as_bytes()));
    assert!(!is_marker("‹redacted:ba7816bf› ".as_bytes()));
}

#[test]
fn passwords_that_a_program_is_told_are_known_by_the_program() {
    check("curl -u me:«hunter2» https://x");
    check("curl -sSu 'me:«hunter 2»' https://x");
    check("curl -ume:«hunter2» https://x");
    check("curl --user=me:«hunter2» https://x");
    check("cd a && /usr/bin/curl --proxy-user \"me:«hunter2»\" -o b https://x");
    check("sshpass -p «hunter2» ssh h");
    check("sshpass -p«hunter2» ssh h");
    check("http -a me:«hunter2» x");
    check("mysql -u root -p«hunter2» db");
    check("redis-cli -a «hunter2» ping");
    check("curl -u \"$USER:$PASS\" https://x");
    check("curl -u me https://x");
    check("docker run -u 1000:1000 x");
    check("curl x | sudo -u me:g y");
    check("ssh -p 2222 h");
    check("mysql -u root -p db");
    let (value, _) = redactor().value(&json!(["curl", "-u", "me:hunter2", "sshpass", "-p", "hunter2", "ssh"]));
    assert!(!value.to_string().contains("hunter2"), "{value}");
    let kept = json!(["docker", "run", "-u", "1000:1000", "-p", "80:80"]);
    assert_eq!(redactor().value(&kept), (kept, false));
}

#[test]
fn tokens_of_bots_and_hooks_are_known_by_their_shape() {
    let (a35, a60) = ("aB3_-".repeat(7), "aB3_-".repeat(12));
    check(&format!("https://api.telegram.org/bot123456789:«{a35}»/getMe"));
    check(&format!("TG 1234567890:«{a35}» end"));
    check(&format!("at 1234567890:{a35}x"));
    check(&format!("x1234567890:{a35}"));
    check(&format!("use «MTIzNDU2Nzg5MDEyMzQ1Njc4.GhIjKl.{}»", "aB3".repeat(9)));
    check("MTIzNDU2Nzg5MDEyMzQ1Njc4.toolong7.x and MyVeryLongClassNameOfABean.method.andSomeMoreOfItThatIsLong");
    check(&format!("https://discord.com/api/webhooks/1234567890/«{a60}»?wait=true"));
    check(&format!("https://discordapp.com/api/webhooks/1234567890/«{a60}»"));
    check("https://discord.com/api/webhooks/1234567890 is one");
}

#[test]
fn tokens_are_known_by_their_shape() {
    let a36 = "aB3".repeat(12);
    check("aws configure set key «AKIAIOSFODNN7EXAMPLE» now");
    check("(«ASIAIOSFODNN7EXAMPLE»)");
    for prefix in ["ghp_", "gho_", "ghu_", "ghs_", "ghr_", "npm_", "hf_", "sk-", "sk-proj-", "sk-ant-api03-"] {
        check(&format!("use «{prefix}{a36}», please"));
    }
    check(&format!("https://«ghp_{a36}»@github.com/a/b"));
    check(&format!("«github_pat_11ABCDEFG0_{a36}»"));
    check("«glpat-xYz_12345678901234-6.01.abc»");
    check("SLACK «xoxb-1234567890-abcdefGHI» «xoxp-1234567890» «xapp-1-A0123456789»");
    check(&format!("post to https://hooks.slack.com/services/«T012ABCDE/B012ABCDE/{a36}»."));
    check(&format!("«SK{}»", "0123abcd".repeat(4)));
    check(&format!("«sk-ant-api03-{a36}-{a36}_AA»"));
    check(&format!("key is «AIza{}»", "Sy-_0".repeat(7)));
    check("«sk_live_4eC39HqLyjWDarjtT1zdp7dc» «rk_live_4eC39HqLyjWDarjtT1zdp7dc»");
    check(&format!("«pypi-AgEIcHlwaS5vcmc{a36}»"));
    check(&format!("«dop_v1_{}»", "0123abcd".repeat(8)));
    check(&format!("«SG.{}.{}»", "a1B_c2D-".repeat(3), "a1B_c2D-".repeat(5)));
    check("jwt «eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.SflKxwRJSMeKKF2QT4fwpM»!");
    check("unsigned «eyJhbGciOiJub25lIn0.eyJzdWIiOiIxMjM0In0.» end");
    check("X: Bearer «abcDEF123456ghi789»");
}

#[test]
fn private_keys_go_whole() {
    check("a\n«-----BEGIN RSA PRIVATE KEY-----\nMIIE+/==\nabc\n-----END RSA PRIVATE KEY-----»\nb");
    check("«-----BEGIN OPENSSH PRIVATE KEY-----\\nb3BlbnNz\\n-----END OPENSSH PRIVATE KEY-----»\\n");
    check("«-----BEGIN PGP PRIVATE KEY BLOCK-----\nVersion: 2.0 (x)\n\nlQ\n-----END PGP PRIVATE KEY BLOCK-----»");
    check("cut «-----BEGIN PRIVATE KEY-----\nMIIEvQIBADAN\nBgkqhkiG9w0B»");
    check("grep -- '«-----BEGIN PRIVATE KEY-----»' src");
    check("PRIVATE_KEY=«-----BEGIN EC PRIVATE KEY-----\nMHcCAQEE\n-----END EC PRIVATE KEY-----»\nX=1");
    check("KEY_SECRET=\"«-----BEGIN EC PRIVATE KEY-----\nMHcCAQEE\n-----END EC PRIVATE KEY-----»\"\nX=1");
    check("-----BEGIN CERTIFICATE-----\nMIIC\n-----END CERTIFICATE-----");
    check("-----BEGIN PUBLIC KEY-----\nMIIC\n-----END PUBLIC KEY-----");
}

#[test]
fn assignments_are_known_by_their_name() {
    check("PASSWORD=«hunter2»");
    check("export API_KEY='«a b c»' && run");
    check("PGPASSWORD=«supersecret» psql -h db");
    check("docker run -e \"DB_PASSWORD=«hunter2»\" -e A=1 img");
    check("env DB_PASSWORD=«foo\"bar» x");
    check("DB_PASSWORD=«a\\ b» x");
    check("password: «hunter2»\nuser: bob");
    check("  db_password: «correcthorse»\n");
    check("- token: «correcthorse»");
    check("the password: «abc123» works");
    check("API key: «abc123def»");
    check("{\"password\":\"«hunter\\\"2»\",\"user\":\"bob\"}");
    check("{\\\"password\\\": \\\"«hunter2»\\\", \\\"user\\\": 1}");
    check("password = \"«hunter two»\"");
    check("password = b\"«hunter two»\"");
    check("password = \"\"\"«hunter»\"\"\"");
    check("'secret' => '«x»',");
    check("os.environ[\"API_KEY\"] = \"«x»\"");
    check("token := \"«x»\"");
    check("PASSWORD=\"«two\nlines»\"");
    check("password: \"«not closed»\nnext");
    check("https://h/p?token=«abc»&user=bob");
    check("AccountName=a;AccountKey=«abc+/==»;EndpointSuffix=x");
    check("SharedAccessKey=«abc»;x");
    check("aws_secret_access_key = «wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY»");
    check("_authToken=«abc»");
    check("-Dkeystore.password=«changeit»");
    check("pin=«1234»");
    check("PASSWORD=«p{w}[2],x» y");
    check("DB_PASSWORD=«hunter2»(x");
    check("curl -H \"X-Api-Key: «abcdef»\" u");
    check("f(password=«hunter», user=1)");
    check("token=«$2b$12$abcdefgh»");
    check("MY_TOKEN=«ghp_abc»");
}

#[test]
fn flags_name_the_argument_that_follows() {
    check("mysql --password «hunter2» -u root");
    check("mysql --password=«hunter2» -u root");
    check("x --api-key '«a b»' y");
    check("[\"x\",\"--token\",\"«abc»\",\"y\"]");
    check("[\"x\", \"--token\", \"«abc»\"]");
    check("mysql -p hunter2");
    check("x --password --verbose");
    check("x --no-password prompt");
    check("gh auth login --with-token < file");
    check("x --password");
    check("x --password $PASS");
}

#[test]
fn headers_lose_their_value() {
    check("curl -H \"Authorization: Bearer «abc»\" https://x");
    check("curl -H 'Authorization: Basic «dXNlcjpwYXNz»' https://x");
    check("GET /\r\nAuthorization: Bearer «abc.def»\r\nHost: x");
    check("Proxy-Authorization: Digest «username=bob, response=1»\nx");
    check("authorization: «abc123»");
    check("{\"Authorization\": \"«Bearer abc»\"}");
    check("headers = {'Authorization': '«Bearer abc»'}");
    check("Cookie: «sid=abc; theme=dark»\nHost: x");
    check("Set-Cookie: «sid=abc; Path=/»\n");
    check("Authorization: Bearer $TOKEN");
    check("Authorization: Bearer <token>");
    check("authorization: the act of allowing");
    check("AUTHORIZATION=Bearer «abc»");
}

#[test]
fn addresses_lose_their_password() {
    check("postgres://bob:«hunter2»@db:5432/x");
    check("https://bob:«p@ss»@host/");
    check("redis://:«hunter2»@cache");
    check("DATABASE_URL=postgres://bob:«hunter2»@db/x");
    check("https://«ghp_abcdefghij0123456789»:«x-oauth-basic»@github.com/a/b");
    check("https://host:8080/a@b");
    check("ssh://git@github.com/a/b");
    check("http://[::1]:80/x@y");
    check("postgres://bob:$PASS@db");
    check("postgres://bob:${PASS}@db");
    check("postgres://bob:<password>@db");
}

#[track_caller]
fn check_stays(texts: &[&str]) {
    for text in texts {
        check(text);
        assert!(matches!(redactor().text(text).0, Cow::Borrowed(_)), "{text}");
    }
}

#[test]
fn ordinary_text_stays() {
    check_stays(&[
        "",
        "commit 3f786850e387550fdab836ed7e6dc881de23001b",
        "550e8400-e29b-41d4-a716-446655440000",
        "token_count = 5",
        "token_count: 1234567",
        "max_tokens=4096",
        "input_tokens: 123456",
        "import sk-learn",
        "sk-learn==1.2.0",
        "pip install scikit-learn sk-learn-contrib-toolbox",
        "src/secret/secretary.rs:12: fn secretary()",
        "the secretary: Bob",
        "/home/dev/repo/src/token.rs",
        "def f(token: str, password: Optional[str] = None)",
        "token: String,",
        "interface A { token: string; secret: boolean }",
        "password = getpass()",
        "token = os.environ[\"X\"]",
        "f(password=password, token=self.token)",
        "secret: Vec<u8>",
        "password=",
        "f(password=None, token=get())",
        "password = \"\"",
        "PASSWORD=$DB_PASSWORD",
        "PASSWORD=${DB_PASSWORD}",
        "PASSWORD=$(pass show db)",
        "password: <your password>",
        "password: ********",
        "input(\"Password: \")",
        "if token == \"x\" {}",
        "token != 'x'",
        "use token::Stream;",
        "token_path: /run/token",
        "password: /run/secrets/db",
        "Bearer of bad news, a very-long-hyphenated-word",
        "bearer",
        "ghp_short",
        "AKIA",
        "AKIAIOSFODNN7EXAMPLEX",
        "eyJ.eyJ.x",
        "eyJhbGciOiJIUzI1NiJ9 alone",
        "AIzaShort",
        "SG.short.short",
        "xoxo-kisses",
        "xoxb-short",
        "npm_config_registry",
        "task-sk-1",
        "hf_hub_download",
        "the token is: 5",
        "note: tokens",
    ]);
}

#[test]
fn fragments_and_markers_stay() {
    check_stays(&[
        "日本語 🎉: ‹›",
        "‹redacted:ba7816bf›",
        "a=‹redacted:ba7816bf›",
        "password=‹redacted:ba7816bf›",
        "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
        "public_key=abc",
        "keyboard: qwerty123",
        "shopping=1234",
        "git log --author bob",
        "--",
        "---",
        "-----",
        "-----BEGIN ",
        "::::====",
        "=",
        ":",
        "token:",
        "token=",
        "\"token\":",
        "password: |",
        "author: bob123",
    ]);
}

#[track_caller]
fn check_value(value: &Value, want: &Value) {
    let (got, changed) = redactor().value(value);
    assert_eq!(&got, want);
    assert_eq!(changed, got != *value);
    assert_eq!(redactor().value(&got), (got.clone(), false), "not the same when done twice");
}

#[test]
fn fields_lose_their_texts() {
    let m = |text: &str| marker(text.as_bytes());
    check_value(
        &json!({"user": "bob", "db_password": "x", "token": 5, "secret": true, "cookie": null, "api_key": ""}),
        &json!({"user": "bob", "db_password": m("x"), "token": 5, "secret": true, "cookie": null, "api_key": ""}),
    );
    check_value(
        &json!({"credentials": {"user": "bob", "codes": ["a", 1, ["b"]]}, "list": [{"pin": "1234"}]}),
        &json!({"credentials": {"user": m("bob"), "codes": [m("a"), 1, [m("b")]]}, "list": [{"pin": m("1234")}]}),
    );
    check_value(
        &json!({"usage": {"input_tokens": 1, "max_tokens": "2"}, "token_count": "3", "path": "src/token.rs"}),
        &json!({"usage": {"input_tokens": 1, "max_tokens": "2"}, "token_count": "3", "path": "src/token.rs"}),
    );
    check_value(
        &json!({"command": ["mysql", "--password", "hunter2", "db"], "env": [{"name": "DB_PASSWORD", "value": "x"}]}),
        &json!({"command": ["mysql", "--password", m("hunter2"), "db"], "env": [{"name": "DB_PASSWORD", "value": m("x")}]}),
    );
    check_value(&json!({"command": "PASSWORD=x run"}), &json!({"command": format!("PASSWORD={} run", m("x"))}));
}

#[test]
fn keys_are_texts_too_and_stay_apart() {
    let key = format!("token={}", marker(b"x"));
    check_value(&json!({"token=x": 1, key.clone(): 2}), &json!({key.clone(): 1, format!("{key}'"): 2}));
}

#[test]
fn what_is_too_deep_is_not_kept() {
    let mut value = json!("bottom");
    for _ in 0..1_000 {
        value = json!([value]);
    }
    let (redacted, changed) = redactor().value(&value);
    assert!(changed && !redacted.to_string().contains("bottom"));
}

#[test]
fn hostile_texts_cost_no_more_than_their_length() {
    for piece in [
        "-----BEGIN PRIVATE KEY-----",
        "-----BEGIN PRIVATE KEY-----.",
        "eyJeyJ",
        "eyJaaaaaaaaa.",
        "sk-",
        "xoxb-a",
        "SG.aaaaaaaaaaaaaaaaaaaa",
        "password=\"",
        "password='\n",
        "token: ",
        "token:\"\n\"",
        "--password ",
        "Authorization: Basic ",
        "cookie:a=",
        "://a:",
        "://",
        "bearer ",
        "Bearer aaaa",
        "password=a\\ ",
        "=",
        ":",
        "\\\"",
        "\\",
        "-",
        "‹redacted:",
        "-----END ",
        "ghp_",
        "Cookie: ",
        "cookie:",
        "authorization:",
        "Authorization:Bearer $A",
        "password:",
        "password=$",
        "password=$ ",
        "token:a",
        "--.",
        "xa-",
        "x.password=",
        "password=a(",
        "é=",
        " :",
        "token =",
    ] {
        let text = piece.repeat(200_000 / piece.len());
        let (once, _) = redactor().text(&text);
        let (twice, _) = redactor().text(&once);
        assert!(once == twice, "{piece}");
    }
}

/// A secret and the words that make it one.
fn planted() -> impl Strategy<Value = (String, String)> {
    let body = "[a-zA-Z][a-zA-Z0-9]{38}[0-9]";
    prop_oneof![
        (
            prop::sample::select(vec!["ghp_", "npm_", "hf_", "sk-", "sk-ant-", "AIza", "glpat-", "xoxb-", "sk_live_"]),
            body
        )
            .prop_map(|(prefix, body)| (String::new(), format!("{prefix}{body}"))),
        "AKIA[A-Z0-9]{16}".prop_map(|key| (String::new(), key)),
        (
            prop::sample::select(vec![
                "PASSWORD=",
                "api_key=",
                "--token ",
                "password: ",
                "Authorization: Bearer ",
                "?token="
            ]),
            body
        )
            .prop_map(|(before, secret)| (before.to_owned(), secret)),
        body.prop_map(|secret| ("postgres://bob:".to_owned(), secret + "@db")),
        "eyJ[a-zA-Z0-9_-]{20}\\.eyJ[a-zA-Z0-9_-]{20}\\.[a-zA-Z0-9_-]{20}".prop_map(|token| (String::new(), token)),
        "[A-Za-z0-9+/]{64}".prop_map(|body| ("-----BEGIN PRIVATE KEY-----\n".to_owned(), body)),
    ]
}

/// Pieces that scanners care about, in any order.
fn nasty() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        prop::sample::select(vec![
            "password",
            "token",
            "API_KEY",
            "Authorization",
            "Cookie",
            "--password",
            "Bearer ",
            "basic ",
            "=",
            ":",
            ": ",
            " = ",
            "\"",
            "'",
            "\\\"",
            "\\",
            "\n",
            " ",
            ",",
            ";",
            "&",
            "(",
            "[",
            "{",
            "}",
            "<",
            ">",
            "$",
            "-",
            "-----BEGIN PRIVATE KEY-----",
            "-----END PRIVATE KEY-----",
            "://bob:",
            "@",
            "/",
            "eyJabcdefghijk",
            ".",
            "ghp_abcdefghij0123456789",
            "sk-",
            "AKIAIOSFODNN7EXAMPLE",
            "xoxb-0123456789",
            "‹redacted:ba7816bf›",
            "‹redacted:",
            "›",
            "é",
            "name",
            "%",
            "?",
            "_",
            "1",
            "\t",
            "\r\n",
            "`",
            "]",
            "=>",
        ])
        .prop_map(str::to_owned),
        "[a-z0-9]{1,6}",
    ];
    prop::collection::vec(piece, 0..14).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn a_planted_secret_is_gone(before in "[a-z .,!\n]{0,20}", (context, secret) in planted(), after in "[a-z .,!\n]{0,20}") {
        let core = secret.strip_suffix("@db").unwrap_or(&secret).to_owned();
        let text = format!("{before} {context}{secret} {after}");
        let (redacted, changed) = redactor().text(&text);
        prop_assert!(changed && !redacted.contains(&core), "{}", redacted);
    }

    #[test]
    fn twice_is_once(text in nasty()) {
        let (once, changed) = redactor().text(&text);
        let (twice, again) = redactor().text(&once);
        prop_assert_eq!(&once, &twice, "{}", text);
        prop_assert!(!again);
        prop_assert_eq!(changed, once != text);
    }

    #[test]
    fn plain_words_are_borrowed(text in "([a-z]{1,9}[ .,!?\n])*") {
        prop_assert!(matches!(redactor().text(&text), (Cow::Borrowed(same), false) if same == text));
    }
}

#[test]
fn what_is_known_is_found_wherever_it_stands() {
    let redactor = Redactor::new([]).knowing(["plainsecretvalue123", "plainsecret", " on ", "redacted"]);
    let (text, changed) = redactor.text("using plainsecretvalue123xplainsecret; it is on, and redacted");
    assert!(changed && !text.contains("plainsecret"), "{text}");
    assert!(text.starts_with("using ‹redacted:") && text.ends_with("; it is on, and redacted"), "{text}");
    assert_eq!(redactor.text(&text).0, text, "twice is once");
    assert!(!Redactor::new([]).text("using plainsecretvalue123").1);
}
