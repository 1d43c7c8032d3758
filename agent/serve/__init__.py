"""`research serve`: the web pages, the REST API and the OpenAI-compatible API over HTTP."""
