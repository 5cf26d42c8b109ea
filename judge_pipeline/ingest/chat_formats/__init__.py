"""The formats in which chat tools hand out their chats, one tool's format a file."""
