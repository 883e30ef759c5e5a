"""Questions for experts: offered to the user, asked, and what came of them. The runs that wait are kept elsewhere."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "expert_requests",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("turn_id", sa.Text, nullable=False, unique=True),
        sa.Column("conversation_id", sa.Text, nullable=False),
        sa.Column("user_id", sa.Text),
        sa.Column("organization_id", sa.Text),
        sa.Column("question", JSONB, nullable=False),
        sa.Column("locale", sa.Text, nullable=False),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("channel", sa.Text, nullable=False),
        sa.Column("offered_at", sa.DateTime(timezone=True), nullable=False, server_default=sa.func.now()),
        sa.Column("asked_at", sa.DateTime(timezone=True)),
        sa.Column("expires_at", sa.DateTime(timezone=True)),
        sa.Column("settled_at", sa.DateTime(timezone=True)),
        sa.Column("closed_at", sa.DateTime(timezone=True)),
        sa.Column("expert", sa.Text),
        sa.Column("reply", sa.Text),
        sa.Column("runs", sa.Integer, nullable=False, server_default=sa.text("0")),
    )
    op.create_index(
        "expert_requests_open",
        "expert_requests",
        ["state", "expires_at"],
        postgresql_where=sa.text("closed_at IS NULL"),
    )


def downgrade() -> None:
    op.drop_table("expert_requests")
    op.execute("DROP SCHEMA IF EXISTS condensery_runs CASCADE")
