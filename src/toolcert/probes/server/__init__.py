"""Does the server say what is true: its models, errors and usage?"""
