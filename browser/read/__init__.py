"""Reading: a URL in, a Page out, by plain HTTP where that is enough, else by the browser."""
