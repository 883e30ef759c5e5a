"""Long-term memory: which facts a turn used, who wants none, what was erased, and proposals of shared facts."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("turns", sa.Column("memories", JSONB, nullable=False, server_default=sa.text("'[]'")))
    op.create_table(
        "memory_users",
        sa.Column("user_id", sa.Text, primary_key=True),
        sa.Column("enabled", sa.Boolean, nullable=False),
        sa.Column("changed_at", sa.DateTime(timezone=True), nullable=False, server_default=sa.func.now()),
    )
    op.create_table(
        "memory_forgotten",
        sa.Column("user_id", sa.Text, primary_key=True),
        sa.Column("conversation_id", sa.Text, primary_key=True, server_default=sa.text("''")),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
    )
    op.create_table(
        "memory_state",
        sa.Column("only_row", sa.Boolean, primary_key=True, server_default=sa.text("true")),
        sa.Column("embedding_model", sa.Text, nullable=False),
        sa.Column("dimension", sa.Integer, nullable=False),
        sa.CheckConstraint("only_row", name="memory_state_has_one_row"),
    )
    op.create_table(
        "organization_proposals",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("organization_id", sa.Text, nullable=False),
        sa.Column("text", sa.Text, nullable=False),
        sa.Column("proposed_by", sa.Text, nullable=False),
        sa.Column("turn_id", sa.Text),
        sa.Column("proposed_at", sa.DateTime(timezone=True), nullable=False, server_default=sa.func.now()),
        sa.Column("approved", sa.Boolean),
        sa.Column("decided_by", sa.Text),
        sa.Column("decided_at", sa.DateTime(timezone=True)),
    )
    op.create_index(
        "organization_proposals_waiting",
        "organization_proposals",
        ["organization_id", "proposed_at"],
        postgresql_where=sa.text("approved IS NULL"),
    )


def downgrade() -> None:
    op.drop_table("organization_proposals")
    op.drop_table("memory_state")
    op.drop_table("memory_forgotten")
    op.drop_table("memory_users")
    op.drop_column("turns", "memories")
