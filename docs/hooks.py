"""What MkDocs calls while it builds: pages made from the code and from other pages, never kept as copies."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

from robustops.config.reference import reference


def on_files(files: Files, config: Any) -> Files:
    decisions = sorted((Path(config["docs_dir"]) / "decisions").glob("[0-9]*.md"))
    files.append(File.generated(config, "configuration.md", content=reference()))
    files.append(File.generated(config, "decisions/index.md", content=_list(decisions)))
    return files


def _list(pages: list[Path]) -> str:
    titles = [f"- [{page.read_text().splitlines()[0].lstrip('# ')}]({page.name})" for page in pages]
    return "\n".join(["# Decisions", "", "What somebody could question later, in half a page each.", "", *titles, ""])
