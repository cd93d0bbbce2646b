import { stripVTControlCharacters } from 'node:util';
import {
  type Agent,
  type AgentResponse,
  type AgentThread,
  type ApprovalRequestContent,
  type ApprovalResponseContent,
  type RunInput,
} from 'holdpoint';
import { approvalLines, resultLines } from './show-call.ts';
import { bold, InputEnded, type Terminal } from './terminal.ts';

/** A conversation at a terminal. */
export interface Conversation {
  agent: Agent;
  thread: AgentThread;
  terminal: Terminal;
}

/**
 * One input and all that it leads to, until the agent has spoken: the loop of every app with holdpoint. When the
 * process ends at a question, the thread waits in its store, and `converse([], …)` asks the same again.
 */
async function converse(input: RunInput, { agent, thread, terminal }: Conversation): Promise<void> {
  const { signal } = terminal;
  let response = await agent.run(input, thread, { signal });
  while (response.approvalRequests.length > 0) {
    terminal.say(bold('Agent:'), response.text);
    const answers: ApprovalResponseContent[] = [];
    for (const request of response.approvalRequests) {
      answers.push(await askPerson(request, terminal));
    }
    response = await agent.run(answers, thread, { signal });
  }
  terminal.say(bold('Agent:'), response.text);
  const note = notes[response.status];
  if (note !== undefined) terminal.print(note);
}

/** Takes messages and plays them, until `/quit` or the end of the input. */
export async function chat(conversation: Conversation, start?: RunInput): Promise<void> {
  const { agent, terminal } = conversation;
  let { thread } = conversation;
  agent.on('call-ended', ({ threadId, event }) => {
    const call = thread.calls.find(
      ({ step, index }) => step === event.step && index === event.index,
    );
    if (threadId === thread.id && call !== undefined) terminal.print(...resultLines(call));
  });
  let input: RunInput = start ?? (await askForMessage(terminal));
  let failed = false;
  while (input !== '/quit') {
    if (input === '/new') {
      thread = await agent.thread();
      terminal.print('A new conversation.');
    } else if (input !== '' || failed) {
      const turn = converse(input === '' ? [] : input, { agent, thread, terminal });
      failed = !(await succeeds(turn, terminal));
    }
    input = await askForMessage(terminal);
  }
}

const notes: { [STATUS in AgentResponse['status']]?: string } = {
  running: 'Another run is at work on this conversation; what you answered is recorded.',
  indeterminate: 'A call was started and its outcome is unknown. It must be settled first.',
  'max-steps': 'The agent took all the steps that one run may take. Say "go on" to let it.',
};

/** Nothing but a clear yes approves; Enter alone asks again. */
async function askPerson(
  request: ApprovalRequestContent,
  terminal: Terminal,
): Promise<ApprovalResponseContent> {
  terminal.print(...approvalLines(request));
  for (;;) {
    const answer = await terminal.ask('[a]pprove, [r]eject, [q]uit: ', { afterwards: true });
    switch (answer.toLowerCase()) {
      case 'a':
      case 'approve':
      case 'y':
      case 'yes':
        return request.approve();
      case 'r':
      case 'reject':
      case 'n':
      case 'no': {
        const reason = await terminal.ask('Why? The agent is told (Enter for no reason): ');
        return request.reject(reason === '' ? undefined : reason);
      }
      case 'q':
      case 'quit':
      case '/quit':
        throw new InputEnded();
    }
  }
}

async function askForMessage(terminal: Terminal): Promise<string> {
  terminal.print('');
  return terminal.ask(`${bold('You:')} `);
}

async function succeeds(turn: Promise<void>, terminal: Terminal): Promise<boolean> {
  try {
    await turn;
    return true;
  } catch (error) {
    if (error instanceof InputEnded) throw error;
    const message = error instanceof Error ? error.message : String(error);
    terminal.say('That failed:', stripVTControlCharacters(message).trim());
    terminal.print('Press Enter to go on from there.');
    return false;
  }
}
