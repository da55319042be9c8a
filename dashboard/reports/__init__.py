"""Reports: what the store holds as one document, and the document in every format."""
