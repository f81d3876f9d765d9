"""Google Chat."""
