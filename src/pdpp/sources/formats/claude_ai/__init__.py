"""Claude.ai exports."""
