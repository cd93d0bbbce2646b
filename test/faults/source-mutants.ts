import { deadlineMutants } from './deadline-mutants.ts';
import { grantMutants, policyMutants } from './policy-mutants.ts';

import { approvalMutants } from './approval-mutants.ts';
import { authorMutants } from './author-mutants.ts';
import { callerMutants } from './caller-mutants.ts';
import { commandMutants } from './command-mutants.ts';
import { consentMutants } from './consent-mutants.ts';
import { contextMutants } from './context-mutants.ts';
import { followMutants } from './follow-mutants.ts';
import { formMutants } from './form-mutants.ts';
import { identityMutants } from './identity-mutants.ts';
import { elicitationMutants } from './elicitation-mutants.ts';
import { engineMutants } from './engine-mutants.ts';
import { feedMutants } from './feed-mutants.ts';
import { deletionMutants } from './deletion-mutants.ts';
import { editMutants } from './edit-mutants.ts';
import { heldMutants } from './held-mutants.ts';
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
import { madeMutants } from './made-mutants.ts';
import { mirrorMutants } from './mirror-mutants.ts';
import { noticeMutants } from './notice-mutants.ts';
import { readingMutants } from './reading-mutants.ts';
import { recordMutants } from './record-mutants.ts';
import { viewMutants } from './view-mutants.ts';
import { viewerMutants } from './viewer-mutants.ts';
import { routeMutants } from './route-mutants.ts';

/**
 * A piece of the source that is broken, and what must come of it. It is named by what declares it, a function, method (`Class.method`,
 * `Class.#method`), constant or class anywhere in `src`, and by a short piece of code that stands there once, whatever its white space.
 */
export interface SourceMutant {
  promise: string;
  /** Behind its folder (`agent/mostReads`) only where several declarations of that name have the piece. */
  within: string;
  /** Whole words of code: as few as say what is broken. A comma at the end of a list is left out. */
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
    within: 'EventBuffer.ready',
    from: '!this.#isRead || this.#isClosed || this.#readers.length > 0',
    to: 'this.#readers.length >= 0',
    suite: ['agent/stream', 'sets the pace'],
    sentence: /AssertionError/,
  },
  {
    promise: 'a run that lost its lease stops',
    within: 'Lease.#holds',
    from: 'state.head.run?.runId === this.#runId',
    to: 'true',
    suite: schedules,
    sentence: anyFault,
  },
  {
    promise: 'models are sent well-formed text',
    within: 'mendText',
    from: 'value.toWellFormed()',
    to: 'value',
    suite: ['agent/sendable-messages', 'does not reach the model'],
    sentence: /AssertionError/,
  },
  {
    promise: 'a call goes back to the model with an object of arguments',
    within: 'replaceArguments',
    from: "typeof part.input !== 'object'",
    to: 'false',
    suite: ['agent/sendable-messages', 'are an empty object'],
    sentence: /AssertionError/,
  },
  {
    promise: 'models are sent nothing of a message but its content',
    within: 'makeSendable',
    from: 'hasMore ? omitOwnOptions(message) : message',
    to: 'message',
    suite: ['ui/user-messages', 'gives no model its id or its metadata'],
    sentence: /AssertionError/,
  },
  {
    promise: 'an id that a person chose takes the place of no reply',
    within: 'readShownId',
    from: ' || isChannelId(threadId, id)',
    to: '',
    suite: ['ui/user-messages', 'does not take its place'],
    sentence: /AssertionError/,
  },
  {
    promise: 'a description that a function makes is no other tool',
    within: 'defineTool',
    from: 'description: identified',
    to: "description: typeof given === 'function' ? given({ context }) : given",
    suite: ['agent/changing-descriptions', 'made for each request'],
    sentence: /AssertionError/,
  },
  {
    promise: 'a step during which others append is taken once',
    within: 'keepsDecisions',
    from: 'before.decided.every((ended) => decided.includes(ended))',
    to: 'before.decided === decided',
    suite: ['agent/leases', 'during which others append'],
    sentence: /AssertionError/,
  },
  {
    promise: 'nothing starts once a stop is in the log',
    within: 'Lease.commit',
    from: '&& proposal.state.head.run?.isStopping !== true',
    to: '',
    suite: ['agent/stop', 'just before the start of a call'],
    sentence: /AssertionError/,
  },
  {
    promise: 'one run at a time',
    within: 'checkAndAcquire',
    from: 'isRunning(head, at) || restarted',
    to: 'restarted',
    suite: schedules,
    sentence: /began while run|to deeply equal \[\]/,
  },
  {
    promise: 'a start is recorded before it is done',
    within: 'Run.#commit',
    from: 'this.#lease.commit(make, options).then(this.#begin)',
    to: 'this.#lease.commit((proposal) => { const made = make(proposal); void this.#begin(made); return made; }, options).then(() => {})',
    suite: schedules,
    sentence: anyFault,
  },
  {
    promise: 'what others appended first is read before it is decided again',
    within: 'ThreadLog.#append',
    from: '(!isAppended) return undefined',
    to: '(!isAppended) return content.events',
    suite: ['policy/edits-in-a-race', 'as a plain yes before another process'],
    sentence: /AssertionError/,
  },
];

/** What holds where several processes, agents and copies share threads. */
const fleetMutants: readonly SourceMutant[] = [
  {
    promise: 'nothing starts behind its lease (the fence)',
    within: 'Executions.start',
    from: 'if (lease.hasExpired) return this.#reportUnrun(started);',
    to: '',
    suite: schedules,
    sentence: /began when its lease was over|to deeply equal \[\]/,
  },
  {
    promise: 'a start that was too late says nothing of a later attempt',
    within: 'Executions.#reportUnrun',
    from: 'attempt, execution',
    to: 'attempt: { ...attempt, attempt: this.#setting.log.state.head.calls[attempt.index]?.attempts ?? 0 }, execution',
    suite: ['faults/late-starts', 'too late'],
    sentence: /AssertionError/,
  },
  {
    promise: 'a key is read off the log, and not made by the run',
    within: 'applyCallStarted',
    from: 'call.attempts += 1;',
    to: 'call.attempts += 1; call.idempotencyKey = `${run?.runId}.${event.step}.${event.index}`;',
    suite: copies,
    sentence: /is not read off the log|has two keys/,
  },
  {
    promise: 'a thread is its own agent’s',
    within: 'refuseOtherAgent',
    from: '!created || agent === name',
    to: 'created || agent !== name',
    suite: schedules,
    sentence: /Agent support appended|to deeply equal \[\]/,
  },
  {
    promise: 'a message of a known id is no news',
    within: 'listNewMessages',
    from: 'const recorded = [...messages.slice(0, kept), ...head.queuedMessages]',
    to: 'const recorded: ModelMessage[] = []',
    suite: crashes,
    sentence: /is in the log 2 times/,
  },
  {
    promise: 'lost calls are recorded',
    within: 'makeFaultEvents',
    from: "({ status }) => status === 'started'",
    to: '() => false',
    suite: crashes,
    sentence: /is lost, and its log is silent/,
  },
  {
    promise: 'lost calls are recorded by whoever opens the thread',
    within: 'ThreadHandles.open',
    from: 'isLost && head.agent',
    to: '!isLost && head.agent',
    suite: ['agent/lost-calls', 'by the first process that opens its thread'],
    sentence: /to deeply equal \[ \[ 't'/,
  },
  {
    promise: 'a scheduler’s run waits for the time in the log',
    within: 'isTooEarly',
    from: '(computeNextDeadline(state.head) ?? Infinity) > now()',
    to: 'false',
    suite: crashes,
    sentence: /A run that came too early/,
  },
  {
    promise: 'a scheduler’s run waits for the time that another has written meanwhile',
    within: 'checkAndAcquire',
    from: 'if (!isAgain && options.onlyWhenDue === true && isTooEarly(context, log)) return undefined;',
    to: '',
    suite: ['faults/due-runs', 'woken for one time'],
    sentence: /overloaded/,
  },
  {
    promise: 'the result of an earlier attempt is late',
    within: 'findAwaitedCall',
    from: 'isAwaited && call.attempts === attempted.attempt',
    to: 'isAwaited',
    suite: ['agent/fence', 'the result of an earlier attempt is late'],
    sentence: /AssertionError/,
  },
  {
    promise: 'the thread of an append in a batch goes on only with its entry',
    within: 'makeAppendStatements',
    from: '${writeThread} and ${hasEntryAfter}',
    to: '${writeThread} and (1 or ${hasEntryAfter})',
    suite: ['stores/sqlite-on', 'of several standing approvals together, or of none'],
    sentence: /AssertionError/,
  },
  {
    promise: 'an append to a thread that has gone on is a conflict, whatever became of the grant',
    within: 'appendEntries',
    from: 'revision === expected.revision && hash === expected.hash',
    to: 'revision === expected.revision',
    suite: ['stores/sqlite-on', 'writes nothing of an append'],
    sentence: /AssertionError/,
  },
  {
    promise: 'what a hook of a SQLite store adds is written with its append, or not at all',
    within: 'makeAppendStatements',
    from: 'null where not (${hasBegun})',
    to: 'null where 0 and not (${hasBegun})',
    suite: ['stores/sqlite-requests', 'writes nothing for an append'],
    sentence: /AssertionError/,
  },
  {
    promise: 'an append with a hook fails with a conflict as without one',
    within: 'runBatch',
    from: 'asked.hooked.length === 0 || !isNotBegun(error)',
    to: 'asked.hooked.length > 0 || !isNotBegun(error)',
    suite: ['stores/sqlite-requests', 'writes nothing for an append'],
    sentence: /AssertionError/,
  },
  {
    promise: 'a hook of a SQLite store adds nothing after its end',
    within: 'stores/sqlite-on/callHook',
    from: 'if (isOver) throw',
    to: 'if (!isOver) throw',
    suite: ['stores/sqlite-requests', 'writes with the append'],
    sentence: /The transaction is over/,
  },
  {
    promise: 'a row of a request is written with its append in SQLite, or not at all',
    within: 'makeAppendStatements',
    from: 'requests: makeChangeStatements(hasBegun)',
    to: 'requests: makeChangeStatements(`(1 or (${hasBegun}))`)',
    suite: ['stores/sqlite-requests', 'are written with the append, or not at all'],
    sentence: /AssertionError/,
  },
  {
    promise: 'a person finds only those requests by approver that name them or nobody',
    within: 'makeApproverPage',
    from: "text: 'approver = wanted.value'",
    to: "text: '(approver = wanted.value or 1)'",
    suite: ['stores/sqlite-requests', 'no row with an approver who is no longer named'],
    sentence: /AssertionError/,
  },
  {
    promise: 'a store compares the hash at which a log ends',
    within: 'memoryStore',
    from: 'revision === expected.revision && hash === expected.hash',
    to: 'revision === expected.revision',
    suite: ['agent/deletion', 'a run that stalled'],
    sentence: /AssertionError|log-tampered/,
  },
  {
    promise: 'a run whose thread another has taken over leaves it',
    within: 'Lease.acquire',
    from: 'before !== undefined && findLatestRun(proposal.state) !== before',
    to: 'false',
    suite: ['faults/due-runs', 'nor where another has done so'],
    sentence: /AssertionError/,
  },
  {
    promise: 'what a run decided before a conflict counts for nothing after it',
    within: 'Lease.commit',
    from: 'isOver = false; isLost = !this.#holds(proposal.state)',
    to: 'isLost = !this.#holds(proposal.state)',
    suite: ['agent/stop', 'a stop that comes just before the last append'],
    sentence: /AssertionError/,
  },
  {
    promise: 'a run whose thread another has taken over says that it is running',
    within: 'Lease.isTakenOver',
    from: 'this.#wasAcquired && findLatestRun(this.#log.state) !== this.#runId',
    to: 'false',
    suite: ['agent/leases', 'a run that lost its lease to another stops'],
    sentence: /AssertionError/,
  },
];

/** What holds of those who may stop, answer and withdraw. */
const peopleMutants: readonly SourceMutant[] = [
  {
    promise: 'a turn that was stopped stays so, whatever results come later',
    within: 'completeStep',
    from: '!head.isStopped && !calls.some(endsTurn)',
    to: '!calls.some(endsTurn)',
    suite: ['agent/stop', 'the result of a tool that ignores its signal'],
    sentence: /AssertionError/,
  },
  {
    promise: 'a stop outlives the process that it was meant for',
    within: 'makeFaultEvents',
    from: 'head.run?.isStopping === true ? makeStoppedEvents(context, state, at) : [ended]',
    to: '[ended]',
    suite: ['agent/stop', 'the wish outlives the process'],
    sentence: /Not implemented/,
  },
  {
    promise: 'a request that nobody was asked about is not answered',
    within: 'checkNewAnswers',
    from: 'open !== undefined && !isAsked',
    to: 'false',
    suite: ['agent/may-answer', 'who may answer a request that opened meanwhile'],
    sentence: /AssertionError/,
  },
  {
    promise: 'a message that was withdrawn is not replied to',
    within: 'applyMessageRetracted',
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
    within: 'mayStartAgain',
    from: 'findDelegation(tools, call) !== undefined ||',
    to: '',
    suite: ['faults/sub-agent-crashes', 'at any one point'],
    sentence: anyFault,
  },
  {
    promise: 'an answer counts only for what was shown',
    within: 'AgentDelegation.#ownRequest',
    from: 'own === undefined',
    to: 'own !== null',
    suite: ['agent/sub-agent-stories', 'approves nothing'],
    sentence: /AssertionError/,
  },
  {
    promise: 'messages and answers reach an agent through its call alone',
    within: 'refuseChildInput',
    from: 'answers.length > 0',
    to: 'answers.length > 999',
    suite: ['agent/sub-agents', 'nobody can answer'],
    sentence: /expected 'no error' to be 'not-allowed'/,
  },
  {
    promise: 'no call ends while its agent is at work',
    within: 'commitCancelled',
    from: 'throw new NotCancelled()',
    to: 'break',
    suite: ['agent/deletion', 'only when its thread is being deleted'],
    sentence: /AssertionError/,
  },
  {
    promise: 'what an agent asks is asked while it works',
    within: 'AgentWork.#run',
    from: 'work.report((proposal',
    to: 'Boolean((proposal',
    suite: ['agent/sub-agent-at-work', 'while another call of its agent runs'],
    sentence: /AssertionError/,
  },
  {
    promise: 'a call that nobody approved has no approver',
    within: 'findApprover',
    from: 'return isApproved',
    to: 'return true',
    suite: ['agent/sub-agent-paths', 'has no approver'],
    sentence: /AssertionError/,
  },
  {
    promise: 'work whose thread was deleted is not begun again',
    within: 'AgentWork.#result',
    from: 'record.agent !== undefined',
    to: 'record.agent === null',
    suite: ['agent/sub-agent-faults', 'is not begun again'],
    sentence: /AssertionError/,
  },
];

/** What holds for the steps of a custom agent. */
const customMutants: readonly SourceMutant[] = [
  {
    promise: 'a custom agent takes no step while a request of the step before is open',
    within: 'isModelDue',
    from: 'openRequests.some(({ step }) => step !== undefined) ||',
    to: '',
    suite: ['faults/crash-points', 'a crash at any one point'],
    sentence: /calls and requests must end before it/,
  },
  {
    promise: 'an approval that no step has used is held by a stop',
    within: 'holdApprovals',
    from: 'isUnusedApproval(ended) ? { ...ended, held: true } : ended',
    to: 'ended',
    suite: ['agent/custom-agent-edges', 'is held by a stop'],
    /* The test prints two threads that differ, which have private fields. */
    sentence: /AssertionError|TypeError: Cannot read private member/,
  },
  {
    promise: 'an approval that was given too long ago is not used by a step',
    within: 'createCustomAgent',
    from: 'beforeStep: async (state) => makeLateApprovalEvents(made, state),',
    to: '',
    suite: ['agent/custom-agent-edges', 'later than they may be old'],
    sentence: /AssertionError/,
  },
  {
    promise: 'a step whose approval was taken back meanwhile is not recorded',
    within: 'Run.#askModel',
    from: 'keepsDecisions(head, seen) ? events : []',
    to: 'events',
    suite: ['agent/custom-agent-edges', 'a cancel in the middle of the step'],
    sentence: /AssertionError/,
  },
  {
    promise: 'a turn that an answer ended has no further step',
    within: 'endRequest',
    from: '!head.isStopped && !newlyPast.calls.some(endsTurn)',
    to: '!head.isStopped',
    suite: ['agent/custom-agent-edges', 'an answer that ends the turn'],
    sentence: /AssertionError/,
  },
  {
    promise: 'the requests of a step are recorded with their step',
    within: 'ModelSteps.take',
    from: '...requests.map((request) =>',
    to: '...requests.slice(1).map((request) =>',
    suite: ['agent/custom-agent-flow', 'S3-41'],
    sentence: /AssertionError|TypeError/,
  },
  {
    promise: 'a key is asked about once, whoever asks',
    within: 'requestApproval',
    from: 'findApprovalByKey(proposal.state, key)',
    to: 'undefined as typeof standing | undefined',
    suite: ['agent/custom-agent-edges', 'asked in two processes at once'],
    sentence: /AssertionError/,
  },
];

/** What holds for threads that begin with an imported conversation. */
const importMutants: readonly SourceMutant[] = [
  {
    promise: 'a later call never has the id of an imported one',
    within: 'applyMessagesImported',
    from: "if (part.type === 'tool-call') newlyPast.toolCallIds.push(part.toolCallId);",
    to: '',
    suite: ['agent/import', 'repeats an imported id'],
    sentence: /AssertionError/,
  },
  {
    promise: 'an old answer that is sent again after an import is ignored',
    within: 'isOnlyImported',
    from: 'listImportedMessages(events).length > 0',
    to: 'listImportedMessages(events).length < 0',
    suite: ['middleware/import', 'the prompt can be sent again'],
    sentence: /not-found|no request/,
  },
];

/** Promises of the source that the tests of faults must miss when they are broken. */
export const sourceMutants: readonly SourceMutant[] = [
  ...loopMutants,
  ...noticeMutants,
  ...heldMutants,
  ...historyMutants,
  ...fleetMutants,
  ...peopleMutants,
  ...subAgentMutants,
  ...customMutants,
  ...importMutants,
  ...policyMutants,
  ...deadlineMutants,
  ...grantMutants,
  ...approvalMutants,
  ...commandMutants,
  ...consentMutants,
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
  ...madeMutants,
  ...mirrorMutants,
  ...readingMutants,
  ...recordMutants,
  ...authorMutants,
  ...viewerMutants,
  ...viewMutants,
  ...routeMutants,
];
