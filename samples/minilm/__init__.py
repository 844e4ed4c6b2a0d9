"""Ranks sentences by meaning: MiniLM, a sentence encoder, built operator by operator and run by pyasc."""
