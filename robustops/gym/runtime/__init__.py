"""The benchmark's own containers: which images there are, how each runtime starts one, and a gateway before them."""
