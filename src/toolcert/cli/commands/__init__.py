"""The commands, one module each, in rooms after the sections of `toolcert --help`."""
