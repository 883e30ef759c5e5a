"""Settings changed at run time, and a number by which every process sees that one was."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "settings",
        sa.Column("name", sa.Text, primary_key=True),
        sa.Column("value", JSONB, nullable=False),
        sa.Column("changed_at", sa.DateTime(timezone=True), nullable=False, server_default=sa.func.now()),
    )
    op.create_table(
        "settings_state",
        sa.Column("only_row", sa.Boolean, primary_key=True, server_default=sa.text("true")),
        sa.Column("generation", sa.BigInteger, nullable=False, server_default=sa.text("0")),
        sa.CheckConstraint("only_row", name="settings_state_has_one_row"),
    )
    op.execute("INSERT INTO settings_state DEFAULT VALUES")


def downgrade() -> None:
    op.drop_table("settings_state")
    op.drop_table("settings")
