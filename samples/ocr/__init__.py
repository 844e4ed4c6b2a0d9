"""Optical character recognition with three PP-OCR models: a sample application of pyasc."""
