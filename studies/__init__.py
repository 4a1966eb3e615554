"""Questions asked of the model: one folder is one study."""
