"""Forgetting: when what waits was said, by the database's clock, and digests of single facts that were forgotten."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    now = sa.func.now()
    op.add_column("outbox", sa.Column("said_at", sa.DateTime(timezone=True), nullable=False, server_default=now))
    op.execute("UPDATE outbox SET said_at = turns.created_at FROM turns WHERE turns.turn_id = outbox.turn_id")
    op.create_table(
        "memory_forgotten_facts",
        sa.Column("user_id", sa.Text, primary_key=True),
        sa.Column("digest", sa.Text, primary_key=True),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
    )


def downgrade() -> None:
    op.drop_table("memory_forgotten_facts")
    op.drop_column("outbox", "said_at")
