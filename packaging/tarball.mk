# In the tarball the demo needs no compiler.
.PHONY: demo
demo:
	@./bin/tapewise demo
