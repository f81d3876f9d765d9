"""WhatsApp chats."""
