"""Sample repositories of the usual Python layouts, and how many of them are measured without a line by hand."""
