"""A phone that is notified: by the push service of its browser, encrypted for that browser alone."""
