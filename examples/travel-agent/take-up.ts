import { setTimeout } from 'node:timers/promises';
import {
  type AgentThread,
  inertLine,
  inertText,
  type SettledOutcome,
  type ToolCallRecord,
} from 'holdpoint';
import type { Conversation } from './conversation.ts';
import { Left, type Person } from './person.ts';

/** Takes up a thread that another process may have been killed at: after that, `run([], thread)` goes on. */
export async function takeUp({ agent, thread, person }: Conversation): Promise<void> {
  await becomesFree(thread, person);
  const unknown = thread.calls.filter(({ status }) => status === 'indeterminate');
  for (const call of unknown) {
    await agent.settle(thread, call.toolCallId, await howItEnded(call, person));
  }
}

/* A run holds its thread for some seconds more than it lives. */
async function becomesFree(thread: AgentThread, person: Person): Promise<void> {
  if (thread.status === 'running') person.hears('', 'That was cut off at work. Taking it up …');
  while (thread.status === 'running') {
    if (person.signal.aborted) throw new Left();
    await setTimeout(100);
  }
}

/* Nobody but a person can know: the process ended between the start of the call and the record of its result. */
async function howItEnded(call: ToolCallRecord, person: Person): Promise<SettledOutcome> {
  const { toolName, input, idempotencyKey = '' } = call;
  person.hears(
    '',
    'This call was cut off, and whether it happened is unknown:',
    `  ${inertLine(toolName)}: ${argumentsOf(input)}`,
    'In bookings.jsonl its key would be',
    `  ${inertLine(idempotencyKey)}`,
  );
  for (;;) {
    switch (await person.picks('How did it end?', endings)) {
      case 'I do not know yet':
        throw new Left();
      case 'It happened':
        return { status: 'succeeded', output: { confirmation: await confirmation(person) } };
      case 'It did not happen':
        return { status: 'failed', error: 'The booking was cut off, and nothing was booked.' };
      case 'Try it again':
        return { status: 'retry' };
      default:
        person.hears('', 'Only one of the first four can be recorded.');
    }
  }
}

/* The first is what Enter picks. */
const endings = ['I do not know yet', 'It happened', 'It did not happen', 'Try it again'];

async function confirmation(person: Person): Promise<string> {
  for (;;) {
    const text = await person.types('Its confirmation: ');
    if (text !== '') return text;
    person.hears('Type the confirmation that the airline gave, or /quit to find it first.');
  }
}

function argumentsOf(input: unknown): string {
  if (typeof input !== 'object' || input === null) return inertText(JSON.stringify(input));
  return Object.entries(input)
    .map(([name, value]) => `${inertLine(name)} ${inertText(JSON.stringify(value))}`)
    .join(', ');
}
