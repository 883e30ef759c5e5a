"""A vector for each sentence of a chunk, from the same pass of the embedding model as the chunk's own."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import ARRAY

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "sentences",
        sa.Column("chunk_id", sa.Text, primary_key=True),
        sa.Column("document_id", sa.Text, nullable=False),
        sa.Column("spans", ARRAY(sa.Integer), nullable=False),
        sa.Column("vectors", sa.LargeBinary, nullable=False),
    )
    op.create_index("sentences_by_document", "sentences", ["document_id"])


def downgrade() -> None:
    op.drop_table("sentences")
