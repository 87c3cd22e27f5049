"""The import root: the folders of the checkout under one name, by links; an installer copies what they lead to."""
