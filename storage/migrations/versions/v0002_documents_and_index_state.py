"""Documents, and what the search index was built with. The chunks' table follows the embedding model's dimension."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "documents",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("namespace", sa.Text, nullable=False),
        sa.Column("source", sa.Text, nullable=False),
        sa.Column("content_hash", sa.Text, nullable=False),
        sa.Column("title", sa.Text, nullable=False),
        sa.Column("chars", sa.Integer, nullable=False),
        sa.Column("chunks", sa.Integer, nullable=False),
        sa.Column("metadata", JSONB, nullable=False),
        sa.Column("ingested_at", sa.DateTime(timezone=True), nullable=False),
        sa.UniqueConstraint("namespace", "source", name="documents_once_per_namespace"),
    )
    op.create_table(
        "index_state",
        sa.Column("only_row", sa.Boolean, primary_key=True, server_default=sa.text("true")),
        sa.Column("generation", sa.BigInteger, nullable=False, server_default=sa.text("0")),
        sa.Column("embedding_model", sa.Text),
        sa.Column("dimension", sa.Integer),
        sa.CheckConstraint("only_row", name="index_state_has_one_row"),
    )
    op.execute("INSERT INTO index_state DEFAULT VALUES")


def downgrade() -> None:
    op.drop_table("index_state")
    op.drop_table("documents")
