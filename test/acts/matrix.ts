import { expect } from 'vitest';
import type { ActType, Impossible, Matrix, Pattern, Person, SceneName, Story } from './acts.ts';

/** Where the stories of an act begin, and what the log then has besides who did it. */
export const rows: { [ACT in ActType]: { scene: SceneName; logs: Pattern } } = {
  approve: { scene: 'asked', logs: answered({ approved: true }) },
  reject: { scene: 'asked', logs: answered({ approved: false }) },
  'answer-question': { scene: 'question', logs: answered({ status: 'answered' }) },
  withdraw: { scene: 'voted', logs: { type: 'vote-withdrawn' } },
  reassign: { scene: 'asked', logs: { type: 'request-reassigned', to: 'dora' } },
  remember: { scene: 'rememberable', logs: { type: 'grant-created' } },
  send: { scene: 'asked', logs: { type: 'request-closed', cause: 'cancelled' } },
  retract: { scene: 'unanswered', logs: { type: 'message-retracted' } },
  settle: { scene: 'lost', logs: { type: 'call-ended', source: 'settled' } },
  deliver: { scene: 'deferred', logs: { type: 'call-ended', source: 'delivered' } },
  stop: { scene: 'running', logs: { type: 'stop-requested' } },
  cancel: { scene: 'asked', logs: { type: 'request-closed', cause: 'cancelled' } },
  resume: { scene: 'held', logs: { type: 'approvals-released' } },
  revoke: { scene: 'remembered', logs: { type: 'grant-revoked' } },
};

function answered(response: object): Pattern {
  return { type: 'request-answered', response: expect.objectContaining(response) };
}

type Refused = Story['refuses'];

function story(by: Person, refuses: Refused, more: Omit<Story, 'by' | 'refuses'> = {}): Story {
  return { by, refuses, ...more };
}

function cannot(why: string, code?: string): Impossible {
  return { cannot: why, ...(code === undefined ? {} : { code }) };
}

/* Who is refused: by `mayAnswer` or `maySettle`, who decide about Eve, or by `authorize`, which decides about Mallory and whoever is not signed in. */

/** In the app's own code, which has asked who may before it does what an agent asks nobody about. */
const nameless: Refused = { nobody: 'invalid-input' };
const byAgent: Refused = { eve: 'not-allowed', ...nameless };
const strangers: Refused = { mallory: 'not-allowed', nobody: 'not-allowed' };
const byRoute: Refused = { eve: 'not-allowed', ...strangers };
const byLink: Refused = { eve: 'HTTP 403', mallory: 'HTTP 403', nobody: 'HTTP 403' };
const byTerminal: Refused = { eve: 'not-allowed', nobody: 'not-allowed' };
const byCommand: Refused = { eve: 'not-allowed', nobody: 'usage' };
/** Ben may answer, and has not done what somebody takes back or adds to. */
const ben: Refused = { ben: 'not-allowed' };

/* What a channel can't carry. */
const noForm = (code?: string) => cannot('The page of a link has a form for one answer.', code);
const noRequest = noForm();
const noLine = cannot('A terminal asks what is open, and returns answers.');
const noCommand = cannot('The command has no such subcommand.', 'usage');
const noClient = (why: string) => cannot(why, '-32602');
const noMessage = (why: string) => cannot(why, 'unsupported');
const notPeoples = noMessage('A callback carries what the server says of its call, and no person.');
const noInbox = (why: string) => cannot(why, 'invalid-input');

/** What people do, and through what. */
export const matrix: Matrix = {
  approve: {
    agent: story('ada', byAgent),
    ui: story('ben', byRoute),
    inbox: story('ada', byRoute),
    'ag-ui': story('ben', byRoute),
    links: story('ada', byLink),
    terminal: story('ben', byTerminal),
    command: story('ada', byCommand),
    'sub-agent': story('ben', byAgent),
    gate: story('ada', byRoute),
    'remote tool': notPeoples,
  },
  reject: {
    agent: story('ben', byAgent),
    ui: story('ada', byRoute),
    inbox: story('ben', byRoute),
    'ag-ui': story('ada', byRoute),
    links: story('ben', byLink),
    terminal: story('ada', byTerminal),
    command: story('ben', byCommand),
    'sub-agent': story('ada', byAgent),
    gate: story('ben', byRoute),
    'remote tool': notPeoples,
  },
  'answer-question': {
    agent: story('ada', byAgent),
    ui: story('ben', byRoute),
    inbox: story('ada', byRoute),
    'ag-ui': story('ben', byRoute),
    links: story('ada', byLink),
    terminal: story('ben', byTerminal),
    command: story('ada', byCommand),
    'sub-agent': story('ben', byAgent),
    gate: story('ada', byRoute),
    'remote tool': noMessage('A callback asks; the answer goes the other way, from the agent.'),
  },
  withdraw: {
    agent: story('ada', { ...byAgent, ...ben }),
    ui: story('ada', { ...byRoute, ...ben }),
    inbox: story('ada', { ...byRoute, ...ben }),
    'ag-ui': cannot('A client of AG-UI answers an interrupt, and has no word to take that back.'),
    links: noForm('HTTP 409'),
    terminal: noLine,
    command: noCommand,
    'sub-agent': story('ada', { ...byAgent, ...ben }),
    gate: story('ada', { ...byRoute, ...ben }),
    'remote tool': notPeoples,
  },
  reassign: {
    agent: story('ada', byAgent),
    ui: story('ben', byRoute),
    inbox: story('ada', byRoute),
    'ag-ui': cannot('A client of AG-UI answers an interrupt, and names nobody else for it.'),
    links: noForm('HTTP 403'),
    terminal: noLine,
    command: noCommand,
    'sub-agent': story('ben', byAgent),
    gate: story('ada', byRoute),
    'remote tool': notPeoples,
  },
  remember: {
    agent: story('ada', { ...byAgent, ...ben }, { scene: 'approved' }),
    ui: story('ben', byRoute),
    inbox: story('ben', byRoute),
    'ag-ui': story('ben', byRoute),
    links: noForm('HTTP 403'),
    terminal: story('ada', byTerminal),
    command: noCommand,
    'sub-agent': story('ben', byAgent, { where: 'below' }),
    gate: story('ben', byRoute),
    'remote tool': notPeoples,
  },
  /* Who sends a message that cancels what is open. */
  send: {
    agent: story('ada', byAgent),
    ui: story('ben', byRoute),
    inbox: noInbox('An inbox is about requests, and has no conversation to write in.'),
    'ag-ui': story('ada', byRoute),
    links: noForm('HTTP 403'),
    terminal: noLine,
    command: noCommand,
    'sub-agent': story('ben', byAgent),
    gate: noClient('Each call is a thread of its own, and its client sends calls alone.'),
    'remote tool': notPeoples,
  },
  retract: {
    agent: story('cleo', nameless),
    /* By editing it, which only whoever wrote it may. */
    ui: story('cleo', { ada: 'not-allowed', ...byRoute }),
    inbox: noInbox('An inbox is about requests, and shows no message to take back.'),
    'ag-ui': cannot('The history of a client of AG-UI counts for nothing but its newest message.'),
    links: noRequest,
    terminal: noLine,
    command: noCommand,
    'sub-agent': cannot("A sub-agent's message comes from the call above it.", 'not-allowed'),
    gate: noClient('The only message of a thread is its call, which the gate has made.'),
    'remote tool': notPeoples,
  },
  settle: {
    agent: story('ada', nameless),
    ui: cannot('A page shows that a call is lost; what happened in the world is said elsewhere.'),
    inbox: story('ada', byRoute),
    'ag-ui': cannot(
      'A client of AG-UI has no word for what became of a call of the server.',
      'thread-indeterminate',
    ),
    links: noRequest,
    terminal: noLine,
    /* Whoever can write to the store may: no rules of the app say who settles. */
    command: story('ben', { nobody: 'usage' }),
    'sub-agent': story('ada', nameless, { where: 'below' }),
    gate: story('ben', byRoute),
    'remote tool': notPeoples,
  },
  deliver: {
    agent: story('ada', nameless),
    /* The calls of tools that the client runs; its user is whoever may use the thread. */
    ui: story('cleo', strangers),
    inbox: noInbox('An inbox settles calls that are lost; results come from where they are made.'),
    'ag-ui': story('cleo', strangers),
    links: noRequest,
    terminal: noLine,
    command: noCommand,
    'sub-agent': story('ada', nameless, { where: 'below' }),
    gate: noClient('The result of a call comes from the server that the gate has called.'),
    'remote tool': story('server', { mallory: 'HTTP 404' }),
  },
  /* Everybody who may use a thread may stop it. */
  stop: {
    agent: story('eve', nameless),
    ui: story('eve', strangers),
    inbox: noInbox('An inbox is about requests, and shows no run to stop.'),
    /* While the agent runs, what a client sends waits for it. */
    'ag-ui': {
      cannot: 'A client of AG-UI disconnects, which ends its stream and not the run.',
      scene: 'asked',
    },
    links: noRequest,
    terminal: noLine,
    command: noCommand,
    'sub-agent': story('eve', nameless, { where: 'above' }),
    gate: noClient('A client gives its call up, and then nothing is run for it.'),
    'remote tool': notPeoples,
  },
  cancel: {
    agent: story('ada', byAgent),
    ui: cannot('A page cancels what is open with a message.'),
    inbox: noInbox('An inbox rejects what it shows.'),
    'ag-ui': cannot('A client of AG-UI cancels what is open with a message.'),
    links: noForm('HTTP 403'),
    terminal: noLine,
    command: noCommand,
    'sub-agent': story('ben', byAgent),
    gate: story('ada', byAgent, { channel: 'desk' }),
    'remote tool': notPeoples,
  },
  resume: {
    agent: story('ada', byAgent),
    ui: story('ben', byRoute),
    /* A thread that is stuck. */
    inbox: story('ada', byRoute, { scene: 'stuck', logs: { type: 'run-started' } }),
    'ag-ui': story('ben', byRoute),
    links: noRequest,
    terminal: noLine,
    command: noCommand,
    'sub-agent': story('ada', byAgent),
    /* An approved call whose client has gone. */
    gate: story('ben', byRoute, { scene: 'approved', logs: { type: 'run-started' } }),
    'remote tool': notPeoples,
  },
  revoke: {
    agent: story('ben', nameless),
    ui: cannot('A page shows no standing approvals.'),
    inbox: noInbox('An inbox shows no standing approvals.'),
    'ag-ui': cannot('A client of AG-UI is not told of standing approvals.'),
    links: noRequest,
    terminal: noLine,
    command: noCommand,
    'sub-agent': cannot('An agent revokes the standing approvals of its own name.', 'not-found'),
    gate: story('ben', nameless, { channel: 'desk' }),
    'remote tool': notPeoples,
  },
};
