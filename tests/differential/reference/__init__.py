"""The results of `evaluate`, slowly: plain Python from the definitions, without a word of the package's expressions.

`rows` are the inputs, `ranking` puts documents in order, a file for each family has one function a measure, and
`evaluation` obeys the options of a call.
"""
