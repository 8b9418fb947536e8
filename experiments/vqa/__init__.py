"""Visual question answering on easy-VQA and Sort-of-CLEVR."""
