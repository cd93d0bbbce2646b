import { approvalRequestSchema } from '../../src/content/approval.ts';

/** The present, at which the request is shown. */
export const now = Date.UTC(2026, 10, 23, 8);

const hour = 3_600_000;

/** A request that says everything that a request can say. */
export const richRequest = approvalRequestSchema.parse({
  type: 'approval-request',
  requestId: 'rich',
  threadId: 't',
  text: 'Buy the desk for 420 EUR?',
  reason: 'A desk costs money.',
  toolCall: {
    toolCallId: 'c1',
    toolName: 'buy',
    input: { item: 'desk\u202E', price: 420, shop: 'р\u0430ypal.com' },
  },
  path: [
    { agent: 'buyer', toolName: 'shop', toolCallId: 'd1' },
    { agent: 'payer', toolName: 'settle', toolCallId: 'd2' },
  ],
  requesters: [{ id: 'u-7', name: 'Eve', token: 'hers alone' }],
  digest: 'd',
  createdAt: now - hour,
  expiresAt: now + 2 * hour,
  onExpiry: { type: 'escalate', approvers: ['managers'], quorum: 1 },
  remindAt: now + hour,
  startWithinMs: 2 * hour,
  follows: 'earlier',
  risk: 'high',
  approvers: ['owners'],
  notRequester: true,
  quorum: 3,
  requireReason: true,
  editable: ['price'],
  remember: { scope: 'thread', match: 'any' },
  metadata: { ticket: 'T-77' },
  votes: [
    {
      person: 'ben',
      onBehalfOf: 'ada',
      reason: 'Cheap\nenough.',
      remember: { scope: 'thread', match: 'any' },
      at: now - hour / 2,
    },
  ],
  reassignments: [{ from: 'ada', to: 'ben' }],
  edit: {
    original: {
      input: { item: 'desk\u202E', price: 400, shop: 'р\u0430ypal.com' },
      text: 'Buy the desk for 400 EUR?',
      digest: 'o',
    },
    patches: [{ op: 'replace', path: ['price'], value: 420 }],
    person: 'cleo',
    onBehalfOf: 'dora',
    at: now - hour / 4,
  },
});

/** What everybody is shown of it, wherever they answer. */
export const shownFacts: Record<string, RegExp> = {
  'what is asked': /Buy the desk for 420 EUR\?/,
  'why it is asked': /A desk costs money\./,
  'the tool': /\bbuy\b/,
  'the input that will run': /price\W+420/,
  'a hidden character of the input': /desk\\+u\{202e\}/,
  'the agents that lead to it': /buyer > payer/,
  'for whom': /Eve \(u-7\)/,
  'the risk': /high/i,
  'who may answer': /owners/,
  'who may not': /the person for whom the agent asks/,
  'how many have approved': /1 of 3/,
  'who has, and in whose right': /ben \(for ada\)/,
  'why they have': /Cheap[\s┊]+enough\./,
  'which later calls that approves': /later calls: in this conversation, with any input/,
  'who let whom answer': /ada asked ben to answer instead/,
  'that a reason is needed': /reason/i,
  'what may be edited': /edited.*price|price.*420/s,
  'until when, and what follows': /then it goes to managers \(1 approval\)/,
  'when it reminds': /Reminder/,
  'when it starts': /within 2 h of the approval/,
  'that it was asked before': /an earlier request expired unanswered/,
  'its metadata': /T-77/,
  'who has edited it': /Edited by\W+cleo \(for dora\)/,
  'what was changed': /price\W+(?:Removed\W+)?400/,
  'what was asked before the edit': /Asked before the edit\W+Buy the desk for 400 EUR\?/,
  'letters that look alike': /mixes Latin and Cyrillic letters/,
};

/** What nobody is shown of it. */
export const hiddenFact = 'hers alone';
