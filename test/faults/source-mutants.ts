import { grantMutants, policyMutants } from './policy-mutants.ts';

import { approvalMutants } from './approval-mutants.ts';
import { authorMutants } from './author-mutants.ts';
import { callerMutants } from './caller-mutants.ts';
import { commandMutants } from './command-mutants.ts';
import { contextMutants } from './context-mutants.ts';
import { followMutants } from './follow-mutants.ts';
import { formMutants } from './form-mutants.ts';
import { identityMutants } from './identity-mutants.ts';
import { elicitationMutants } from './elicitation-mutants.ts';
import { engineMutants } from './engine-mutants.ts';
import { feedMutants } from './feed-mutants.ts';
import { deletionMutants } from './deletion-mutants.ts';
import { editMutants } from './edit-mutants.ts';
import { historyMutants } from './history-mutants.ts';
import { inboxPageMutants } from './inbox-page-mutants.ts';
import { inboxMutants } from './inbox-mutants.ts';
import { keptMutants } from './kept-mutants.ts';
import { keyboardMutants } from './keyboard-mutants.ts';
import { randomMutants } from './random-mutants.ts';
import { rightsMutants } from './rights-mutants.ts';
import { ruleMutants } from './rule-mutants.ts';
import { gateMutants } from './gate-mutants.ts';
import { upstreamMutants } from './upstream-mutants.ts';
import { linkMutants } from './link-mutants.ts';
import { mirrorMutants } from './mirror-mutants.ts';
import { noticeMutants } from './notice-mutants.ts';
import { readingMutants } from './reading-mutants.ts';
import { recordMutants } from './record-mutants.ts';
import { viewMutants } from './view-mutants.ts';
import { viewerMutants } from './viewer-mutants.ts';
import { routeMutants } from './route-mutants.ts';

/** One line of the source that is broken, and what must come of it. */
export interface SourceMutant {
  promise: string;
  file: string;
  from: string;
  to: string;
  /** The test that must find out: its file, with `.deep` for one of the deep tests, and a part of its name. */
  suite: readonly [file: string, name: string];
  /** What it says then. */
  sentence: RegExp;
}

const schedules = ['faults/interleavings.deep', 'no promise is broken'] as const;
const crashes = ['faults/crash-points-with-others.deep', 'with others beside'] as const;
/* Which promise goes first depends on the schedule. */
const anyFault = /AssertionError: expected \[.*\] to deeply equal \[\]/;
const copies = ['faults/two-copies', 'goes on twice'] as const;

/** What holds wherever there is one thread. */
const loopMutants: readonly SourceMutant[] = [
  {
    promise: 'a model is read no faster than its stream',
    file: 'content/event-buffer.ts',
    from: 'if (!this.#isRead || this.#isClosed || this.#readers.length > 0) return undefined;',
    to: 'if (this.#readers.length >= 0) return undefined;',
    suite: ['agent/stream', 'sets the pace'],
    sentence: /AssertionError/,
  },
  {
    promise: 'a run that lost its lease stops',
    file: 'agent/run/lease.ts',
    from: 'return state.head.run?.runId === this.#runId;',
    to: 'return true;',
    suite: schedules,
    sentence: anyFault,
  },
  {
    promise: 'one run at a time',
    file: 'agent/run/open-run.ts',
    from: 'if (isRunning(head, at) || restarted',
    to: 'if (restarted',
    suite: schedules,
    sentence: /began while run|to deeply equal \[\]/,
  },
  {
    promise: 'a start is recorded before it is done',
    file: 'agent/run/run.ts',
    from: 'return this.#lease.commit(make, options).then(this.#begin);',
    to: 'return this.#lease.commit((proposal) => { const made = make(proposal); void this.#begin(made); return made; }, options).then(() => {});',
    suite: schedules,
    sentence: anyFault,
  },
  {
    promise: 'what others appended first is read before it is decided again',
    file: 'thread/thread-log.ts',
    from: 'if (!isAppended) return undefined;',
    to: 'if (!isAppended) return content.events;',
    suite: schedules,
    /* Whoever does not read what others appended may also decide for ever. */
    sentence: new RegExp(`${anyFault.source}|Property interrupted`),
  },
];

/** What holds where several processes, agents and copies share threads. */
const fleetMutants: readonly SourceMutant[] = [
  {
    promise: 'nothing starts behind its lease (the fence)',
    file: 'agent/run/executions.ts',
    from: 'if (lease.hasExpired) return this.#reportUnrun(started);',
    to: '',
    suite: schedules,
    sentence: /began when its lease was over|to deeply equal \[\]/,
  },
  {
    promise: 'a start that was too late says nothing of a later attempt',
    file: 'agent/run/executions.ts',
    from: 'this.#push({ attempt, execution: makeUnrunExecution(definition) });',
    to: 'this.#push({ attempt: { ...attempt, attempt: this.#setting.log.state.head.calls[attempt.index]?.attempts ?? 0 }, execution: makeUnrunExecution(definition) });',
    suite: ['faults/late-starts', 'too late'],
    sentence: /AssertionError/,
  },
  {
    promise: 'a key is read off the log, and not made by the run',
    file: 'thread/events/calls.ts',
    from: 'call.attempts += 1;',
    to: 'call.attempts += 1; call.idempotencyKey = `${run?.runId}.${event.step}.${event.index}`;',
    suite: copies,
    sentence: /is not read off the log|has two keys/,
  },
  {
    promise: 'a thread is its own agent’s',
    file: 'agent/thread-handles.ts',
    from: 'if (!created || agent === name) return;',
    to: 'if (created || agent !== name) return;',
    suite: schedules,
    sentence: /Agent support appended|to deeply equal \[\]/,
  },
  {
    promise: 'a message of a known id is no news',
    file: 'agent/input/sent-messages.ts',
    from: 'const recorded = [...messages.slice(0, kept), ...head.queuedMessages];',
    to: 'const recorded: ModelMessage[] = [];',
    suite: crashes,
    sentence: /is in the log 2 times/,
  },
  {
    promise: 'lost calls are recorded',
    file: 'agent/run/run-end.ts',
    from: "head.calls.filter(({ status }) => status === 'started')",
    to: 'head.calls.filter(() => false)',
    suite: crashes,
    sentence: /is lost, and its log is silent/,
  },
  {
    promise: 'lost calls are recorded by whoever opens the thread',
    file: 'agent/thread-handles.ts',
    from: 'if (isLost && head.agent',
    to: 'if (!isLost && head.agent',
    suite: ['agent/lost-calls', 'by the first process that opens its thread'],
    sentence: /to deeply equal \[ \[ 't'/,
  },
  {
    promise: 'a scheduler’s run waits for the time in the log',
    file: 'agent/run/open-run.ts',
    from: 'return (computeNextDeadline(state.head) ?? Infinity) > now();',
    to: 'return false;',
    suite: crashes,
    sentence: /A run that came too early/,
  },
  {
    promise: 'a scheduler’s run waits for the time that another has written meanwhile',
    file: 'agent/run/open-run.ts',
    from: 'if (!isAgain && options.onlyWhenDue === true && isTooEarly(context, log)) return undefined;',
    to: '',
    suite: ['faults/due-runs', 'woken for one time'],
    sentence: /overloaded/,
  },
  {
    promise: 'the result of an earlier attempt is late',
    file: 'thread/thread-head.ts',
    from: 'isAwaited && call.attempts === attempted.attempt',
    to: 'isAwaited',
    suite: ['agent/fence', 'the result of an earlier attempt is late'],
    sentence: /AssertionError/,
  },
  {
    promise: 'the thread of an append in a batch goes on only with its entry',
    file: 'stores/sqlite-on/statements.ts',
    from: '${writeThread} and ${hasEntryAfter}',
    to: '${writeThread} and (1 or ${hasEntryAfter})',
    suite: ['stores/sqlite-on', 'of several standing approvals together, or of none'],
    sentence: /AssertionError/,
  },
  {
    promise: 'an append to a thread that has gone on is a conflict, whatever became of the grant',
    file: 'stores/sqlite-on/statements.ts',
    from: 'revision === expected.revision && hash === expected.hash',
    to: 'revision === expected.revision',
    suite: ['stores/sqlite-on', 'writes nothing of an append'],
    sentence: /AssertionError/,
  },
  {
    promise: 'what a hook of a SQLite store adds is written with its append, or not at all',
    file: 'stores/sqlite-on/statements.ts',
    from: 'null where not (${hasBegun})',
    to: 'null where 0 and not (${hasBegun})',
    suite: ['stores/sqlite-requests', 'writes nothing for an append'],
    sentence: /AssertionError/,
  },
  {
    promise: 'an append with a hook fails with a conflict as without one',
    file: 'stores/sqlite-on/statements.ts',
    from: 'asked.hooked.length === 0 || !isNotBegun(error)',
    to: 'asked.hooked.length > 0 || !isNotBegun(error)',
    suite: ['stores/sqlite-requests', 'writes nothing for an append'],
    sentence: /AssertionError/,
  },
  {
    promise: 'a hook of a SQLite store adds nothing after its end',
    file: 'stores/sqlite-on/hooks.ts',
    from: 'if (isOver) throw',
    to: 'if (!isOver) throw',
    suite: ['stores/sqlite-requests', 'writes with the append'],
    sentence: /The transaction is over/,
  },
  {
    promise: 'rows of requests do not come back to a deleted thread in SQLite',
    file: 'stores/sqlite-on/request-rows.ts',
    from: 'exists (select 1 from holdpoint_threads where thread_id = ?)\n',
    to: '(1 or exists (select 1 from holdpoint_threads where thread_id = ?))\n',
    suite: ['stores/sqlite-requests', 'do not come back with a fill'],
    sentence: /AssertionError/,
  },
  {
    promise: 'a row of a request is written with its append in SQLite, or not at all',
    file: 'stores/sqlite-on/statements.ts',
    from: 'requests: makeChangeStatements(hasBegun)',
    to: 'requests: makeChangeStatements(`(1 or (${hasBegun}))`)',
    suite: ['stores/sqlite-requests', 'are written with the append, or not at all'],
    sentence: /AssertionError/,
  },
  {
    promise: 'changes of requests are taken by one of two consumers of a name in SQLite',
    file: 'stores/sqlite-on/request-feed.ts',
    from: 'where name = ? and (lease_until is null or lease_until <= ?)',
    to: 'where name = ? and (1 or lease_until is null or lease_until <= ?)',
    suite: ['stores/sqlite-requests', 'are taken by one of two processes'],
    sentence: /AssertionError/,
  },
  {
    promise: 'a person finds only those requests by approver that name them or nobody',
    file: 'stores/sql/request-queries.ts',
    from: "text: 'approver = wanted.value'",
    to: "text: '(approver = wanted.value or 1)'",
    suite: ['stores/sqlite-requests', 'no row with an approver who is no longer named'],
    sentence: /AssertionError/,
  },
  {
    promise: 'a store compares the hash at which a log ends',
    file: 'stores/memory.ts',
    from: 'revision === expected.revision && hash === expected.hash',
    to: 'revision === expected.revision',
    suite: ['agent/deletion', 'a run that stalled'],
    sentence: /AssertionError|log-tampered/,
  },
  {
    promise: 'a run whose thread another has taken over leaves it',
    file: 'agent/run/lease.ts',
    from: 'before !== undefined && findLatestRun(proposal.state) !== before',
    to: 'false',
    suite: ['faults/due-runs', 'nor where another has done so'],
    sentence: /AssertionError/,
  },
  {
    promise: 'what a run decided before a conflict counts for nothing after it',
    file: 'agent/run/lease.ts',
    from: '      isOver = false;\n',
    to: '',
    suite: ['agent/stop', 'a stop that comes just before the last append'],
    sentence: /AssertionError/,
  },
  {
    promise: 'a run whose thread another has taken over says that it is running',
    file: 'agent/run/lease.ts',
    from: 'return this.#wasAcquired && findLatestRun(this.#log.state) !== this.#runId;',
    to: 'return false;',
    suite: ['agent/leases', 'a run that lost its lease to another stops'],
    sentence: /AssertionError/,
  },
];

/** What holds of those who may stop, answer and withdraw. */
const peopleMutants: readonly SourceMutant[] = [
  {
    promise: 'a run that is to end begins nothing more',
    file: 'agent/run/lease.ts',
    from: 'proposal.state.head.run?.isStopping !== true',
    to: 'true',
    suite: schedules,
    sentence: /was to end, and then there is|to deeply equal \[\]/,
  },
  {
    promise: 'a turn that was stopped stays so, whatever results come later',
    file: 'thread/events/calls.ts',
    from: '!head.isStopped && !calls.some(endsTurn)',
    to: '!calls.some(endsTurn)',
    suite: ['agent/stop', 'the result of a tool that ignores its signal'],
    sentence: /AssertionError/,
  },
  {
    promise: 'a stop outlives the process that it was meant for',
    file: 'agent/run/run-end.ts',
    from: 'head.run?.isStopping === true ? makeStoppedEvents(context, state, at) : [ended]',
    to: '[ended]',
    suite: ['agent/stop', 'the wish outlives the process'],
    sentence: /Not implemented/,
  },
  {
    promise: 'a request that nobody was asked about is not answered',
    file: 'agent/input/accept-input.ts',
    from: 'allowedRequests?.has(answer.requestId) === false',
    to: 'false',
    suite: ['agent/may-answer', 'an answer to a request that opened after'],
    sentence: /AssertionError/,
  },
  {
    promise: 'a message that was withdrawn is not replied to',
    file: 'thread/events/messages.ts',
    from: 'head.modelIsNext = before.modelIsNext;',
    to: '',
    suite: ['agent/retract', 'nothing of it is left for the model'],
    sentence: /messages must not be empty/,
  },
];

/** What holds where agents work for each other. */
const subAgentMutants: readonly SourceMutant[] = [
  {
    promise: 'a call whose agent lost its process is resumed',
    file: 'agent/run/tool-recovery.ts',
    from: 'findDelegation(tools, call) !== undefined || ',
    to: '',
    suite: ['faults/sub-agent-crashes', 'at any one point'],
    sentence: anyFault,
  },
  {
    promise: 'an answer counts only for what was shown',
    file: 'tools/agent-tool.ts',
    from: 'if (own === undefined || (await',
    to: 'if (own !== null || (await',
    suite: ['agent/sub-agent-stories', 'approves nothing'],
    sentence: /AssertionError/,
  },
  {
    promise: 'messages and answers reach an agent through its call alone',
    file: 'agent/child-agent.ts',
    from: 'if (messages.length + answers.length > 0) refuseChild(state);',
    to: 'if (messages.length + answers.length > 999) refuseChild(state);',
    suite: ['agent/sub-agents', 'nobody can answer'],
    sentence: /expected 'no error' to be 'not-allowed'/,
  },
  {
    promise: 'no call ends while its agent is at work',
    file: 'tools/cancel-delegated.ts',
    from: 'throw new NotCancelled();',
    to: 'break;',
    suite: ['agent/deletion', 'only when its thread is being deleted'],
    sentence: /AssertionError/,
  },
  {
    promise: 'what an agent asks is asked while it works',
    file: 'tools/agent-work.ts',
    from: 'work.report((proposal',
    to: 'Boolean((proposal',
    suite: ['agent/sub-agent-at-work', 'while another call of its agent runs'],
    sentence: /AssertionError/,
  },
  {
    promise: 'a call that nobody approved has no approver',
    file: 'tools/agent-work.ts',
    from: 'return isApproved ? { principal',
    to: 'return true ? { principal',
    suite: ['agent/sub-agent-paths', 'has no approver'],
    sentence: /AssertionError/,
  },
  {
    promise: 'work whose thread was deleted is not begun again',
    file: 'tools/agent-work.ts',
    from: 'record.agent !== undefined && revision === 0',
    to: 'record.agent === null && revision === 0',
    suite: ['agent/sub-agent-faults', 'is not begun again'],
    sentence: /AssertionError/,
  },
];

/** What holds for the steps of a custom agent. */
const customMutants: readonly SourceMutant[] = [
  {
    promise: 'a custom agent takes no step while a request of the step before is open',
    file: 'thread/thread-head.ts',
    from: 'openRequests.every(({ step }) => step === undefined)',
    to: 'true',
    suite: ['faults/crash-points', 'a crash at any one point'],
    sentence: /calls and requests must end before it/,
  },
  {
    promise: 'an approval that no step has used is taken back by a stop',
    file: 'agent/calls/close-requests.ts',
    from: 'return [...unused, ...calls];',
    to: 'return calls;',
    suite: ['agent/custom-agent-edges', 'is taken back by stop'],
    sentence: /AssertionError/,
  },
  {
    promise: 'an approval that has expired is not used by a step',
    file: 'agent/custom/create-custom-agent.ts',
    from: 'beforeStep: makeExpiredApprovalEvents,',
    to: '',
    suite: ['agent/custom-agent-edges', 'expires between the answer and the step'],
    sentence: /AssertionError/,
  },
  {
    promise: 'a step whose approval was taken back meanwhile is not recorded',
    file: 'agent/run/run.ts',
    from: 'head.decided === decided ? events : []',
    to: 'events',
    suite: ['agent/custom-agent-edges', 'a cancel in the middle of the step'],
    sentence: /AssertionError/,
  },
  {
    promise: 'a turn that an answer ended has no further step',
    file: 'thread/events/head-draft.ts',
    from: '!head.isStopped && !newlyPast.calls.some(endsTurn)',
    to: '!head.isStopped',
    suite: ['agent/custom-agent-edges', 'an answer that ends the turn'],
    sentence: /AssertionError/,
  },
  {
    promise: 'the requests of a step are recorded with their step',
    file: 'agent/run/take-step.ts',
    from: '...requests.map((request) =>',
    to: '...requests.slice(1).map((request) =>',
    suite: ['agent/custom-agent-flow', 'S3-41'],
    sentence: /AssertionError|TypeError/,
  },
  {
    promise: 'a key is asked about once, whoever asks',
    file: 'agent/calls/requested-approval.ts',
    from: 'const first = findApprovalByKey(proposal.state, key);',
    to: 'const first = undefined as typeof standing | undefined;',
    suite: ['agent/custom-agent-edges', 'asked in two processes at once'],
    sentence: /AssertionError/,
  },
];

/** What holds for threads that begin with an imported conversation. */
const importMutants: readonly SourceMutant[] = [
  {
    promise: 'a later call never has the id of an imported one',
    file: 'thread/events/messages.ts',
    from: "if (part.type === 'tool-call') newlyPast.toolCallIds.push(part.toolCallId);",
    to: '',
    suite: ['agent/import', 'repeats an imported id'],
    sentence: /AssertionError/,
  },
  {
    promise: 'an old answer that is sent again after an import is ignored',
    file: 'agent/import-from-client.ts',
    from: 'listImportedMessages(events).length > 0 &&',
    to: 'listImportedMessages(events).length < 0 &&',
    suite: ['middleware/import', 'the prompt can be sent again'],
    sentence: /not-found|no request/,
  },
];

/** Promises of the source that the tests of faults must miss when they are broken. */
export const sourceMutants: readonly SourceMutant[] = [
  ...loopMutants,
  ...noticeMutants,
  ...historyMutants,
  ...fleetMutants,
  ...peopleMutants,
  ...subAgentMutants,
  ...customMutants,
  ...importMutants,
  ...policyMutants,
  ...grantMutants,
  ...approvalMutants,
  ...commandMutants,
  ...contextMutants,
  ...editMutants,
  ...identityMutants,
  ...callerMutants,
  ...engineMutants,
  ...feedMutants,
  ...followMutants,
  ...elicitationMutants,
  ...formMutants,
  ...inboxMutants,
  ...keptMutants,
  ...inboxPageMutants,
  ...keyboardMutants,
  ...rightsMutants,
  ...ruleMutants,
  ...randomMutants,
  ...gateMutants,
  ...deletionMutants,
  ...upstreamMutants,
  ...linkMutants,
  ...mirrorMutants,
  ...readingMutants,
  ...recordMutants,
  ...authorMutants,
  ...viewerMutants,
  ...viewMutants,
  ...routeMutants,
];
