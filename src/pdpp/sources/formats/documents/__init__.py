"""Documents in folders: PDF, Word, Excel and PowerPoint."""
