"""Turns, and the outbox written with them."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "turns",
        sa.Column("turn_id", sa.Text, primary_key=True),
        sa.Column("id", sa.BigInteger, sa.Identity(always=True), nullable=False, unique=True),
        sa.Column("conversation_id", sa.Text, nullable=False),
        sa.Column("user_id", sa.Text),
        sa.Column("organization_id", sa.Text),
        sa.Column("message", sa.Text, nullable=False),
        sa.Column("question", sa.Text),
        sa.Column("engine", sa.Text),
        sa.Column("method", sa.Text),
        sa.Column("fallback", sa.Text),
        sa.Column("answer", sa.Text, nullable=False),
        sa.Column("answer_mode", sa.Text),
        sa.Column("evidence", JSONB, nullable=False),
        sa.Column("citations", JSONB, nullable=False),
        sa.Column("stages", JSONB, nullable=False),
        sa.Column("outcome", sa.Text, nullable=False),
        sa.Column("reason", sa.Text),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
    )
    op.create_index("turns_by_conversation", "turns", ["conversation_id", "id"])
    op.create_table(
        "outbox",
        sa.Column("id", sa.BigInteger, sa.Identity(always=True), primary_key=True),
        sa.Column("turn_id", sa.Text, sa.ForeignKey("turns.turn_id", ondelete="CASCADE"), nullable=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("payload", JSONB, nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False, server_default=sa.func.now()),
        sa.Column("attempts", sa.Integer, nullable=False, server_default=sa.text("0")),
        sa.Column("available_at", sa.DateTime(timezone=True), nullable=False, server_default=sa.func.now()),
        sa.Column("parked_at", sa.DateTime(timezone=True)),
        sa.Column("last_error", sa.Text),
        sa.UniqueConstraint("turn_id", "kind", name="outbox_once_per_turn"),
    )
    op.create_index("outbox_waiting", "outbox", ["available_at"], postgresql_where=sa.text("parked_at IS NULL"))


def downgrade() -> None:
    op.drop_table("outbox")
    op.drop_table("turns")
