"""``perfmodel picture``: a picture of results that other commands wrote with --json."""

from __future__ import annotations

import click

from perfmodel.cli.output import write_line
from perfmodel.errors import SpecError, nearest


@click.command("picture")
@click.argument("kind", required=False)
@click.argument("files", nargs=-1, metavar="FILE...")
@click.option("--out", metavar="FILE", help="Picture to write: .svg or .png.")
@click.option("--title", metavar="TEXT", help="Title in place of the picture's own.")
def command(kind: str | None, files: tuple[str, ...], out: str | None, title: str | None) -> None:
    """Draw results that other commands wrote with --json; without a KIND, tell which pictures there are.

    \b
    perfmodel predict reddit --system lgnnic-doca-dma --json > offload.json
    perfmodel picture phases offload.json --out phases.svg
    """  # noqa: D301
    from perfmodel.documents import load
    from perfmodel.pictures import draw, pictures, save
    from perfmodel.pictures._base import check_file, needs_matplotlib
    from perfmodel.search.plan_file import check_out

    if kind is None:
        for name, picture in pictures().items():
            write_line(f"{name}\t{picture.shows}; takes {picture.takes}")
        return
    if kind not in pictures():
        raise SpecError("KIND", f"must be one of {', '.join(pictures())}", repr(kind), nearest(kind, pictures()))
    if not files:
        raise SpecError("FILE", f"must be {pictures()[kind].takes}, as --json writes them", "none")
    if out is None:
        raise SpecError("--out", "must be given", "nothing", f"--out {kind}.svg")
    check_file(out)
    check_out(out)
    needs_matplotlib()
    save(draw(kind, [load(file) for file in files], title), out)
    write_line(f"picture written to {out}")
