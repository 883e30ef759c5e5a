"""What `condensery` on the command line is made of; `condensery.cli` declares the commands."""
