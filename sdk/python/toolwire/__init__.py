"""Toolwire: serve Python functions as tools, and call tools. See README.md."""

from pkgutil import extend_path

# The contract's packages are called toolwire too: a program's own stubs of them stay importable beside this package.
__path__ = extend_path(__path__, __name__)

from toolwire import client, errors
from toolwire._bounds import Param
from toolwire._context import Context, User
from toolwire._hosting import Host
from toolwire._parameters import Bind
from toolwire._serve import serve, serve_async
from toolwire._tool import tool
from toolwire._version import __version__
from toolwire.client import *  # noqa: F403
from toolwire.errors import *  # noqa: F403
from toolwire.tasks import Task

__all__ = ["Bind", "Context", "Host", "Param", "Task", "User", "__version__", "serve", "serve_async", "tool"]
__all__ += client.__all__
__all__ += errors.__all__
