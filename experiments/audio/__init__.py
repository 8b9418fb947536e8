"""Audio classification on UrbanSound8K."""
