from hypothesis import settings

# The same cases each time, so that a failure comes from the change.
settings.register_profile("fixed", derandomize=True, deadline=None, max_examples=150)
settings.load_profile("fixed")
# For the second and each further Python: `--hypothesis-profile few`.
settings.register_profile("few", settings.get_profile("fixed"), max_examples=25)
