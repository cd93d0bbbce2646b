import type { SourceMutant } from './source-mutants.ts';

const failed = /AssertionError/;
const requests = 'command/requests';
const inbox = 'command/inbox';

/** What the command shows, and which answers it passes on. */
export const commandMutants: readonly SourceMutant[] = [
  {
    promise: 'an approval counts only for what the command has shown',
    file: 'command/answer-command.ts',
    from: 'return { ...approve(content, { ...said, ...edited }), digest };',
    to: 'return approve(content, { ...said, ...edited });',
    suite: [requests, 'another digest is refused'],
    sentence: failed,
  },
  {
    promise: 'the answer to a question counts only for what the command has shown',
    file: 'command/logged-request.ts',
    from: 'if (digest === shown) return;',
    to: "if (shown !== '') return;",
    suite: [requests, 'another digest of a question is refused'],
    sentence: failed,
  },
  {
    promise: 'a lost call is settled only by those to whom the command has shown it',
    file: 'command/settle-command.ts',
    from: 'refuseOther(shown, digest);',
    to: '',
    suite: [requests, 'another digest settles nothing'],
    sentence: failed,
  },
  {
    promise: 'the command shows what the log has, not its row',
    file: 'command/logged-request.ts',
    from: 'const row = replayRequests(log.state).get(requestId);',
    to: 'const row = await requireRequests(store).get(requestId);',
    suite: ['command/verify-and-export', 'a row that was changed deceives nobody'],
    sentence: failed,
  },
  {
    promise: 'the command takes no answer out of two',
    file: 'command/answer-command.ts',
    from: 'if (ways.length !== 1) {',
    to: 'if (ways.length === 0) {',
    suite: [requests, 'two answers is refused'],
    sentence: failed,
  },
  {
    promise: 'the page of the command answers to its own name alone',
    file: 'command/local-guard.ts',
    from: "if (request.headers.get('host') !== host) return",
    to: "if (request.headers.get('host') === null) return",
    suite: [inbox, 'a request under another name is refused'],
    sentence: failed,
  },
  {
    promise: 'the address of the page of the command counts once',
    file: 'command/local-guard.ts',
    from: 'if (!isOurs || isOpened)',
    to: 'if (!isOurs)',
    suite: [inbox, 'with the token once more is refused'],
    sentence: failed,
  },
  {
    promise: 'a guessed address of the page of the command opens nothing',
    file: 'command/local-guard.ts',
    from: 'isSame(given, token)',
    to: 'isSame(token, token)',
    suite: [inbox, 'is not spent by what is refused'],
    sentence: failed,
  },
  {
    promise: 'the page of the command is for the browser that has opened it',
    file: 'command/local-guard.ts',
    from: 'if (!(await isSession(request))) return refuse(notOpened);',
    to: '',
    suite: [inbox, 'a request without the cookie is refused'],
    sentence: failed,
  },
  {
    promise: 'no header of a proxy lets another site use the page of the command',
    file: 'command/local-guard.ts',
    from: "['cookie', 'forwarded', 'x-forwarded-host']",
    to: "['cookie', 'forwarded']",
    suite: [inbox, 'that a proxy is said to forward is refused'],
    sentence: failed,
  },
  {
    promise: 'a misspelt rule of a file lets nobody answer through the command',
    file: 'command/answering-agent.ts',
    from: 'const rulesSchema = z.strictObject({',
    to: 'const rulesSchema = z.object({',
    suite: [requests, 'a rules file with a misspelt setting'],
    sentence: failed,
  },
  {
    promise: 'a row of no thread is found by the command',
    file: 'command/verify-command.ts',
    from: 'if (exists || (await requests.get(requestId)) === undefined) continue;',
    to: "if (requestId !== '') continue;",
    suite: ['command/verify-and-export', 'a row of no thread that was changed'],
    sentence: failed,
  },
  {
    promise: 'no JSON of the command controls a terminal',
    file: 'command/run-command.ts',
    from: String.raw`/[^\n -~]/g,`,
    to: String.raw`/[^\n -\uffff]/g,`,
    suite: [requests, 'what a model wrote can hide nothing'],
    sentence: failed,
  },
];
