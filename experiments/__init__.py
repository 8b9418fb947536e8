"""The attention experiments of the paper, Section 9.1, `python -m experiments.audio` and `python -m experiments.vqa`, and
small transformers, `python -m experiments.transformers`."""
