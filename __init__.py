"""Condensery: a conversational agent framework in which one condensed question is all that search ever sees."""
