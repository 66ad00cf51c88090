"""The code graph: what graphify extracted, made trustworthy, and the questions that are asked of it."""
