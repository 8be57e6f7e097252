"""What a measure is written in, named by and known by: words, parameters, the catalogue, names of other tools."""
