import * as root from 'holdpoint';
import * as customAgent from 'holdpoint/custom-agent';
import * as agUi from 'holdpoint/ag-ui';
import * as audit from 'holdpoint/audit';
import * as backtests from 'holdpoint/backtest';
import * as dbos from 'holdpoint/dbos';
import * as graphileWorker from 'holdpoint/graphile-worker';
import * as inbox from 'holdpoint/inbox';
import * as links from 'holdpoint/links';
import * as mcp from 'holdpoint/mcp';
import * as middleware from 'holdpoint/middleware';
import * as otel from 'holdpoint/otel';
import * as rap from 'holdpoint/rap';
import * as react from 'holdpoint/react';
import * as schemas from 'holdpoint/schemas';
import * as derive from 'holdpoint/stores/derive';
import * as postgres from 'holdpoint/stores/postgres';
import * as sqlite from 'holdpoint/stores/sqlite';
import * as sqliteOn from 'holdpoint/stores/sqlite-on';
import * as terminal from 'holdpoint/terminal';
import * as testing from 'holdpoint/testing';
import * as conformance from 'holdpoint/testing/store';
import * as tools from 'holdpoint/tools';
import * as ui from 'holdpoint/ui';
import * as worker from 'holdpoint/worker';
import { expect, test } from 'vitest';
import { readPublicMembers } from './support/public-members.ts';
import { isDocumented, publicNames } from './support/public-names.ts';

test('the public names are these, and a change of them is a decision', () => {
  expect(Object.keys(root).toSorted()).toEqual([
    'HoldpointError',
    'UnknownOutcomeError',
    'approve',
    'createAgent',
    'createPostHandler',
    'groupRequests',
    'hidePrincipals',
    'inertLine',
    'inertText',
    'later',
    'laterWithin',
    'lookAlikeWarnings',
    'mayAnswerByRole',
    'memoryStore',
    'reject',
  ]);
  expect(Object.keys(agUi)).toEqual(['createAgUiHandler']);
  expect(Object.keys(audit).toSorted()).toEqual(['auditTrail', 'checkAuditTrail']);
  expect(Object.keys(backtests)).toEqual(['backtest']);
  expect(Object.keys(customAgent).toSorted()).toEqual([
    'answersOf',
    'choice',
    'confirmation',
    'createCustomAgent',
    'textQuestion',
  ]);
  expect(Object.keys(dbos).toSorted()).toEqual(['agentWorkflow', 'wakeWorkflow']);
  expect(Object.keys(graphileWorker).toSorted()).toEqual(['addResumeJob', 'resumeTasks']);
  expect(Object.keys(inbox)).toEqual(['createInboxHandler']);
  expect(Object.keys(links)).toEqual(['createLinks']);
  expect(Object.keys(mcp)).toEqual(['createGate']);
  expect(Object.keys(middleware).toSorted()).toEqual([
    'answerMessage',
    'approvalRequestsOf',
    'guardTools',
    'heldCall',
    'holdPoint',
    'inertTools',
    'listOpenRequests',
    'plainMessages',
    'resumeMessage',
    'userInputRequestsOf',
  ]);
  expect(Object.keys(otel)).toEqual(['traceHoldpoint']);
  expect(Object.keys(rap).toSorted()).toEqual([
    'checkRemoteCalls',
    'createCallbackHandler',
    'createToolServer',
    'remoteTool',
  ]);
  expect(Object.keys(schemas).toSorted()).toEqual([
    'approvalRequestSchema',
    'approvalResponseSchema',
    'eventsOf',
    'questionRequestSchema',
    'questionResponseSchema',
    'requestRightsSchema',
    'sentMessages',
    'threadEventSchema',
    'toolCallRecordSchema',
  ]);
  expect(Object.keys(sqlite)).toEqual(['sqliteStore']);
  expect(Object.keys(sqliteOn).toSorted()).toEqual([
    'bunDriver',
    'd1Driver',
    'durableObjectDriver',
    'libsqlDriver',
    'sqliteSchema',
    'sqliteStoreOn',
  ]);
  expect(Object.keys(derive).toSorted()).toEqual(['deriveStore', 'selectRows']);
  expect(Object.keys(postgres).toSorted()).toEqual(['postgresSchema', 'postgresStore']);
  expect(Object.keys(terminal).toSorted()).toEqual([
    'askInTerminal',
    'getUserChoice',
    'renderCall',
    'renderRequest',
    'terminalUserInterface',
  ]);
  expect(Object.keys(testing)).toEqual(['scriptedModel']);
  expect(Object.keys(conformance)).toEqual(['storeConformance']);
  expect(Object.keys(tools).toSorted()).toEqual([
    'agentTool',
    'answerElicitations',
    'askConfirmation',
    'askQuestion',
    'askUserQuestion',
    'fromInteractionResponse',
    'fromUserQuestionResponse',
    'interactionIdOf',
    'interactionTools',
    'mcpToolApproval',
    'questionTool',
    'questionTools',
    'receiveAnswers',
    'toAskUserQuestionRequest',
    'toInteractionRequest',
    'toInteractionResponse',
    'toUserQuestionAnswers',
    'userChoice',
  ]);
  expect(Object.keys(react)).toEqual(['useThreadChat']);
  expect(Object.keys(ui).toSorted()).toEqual([
    'ThreadChat',
    'createUiHandler',
    'lastAssistantMessageHasApprovalResponses',
    'prepareReconnectToStreamRequest',
    'prepareSendMessagesRequest',
    'readRefusal',
    'stopChat',
    'toUIMessageStream',
    'toUIMessages',
  ]);
  expect(Object.keys(worker).toSorted()).toEqual(['deleteThreads', 'resumeThread', 'runWorker']);
});

test('the public types are these', () => {
  const types = publicNames().filter(({ isType }) => isType);
  const byEntry = Object.groupBy(types, ({ entry }) => entry);
  const names = Object.entries(byEntry).map(([entry, found = []]) => [
    entry,
    found.map(({ name }) => name).toSorted(),
  ]);
  expect(Object.fromEntries(names)).toEqual({
    '.': [
      'Agent',
      'AgentOptions',
      'AgentResponse',
      'AgentStream',
      'AgentStreamEvent',
      'AgentThread',
      'AnswerOptions',
      'AnswerableQuestion',
      'ApprovalRequest',
      'ApprovalRequestContent',
      'ApprovalResponseContent',
      'Authorize',
      'FieldSchema',
      'Grant',
      'HoldpointErrorCode',
      'InputItem',
      'Later',
      'LogEntry',
      'MayAnswer',
      'PlainToolCall',
      'Question',
      'QuestionRequestContent',
      'QuestionResponseContent',
      'RequestPlace',
      'RunInput',
      'RunOptions',
      'SettingFailure',
      'SettledOutcome',
      'StoreNotice',
      'StoredRequest',
      'ThreadEvent',
      'ThreadStatus',
      'ThreadStore',
      'ThreadStoreRequests',
      'ThreadSummary',
      'ToolApproval',
      'ToolApprovalStatus',
      'ToolCall',
      'ToolCallRecord',
      'ToolRunOptions',
      'TraceMessage',
      'UserApproval',
      'UserInputRequestContent',
      'UserInputResponseContent',
    ],
    './ag-ui': ['AgUiHandlerOptions'],
    './audit': ['AuditTrail'],
    './backtest': ['BacktestResult'],
    './custom-agent': ['CustomStep', 'CustomStepInput', 'QuestionToAsk'],
    './dbos': ['AgentWorkflow'],
    './inbox': ['InboxHandlerOptions'],
    './links': ['LinkKey', 'Links'],
    './mcp': ['Gate', 'GateOptions'],
    './rap': ['GrantStore', 'ServedTool', 'ToolServer'],
    './react': ['ThreadChatHelpers'],
    './stores/derive': ['RowQuery', 'StorePort', 'StoreRow', 'StoreTable'],
    './stores/postgres': ['OnWake', 'PostgresPool', 'PostgresStore'],
    './stores/sqlite': ['SqliteStore'],
    './stores/sqlite-on': ['SqliteDriver', 'SqliteRow', 'SqliteStatement'],
    './terminal': ['AskOptions', 'UserInterface'],
    './testing': ['ScriptedModel', 'ScriptedStep'],
    './tools': ['InteractionRequest', 'InteractionResponse', 'UserChoice'],
    './ui': ['ShownGroup', 'ShownPart', 'ShownRequest', 'UiHandlerOptions'],
  });
});

test('a public name is exported by one entry, and has a docstring', () => {
  const names = publicNames();
  const repeated = Object.values(Object.groupBy(names, ({ name }) => name)).filter(
    (found = []) => found.length > 1,
  );
  expect(repeated).toEqual([]);
  expect(names.filter((name) => !isDocumented(name))).toEqual([]);
});

test('every member of a public type and every option has a docstring, which an editor shows', () => {
  const members = readPublicMembers();
  const bare = members.filter(({ hover, file }) => hover === '' && !isExplainedElsewhere(file));
  expect(bare.map(({ name, file }) => `${name} (${file})`)).toEqual([]);
  expect(members.length).toBeGreaterThan(2_000);
});

/* Events and entries are declared by their schemas: docs/concepts.md has what each says. The others are parts of what Node, browsers and drivers offer. */
const explainedElsewhere = [
  'src/thread/events/',
  'src/thread/thread-event',
  'src/thread/log-entry.ts',
  'src/thread/thread-json.ts',
  'src/channels/terminal/terminal-streams.ts',
  'src/channels/ui/browser/page-browser.ts',
  'src/channels/ui/browser/page-focus.ts',
  'src/stores/postgres/pool.ts',
  'src/stores/sqlite-on/sqlite-driver.ts',
];

function isExplainedElsewhere(file: string): boolean {
  return explainedElsewhere.some((each) => file.startsWith(each));
}

test('an error is known across copies of the package', () => {
  const error = new root.HoldpointError('not-found', 'There is none.');
  expect(root.HoldpointError.isInstance(error)).toBe(true);
  expect(root.HoldpointError.isInstance({ [Symbol.for('holdpoint.error')]: true })).toBe(true);
  for (const other of [new Error('x'), null, undefined, 'x', {}]) {
    expect(root.HoldpointError.isInstance(other)).toBe(false);
  }
});
