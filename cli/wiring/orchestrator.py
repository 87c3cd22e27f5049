"""Repositories, code and roles -> an Orchestrator: each part gets the few things that it uses."""

from __future__ import annotations

from functools import cached_property, partial

from sisimpur.agents.orchestrator.act import Acts, Deliveries
from sisimpur.agents.orchestrator.board.breaker import CircuitBreaker
from sisimpur.agents.orchestrator.board.events import Events
from sisimpur.agents.orchestrator.board.review_facts import AttemptCommits, PullRequests, ReviewFacts
from sisimpur.agents.orchestrator.board.session import AgentRuns, Session
from sisimpur.agents.orchestrator.board.transitions import Bookkeeping, Transitions
from sisimpur.agents.orchestrator.board.writing import TestTurns
from sisimpur.agents.orchestrator.coding import Coding
from sisimpur.agents.orchestrator.day import DayPhases, Orchestrator, Working
from sisimpur.agents.orchestrator.deploys.deploying import DeployBooks, Deploying, Deployment, DeployRules, SickTasks
from sisimpur.agents.orchestrator.deploys.taking_back import TakingBack
from sisimpur.agents.orchestrator.gate_books import GateBooks
from sisimpur.agents.orchestrator.gates import Gatekeeper
from sisimpur.agents.orchestrator.goals.looking import GoalEyes, GoalLooks
from sisimpur.agents.orchestrator.goals.standing import GoalEnds
from sisimpur.agents.orchestrator.inbox.answers import OwnerAnswers
from sisimpur.agents.orchestrator.inbox.inbox import Inbox
from sisimpur.agents.orchestrator.integration.feature_branches import FeatureBranches, TargetBranch
from sisimpur.agents.orchestrator.loop import BoardRules, Hearing, Look, Work
from sisimpur.agents.orchestrator.memory.learning import Learning, Lessons, Recall
from sisimpur.agents.orchestrator.memory.setbacks import Setbacks
from sisimpur.agents.orchestrator.planning.daily_planner import environment_lines
from sisimpur.agents.orchestrator.planning.integrating import BranchContent, Integrating
from sisimpur.agents.orchestrator.planning.morning import MorningReading, RequestedGoals
from sisimpur.agents.orchestrator.planning.plan_files import OpenGoals, PlanFiles, PlanPage
from sisimpur.agents.orchestrator.planning.planning import PlanBooks, Planning, PlanningRules
from sisimpur.agents.orchestrator.planning.researching import Notes, Researching
from sisimpur.agents.orchestrator.publishing.delivery import Delivery
from sisimpur.agents.orchestrator.publishing.publishing import Publishing
from sisimpur.agents.orchestrator.reports.books import DeployDays, Learned, MoneyBooks, ReportBooks, TaskBooks
from sisimpur.agents.orchestrator.reports.reporting import ProgressFile, Reporting
from sisimpur.agents.orchestrator.roadmap.roadmap_needs import Sources, room
from sisimpur.agents.orchestrator.roadmap.roadmapping import Roadmapping
from sisimpur.agents.orchestrator.telling import Telling
from sisimpur.agents.orchestrator.upkeep.upkeeping import CodeEyes, Proposals, Upkeep
from sisimpur.agents.orchestrator.vision.issue_goals import InboxRules
from sisimpur.agents.orchestrator.vision.told_guards import unseen
from sisimpur.agents.orchestrator.workers import BackgroundDeploys, WorkerPool
from sisimpur.agents.qa.survey.roots import in_words
from sisimpur.agents.qa.survey.target_survey import survey_at
from sisimpur.cli.terminal.printing import command
from sisimpur.cli.wiring.forge import TargetCode
from sisimpur.cli.wiring.parts import Roles, TeamParts, listed_paths
from sisimpur.cli.wiring.services import channel_inbox, is_heard
from sisimpur.cli.wiring.workshop import roots_of
from sisimpur.shared.config.settings import board_url
from sisimpur.shared.model.change import needs_owner
from sisimpur.shared.notify.messenger import Messenger
from sisimpur.shared.record.metrics_reader import MetricDays
from sisimpur.shared.repo.mirror_commits import subjects
from sisimpur.shared.store.ended_tasks import EndedTasks
from sisimpur.shared.store.gate_book import OwnerIds
from sisimpur.shared.store.task_records import TaskRecord


class Assembly:
    """Each part is made once, of the parts that it uses. `per_token`: the coder's price, in nano-dollars."""

    def __init__(
        self,
        parts: TeamParts,
        code: TargetCode,
        messages: Messenger,
        session: Session,
        roles: Roles,
        per_token: tuple[int, int],
    ) -> None:
        self._records = parts.records
        self._home = parts.records.home
        self._settings = parts.records.settings
        self._policy = parts.records.settings.policy
        self._target = parts.records.settings.target.file
        self._parts = parts
        self._clean = parts.outgoing.clean
        self._code = code
        self._messages = messages
        self._session = session
        self._roles = roles
        self._per_token = per_token
        self._command = command(parts.records.home.root, anywhere=True)

    def orchestrator(self) -> Orchestrator:
        phases = DayPhases(self._reading, self._research, self._planning, self._upkeep, self._events)
        working = Working(self._work, self._hearing, self._deploys, self._breaker, self._pool)
        return Orchestrator(phases, working, self._telling, self._messages)

    def recover(self) -> None:
        """Once, at start: what a kill left behind is reconciled before anything new."""
        self._work.recover(self._home)
        self._plan_files.write_tasks(self._session.day())
        self._proposals.write()
        self._integrating.file_due()

    # -- what others are made of ------------------------------------------------------------------------------

    @cached_property
    def _main(self) -> TargetBranch:
        return TargetBranch(self._target.branch, self._code.sync)

    @cached_property
    def _branches(self) -> FeatureBranches:
        clock, tell = self._session.clock, self._session.tell
        return FeatureBranches(self._records.journal, self._code.mirror, self._main, clock, tell, self._command)

    @cached_property
    def _transitions(self) -> Transitions:
        return Transitions(self._records.store, self._records.journal, self._session.clock, self._session.tell)

    @cached_property
    def _runs(self) -> AgentRuns:
        return AgentRuns(self._records.journal, self._records.activity, self._session, self._parts.log)

    @cached_property
    def _books(self) -> Bookkeeping:
        return Bookkeeping(self._runs, self._transitions, self._events)

    @cached_property
    def _events(self) -> Events:
        return Events((self._learning.hear, self._progress.hear, self._roadmap.hear, self._plan_files.hear))

    @cached_property
    def _pool(self) -> WorkerPool:
        return WorkerPool(self._session.lock, self._policy.capacity.parallel)

    @cached_property
    def _breaker(self) -> CircuitBreaker:
        return CircuitBreaker(self._session.clock, self._records.spending, self._policy.budget.day)

    @cached_property
    def _protected(self) -> tuple[str, ...]:
        return listed_paths(self._target)

    def _wish(self, known: TaskRecord) -> tuple[str, str]:
        """The goal of a task, for who reads its change (empty: it has none now), and who proposed it, if no owner."""
        vision = self._records.wanted()
        goal = next((goal for goal in (vision.goals if vision else ()) if goal.id == known.goal_id), None)
        return (GoalEnds(self._records.goal_books).wish(goal), goal.proposed_by) if goal else ("", "")

    # -- memory, roadmap, plan --------------------------------------------------------------------------------

    @cached_property
    def _lessons(self) -> Lessons:
        return Lessons(self._records.memory, self._session.clock, self._clean, self._session.tell)

    @cached_property
    def _setbacks(self) -> Setbacks:
        records = self._records
        return Setbacks(records.journal, records.gates, self._code.mirror, self._facts.turns, records.plans)

    @cached_property
    def _learning(self) -> Learning:
        return Learning(self._lessons, self._setbacks, self._home)

    @cached_property
    def _recall(self) -> Recall:
        return Recall(self._lessons, self._setbacks)

    @cached_property
    def _roadmap(self) -> Roadmapping:
        capacity, minutes = self._policy.capacity, self._settings.schedules.phases.work_minutes
        day = room(capacity.tasks_per_day, self._policy.budget.day, minutes * capacity.parallel, self._per_token)
        records = self._records
        sources = Sources(records.plans, records.journal, records.spending, records.roadmap, day, records.goal_books)
        return Roadmapping(sources, self._home.roadmap, self._clean, self._session.tell)

    @cached_property
    def _plan_files(self) -> PlanFiles:
        records = self._records
        page = PlanPage(
            self._home.daily_plan,
            records.plans,
            records.research,
            records.upkeep,
            self._records.snapshot,
            records.roadmap,
            records.goal_books,
            lambda day: records.spending.cap_of(day, self._policy.budget.day),
            self._clean,
        )
        return PlanFiles(records.plans, records.journal, self._transitions, page)

    @cached_property
    def _goals(self) -> OpenGoals:
        capacity = self._policy.capacity.tasks_per_day
        return OpenGoals(self._records.plans, self._records.journal, self._roadmap, capacity)

    # -- phases -----------------------------------------------------------------------------------------------

    @cached_property
    def _inbox_rules(self) -> InboxRules:
        ids = OwnerIds(self._records.db, self._session.now, self._session.tell)
        return InboxRules(self._target.inbox.owners, self._target.inbox.label, ids.first)

    @cached_property
    def _reading(self) -> MorningReading:
        requested = RequestedGoals(self._code.forge, self._inbox_rules, self._session.tell)
        roles = self._roles
        return MorningReading(self._home.vision, self._records.plans, requested, roles.reader, roles.look, self._runs)

    @cached_property
    def _research(self) -> Researching:
        records = self._records
        notes = Notes(self._home.research, records.spending, self._clean)
        questions = self._policy.research.questions
        return Researching(self._roles.research, records.research, records.plans, self._runs, notes, questions)

    @cached_property
    def _planning(self) -> Planning:
        records, capacity = self._records, self._policy.capacity
        books = PlanBooks(
            records.plans, records.journal, records.store, records.spending, records.research, records.goal_books
        )
        rules = PlanningRules(
            capacity.tasks_per_day,
            capacity.depth,
            self._target.allow,
            self._per_token,
            self._protected,
            self._policy.merge.long_goals == "branch",
        )
        return Planning(
            self._roles.planner,
            books,
            self._goals,
            self._plan_files,
            self._branches,
            self._recall,
            self._runs,
            rules,
            self._environment,
        )

    def _environment(self, commit: str) -> tuple[str, ...]:
        found, target = survey_at(self._code.mirror, commit, asked=roots_of(self._target)), self._target
        base = self._records.gates.newest_base()
        return environment_lines(in_words(target.setup or found.setup), found.test(target.test), base)

    @cached_property
    def _proposals(self) -> Proposals:
        return Proposals(self._records.upkeep, self._records.journal, self._transitions)

    @cached_property
    def _upkeep(self) -> Upkeep:
        eyes = CodeEyes(
            self._code.mirror, self._main, self._roles.change.qa, self._runs, self._records.plans, self._target.allow
        )
        board, room = lambda: self._records.snapshot().board, self._goals.capacity_left
        return Upkeep(self._proposals, self._roles.upkeep, eyes, board, room, self._session.tell)

    # -- work -------------------------------------------------------------------------------------------------

    @cached_property
    def _publishing(self) -> Publishing:
        return Publishing(self._records.journal, self._code.forge, self._clean)

    @cached_property
    def _facts(self) -> ReviewFacts:
        records, code = self._records, self._code
        commits = AttemptCommits(code.mirror, self._protected)
        pulls = PullRequests(code.forge, records.journal, self._branches, self._target.ignore_checks)
        turns = TestTurns(records.gates, commits, self._policy.merge.policy.write_tests)
        return ReviewFacts(
            commits, pulls, self._branches, records.gates, records.spending, self._policy.budget.task, turns
        )

    @cached_property
    def _integrating(self) -> Integrating:
        records = self._records
        return Integrating(records.plans, records.roadmap, self._content, self._transitions, self._session)

    @cached_property
    def _content(self) -> BranchContent:
        records, name = self._records, self._target.branch
        return BranchContent(records.journal, records.store, self._code.mirror, name, self._clean)

    @cached_property
    def _work(self) -> Work:
        rules = BoardRules(
            self._policy.attempts.limits,
            self._policy.merge.policy,
            self._policy.capacity.open_pulls,
            self._records.wanted,
            self._records.plans.guarded,
            self._unseen,
            self._records.approvals.waiting,
        )
        look = Look(rules, self._facts, self._transitions, self._breaker, self._pool, lambda: self._deploys.waits)
        return Work(look, self._acts, self._integrating, self._books, self._telling.stepped, self._looks)

    def _unseen(self) -> tuple[str, ...]:
        """What he has approved one change beside is answered for all."""
        records, day = self._records, self._session.day()
        told = unseen(records.plans.guards(), day)
        read = records.gates.read_since(day) if told else frozenset()
        return tuple(line for line in told if line not in read)

    @cached_property
    def _looks(self) -> GoalLooks:
        records, roles = self._records, self._roles
        eyes = GoalEyes(self._code.mirror, self._main, roles.change.qa, roles.evaluator, self._breaker)
        return GoalLooks(records.goal_books, eyes, records.plans, records.store, self._runs, self._roadmap.standings)

    @cached_property
    def _acts(self) -> Acts:
        facts, records, code = self._facts, self._records, self._code
        review = GateBooks(
            records.gates,
            facts.commits,
            facts.pulls,
            self._branches,
            self._publishing,
            bool(self._inbox_rules.owners),
            records.words,
            facts.turns,
            self._wish,
            facts.has_room,
        )
        gates = Gatekeeper(review, self._roles.change, self._books)
        coding = Coding(gates, review, self._content, self._recall, self._roles.change, self._books)
        delivery = Delivery(records.journal, code.mirror, code.forge, self._clean)
        deliveries = Deliveries(delivery, records.spending, records.wanted, records.words)
        return Acts(gates, review, coding, deliveries, self._records.plans.guarded, self._books)

    @cached_property
    def _hearing(self) -> Hearing:
        facts, records = self._facts, self._records
        answers = OwnerAnswers(records.store, records.gates, self._session.clock, records.journal)
        inbox = Inbox(
            self._inbox_rules, self._code.forge, facts.pulls, facts.commits, answers, self._publishing, self._session
        )
        channel = channel_inbox(records, facts.commits, answers, self._session, self._clean)
        return Hearing(facts, inbox, self._transitions, self._breaker, channel)

    @cached_property
    def _deploys(self) -> BackgroundDeploys:
        deploying = self._deploying(self._roles.deployment) if self._roles.deployment else None
        return BackgroundDeploys(deploying, self._session, self._breaker, self._pool, self._telling.kept)

    def _deploying(self, deployment: Deployment) -> Deploying:
        records, code, is_automatic = self._records, self._code, self._policy.merge.policy.auto
        taking_back = TakingBack(
            records.journal,
            code.mirror,
            code.forge,
            self._main,
            self._clean,
            self._session,
            lambda changes: is_automatic and not needs_owner(changes, self._protected),
        )
        books = DeployBooks(records.deploys, self._runs, taking_back, self._command)
        sick = SickTasks(records.store, records.journal, self._transitions, self._events)
        return Deploying(deployment, books, sick, self._breaker, self._telling.deployed)

    # -- reports ----------------------------------------------------------------------------------------------

    @cached_property
    def _task_books(self) -> TaskBooks:
        records, code = self._records, self._code
        journal, ended = records.journal, EndedTasks(records.db)
        return TaskBooks(records.store, journal, ended, records.gates, code.mirror, code.forge, records.snapshot)

    @cached_property
    def _money(self) -> MoneyBooks:
        caps = self._policy.budget.caps
        return MoneyBooks(self._records.spending, self._parts.savings, caps, MetricDays(self._records.db))

    @cached_property
    def _progress(self) -> ProgressFile:
        return ProgressFile(self._home.progress, self._task_books, self._money, self._clean, self._command)

    @cached_property
    def reporting(self) -> Reporting:
        records, deployment = self._records, self._roles.deployment
        learned = Learned(records.research, records.memory, records.upkeep)
        sent, clean, audit, heard = self._messages, self._clean, records.audit, is_heard(records.settings)
        tasks, money, board = self._task_books, self._money, board_url(self._home)
        books = ReportBooks(tasks, records.plans, money, learned, self._roadmap, sent, clean, audit, board, heard)
        rules = deployment.rules if deployment else DeployRules()
        days = DeployDays(
            records.deploys, records.journal, rules, self._clean, partial(subjects, self._code.mirror.path)
        )
        transitions = self._transitions
        return Reporting(books, self._session, self._progress, days, lambda: transitions.backed_off, self._home.reports)

    @cached_property
    def _telling(self) -> Telling:
        plans, ledger = self._records.plans, self._records.spending
        return Telling(self._session, self.reporting, plans, ledger, self._breaker, self._clean)
