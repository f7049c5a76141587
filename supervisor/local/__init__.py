"""The embedded model: SmolLM2-135M-Instruct behind llama.cpp's own HTTP server, as a service process of a run."""
