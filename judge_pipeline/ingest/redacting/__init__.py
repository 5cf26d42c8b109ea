"""What finds personal data in texts, a kind of finding a module; ``ingest.redaction`` replaces what they find."""
