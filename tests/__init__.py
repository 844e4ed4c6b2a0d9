"""Tests of pyasc and what they share."""
