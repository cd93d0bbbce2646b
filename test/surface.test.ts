import * as root from 'holdpoint';
import * as agUi from 'holdpoint/ag-ui';
import * as middleware from 'holdpoint/middleware';
import * as otel from 'holdpoint/otel';
import * as rap from 'holdpoint/rap';
import * as react from 'holdpoint/react';
import * as postgres from 'holdpoint/stores/postgres';
import * as sqlite from 'holdpoint/stores/sqlite';
import * as terminal from 'holdpoint/terminal';
import * as testing from 'holdpoint/testing';
import * as tools from 'holdpoint/tools';
import * as ui from 'holdpoint/ui';
import * as worker from 'holdpoint/worker';
import { expect, test } from 'vitest';

test('the public names are these, and a change of them is a decision', () => {
  expect(Object.keys(root).toSorted()).toEqual([
    'HoldpointError',
    'approvalRequestSchema',
    'approvalResponseSchema',
    'approve',
    'createAgent',
    'eventsOf',
    'inertLine',
    'inertText',
    'later',
    'laterWithin',
    'memoryStore',
    'questionRequestSchema',
    'questionResponseSchema',
    'reject',
    'threadEventSchema',
    'toolCallOutcomeSchema',
    'toolCallRecordSchema',
    'toolCallSchema',
  ]);
  expect(Object.keys(agUi)).toEqual(['createAgUiHandler']);
  expect(Object.keys(middleware).toSorted()).toEqual([
    'answerMessage',
    'approvalRequestsOf',
    'guardTools',
    'holdPoint',
    'inertTools',
    'userInputRequestsOf',
  ]);
  expect(Object.keys(otel)).toEqual(['traceHoldpoint']);
  expect(Object.keys(rap).toSorted()).toEqual([
    'checkRemoteCalls',
    'createCallbackHandler',
    'createToolServer',
    'remoteTool',
  ]);
  expect(Object.keys(sqlite)).toEqual(['sqliteStore']);
  expect(Object.keys(postgres).toSorted()).toEqual(['postgresSchema', 'postgresStore']);
  expect(Object.keys(terminal).toSorted()).toEqual([
    'askInTerminal',
    'getUserChoice',
    'terminalUserInterface',
  ]);
  expect(Object.keys(testing).toSorted()).toEqual(['scriptedModel', 'storeConformance']);
  expect(Object.keys(tools).toSorted()).toEqual([
    'askConfirmation',
    'askQuestion',
    'askUserQuestion',
    'choiceText',
    'fromInteractionResponse',
    'fromUserQuestionResponse',
    'interactionIdOf',
    'interactionTools',
    'questionTool',
    'questionTools',
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
  expect(Object.keys(worker)).toEqual(['runWorker']);
});

test('an error is known across copies of the package', () => {
  const error = new root.HoldpointError('unknown-request', 'There is none.');
  expect(root.HoldpointError.isInstance(error)).toBe(true);
  expect(root.HoldpointError.isInstance({ [Symbol.for('holdpoint.error')]: true })).toBe(true);
  for (const other of [new Error('x'), null, undefined, 'x', {}]) {
    expect(root.HoldpointError.isInstance(other)).toBe(false);
  }
});
