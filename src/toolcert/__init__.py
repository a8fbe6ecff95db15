"""toolcert: can I trust this model, at this endpoint, to call tools?"""
