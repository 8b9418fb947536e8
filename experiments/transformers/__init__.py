"""Small transformers with four kinds of attention over keys: `python -m experiments.transformers`."""
