"""The version of this package, and of the server that it starts."""

__version__ = "0.1.0"
