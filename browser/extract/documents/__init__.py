"""Documents that are packed: Word, Excel, PowerPoint, OpenDocument, EPUB, e-mail."""
