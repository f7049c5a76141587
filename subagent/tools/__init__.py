"""What an agent acts with: the workspace tools, their declared nature, and the registry that offers them."""
