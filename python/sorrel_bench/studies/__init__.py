"""`sorrel bench studies`: every table and figure of five published studies, measured on this machine, beside the published
numbers."""
