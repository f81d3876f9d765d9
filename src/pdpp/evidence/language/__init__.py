"""Language: how words of texts and questions become the terms that the index is kept by."""
