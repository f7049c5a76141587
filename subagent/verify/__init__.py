"""The verify gate: an answer is held against its contract. Pure: it reads no file, runs nothing, asks no model.

gate       one contract, compiled: answer and facts -> verdict
answer     the one JSON value in what a model wrote
schema     what a JSON Schema finds wrong, in sentences
grounded   whether every string and number of an answer stands in a source
numbers    the numbers of a text, and what each may mean
"""
