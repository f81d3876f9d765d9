"""Documents in folders: PDF, Word, Excel, PowerPoint and LibreOffice."""
