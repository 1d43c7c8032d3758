"""Network access: classifying addresses, parsing URLs as browsers do, HTTP through one guard."""
