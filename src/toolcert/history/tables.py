"""The tables of the store; the same on SQLite and PostgreSQL."""

from __future__ import annotations

from sqlalchemy import JSON, Boolean, Column, Float, ForeignKey, Index, Integer, MetaData, String, Table, Text

SCHEMA_VERSION = 2
"""Raise it together with a step in migrations.py."""

metadata = MetaData()

meta = Table(
    "toolcert_meta",
    metadata,
    Column("name", String(40), primary_key=True),
    Column("value", Text, nullable=False),
)

runs = Table(
    "toolcert_runs",
    metadata,
    Column("run", String(80), primary_key=True),
    Column("day", String(10), nullable=False, index=True),
    Column("started_at", Float, nullable=False),
    Column("finished_at", Float),
    Column("interrupted", Boolean, nullable=False, default=False),
    Column("source", String(20), nullable=False),
    Column("toolcert", String(40), nullable=False, default=""),
    Column("suite", String(40)),
    Column("iterations", Integer),
    Column("threshold", Float, nullable=False, default=0.9),
    Column("versions", JSON, nullable=False, default=dict),
)

observations = Table(
    "toolcert_observations",
    metadata,
    Column("run", String(80), ForeignKey("toolcert_runs.run", ondelete="CASCADE"), primary_key=True),
    Column("endpoint", String(200), primary_key=True),
    Column("model", String(300), primary_key=True),
    Column("probe", String(80), primary_key=True),
    Column("day", String(10), nullable=False),
    Column("at", Float, nullable=False),
    Column("passed", Integer, nullable=False, default=0),
    Column("failed", Integer, nullable=False, default=0),
    Column("unsupported", Integer, nullable=False, default=0),
    Column("not_measured", Integer, nullable=False, default=0),
    Column("skipped", Integer, nullable=False, default=0),
    Column("called", Integer, nullable=False, default=0),
    Column("callable", Integer, nullable=False, default=0),
    Column("handled", Integer, nullable=False, default=0),
    Column("handleable", Integer, nullable=False, default=0),
    Column("low", Float),
    Column("high", Float),
    Column("call_p50", Float),
    Column("call_p95", Float),
    Column("answer_p50", Float),
    Column("answer_p95", Float),
    Column("first_token_p50", Float),
    Column("reason", Text, nullable=False, default=""),
    Column("fingerprint", String(200)),
    Column("original", JSON),
    Index("toolcert_observations_by_model", "model", "probe", "day"),
    Index("toolcert_observations_by_day", "day"),
)

findings = Table(
    "toolcert_findings",
    metadata,
    Column("run", String(80), ForeignKey("toolcert_runs.run", ondelete="CASCADE"), primary_key=True),
    Column("endpoint", String(200), primary_key=True),
    Column("model", String(300), primary_key=True),
    Column("probe", String(80), primary_key=True),
    Column("code", String(120), primary_key=True),
    Column("severity", String(10), nullable=False),
    Column("count", Integer, nullable=False),
    Column("evidence", Text, nullable=False, default=""),
)

registry = Table(
    "toolcert_registry",
    metadata,
    Column("model", String(300), primary_key=True),
    Column("original", JSON, nullable=False),
)
"""Rows of an imported models_registry.csv, kept as they were written."""
