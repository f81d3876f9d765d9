"""ChatGPT exports."""
