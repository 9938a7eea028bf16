//! Valid and invalid tables.

use super::*;

fn refused(text: &str) -> String {
    Settings::parse(text).unwrap_err().to_string()
}

#[test]
fn a_table_with_everything_is_read() {
    let settings = Settings::parse(
        r#"
        url = "grpcs://build.example.com:8980/"
        instance = "main"
        execute = true
        upload = false
        platform = { OSFamily = "linux", container-image = "docker://x" }
        headers = { Authorization = { env = "TOKEN" }, x-key = { file = "/run/key" } }
        ca = "/etc/ca.pem"
        certificate = "/etc/me.pem"
        key = "/etc/me.key"
        jobs = 7
        timeout = 5
        tools = "upload"
        "#,
    )
    .unwrap();
    assert_eq!(settings.location(), &Location::Grpc("https://build.example.com:8980".parse().unwrap()));
    assert_eq!((settings.instance(), settings.executes(), settings.uploads()), ("main", true, false));
    assert_eq!(settings.headers()["authorization"], Secret::Environment("TOKEN".into()));
    assert_eq!(settings.headers()["x-key"], Secret::File("/run/key".into()));
    assert_eq!(settings.client().unwrap().key, Path::new("/etc/me.key"));
    assert_eq!((settings.jobs(), settings.timeout()), (7, Duration::from_secs(5)));
    assert_eq!((settings.tools(), settings.platform().len()), (Tools::Upload, 2));
}

#[test]
fn a_url_is_enough() {
    for (url, place) in [
        ("/srv/cache", Location::Folder("/srv/cache".into())),
        ("file:///srv/cache", Location::Folder("/srv/cache".into())),
        ("http://host:8080/a/b/", Location::Http("http://host:8080/a/b".parse().unwrap())),
        ("grpc://host", Location::Grpc("http://host".parse().unwrap())),
        ("s3://kernels", Location::S3(Bucket { name: "kernels".into(), prefix: String::new() })),
        ("s3://a.b-c/x//y_1/", Location::S3(Bucket { name: "a.b-c".into(), prefix: "/x/y_1".into() })),
    ] {
        let settings = Settings::parse(&format!("url = \"{url}\"")).unwrap();
        assert_eq!(settings.location(), &place);
        assert_eq!((settings.jobs(), settings.timeout()), (128, Duration::from_secs(30)));
        assert!(settings.uploads() && !settings.executes());
    }
}

#[test]
fn mistakes_are_named() {
    for (text, expected) in [
        ("", "missing field `url`"),
        ("url = \"/x\"\nuplaod = true", "uplaod"),
        ("url = \"host:80\"", "no scheme"),
        ("url = \"ftp://host\"", "unknown scheme"),
        ("url = \"grpc://\"", "is not a URL"),
        ("url = \"grpc://host/instance\"", "hint: name the instance by `instance`"),
        ("url = \"http://me:secret@host\"", "hint: give credentials by `headers`"),
        ("url = \"s3://key:secret@bucket\"", "hint: give AWS's credentials by its variables"),
        ("url = \"s3://\"", "hint: write `s3://BUCKET`"),
        ("url = \"s3://bucket/../other\"", "names no bucket"),
        ("url = \"s3://bucket/a b\"", "names no bucket"),
        ("url = \"s3://bucket\"\nexecute = true", "runs no commands"),
        ("url = \"/x\"\nexecute = true", "runs no commands"),
        ("url = \"/x\"\ntimeout = 0", "hint: the unit is seconds"),
        ("url = \"/x\"\njobs = 0", "nonzero"),
        ("url = \"/x\"\ntools = \"here\"", "here"),
        ("url = \"https://x\"\ncertificate = \"/c\"", "`certificate` without `key`"),
        ("url = \"https://x\"\nca = \"c\"", "`c` is not an absolute path"),
        ("url = \"https://x\"\nheaders = { a = { env = \"A\", file = \"/b\" } }", "no source of its value"),
        ("url = \"https://x\"\nheaders = { \"a b\" = { env = \"A\" } }", "an invalid name"),
    ] {
        let message = refused(text);
        assert!(message.contains(expected), "{text}: {message}");
    }
}

#[test]
fn a_credential_in_the_text_is_refused_and_not_shown() {
    let message = refused("url = \"https://x\"\nheaders = { authorization = \"Bearer 123\" }");
    assert!(message.contains("hint: write `authorization = { env = \"VARIABLE\" }`"), "{message}");
    assert!(!message.contains("123"));
}

#[test]
fn the_secret_in_a_url_is_not_shown() {
    for url in [
        "http://me:secret@host",
        "s3://me:secret@host",
        "ftp://me:secret@host",
        "me:secret@host",
        "http://host/cache?token=secret",
        "https://host/cache/?token=secret",
        "https://host?secret",
        "grpcs://host#secret",
        "s3://bucket/prefix?secret",
        "host?token=secret",
        "ftp://host?token=secret",
    ] {
        let message = refused(&format!("url = \"{url}\""));
        assert!(!message.contains("secret") && message.contains("\nhint: "), "{message}");
    }
    assert!(refused("url = \"https://host/cache?a\"").contains("hint: give a token by `headers`"));
}

#[test]
fn credentials_come_from_files_without_the_end_of_the_line() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("token");
    std::fs::write(&path, "Bearer 1\n").unwrap();
    assert_eq!(Secret::File(path.clone()).read("authorization").unwrap(), "Bearer 1");
    std::fs::write(&path, "a\nb").unwrap();
    assert!(Secret::File(path).read("x").unwrap_err().to_string().contains("single line"));
    let missing = Secret::Environment("OFFLOAD_REMOTE_TEST_UNSET".into()).read("x").unwrap_err();
    assert!(missing.to_string().contains("hint: the header `x`"));
}
