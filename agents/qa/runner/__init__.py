"""Where the target's tests run: environments, installs, boxes."""
