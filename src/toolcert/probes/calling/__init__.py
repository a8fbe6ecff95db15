"""Does the model call: the right tool, with the right arguments, and go on with the result?"""
