"""One definition of every option, toolcert.toml, the environment, and who wins."""
