"""Mail as mbox files, single messages and Maildir folders."""
