"""The parts of `scripts/generate_research_data.py`: one module per source, and what they share."""
