"""Entry point: finds the commands, and turns what goes wrong into a sentence and an exit status."""

from __future__ import annotations

import contextlib
import errno
import importlib
import io
import os
import pkgutil
import sys
import traceback
from collections.abc import Sequence

import click

import perfmodel
import perfmodel.cli
from perfmodel.cli.exit_status import ExitStatus
from perfmodel.errors import NoFeasiblePlan, PerfmodelError, nearest

_NOT_COMMANDS = {"main", "exit_status", "output", "options"}
_OUTPUT_ERRORS = {errno.ENOSPC, errno.EIO, errno.EBADF, errno.EFBIG, errno.EDQUOT}


class Commands(click.Group):
    """The commands of this folder; a command's module is imported when it is asked for."""

    def list_commands(self, context: click.Context) -> list[str]:
        """Return the names of all commands."""
        found = (module.name for module in pkgutil.iter_modules(perfmodel.cli.__path__))
        return sorted(name.removesuffix("_") for name in found if name not in _NOT_COMMANDS)

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        """Return one command."""
        if name not in self.list_commands(context):
            return None
        module = importlib.import_module(f"perfmodel.cli.{name}")
        command: click.Command = module.command
        return command

    def resolve_command(
        self, context: click.Context, arguments: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command, or name the nearest one."""
        name = arguments[0]
        if not name.strip():
            raise click.UsageError(f"COMMAND: must be one of {', '.join(self.list_commands(context))}, got {name!r}")
        if self.get_command(context, name) is None:
            close = nearest(name, self.list_commands(context))
            raise click.UsageError(f"{name}: must be a command; nearest valid choice: {close}")
        return super().resolve_command(context, arguments)


@click.group(
    cls=Commands,
    no_args_is_help=False,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(perfmodel.__version__, prog_name="perfmodel")
@click.pass_context
def commands(context: click.Context) -> None:
    """Predict, explain and search offload plans for GNN training.

    Exit status: 0 done, 1 a bug, 2 bad input, 3 no feasible plan or a validation outside its bound. --debug shows the
    traceback of an error.
    """
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit with its status."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    debug = "--debug" in given
    given = [argument for argument in given if argument != "--debug"]
    _open_streams()
    try:
        status = commands.main(given, prog_name="perfmodel", standalone_mode=False)
        sys.stdout.flush()
    except BrokenPipeError:  # the reader of our output has gone (`| head`): nothing is left to say
        status = 141
        _drop_output()
    except click.ClickException as error:
        _say(error.format_message())
        status = ExitStatus.BAD_INPUT
    except NoFeasiblePlan as error:
        _say(str(error))
        status = ExitStatus.NOT_REACHED
    except PerfmodelError as error:
        if debug:
            traceback.print_exc()
        _say(str(error))
        status = ExitStatus.BAD_INPUT
    except (KeyboardInterrupt, click.Abort):
        _say("interrupted")
        status = 130
    except OSError as error:
        if error.filename is not None or error.errno not in _OUTPUT_ERRORS:
            raise
        _say(f"stdout: must be writable, got {error.strerror}")
        status = ExitStatus.BAD_INPUT
        _drop_output()
    sys.exit(int(status or 0))


def _open_streams() -> None:
    """Replace streams that are closed, and let none fail on a letter that the terminal lacks."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115
        elif isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _drop_output() -> None:
    """Send what is still buffered nowhere, so that closing the stream doesn't fail once more."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _say(sentence: str) -> None:
    print(f"perfmodel: {sentence}", file=sys.stderr)
