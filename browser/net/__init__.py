"""The one way out: addresses classified, URLs parsed as browsers do, HTTP through one guard."""
