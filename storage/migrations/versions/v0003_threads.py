"""What the chat app keeps of a conversation beside its turns: the name it is listed under and its settings."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "threads",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("user_id", sa.Text, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("settings", JSONB, nullable=False, server_default=sa.text("'{}'")),
        sa.Column("used_at", sa.DateTime(timezone=True), nullable=False, server_default=sa.func.now()),
    )
    op.create_index("threads_by_user", "threads", ["user_id", "used_at", "id"])


def downgrade() -> None:
    op.drop_table("threads")
