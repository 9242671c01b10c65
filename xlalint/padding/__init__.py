"""What padding costs and saves: from the lengths of sequences to compilations, padding tokens and seconds."""
