"""The command `tradewind`: what operators run beside the service, a module a command. Nothing that serves imports them."""

BACKUP = ("-P", "-m", "plugins.commands", "backup")  # the arguments of Python that take a backup
