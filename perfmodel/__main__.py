"""``python -m perfmodel``."""

from perfmodel.cli.main import main

main()
