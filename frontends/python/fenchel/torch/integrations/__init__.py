"""Entmax in libraries of other people: `fenchel.torch.integrations.transformers` is for Hugging Face transformers.

Each module here imports its library, and `import fenchel.torch` imports none of them.
"""
