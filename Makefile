# Every target is one line; `make help` shows what it is for.
PY := .venv/bin/python
.PHONY: help setup demo test test-fast test-all check start stop status board logs budget doctor bench bench-check bench-gates bench-goals bench-layouts house soak crash chaos lock attacks test-web

help:     ## this list
	@grep -hE '^[a-z-]+: .*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):[^#]*## /  make \1\t/' | expand -t 22
setup:    ## build both environments and check the machine (TARGET=PATH_OR_URL: then make a home for it, as init does)
	@python3 main.py setup $(if $(TARGET),--target "$(TARGET)")
demo:     ## one whole working day, offline, on a sample project (FORGE=github: against a local GitHub; BOARD=1: in a browser, too)
	@python3 main.py setup --quiet && $(PY) main.py demo $(if $(FORGE),--forge $(FORGE)) $(if $(BOARD),--board)
test:     ## format, lint, types, tests; at its end it says what it left out, and why
	@python3 main.py setup --dev && $(PY) main.py check
test-fast:  ## format, lint, types, and of the tests the laws of the pure code and what the core decides (a minute)
	@python3 main.py setup --dev && $(PY) main.py check --fast
test-all:  ## as `test`, also what that leaves out, with more examples, and the coverage (all but `crash`)
	@python3 main.py setup --dev && $(PY) main.py check --all
start: $(PY)  ## begin the daemon: it wakes up and works by itself (ARGS=--foreground)
	@$(PY) main.py start $(ARGS)
stop: $(PY)  ## end the daemon; what is cut off goes on with the next start
	@$(PY) main.py stop $(ARGS)
status: $(PY)  ## what runs, what waits for you, what was spent (ARGS=--json)
	@$(PY) main.py status $(ARGS)
board: $(PY)  ## see what waits for you in a browser on this machine, and answer it (ARGS=--link)
	@$(PY) main.py board $(ARGS)
logs: $(PY)  ## the newest log lines (ARGS="--follow --agent coder --task ID --lines 200")
	@$(PY) main.py logs $(ARGS)
budget: $(PY)  ## what was spent: per day, month, agent, task and model (ARGS=--json)
	@$(PY) main.py budget $(ARGS)
doctor: $(PY)  ## is this machine fit for work?
	@$(PY) main.py doctor
bench: $(PY)  ## the figures of the README, measured here, and the table of the gates (half an hour)
	@$(PY) -m bench
bench-check: $(PY)  ## has a row become worse by more than a fifth? (fifteen minutes; ARGS=--accept: as it is now is right)
	@$(PY) -m bench.check $(ARGS)
bench-gates: $(PY)  ## right and wrong changes at the gates, without a model's help (twenty minutes)
	@$(PY) -m bench.gates $(ARGS)
bench-goals: $(PY)  ## goals of five repositories, and what the prompts withhold from a capable reader (ten minutes; ARGS="--only ID")
	@$(PY) -m bench.goals $(ARGS)
bench-layouts: $(PY)  ## thirteen layouts of a Python repository, from init to a merged change without a line by hand (fifteen minutes)
	@$(PY) -m bench.layouts $(ARGS)
house: $(PY)  ## the size and shape of the code: before, target, now (ARGS=--json, or --walk to measure a day anew)
	@$(PY) -m bench.house $(ARGS)
soak: $(PY)  ## 300 days with outages, kills and an owner who edits, in minutes (ARGS="--days 60 --luck 7")
	@$(PY) -m bench.soak $(ARGS)
crash:    ## kill -9 at every fault point of a day, and of a daemon's, then start again (an hour; a slow machine takes two)
	@python3 main.py setup --dev && SISIMPUR_EVERY_POINT=1 $(PY) -m pytest -n 3 --dist worksteal -k "kill or crash or locked or driver or docker" $(addprefix tests/journey/test_,crash.py daemon_crash.py deploy_crash.py deploys_docker.py fault_modes.py github_day.py propose_ci.py proposals.py reports.py memory.py research.py roadmap.py upkeep.py cheaper.py long_goal_crash.py merge_queue_crash.py) $(addprefix tests/edges/test_,database.py housekeeping.py dockerfile_driver.py compose_driver.py command_driver.py box_driver.py search.py lesson_book.py roadmap_book.py upkeep_book.py)
attacks:  ## each promise of SECURITY.md attacked in the ways that once succeeded (some minutes)
	@python3 main.py setup --dev && $(PY) -m pytest -q -n 2 --dist worksteal -k "not in_seconds" tests/attacks tests/edges/test_box.py tests/edges/test_box_group.py tests/edges/test_box_driver.py tests/edges/test_bench_attacked.py tests/edges/test_measuring_attacked.py tests/flow/test_obedient.py tests/spec/test_qa_attacked.py tests/spec/test_reviewer_attacked.py tests/spec/test_box_calls.py tests/spec/test_protected.py tests/spec/test_named_files.py tests/spec/test_qa_evidence.py tests/spec/test_target_survey.py tests/spec/test_inbox.py tests/spec/test_compose_rules.py tests/spec/test_reviewer_rules.py tests/spec/test_commit_text.py tests/flow/test_channel_inbox.py tests/flow/test_plan_approval.py::test_a_script_s_key_lets_no_task_of_a_plan_begin_by_rejecting_and_retrying_it tests/flow/test_coder_files.py::test_what_it_may_not_write_is_told_to_the_owner_and_to_the_reviewer tests/edges/test_gate_book.py tests/edges/test_mail.py tests/edges/test_phone.py tests/edges/test_github_forge.py::test_who_changed_an_issue_is_told tests/edges/test_aider_launcher.py::test_the_resolved_path_decides_what_may_be_written tests/edges/test_aider_launcher.py::test_everything_may_be_allowed_but_what_lies_outside_or_is_gits_own tests/edges/test_dockerfile_driver.py::test_a_container_has_what_the_owner_says_its_limits_and_no_more tests/journey/test_board.py
test-web:  ## the board in a real browser, at phone and laptop size (needs chromium and playwright; says so if they are missing)
	@python3 main.py setup --dev && $(PY) -m pytest -q -rs tests/web $(ARGS)
chaos: $(PY)  ## kill -9 at random moments: the program, all of it, a child; 300 times, looked at from outside (ARGS="--kills 60 --luck 7")
	@$(PY) -m bench.chaos $(ARGS)
lock: $(PY)  ## compile requirements*.txt anew
	@$(PY) main.py setup --lock
$(PY):
	@echo "this checkout is not set up; type: make setup" >&2; exit 1
