"""The web page: what answers it (`api/`) and its built files (`dist/`); it stands where `cli/` stands."""
