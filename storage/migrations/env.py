"""Alembic's entry: runs the migrations on the connection that `storage.migrate` hands over."""

from alembic import context

from condensery.storage.migrate import VERSION_TABLE
from condensery.storage.schema import metadata

context.configure(
    connection=context.config.attributes["connection"], target_metadata=metadata, version_table=VERSION_TABLE
)
with context.begin_transaction():
    context.run_migrations()
