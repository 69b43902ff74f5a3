"""The local web page, for people who do not code."""
