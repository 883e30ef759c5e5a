"""The tables of ours that repositories query. The migrations create them; a test holds the two together."""

from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    DateTime,
    ForeignKey,
    Identity,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
    func,
    text,
)
from sqlalchemy.dialects.postgresql import ARRAY, JSONB

metadata = MetaData()

turns = Table(
    "turns",
    metadata,
    Column("turn_id", Text, primary_key=True),
    Column("id", BigInteger, Identity(always=True), nullable=False, unique=True),
    Column("conversation_id", Text, nullable=False),
    Column("user_id", Text),
    Column("organization_id", Text),
    Column("message", Text, nullable=False),
    Column("question", Text),
    Column("engine", Text),
    Column("method", Text),
    Column("fallback", Text),
    Column("answer", Text, nullable=False),
    Column("answer_mode", Text),
    Column("evidence", JSONB, nullable=False),
    Column("citations", JSONB, nullable=False),
    Column("memories", JSONB, nullable=False, server_default=text("'[]'")),
    Column("stages", JSONB, nullable=False),
    Column("outcome", Text, nullable=False),
    Column("reason", Text),
    Column("created_at", DateTime(timezone=True), nullable=False),
    Index("turns_by_conversation", "conversation_id", "id"),
)

outbox = Table(
    "outbox",
    metadata,
    Column("id", BigInteger, Identity(always=True), primary_key=True),
    Column("turn_id", Text, ForeignKey("turns.turn_id", ondelete="CASCADE"), nullable=False),
    Column("kind", Text, nullable=False),
    Column("payload", JSONB, nullable=False),
    Column("said_at", DateTime(timezone=True), nullable=False, server_default=func.now()),
    Column("created_at", DateTime(timezone=True), nullable=False, server_default=func.now()),
    Column("attempts", Integer, nullable=False, server_default=text("0")),
    Column("available_at", DateTime(timezone=True), nullable=False, server_default=func.now()),
    Column("parked_at", DateTime(timezone=True)),
    Column("last_error", Text),
    UniqueConstraint("turn_id", "kind", name="outbox_once_per_turn"),
    Index("outbox_waiting", "available_at", postgresql_where=text("parked_at IS NULL")),
)

documents = Table(
    "documents",
    metadata,
    Column("id", Text, primary_key=True),
    Column("namespace", Text, nullable=False),
    Column("source", Text, nullable=False),
    Column("content_hash", Text, nullable=False),
    Column("title", Text, nullable=False),
    Column("chars", Integer, nullable=False),
    Column("chunks", Integer, nullable=False),
    Column("metadata", JSONB, nullable=False),
    Column("ingested_at", DateTime(timezone=True), nullable=False),
    UniqueConstraint("namespace", "source", name="documents_once_per_namespace"),
)

index_state = Table(
    "index_state",
    metadata,
    Column("only_row", Boolean, primary_key=True, server_default=text("true")),
    Column("generation", BigInteger, nullable=False, server_default=text("0")),
    Column("embedding_model", Text),
    Column("dimension", Integer),
    CheckConstraint("only_row", name="index_state_has_one_row"),
)

sentences = Table(
    "sentences",
    metadata,
    Column("chunk_id", Text, primary_key=True),
    Column("document_id", Text, nullable=False),
    Column("spans", ARRAY(Integer), nullable=False),
    Column("vectors", LargeBinary, nullable=False),
    Index("sentences_by_document", "document_id"),
)

threads = Table(
    "threads",
    metadata,
    Column("id", Text, primary_key=True),
    Column("user_id", Text, nullable=False),
    Column("name", Text, nullable=False),
    Column("settings", JSONB, nullable=False, server_default=text("'{}'")),
    Column("used_at", DateTime(timezone=True), nullable=False, server_default=func.now()),
    Index("threads_by_user", "user_id", "used_at", "id"),
)

settings = Table(
    "settings",
    metadata,
    Column("name", Text, primary_key=True),
    Column("value", JSONB, nullable=False),
    Column("changed_at", DateTime(timezone=True), nullable=False, server_default=func.now()),
)

settings_state = Table(
    "settings_state",
    metadata,
    Column("only_row", Boolean, primary_key=True, server_default=text("true")),
    Column("generation", BigInteger, nullable=False, server_default=text("0")),
    CheckConstraint("only_row", name="settings_state_has_one_row"),
)

memory_users = Table(
    "memory_users",
    metadata,
    Column("user_id", Text, primary_key=True),
    Column("enabled", Boolean, nullable=False),
    Column("changed_at", DateTime(timezone=True), nullable=False, server_default=func.now()),
)

memory_forgotten = Table(
    "memory_forgotten",
    metadata,
    Column("user_id", Text, primary_key=True),
    Column("conversation_id", Text, primary_key=True, server_default=text("''")),
    Column("at", DateTime(timezone=True), nullable=False),
)

memory_forgotten_facts = Table(
    "memory_forgotten_facts",
    metadata,
    Column("user_id", Text, primary_key=True),
    Column("digest", Text, primary_key=True),
    Column("at", DateTime(timezone=True), nullable=False),
)

memory_state = Table(
    "memory_state",
    metadata,
    Column("only_row", Boolean, primary_key=True, server_default=text("true")),
    Column("embedding_model", Text, nullable=False),
    Column("dimension", Integer, nullable=False),
    CheckConstraint("only_row", name="memory_state_has_one_row"),
)

organization_proposals = Table(
    "organization_proposals",
    metadata,
    Column("id", Text, primary_key=True),
    Column("organization_id", Text, nullable=False),
    Column("text", Text, nullable=False),
    Column("proposed_by", Text, nullable=False),
    Column("turn_id", Text),
    Column("proposed_at", DateTime(timezone=True), nullable=False, server_default=func.now()),
    Column("approved", Boolean),
    Column("decided_by", Text),
    Column("decided_at", DateTime(timezone=True)),
    Index(
        "organization_proposals_waiting", "organization_id", "proposed_at", postgresql_where=text("approved IS NULL")
    ),
)

expert_requests = Table(
    "expert_requests",
    metadata,
    Column("id", Text, primary_key=True),
    Column("turn_id", Text, nullable=False, unique=True),
    Column("conversation_id", Text, nullable=False),
    Column("user_id", Text),
    Column("organization_id", Text),
    Column("question", JSONB, nullable=False),
    Column("locale", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("channel", Text, nullable=False),
    Column("offered_at", DateTime(timezone=True), nullable=False, server_default=func.now()),
    Column("asked_at", DateTime(timezone=True)),
    Column("expires_at", DateTime(timezone=True)),
    Column("settled_at", DateTime(timezone=True)),
    Column("closed_at", DateTime(timezone=True)),
    Column("expert", Text),
    Column("reply", Text),
    Column("runs", Integer, nullable=False, server_default=text("0")),
    Index("expert_requests_open", "state", "expires_at", postgresql_where=text("closed_at IS NULL")),
)
