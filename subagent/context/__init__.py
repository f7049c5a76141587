"""What the model is shown: the base prompt, and the conversation with each message encoded once."""
