"""The command lines of the importers."""
import argparse
import getpass
import os


class Arguments(argparse.ArgumentParser):
    """The command line of an importer, whose --help begins with its header comment."""

    def __init__(self, description):
        super().__init__(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
        self.add_argument('--map', metavar='FILE', help='names of the export and handles of dm, separated by a tab')
        self.add_argument('--files', metavar='DIR', help='the folder for files of a ZIP file [a new one in $TMPDIR]')
        self.add_argument('--dry-run', action='store_true',
                          help='print the people and conversations that would be made, and no lines')
        self.add_argument('--summary', action='store_true', help=argparse.SUPPRESS)

    def error(self, message):
        self.exit(64, f'{self.prog}: {message}; see --help\n')


def add_me(arguments):
    arguments.add_argument(
        '--me', metavar='HANDLE', default=os.environ.get('DM_USER') or getpass.getuser(),
        help='your own handle [$DM_USER, else the login name]')
    arguments.add_argument('--as-groups', action='store_true', help='make groups of direct conversations, too, for history '
                           'that is older than the messages of a conversation in the store')
