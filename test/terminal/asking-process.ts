/*
 * A program that asks at the terminal it runs in, and says what came of it. Arguments: what to ask, and perhaps what else
 * to do meanwhile.
 */
import { HoldpointError } from 'holdpoint';
import { askInTerminal, terminalUserInterface } from 'holdpoint/terminal';
import { approval, field, question, refactoring } from './requests.ts';

const [what = '', meanwhile] = process.argv.slice(2);
const many = Array.from({ length: 40 }, (_, index) => `Option ${index + 1}`);

const asks: Record<string, () => Promise<unknown>> = {
  choice: async () =>
    terminalUserInterface().getUserChoice(refactoring.question, refactoring.options),
  many: async () => terminalUserInterface().getUserChoice('Which?', many),
  wide: async () =>
    terminalUserInterface().getUserChoice('Which?', [
      '東京タワーへ行く。'.repeat(4),
      '🚀'.repeat(40),
    ]),
  approval: async () => {
    const [answer] = await askInTerminal(approval(), { signal: ending.signal });
    return answer?.type === 'approval-response' ? answer.approved : 'left open';
  },
  several: async () => {
    const answers = await askInTerminal([
      approval(),
      question(field(['Caching', 'Metrics', 'Tracing'], { max: 3 }), { kind: 'choice' }),
    ]);
    return answers.map((answer) =>
      'answers' in answer ? answer.answers[0]?.optionIds : answer.type,
    );
  },
};

if (meanwhile === 'pid' || meanwhile === 'once') console.log(`pid: ${process.pid}`);
/* An app that ends what is asked at a signal, in its own way, and listens but once. */
const ending = new AbortController();
if (meanwhile === 'once') process.once('SIGTERM', () => ending.abort('told to stop'));
if (meanwhile === 'throw') process.stdin.on('data', () => queueMicrotask(fail));
if (meanwhile === 'exit') process.stdin.on('data', () => process.exit(3));

function fail(): never {
  throw new Error('a fault of the app');
}

const answered = asks[what]?.();
try {
  console.log('answer:', JSON.stringify(await answered));
} catch (error) {
  if (HoldpointError.isInstance(error)) console.log(`error: ${error.code} ${error.message}`);
  else console.log('answer:', JSON.stringify(error));
}
