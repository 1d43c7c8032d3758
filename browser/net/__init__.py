"""All network access: addresses classified, URLs parsed as browsers do, HTTP through one guard."""
