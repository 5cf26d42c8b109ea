"""How hard a provider is asked: waits between tries, requests and tokens a minute, calls under way."""
