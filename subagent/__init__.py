"""The process that reasons: it calls a model, runs tools, and answers to its supervisor over stdio."""
