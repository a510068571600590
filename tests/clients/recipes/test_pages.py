"""docs/recipes: each page shows its program as it is, and settings that the server takes."""

import re
import subprocess

import pytest

from conftest import ROOT


@pytest.mark.parametrize("name", ["slack", "teams"])
def test_a_page_shows_its_program_and_settings_that_the_server_takes(name, request, tmp_path):
    page = (ROOT / f"docs/recipes/{name}.md").read_text()
    (program,) = re.findall(r"^```python\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
    assert program == (ROOT / f"examples/recipes/{name}.py").read_text()
    (settings,) = re.findall(r"^   ```toml\n(.*?)^   ```$", page, re.DOTALL | re.MULTILINE)
    (tmp_path / "toolwire.toml").write_text(settings)
    env = {"ALEX_TOKEN": "a" * 32, "HOOK_SECRET": "whsec_b2xkLW9sZC1vbGQtb2xkLW9sZC1vbGQtb2xk", "HOME": str(tmp_path)}
    serve = [request.config.getoption("--binary"), "serve", "--print-config", "--config", tmp_path / "toolwire.toml"]
    printed = subprocess.run(serve, env=env, cwd=tmp_path, capture_output=True, text=True, timeout=30)
    assert printed.returncode == 0, printed.stderr
    assert "http://127.0.0.1:8090/" in printed.stdout
