"""How well the right thing is found: data, measuring and reports behind `condensery eval`."""
