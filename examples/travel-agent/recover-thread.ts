import { setTimeout } from 'node:timers/promises';
import {
  type AgentThread,
  inertLine,
  inertText,
  type SettledOutcome,
  type ToolCallRecord,
} from 'holdpoint';
import type { Conversation } from './conversation.ts';
import { LeftError, type Person } from './person.ts';

/** Recovers a thread whose process may have been killed: after this, `run([], thread)` can resume it. */
export async function recoverThread(
  { agent, thread, person }: Conversation,
  bookingsPath: string,
): Promise<void> {
  await untilFree(thread, person);
  const unknown = thread.calls.filter(({ status }) => status === 'indeterminate');
  for (const call of unknown) {
    await agent.settle(thread, call.toolCallId, await askOutcome(call, person, bookingsPath));
  }
}

/* After a process was killed, its lease on the thread lasts a few seconds longer. */
async function untilFree(thread: AgentThread, person: Person): Promise<void> {
  if (thread.status === 'running')
    person.print('', 'The last run was interrupted. Recovering it …');
  while (thread.status === 'running') {
    if (person.signal.aborted) throw new LeftError();
    await setTimeout(100);
  }
}

/* Only a person can find out: the process ended after the call started and before its result was recorded. */
async function askOutcome(
  call: ToolCallRecord,
  person: Person,
  bookingsPath: string,
): Promise<SettledOutcome> {
  const { toolName, input, idempotencyKey = '' } = call;
  person.print(
    '',
    'This call was interrupted, and it is unknown whether it happened:',
    `  ${inertLine(toolName)}: ${argumentsOf(input)}`,
    `If it happened, ${inertLine(bookingsPath)} has a line with its key:`,
    `  ${inertLine(idempotencyKey)}`,
  );
  for (;;) {
    switch (await person.pick('How did it end?', endings)) {
      case 'I do not know yet':
        throw new LeftError();
      case 'It happened':
        return { status: 'succeeded', output: { confirmation: await confirmation(person) } };
      case 'It did not happen':
        return { status: 'failed', error: 'The booking was interrupted, and nothing was booked.' };
      case 'Try it again':
        return { status: 'retry' };
      default:
        person.print('', 'Pick one of the four options.');
    }
  }
}

/* Enter picks the first. */
const endings = ['I do not know yet', 'It happened', 'It did not happen', 'Try it again'];

async function confirmation(person: Person): Promise<string> {
  for (;;) {
    const text = await person.readLine('Its confirmation: ');
    if (text !== '') return text;
    person.print('Type the confirmation that the airline gave, or /quit to find it first.');
  }
}

function argumentsOf(input: unknown): string {
  if (typeof input !== 'object' || input === null) return inertText(JSON.stringify(input));
  return Object.entries(input)
    .map(([name, value]) => `${inertLine(name)} ${inertText(JSON.stringify(value))}`)
    .join(', ');
}
